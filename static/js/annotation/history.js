// One's own last answers, newest first, each to look at again and correct.

const KEPT = 10;

export class History {
  // `onChange(isEmpty)` is called where there is more or less to undo.
  constructor({ server, list, url, textOf, onCorrect, onChange }) {
    Object.assign(this, { server, list, url, textOf, onCorrect, onChange });
    this.entries = [];
    this.box = list.closest("details");
    this.box.addEventListener("toggle", () => this.draw());
  }

  get last() {
    return this.entries[0]?.item;
  }

  // What was answered before this page was opened.
  async load() {
    try {
      const items = await this.server.get(this.url);
      const known = new Set(this.entries.map(({ item }) => item.assignment));
      const earlier = items.filter((item) => !known.has(item.assignment));
      this.entries.push(...earlier.map((item) => ({ item, label: item.label })));
      this.draw();
    } catch {
      // Without the network there is only what this page has seen itself.
    }
  }

  add(item, label) {
    this.remove(item.assignment);
    this.entries.unshift({ item, label });
    this.draw();
  }

  remove(assignment) {
    this.entries = this.entries.filter((entry) => entry.item.assignment !== assignment);
    this.draw();
  }

  draw() {
    this.entries.length = Math.min(this.entries.length, KEPT);
    this.onChange(this.entries.length === 0);
    // Nobody waits for rows, and loads pictures, that are folded away.
    if (this.box.open) this.list.replaceChildren(...this.entries.map((entry) => this.row(entry)));
  }

  row({ item, label }) {
    const row = document.createElement("li");
    if (item.poster) {
      const poster = new Image(80, 60);
      poster.src = item.poster;
      poster.alt = "";
      poster.loading = "lazy";
      row.append(poster);
    }
    const caption = document.createElement("span");
    caption.dir = "auto";
    caption.className = "judge-past-caption";
    caption.textContent = item.caption;
    const given = document.createElement("span");
    given.className = "judge-past-label";
    given.textContent = this.textOf(label);
    const button = document.createElement("button");
    button.type = "button";
    button.className = "btn btn-sm btn-outline-secondary";
    button.textContent = "Answer again";
    button.addEventListener("click", () => this.onCorrect(item));
    row.append(caption, given, button);
    return row;
  }
}

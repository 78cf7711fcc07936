// One's own last answers, newest first, each to look at again and correct.

const KEPT = 10;

export class History {
  // `onChange(isEmpty)` is called where there is more or less to undo. Each item has the `label`
  // that it was given.
  constructor({ server, list, url, textOf, onCorrect, onChange }) {
    Object.assign(this, { server, list, url, textOf, onCorrect, onChange });
    this.items = [];
    this.box = list.closest("[popover]");
    this.box.addEventListener("toggle", () => this.draw());
  }

  get last() {
    return this.items[0];
  }

  // What was answered before this page was opened.
  async load() {
    try {
      const items = await this.server.get(this.url);
      const known = new Set(this.items.map((item) => item.assignment));
      this.items.push(...items.filter((item) => !known.has(item.assignment)));
      this.draw();
    } catch {
      // Without the network there is only what this page has seen itself.
    }
  }

  add(item) {
    this.remove(item.assignment);
    this.items.unshift(item);
    this.draw();
  }

  remove(assignment) {
    this.items = this.items.filter((item) => item.assignment !== assignment);
    this.draw();
  }

  draw() {
    this.items.length = Math.min(this.items.length, KEPT);
    this.onChange(this.items.length === 0);
    // Nobody waits for rows, and loads pictures, that are not in sight.
    if (!this.box.matches(":popover-open")) return;
    this.list.replaceChildren(...this.items.map((item) => this.row(item)));
  }

  row(item) {
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
    given.textContent = this.textOf(item.label);
    const button = document.createElement("button");
    button.type = "button";
    button.className = "btn btn-sm btn-outline-secondary";
    button.textContent = "Answer again";
    button.addEventListener("click", () => {
      this.box.hidePopover();
      this.onCorrect(item);
    });
    row.append(caption, given, button);
    return row;
  }
}

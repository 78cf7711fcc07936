// One's own last answers, newest first, each to look at again and correct.

const KEPT = 10;

export class History {
  constructor({ list, url, textOf, onCorrect }) {
    this.list = list;
    this.url = url;
    this.textOf = textOf;
    this.onCorrect = onCorrect;
    this.entries = [];
  }

  get isEmpty() {
    return this.entries.length === 0;
  }

  get last() {
    return this.entries[0]?.item;
  }

  // What was answered before this page was opened.
  async load() {
    try {
      const response = await fetch(this.url);
      if (!response.ok) return;
      const known = new Set(this.entries.map(({ item }) => item.assignment));
      const earlier = (await response.json()).filter((item) => !known.has(item.assignment));
      this.entries.push(...earlier.map((item) => ({ item, label: item.label })));
      this.draw();
    } catch {
      // Without the network there is only what this page has seen itself.
    }
  }

  add(item, label) {
    this.remove(item);
    this.entries.unshift({ item, label });
    this.draw();
  }

  remove(item) {
    this.entries = this.entries.filter((entry) => entry.item.assignment !== item.assignment);
    this.draw();
  }

  draw() {
    this.entries.length = Math.min(this.entries.length, KEPT);
    this.list.replaceChildren(...this.entries.map((entry) => this.row(entry)));
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

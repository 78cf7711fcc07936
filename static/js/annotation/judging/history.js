// The annotator's last answers and escalations, newest first. Each can be opened again and corrected.

import { translate } from "./texts.js";

const ITEMS_MAX = 10;

export class History {
  // `onCorrect(item)` is called when the annotator opens an answer again, and `onChange(isEmpty)` when the
  // list changes. Each item contains its answer, or the kind of its `escalation`. `question` returns the texts that
  // the list shows of an answer, and `escalated` contains those of an escalation, by its kind.
  constructor({ server, list, url, question, escalated, onCorrect, onChange }) {
    Object.assign(this, { server, list, url, question, escalated, onCorrect, onChange });
    this.items = [];
    this.box = list.closest("[popover]");
    this.box.addEventListener("toggle", () => this.draw());
  }

  get last() {
    return this.items[0];
  }

  // Load the answers from before this page was opened.
  async load() {
    try {
      const items = await this.server.get(this.url);
      const existing = new Set(this.items.map((item) => item.assignment));
      this.items.push(...items.filter((item) => !existing.has(item.assignment)));
      this.draw();
    } catch {
      // Offline, the list contains only answers from this page.
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
    this.items.length = Math.min(this.items.length, ITEMS_MAX);
    this.onChange(this.items.length === 0);
    // Rows and their posters are needed only while the list is visible.
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
    caption.textContent = this.question.captionOf(item);
    const label = document.createElement("span");
    label.className = "judge-past-label";
    label.textContent = this.escalated[item.escalation] ?? this.question.textOf(item);
    const button = document.createElement("button");
    button.type = "button";
    button.className = "btn btn-sm btn-outline-secondary";
    button.textContent = translate("Answer again");
    button.addEventListener("click", () => {
      this.box.hidePopover();
      this.onCorrect(item);
    });
    row.append(caption, label, button);
    return row;
  }
}

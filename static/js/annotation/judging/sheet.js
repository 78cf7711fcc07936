// The contact sheet: eight frames of the video in one picture, next to the video or below it. The
// choice to show it stays in this browser.

import { keep, recall } from "../../shared/storage.js";
import { translate } from "./texts.js";

const KEY = "hearth-sheet";

export class Sheet {
  // `box` and `button` are null in campaigns without contact sheets. `onSeen()` is called when the
  // pair's sheet is on the screen, and `wasSeen` is true from then on.
  constructor(box, button, { onSeen }) {
    Object.assign(this, { box, button, onSeen });
    this.wasSeen = false;
    this.pictures = new Map();
    this.isOpen = Boolean(box) && recall(KEY) === "open";
    button?.setAttribute("aria-pressed", this.isOpen);
  }

  // Sheets are loaded ahead only while they are shown.
  prepare(items) {
    if (!this.isOpen) return;
    const needed = new Set(items.map((item) => item.assignment));
    for (const assignment of this.pictures.keys()) {
      if (!needed.has(assignment)) this.pictures.delete(assignment);
    }
    items.forEach((item) => this.pictureOf(item));
  }

  pictureOf(item) {
    if (!item?.sheet) return null;
    if (!this.pictures.has(item.assignment)) {
      const picture = new Image();
      picture.alt = translate("Eight frames of the video, from start to end");
      picture.decoding = "async";
      picture.src = item.sheet;
      this.pictures.set(item.assignment, picture);
    }
    return this.pictures.get(item.assignment);
  }

  show(item) {
    if (!this.box) return;
    if (item !== this.item) this.wasSeen = false;
    this.item = item;
    const picture = this.isOpen ? this.pictureOf(item) : null;
    this.box.replaceChildren(...(picture ? [picture] : []));
    this.box.hidden = !picture;
    picture?.decode().then(() => this.see(item), () => {});
  }

  see(item) {
    if (item !== this.item || this.box.hidden) return;
    this.wasSeen = true;
    this.onSeen();
  }

  toggle() {
    if (!this.box) return;
    this.isOpen = !this.isOpen;
    keep(KEY, this.isOpen ? "open" : "closed");
    this.button.setAttribute("aria-pressed", this.isOpen);
    this.show(this.item);
  }
}

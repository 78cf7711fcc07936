// The contact sheet: eight moments of the video in one picture, beside it or below it, if a person
// wants it. The choice stays with the person.

const KEY = "hearth-sheet";

export class Sheet {
  // `box` and `button` are null in campaigns without contact sheets. `onSeen()` is called once the
  // person has eight moments of the pair before them; from then on it `wasSeen`.
  constructor(box, button, { onSeen }) {
    Object.assign(this, { box, button, onSeen });
    this.wasSeen = false;
    this.pictures = new Map();
    this.isOpen = Boolean(box) && localStorage.getItem(KEY) === "open";
    button?.setAttribute("aria-pressed", this.isOpen);
  }

  // Fetched ahead only for those who look at them.
  prepare(items) {
    if (!this.isOpen) return;
    const wanted = new Set(items.map((item) => item.assignment));
    for (const assignment of this.pictures.keys()) {
      if (!wanted.has(assignment)) this.pictures.delete(assignment);
    }
    items.forEach((item) => this.pictureOf(item));
  }

  pictureOf(item) {
    if (!item?.sheet) return null;
    if (!this.pictures.has(item.assignment)) {
      const picture = new Image();
      picture.alt = "Eight moments of the video, from its start to its end";
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
    localStorage.setItem(KEY, this.isOpen ? "open" : "closed");
    this.button.setAttribute("aria-pressed", this.isOpen);
    this.show(this.item);
  }
}

// The elements of a caption. Each is a button that marks it as missing in the video. The marks are sent
// with the answer.

export class Checklist {
  // `box` is null in campaigns without a checklist. `caption`: the caption on the page, whose text
  // direction the box gets. `keys`: the keys that have an action.
  constructor(box, { caption, keys }) {
    Object.assign(this, { box, caption, keys });
    this.buttons = [];
    this.title = box?.firstElementChild;
  }

  show(item) {
    if (!this.box) return;
    const elements = item?.elements ?? [];
    const marked = new Set(item?.missing);
    this.buttons = elements.map((text, place) => this.button(text, place, marked.has(text)));
    this.box.replaceChildren(this.title, ...this.buttons);
    this.box.hidden = elements.length === 0;
    this.box.dir = getComputedStyle(this.caption).direction;
  }

  button(text, place, isMarked) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "judge-element";
    button.setAttribute("aria-pressed", isMarked);
    const element = document.createElement("bdi");
    element.dataset.element = "";
    element.textContent = text;
    button.append(element);
    const digit = String(place + 1);
    if (this.keys.has(digit)) {
      const key = document.createElement("kbd");
      key.textContent = digit;
      button.prepend(key, " ");
    }
    button.addEventListener("click", () => this.toggle(place));
    return button;
  }

  // The actions, under their names in the key bindings.
  get actions() {
    const digits = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    return Object.fromEntries(digits.map((digit) => [`mark-${digit}`, () => this.toggle(digit - 1)]));
  }

  toggle(place) {
    const button = this.buttons[place];
    if (button) button.setAttribute("aria-pressed", button.ariaPressed !== "true");
  }

  // The marked elements, or null if there are none to mark.
  get missing() {
    if (this.buttons.length === 0) return null;
    const marked = this.buttons.filter((button) => button.ariaPressed === "true");
    return marked.map((button) => button.querySelector("[data-element]").textContent);
  }
}

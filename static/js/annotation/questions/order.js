// The question of ordering studies: in which order the captions fit the video. The annotator puts the
// list of captions in order by keys, by buttons or by dragging, and then confirms the order.

import { Drag } from "../judging/drag.js";
import { Question } from "../judging/question.js";
import { announce, isIn, part } from "../judging/room.js";
import { translate } from "../judging/texts.js";

const CAPTIONS = 5;

export default class OrderQuestion extends Question {
  constructor(options) {
    super(options);
    this.list = part("captions");
    this.captions = [];
    this.chosen = 0;
    this.list.addEventListener("click", ({ target }) => {
      const row = target.closest("li");
      if (row) this.choose(this.rows.indexOf(row));
    });
    this.drag = new Drag(this.list, {
      onStart: (place) => this.mark(place),
      onPass: (from, to) => this.move(from, to),
      onEnd: (place) => this.announceMove(place),
    });
    ["raise", "lower"].forEach((name) => part(name).addEventListener("click", this.actions[name]));
  }

  get rows() {
    return [...this.list.children];
  }

  // --- Showing ------------------------------------------------------------------------------

  show(item) {
    this.item = item;
    this.captions = item ? inOrder(item.captions, item.places) : [];
    this.list.replaceChildren(...this.captions.map(({ text }) => rowOf(text)));
    this.isReminded = false;
    part("unmoved").hidden = true;
    if (item) this.mark(0);
  }

  focus() {
    this.rows[this.chosen].focus({ preventScroll: true });
    super.focus();
  }

  // --- Choosing and moving captions ---------------------------------------------------------

  get actions() {
    const last = CAPTIONS - 1;
    const all = {
      above: () => this.choose(this.chosen - 1),
      below: () => this.choose(this.chosen + 1),
      raise: () => this.moveChosen(this.chosen - 1),
      lower: () => this.moveChosen(this.chosen + 1),
      top: () => this.moveChosen(0),
      bottom: () => this.moveChosen(last),
    };
    for (let place = 0; place < CAPTIONS; place += 1) all[`choose-${place + 1}`] = () => this.choose(place);
    return all;
  }

  choose(place) {
    if (!isIn("ready")) return;
    this.mark(nearest(place, this.rows.length));
    this.rows[this.chosen].focus();
  }

  mark(place) {
    this.chosen = place;
    this.rows.forEach((row, number) => {
      row.tabIndex = number === place ? 0 : -1;
      row.ariaSelected = number === place;
    });
  }

  moveChosen(place) {
    if (!isIn("ready")) return;
    const from = this.chosen;
    const to = nearest(place, this.rows.length);
    if (to !== from) this.move(from, to);
    this.rows[to].scrollIntoView({ block: "nearest" });
    this.announceMove(to);
  }

  // The other rows move around this one, which keeps the focus and the pointer. The order is stored in
  // the item, because the item can be shown again before the order is confirmed.
  move(from, to) {
    const { rows } = this;
    if (to > from) rows[from].before(...rows.slice(from + 1, to + 1));
    else rows[from].after(...rows.slice(to, from));
    this.captions = moved(this.captions, from, to);
    this.item.places = this.captions.map(({ place }) => place);
    this.mark(to);
    part("unmoved").hidden = true;
  }

  announceMove(place) {
    const { text } = this.captions[place];
    const values = { place: place + 1, total: this.captions.length, caption: text };
    announce(translate("Place {place} of {total}: {caption}", values));
  }

  // --- Answers ------------------------------------------------------------------------------

  // An order in which nothing was moved must be confirmed twice.
  answer() {
    if (!this.item.places && !this.isReminded) {
      this.isReminded = true;
      part("unmoved").hidden = false;
      announce(part("unmoved").textContent);
      return null;
    }
    return { places: this.captions.map(({ place }) => place) };
  }

  textOf() {
    return translate("in first place");
  }

  captionOf({ captions, places }) {
    return inOrder(captions, places)[0].text;
  }

  textOfEarlier() {
    return translate("Your earlier order. Change it and confirm it again.");
  }

  textOfAnswered() {
    return translate("Order confirmed. Next video.");
  }
}

// Return the list with the element at `from` moved to the place `to`.
function moved(list, from, to) {
  const rest = list.toSpliced(from, 1);
  return rest.toSpliced(to, 0, list[from]);
}

// Return the nearest place from 0 to `count - 1`.
function nearest(place, count) {
  return Math.min(Math.max(place, 0), count - 1);
}

// Return the captions in the order of an answer, which contains their places on the screen. Without
// an answer, the captions keep their places.
function inOrder(captions, places) {
  if (!places) return captions;
  return places.map((place) => captions.find((caption) => caption.place === place));
}

function rowOf(text) {
  const row = document.createElement("li");
  row.className = "judge-row";
  row.setAttribute("role", "option");
  const caption = document.createElement("span");
  caption.className = "judge-row-caption";
  caption.dir = "auto";
  caption.textContent = text;
  const handle = document.createElement("span");
  handle.className = "judge-handle";
  handle.dataset.handle = "";
  row.append(caption, handle);
  return row;
}

// Dragging the rows of a list: with a mouse anywhere on a row, and with a finger or a pen by its
// handle, because elsewhere a finger scrolls the page.

// A shorter movement of the pointer is a click.
const DRAG_PIXELS = 4;
// The page scrolls while a row is dragged this near to the edge of the window.
const EDGE_PIXELS = 90;
const SCROLL_PIXELS = 8;

export class Drag {
  // `onStart(place)` is called when a drag of a row starts. `onPass(from, to)` is called when the row passes
  // other rows, and must move the rows in the page. If the row has another place at the end,
  // `onEnd(place)` is called with this place. If the browser cancels the drag, `onPass` is called instead, to
  // undo the change.
  constructor(list, { onStart, onPass, onEnd }) {
    Object.assign(this, { list, onStart, onPass, onEnd });
    list.addEventListener("pointerdown", (event) => this.press(event));
    list.addEventListener("pointermove", (event) => this.follow(event));
    list.addEventListener("pointerup", (event) => this.release(event));
    list.addEventListener("pointercancel", (event) => this.release(event));
  }

  get rows() {
    return [...this.list.children];
  }

  press({ target, pointerType, pointerId, isPrimary, button, clientY }) {
    const row = target.closest("li");
    const isGrip = pointerType === "mouse" || target.closest("[data-handle]");
    if (this.row || !row || !isGrip || !isPrimary || button !== 0) return;
    const grip = clientY - row.getBoundingClientRect().top;
    Object.assign(this, { row, pointerId, grip, startY: clientY, start: this.rows.indexOf(row) });
    this.isMoving = false;
  }

  follow({ pointerId, buttons, clientY }) {
    if (!this.row || pointerId !== this.pointerId) return;
    this.y = clientY;
    // Before the drag starts, the button may be released outside the list.
    if (!this.isMoving && buttons === 0) this.row = null;
    else if (this.isMoving) this.place();
    else if (Math.abs(clientY - this.startY) >= DRAG_PIXELS) this.startMoving();
  }

  startMoving() {
    this.isMoving = true;
    this.list.setPointerCapture(this.pointerId);
    this.row.dataset.dragged = "";
    this.onStart(this.start);
    this.place();
    this.scroll();
  }

  // Move the row to the pointer, and past other rows.
  place() {
    const { row, rows } = this;
    // Stop if the list no longer contains the row, for example because a key submitted the answer.
    if (!rows.includes(row)) this.row = null;
    if (!this.row) return;
    row.style.translate = "none";
    const { height } = row.getBoundingClientRect();
    const top = this.y - this.grip;
    const from = rows.indexOf(row);
    const to = placeOfDragged(from, { top, bottom: top + height }, rows.map(middleOf));
    if (to !== from) this.onPass(from, to);
    row.style.translate = `0 ${top - row.getBoundingClientRect().top}px`;
  }

  scroll() {
    if (!this.row) return;
    if (this.y < EDGE_PIXELS) window.scrollBy(0, -SCROLL_PIXELS);
    if (this.y > window.innerHeight - EDGE_PIXELS) window.scrollBy(0, SCROLL_PIXELS);
    this.place();
    requestAnimationFrame(() => this.scroll());
  }

  release({ type, pointerId }) {
    if (!this.row || pointerId !== this.pointerId) return;
    const { row, start, isMoving } = this;
    this.row = null;
    if (!isMoving || !this.rows.includes(row)) return;
    delete row.dataset.dragged;
    row.style.translate = "none";
    const end = this.rows.indexOf(row);
    if (end === start) return;
    if (type === "pointercancel") this.onPass(end, start);
    else this.onEnd(end);
  }
}

// Return the place of a dragged row with these edges, which was at `from`. `middles`: the middle of
// each row where it is now. A row passes another when its edge passes the other's middle, so that
// rows of different heights do not swap back and forth.
export function placeOfDragged(from, { top, bottom }, middles) {
  const below = middles.findLastIndex((middle, place) => place > from && bottom > middle);
  const above = middles.findIndex((middle, place) => place < from && top < middle);
  return [below, above, from].find((place) => place !== -1);
}

function middleOf(row) {
  const { top, bottom } = row.getBoundingClientRect();
  return (top + bottom) / 2;
}

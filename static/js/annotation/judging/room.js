// The elements of the room, and its state: loading, ready or empty, and in training also sending or
// feedback.

// Keys are ignored for this long, so that a second press meant for the previous pair does not answer
// the pair that has just appeared.
const IGNORE_KEYS_MS = 250;
// A tap is meant for what has been on the screen for this long.
const IGNORE_TAPS_MS = 150;

export const room = document.getElementById("room");
export const isTraining = "training" in room.dataset;
// Whether items have a video. Otherwise, they are texts, which are seen when they are shown.
export const hasVideo = !("texts" in room.dataset);
export const part = (name) => room.querySelector(`[data-part="${name}"]`);
// The buttons that submit an answer.
export const submits = [...room.querySelectorAll("[data-submit]")];
export const dialogs = Object.fromEntries(
  [...room.querySelectorAll("dialog")].map((dialog) => [dialog.id, dialog]),
);

let settling;
let changedAt = 0;

export function setState(state) {
  room.dataset.state = state;
  room.dataset.accepts = false;
  changedAt = performance.now();
  clearTimeout(settling);
  settling = setTimeout(() => { room.dataset.accepts = true; }, IGNORE_KEYS_MS);
  [...submits, part("unsure"), part("cannot-play")].forEach((button) => {
    button.disabled = state !== "ready";
  });
}

// Set whether the annotator has seen the pair's video or sheet. Before that, no answer is accepted.
export function setSeen(seen) {
  if (seen && !isSeen()) changedAt = performance.now();
  room.dataset.seen = seen;
  submits.forEach((button) => {
    button.ariaDisabled = !seen;
  });
}

export function isSeen() {
  return room.dataset.seen === "true";
}

export function isIn(...states) {
  return states.includes(room.dataset.state);
}

// Return whether the room has been in the state for long enough that a key press is meant for it.
export function isSettled(state) {
  return isIn(state) && room.dataset.accepts === "true";
}

// Return the same for a tap or a click on a button.
export function isSettledForTaps(state) {
  return isIn(state) && performance.now() - changedAt >= IGNORE_TAPS_MS;
}

// Scroll to the first element of the pair if it is not in view. If the buttons cover the last element that an answer
// needs, the first one moves to the top of the window.
export function bringIntoView(first, last = part("stage")) {
  const isCovered = last.getBoundingClientRect().bottom > part("foot").getBoundingClientRect().top;
  first.scrollIntoView({ block: isCovered ? "start" : "nearest" });
}

// Make screen readers read a text aloud. Use it sparingly.
export function announce(text) {
  part("live").textContent = text;
}

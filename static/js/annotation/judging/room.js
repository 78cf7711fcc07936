// The elements of the room, and its state: loading, ready or empty, and in training also sending or
// feedback.

// Keys are ignored for this long, so that a second press meant for the previous pair does not answer
// the pair that has just appeared.
const IGNORE_KEYS_MS = 250;

export const room = document.getElementById("room");
export const isTraining = "training" in room.dataset;
export const isOrdering = "ordering" in room.dataset;
export const part = (name) => room.querySelector(`[data-part="${name}"]`);
export const answers = [...room.querySelectorAll("[data-label]")];
const submits = [...answers, part("confirm")].filter(Boolean);
export const dialogs = Object.fromEntries(
  [...room.querySelectorAll("dialog")].map((dialog) => [dialog.id, dialog]),
);

let settling;

export function setState(state) {
  room.dataset.state = state;
  room.dataset.accepts = false;
  clearTimeout(settling);
  settling = setTimeout(() => { room.dataset.accepts = true; }, IGNORE_KEYS_MS);
  [...submits, part("unsure"), part("cannot-play")].forEach((button) => {
    button.disabled = state !== "ready";
  });
}

// Set whether the annotator has seen the pair's video or sheet. Before that, no answer is accepted.
export function setSeen(seen) {
  room.dataset.seen = seen;
  submits.forEach((button) => {
    button.ariaDisabled = !seen;
  });
}

export function isSeen() {
  return room.dataset.seen === "true";
}

// Mark the label of the earlier answer to the pair, or none (null).
export function markEarlierAnswer(label) {
  answers.forEach((button) => {
    button.ariaPressed = label === null ? null : button.dataset.label === String(label);
  });
}

export function isIn(...states) {
  return states.includes(room.dataset.state);
}

// Return whether the room has been in the state for long enough that a key press is meant for it.
export function isSettled(state) {
  return isIn(state) && room.dataset.accepts === "true";
}

// Make screen readers read a text aloud. Use it sparingly.
export function announce(text) {
  part("live").textContent = text;
}

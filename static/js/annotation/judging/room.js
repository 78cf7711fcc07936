// The room's parts in the page, and the state that it is in: loading, ready, empty, and in training
// sending and feedback.

// A second press meant for the pair before must not answer the one that has just appeared.
const DEAF_MS = 250;

export const room = document.getElementById("room");
export const isTraining = "training" in room.dataset;
export const part = (name) => room.querySelector(`[data-part="${name}"]`);
export const answers = [...room.querySelectorAll("[data-label]")];
export const dialogs = Object.fromEntries(
  [...room.querySelectorAll("dialog")].map((dialog) => [dialog.id, dialog]),
);

let settling;

export function setState(state) {
  room.dataset.state = state;
  room.dataset.accepts = false;
  clearTimeout(settling);
  settling = setTimeout(() => { room.dataset.accepts = true; }, DEAF_MS);
  [...answers, part("unsure"), part("cannot-play")].forEach((button) => {
    button.disabled = state !== "ready";
  });
}

// Whether anything of the pair's video has been seen; before that, no answer to it is taken.
export function setSeen(seen) {
  room.dataset.seen = seen;
  answers.forEach((button) => {
    button.ariaDisabled = !seen;
  });
}

export function isSeen() {
  return room.dataset.seen === "true";
}

// Which answer the pair has had before: the label, or null.
export function markGiven(label) {
  answers.forEach((button) => {
    button.ariaPressed = label === null ? null : button.dataset.label === String(label);
  });
}

export function isIn(...states) {
  return states.includes(room.dataset.state);
}

// Whether a press is meant for what is on the screen: it has been there for long enough.
export function isSettled(state) {
  return isIn(state) && room.dataset.accepts === "true";
}

// What the label is called on its button.
export function textOf(label) {
  return answers.find((button) => button.dataset.label === String(label)).dataset.text;
}

// For screen readers, and sparingly.
export function say(text) {
  part("live").textContent = text;
}

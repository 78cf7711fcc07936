// Keys and buttons, which start the same actions.

import { listenToKeys } from "./keys.js";
import { dialogs, isSettledForTaps, isTraining, part, room, submits } from "./room.js";

const BUTTONS = ["undo", "unsure", "cannot-play", "play", "sheet"];
const VIDEO_BUTTONS = ["frame-back", "frame-on", "slower", "faster", "sound"];

// `actions`: functions, under their names in key bindings and buttons. `answer(button)` submits an
// answer. A button that submits one has the name of its action in `data-submit`.
export function connect({ bindings, actions, answer }) {
  const all = {
    ...actions,
    guidelines: () => dialogs.guidelines.showModal(),
    keys: () => dialogs.keys.showModal(),
  };
  submits.forEach((button) => {
    all[button.dataset.submit] = () => answer(button);
  });
  listenToKeys({
    // Enter presses “Next” wherever the focus is. It cannot be chosen for another action.
    bindings: isTraining ? { ...bindings, Enter: "next" } : bindings,
    actions: all,
    isBlocked: () => room.querySelector("dialog[open]") !== null,
  });
  [...BUTTONS, ...VIDEO_BUTTONS].filter(part).forEach((name) => {
    part(name).addEventListener("click", all[name]);
  });
  connectAnswers(answer);
  connectDialogs();
  connectReason();
}

function connectAnswers(answer) {
  let isMouse = true;
  room.addEventListener("pointerdown", ({ pointerType }) => {
    isMouse = pointerType === "mouse";
  });
  submits.forEach((button) => {
    button.addEventListener("click", ({ detail }) => {
      // The first click of a double click shows the next pair. The second click is not meant for it. On touch
      // screens, people tap quickly, and do not double-click.
      if (!isMouse || detail < 2) answer(button, isSettledForTaps);
    });
  });
}

function connectDialogs() {
  room.querySelectorAll("[data-open]").forEach((button) => {
    button.addEventListener("click", () => dialogs[button.dataset.open].showModal());
  });
  room.querySelectorAll("[data-close]").forEach((button) => {
    button.addEventListener("click", () => button.closest("dialog").close());
  });
}

// Ctrl+Enter sends the form, because Enter starts a new line.
function connectReason() {
  part("reason").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    part("unsure-form").requestSubmit();
  });
}

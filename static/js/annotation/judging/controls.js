// Keys, buttons and swipes, which start the same actions.

import { listenToKeys } from "./keys.js";
import { countSwipe } from "./notices.js";
import { answers, dialogs, isSettledForTaps, isTraining, part, room } from "./room.js";
import { onSwipe } from "./swipe.js";

const BUTTONS = ["undo", "unsure", "cannot-play", "play", "sheet", "raise", "lower"];
const VIDEO_BUTTONS = ["frame-back", "frame-on", "slower", "faster", "sound"];

// `actions`: functions, under their names in key bindings and buttons. `answer(label)` submits a label, and
// `answer()` submits the order of the captions.
export function connect({ bindings, actions, answer }) {
  const all = {
    ...actions,
    guidelines: () => dialogs.guidelines.showModal(),
    keys: () => dialogs.keys.showModal(),
  };
  answers.forEach(({ dataset }) => {
    all[`answer-${dataset.label}`] = () => answer(Number(dataset.label));
  });
  all.confirm = () => answer();
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
  const submit = (event, label) => {
    // The first click of a double click shows the next pair. The second click is not meant for it. On touch
    // screens, people tap quickly, and do not double-click.
    if (!isMouse || event.detail < 2) answer(label, isSettledForTaps);
  };
  answers.forEach((button) => {
    button.addEventListener("click", (event) => submit(event, Number(button.dataset.label)));
  });
  part("confirm")?.addEventListener("click", (event) => submit(event));
  if (answers.length !== 2) return;
  const [low, high] = answers.map((button) => Number(button.dataset.label));
  const swiped = (label) => {
    countSwipe();
    answer(label);
  };
  onSwipe(part("stage"), { left: () => swiped(low), right: () => swiped(high) });
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

// The desk: plays the video, and connects keys to the links and buttons of the page. Rulings are
// plain forms, so that the desk works without scripts.

import { listenToKeys } from "./judging/keys.js";
import { SpanEditor } from "./judging/spans.js";
import { Stage } from "./judging/stage.js";

// Keys are ignored for this long, so that a second press meant for the previous pair does not
// decide the pair that has just appeared.
const IGNORE_KEYS_MS = 250;

const desk = document.getElementById("desk");
const dialog = document.getElementById("keys");
const part = (name) => desk.querySelector(`[data-part="${name}"]`);
let isLeaving = false;

const actions = { keys: () => dialog.showModal() };
if (desk.dataset.video) connectVideo();
desk.querySelectorAll("[data-action]").forEach(connectButton);

function connectVideo() {
  const showProblem = (problem) => {
    part("video-problem").textContent = problem?.text ?? "";
    part("video-problem").hidden = !problem;
  };
  const stage = new Stage(part("stage"), {
    onBroken: showProblem,
    onPlayable: () => showProblem(null),
  });
  // This replaces the page's own video, which is for browsers without scripts.
  stage.show({ assignment: desk.dataset.task, video: desk.dataset.video });
  part("stage").addEventListener("click", () => stage.toggle());
  if (part("span-track")) connectSpans(stage);
  Object.assign(actions, {
    play: () => stage.toggle(),
    "frame-back": () => stage.step(-1),
    "frame-on": () => stage.step(1),
    "second-back": () => stage.skip(-1),
    "second-on": () => stage.skip(1),
    sound: () => stage.toggleSound(),
    slower: () => stage.changeSpeed(-1),
    faster: () => stage.changeSpeed(1),
  });
}

// The lead marks the spans of the ruling on a track, which fills the field of the form.
function connectSpans(stage) {
  const field = part("span-answer");
  const editor = new SpanEditor({
    stage,
    part,
    say: (text) => { part("span-live").textContent = text; },
    onChange: ({ pairs }) => { field.value = pairs.map(([start, end]) => `${start} - ${end ?? ""}`).join("\n"); },
  });
  const spans = field.value.split("\n").map((line) => line.split(" - ").map(Number));
  const cuts = part("span-editor").dataset.cuts.split(" ").filter(Boolean).map(Number);
  editor.show({ spans: spans.filter((span) => span.length === 2), cuts });
  part("span-editor").hidden = false;
}

function connectButton(button) {
  const { action } = button.dataset;
  if (action in actions) {
    button.addEventListener("click", actions[action]);
    button.hidden = false;
  } else {
    actions[action] = () => !isLeaving && button.click();
  }
}

listenToKeys({
  bindings: JSON.parse(desk.dataset.bindings),
  actions,
  isBlocked: () => dialog.open || !desk.dataset.accepts,
});

setTimeout(() => { desk.dataset.accepts = true; }, IGNORE_KEYS_MS);

// A form is sent only once, even if its button is pressed again while the next page loads.
desk.querySelectorAll("form[method=post]").forEach((form) => {
  form.addEventListener("submit", (event) => {
    if (isLeaving) event.preventDefault();
    isLeaving = true;
  });
});
window.addEventListener("pageshow", () => {
  isLeaving = false;
});

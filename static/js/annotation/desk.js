// The lead's desk: plays the video, and keys click the buttons that are there. All else is plain
// forms and links.

import { Stage } from "./judging/stage.js";

// A second press meant for the pair before must not decide the one that has just appeared.
const DEAF_MS = 250;

const desk = document.getElementById("desk");
const part = (name) => desk.querySelector(`[data-part="${name}"]`);
const buttons = new Map(
  [...document.querySelectorAll("[data-key]")].map((button) => [button.dataset.key.toLowerCase(), button]),
);
let leaving = false;

if (desk.dataset.video) {
  const tell = (trouble) => {
    part("video-problem").textContent = trouble?.text ?? "";
    part("video-problem").hidden = !trouble;
  };
  const stage = new Stage(part("stage"), { onBroken: tell, onPlayable: () => tell(null) });
  // The page's own video, with its controls, is for browsers without scripts.
  stage.show({ assignment: desk.dataset.task, video: desk.dataset.video });
  part("stage").addEventListener("click", () => stage.toggle());
  buttons.set(" ", { click: () => stage.toggle() });
  buttons.set(",", { click: () => stage.step(-1) });
  buttons.set(".", { click: () => stage.step(1) });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  if (event.target.closest("input, textarea, select")) return;
  // A focused button keeps its own space.
  if (event.key === " " && event.target.closest("button, a, summary")) return;
  const button = buttons.get(event.key.toLowerCase());
  if (!button) return;
  event.preventDefault();
  if (!event.repeat && !leaving && desk.dataset.accepts) button.click();
});

setTimeout(() => { desk.dataset.accepts = true; }, DEAF_MS);

// One ruling per pair, however often a button is pressed while the next pair is on its way.
document.querySelector(".desk-form").addEventListener("submit", (event) => {
  if (leaving) event.preventDefault();
  leaving = true;
});
window.addEventListener("pageshow", () => {
  leaving = false;
});

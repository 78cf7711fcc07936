// A lead's review of an annotator's answers in training. Keys move the focus from answer to answer,
// and the video of the focused answer plays. Keys work only while an answer has the focus. Everything
// else is plain forms and links.

import { play, toggle } from "../shared/videos.js";

const list = document.querySelector("[data-review]");
const answers = [...list.querySelectorAll("article")];
const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

// An answer has no player if its video is missing.
const videosIn = (answer) => answer.querySelectorAll("video");

const goTo = (place) => {
  if (!answers[place]) return;
  answers[place].focus({ preventScroll: true });
  answers[place].scrollIntoView({ block: "start", behavior: reducedMotion.matches ? "auto" : "smooth" });
};

const actions = {
  n: (place) => goTo(place + 1),
  p: (place) => goTo(place - 1),
  c: (place) => answers[place].querySelector("textarea").focus(),
  " ": (place) => videosIn(answers[place]).forEach(toggle),
};

list.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const place = answers.indexOf(event.target.closest("article"));
  if (place < 0) return;
  if (event.target.closest("input, textarea, select")) {
    if (event.key === "Escape") answers[place].focus({ preventScroll: true });
    return;
  }
  const action = actions[event.key.toLowerCase()];
  // A focused link or button handles the space bar itself.
  if (!action || (event.key === " " && event.target !== answers[place])) return;
  event.preventDefault();
  action(place);
});

list.addEventListener("focusin", (event) => {
  const answer = event.target.closest("article");
  for (const other of answers) {
    if (other !== answer) videosIn(other).forEach((video) => video.pause());
  }
  if (answer === event.target && !reducedMotion.matches) videosIn(answer).forEach(play);
});

// The browser has already scrolled to the answer in the address. This gives it the focus.
if (location.hash) document.getElementById(location.hash.slice(1))?.focus();

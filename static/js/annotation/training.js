// A lead looks through a person's answers in training: keys go from one to the next, whose video
// plays. Keys act only while one of the answers has the focus. All else is plain forms and links.

const list = document.querySelector("[data-review]");
const answers = [...list.querySelectorAll("article")];
const calm = matchMedia("(prefers-reduced-motion: reduce)");

const goTo = (place) => {
  if (!answers[place]) return;
  answers[place].focus({ preventScroll: true });
  answers[place].scrollIntoView({ block: "start", behavior: calm.matches ? "auto" : "smooth" });
};

const toggle = (video) => {
  if (!video) return;
  if (video.paused) video.play().catch(() => {});
  else video.pause();
};

const actions = {
  n: (place) => goTo(place + 1),
  p: (place) => goTo(place - 1),
  c: (place) => answers[place].querySelector("textarea").focus(),
  " ": (place) => toggle(answers[place].querySelector("video")),
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
  // What is focused keeps its own space.
  if (!action || (event.key === " " && event.target !== answers[place])) return;
  event.preventDefault();
  action(place);
});

list.addEventListener("focusin", (event) => {
  const answer = event.target.closest("article");
  for (const other of answers) {
    if (other !== answer) other.querySelector("video")?.pause();
  }
  if (answer === event.target && !calm.matches) answer.querySelector("video")?.play().catch(() => {});
});

// The browser has scrolled to the answer that the address names before this ran.
if (location.hash) document.getElementById(location.hash.slice(1))?.focus();

// The comparison of ranked lists: keys, players, videos that lists share, and the link.

import { keep, recall } from "../../shared/storage.js";
import { play, toggle } from "../../shared/videos.js";

const find = (selector) => document.querySelector(selector);
const lists = Array.from(document.querySelectorAll(".compare-list"), (list) =>
  Array.from(list.querySelectorAll(".found")),
);
const items = lists.flat();
const videos = items.map((item) => item.querySelector("video")).filter(Boolean);

// Fields and players handle keys themselves.
const OWN_KEYS = "input, select, textarea, video, [contenteditable]";
const isFree = (event) => !event.target.closest(OWN_KEYS);

// --- From caption to caption, and single letters ----------------------------------------------

const step = { ArrowLeft: "prev", ArrowRight: "next" };
const letters = {
  p: () => find("[data-play-all]")?.click(),
  c: () => find("[data-copy-link]")?.click(),
  g: () => goTo(find("#id_caption")),
  f: () => goTo(find("#id_text")),
  "?": () => {
    const keys = find("[data-keys]");
    keys.open = !keys.open;
    if (keys.open) keys.querySelector("summary").focus();
  },
};

function goTo(field) {
  const fold = field.closest("details");
  if (fold) fold.open = true;
  field.focus();
  field.select();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !isFree(event)) return;
  if (!event.shiftKey && step[event.key]) find(`a[rel="${step[event.key]}"]`)?.click();
  const act = letters[event.key.toLowerCase()];
  if (!act || !find("[data-letters]")?.checked) return;
  event.preventDefault();
  act();
});

// Single-letter keys can be turned off, because speech input can trigger them by accident.
const LETTERS = "hearth-compare-letters";
const letterBox = find("[data-letters]");
if (letterBox) {
  letterBox.checked = recall(LETTERS) !== "off";
  letterBox.addEventListener("change", () => {
    keep(LETTERS, letterBox.checked ? "on" : "off");
  });
}

// --- In the lists -----------------------------------------------------------------------------

// Tab reaches one of the videos. Arrow keys move from it to the others.
function makeReachable(item) {
  for (const other of items) {
    other.tabIndex = other === item ? 0 : -1;
    const video = other.querySelector("video");
    if (video) video.tabIndex = other.tabIndex;
  }
}

function neighbour(item, key, shift) {
  const column = lists.findIndex((list) => list.includes(item));
  const row = lists[column].indexOf(item);
  if (shift) {
    const beside = lists[column + { ArrowLeft: -1, ArrowRight: 1 }[key]];
    return beside?.[Math.min(row, beside.length - 1)];
  }
  const last = lists[column].length - 1;
  return lists[column][{ ArrowUp: row - 1, ArrowDown: row + 1, Home: 0, End: last }[key]];
}

for (const item of items) {
  item.addEventListener("keydown", (event) => {
    if (event.target !== item || event.ctrlKey || event.metaKey || event.altKey) return;
    const video = item.querySelector("video");
    if (event.key === "Enter" && video) toggle(video);
    const other = neighbour(item, event.key, event.shiftKey);
    if (!other) return;
    event.preventDefault();
    other.focus();
  });
  item.addEventListener("focus", () => makeReachable(item));
}
if (items.length) makeReachable(items[0]);

// --- Videos that lists share -------------------------------------------------------------------------

function markShared(focused) {
  for (const item of items) {
    const same = focused && item !== focused && item.dataset.video === focused.dataset.video;
    item.classList.toggle("is-shared", Boolean(same));
  }
}

for (const item of items) {
  item.addEventListener("pointerenter", () => markShared(item));
  item.addEventListener("focusin", () => markShared(item));
  for (const type of ["pointerleave", "focusout"]) {
    item.addEventListener(type, () => markShared(document.activeElement?.closest(".found")));
  }
}

// --- Players: one plays at a time, or all visible ones --------------------------------------

const playAll = find("[data-play-all]");
let all = false;
const inView = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!all) continue;
    if (isIntersecting) play(target);
    else target.pause();
  }
});

for (const video of videos) {
  // The controls cover half of a small video, so they are visible only while it is used.
  const item = video.closest(".found");
  const used = () => item.matches(":hover") || item.contains(document.activeElement);
  video.controls = false;
  for (const type of ["pointerenter", "focusin"]) item.addEventListener(type, () => (video.controls = true));
  for (const type of ["pointerleave", "focusout"]) {
    item.addEventListener(type, () => setTimeout(() => (video.controls = used())));
  }
  video.addEventListener("play", () => {
    if (all) return;
    for (const other of videos) if (other !== video) other.pause();
  });
}

if (playAll && videos.length) {
  playAll.hidden = false;
  playAll.addEventListener("click", () => {
    all = !all;
    playAll.ariaPressed = String(all);
    inView.disconnect();
    for (const video of videos) {
      if (all) inView.observe(video);
      else video.pause();
    }
  });
}

// --- The link ---------------------------------------------------------------------------------

const copy = find("[data-copy-link]");
if (copy) {
  const status = find("[data-copied]");
  copy.hidden = false;
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(find("[data-link]").href);
      status.textContent = "Copied.";
    } catch {
      // Browsers allow this only over HTTPS and on localhost.
      status.textContent = "Your browser does not allow copying. Copy the address of the link instead.";
    }
  });
}

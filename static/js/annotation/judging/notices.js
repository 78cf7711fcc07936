// What the person is told beside the pair.

import { dialogs, part, room } from "./room.js";

const FEW_WAITING = 3;
const SWIPES_KEY = "hearth-swipes";
// After this many swipes in this browser the hint is hidden.
const SWIPE_HINT_MAX = 5;

export function tellJudged(count) {
  part("judged").textContent = count.toLocaleString("en");
}

// The hint that a swipe answers. Style sheets show it only on touch screens.
function showSwipeHint() {
  if (part("swipe")) part("swipe").hidden = swipes() >= SWIPE_HINT_MAX;
}

export function countSwipe() {
  localStorage.setItem(SWIPES_KEY, swipes() + 1);
  showSwipeHint();
}

function swipes() {
  return Number(localStorage.getItem(SWIPES_KEY)) || 0;
}

export function showSound(hasSound) {
  part("sound").ariaPressed = hasSound;
}

// What is wrong with the video, or null. Where the network may be to blame (`isCutOff`), nobody is asked to
// report it.
export function tellOfVideo(trouble, isCutOff) {
  part("video-problem").hidden = !trouble;
  part("video-reason").textContent = trouble?.text ?? "";
  part("video-report").hidden = isCutOff;
}

export function tellUnseen(isTold) {
  part("unseen").hidden = !isTold;
}

// Asks whether the video is to be reported all the same.
export function askAboutVideo(isCutOff) {
  part("report-cut-off").hidden = !isCutOff;
  part("report-sound").hidden = isCutOff;
  dialogs.report.showModal();
}

// Of the pair that is shown, or the one before it; empty where there is nothing to remark.
export function remark(text) {
  part("remark").textContent = text;
  part("remark").hidden = text === "";
}

export function tellOfPlaying(isPlaying) {
  part("play").dataset.playing = isPlaying;
  part("play").ariaLabel = isPlaying ? "Pause" : "Play";
}

// That answers wait, and what for. A few that wait for a moment are no news.
export function tellOfServer(server, outbox, queue) {
  const count = outbox.waiting.length;
  const { isSignedOut } = server;
  const isAway = server.isAway && (count > 0 || queue.items.length === 0);
  const isTold = count > FEW_WAITING || (count > 0 && (isSignedOut || isAway));
  part("waiting").textContent = `${count} waiting`;
  part("waiting").hidden = !isTold;
  part("signed-out").hidden = !isSignedOut;
  part("offline").hidden = !isAway;
  part("no-store").hidden = outbox.isStored || !isTold;
}

export function tellRefused(reason) {
  part("refused-reason").textContent = reason;
  part("refused").hidden = false;
}

export function tellBreak(minutes) {
  part("break-minutes").textContent = minutes;
  part("break").hidden = false;
}

// Why there is no pair, in the server's words where it has given any.
export function tellEmpty(refusal) {
  part("refusal").textContent = refusal;
  part("refusal").hidden = refusal === "";
  part("done").hidden = refusal !== "";
  if (part("train")) part("train").hidden = refusal === "";
  part("empty").focus({ preventScroll: true });
}

showSwipeHint();
room.querySelectorAll("[data-dismiss]").forEach((button) => {
  button.addEventListener("click", () => {
    button.closest(".notice").hidden = true;
  });
});

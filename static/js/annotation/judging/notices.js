// Messages around the pair.

import { dialogs, isIn, part, room } from "./room.js";
import { formatNumber, translate } from "./texts.js";

const FEW_UNSENT = 3;

let isStoreNoticeRead = false;

export function showJudged(count) {
  part("judged").textContent = formatNumber(count);
}

// Show how much is left, or nothing.
export function showLeft(text) {
  part("left").textContent = text && `· ${text}`;
}

export function showSound(hasSound) {
  part("sound").ariaPressed = hasSound;
}

// Show the problem of the video, or none (null). If the network may be the cause (`isCutOff`), the
// annotator is not asked to report it.
export function showVideoProblem(problem, isCutOff) {
  part("video-problem").hidden = !problem;
  part("video-reason").textContent = problem?.text ?? "";
  part("video-report").hidden = isCutOff;
}

export function showUnseen(isShown) {
  part("unseen").hidden = !isShown;
}

// Ask whether to report a video in which the page has found no fault.
export function confirmReport(isCutOff) {
  part("report-cut-off").hidden = !isCutOff;
  part("report-sound").hidden = isCutOff;
  dialogs.report.showModal();
}

// Show a note about this pair or the previous one. An empty text hides it.
export function showNote(text) {
  part("pair-note").textContent = text;
  part("pair-note").hidden = text === "";
}

export function showPlaying(isPlaying) {
  part("play").dataset.playing = isPlaying;
  part("play").ariaLabel = isPlaying ? translate("Pause") : translate("Play");
}

// Show the number of unsent answers, and why. While sending works, a small number is not shown.
export function showConnection(server, outbox, queue) {
  const count = outbox.unsent.length;
  const { isSignedOut } = server;
  const isAway = server.isAway && (count > 0 || queue.items.length === 0);
  const isShown = count > FEW_UNSENT || (count > 0 && (isSignedOut || isAway));
  part("unsent").textContent = translate("{count} unsent", { count });
  part("unsent").hidden = !isShown;
  part("signed-out").hidden = !isSignedOut;
  part("offline").hidden = !isAway;
  part("offline-empty").hidden = !isIn("loading");
  part("no-store").hidden = outbox.isStored || (isStoreNoticeRead && !isShown);
}

export function showRefusal(reason) {
  part("refused-reason").textContent = reason;
  part("refused").hidden = false;
}

export function suggestBreak(minutes) {
  part("break-text").textContent = translate(
    "You have been judging for {minutes} minutes. Consider taking a short break.",
    { minutes },
  );
  part("break").hidden = false;
}

// Show that there is no pair, with the server's reason, if there is one.
export function showEmpty(refusal) {
  part("refusal").textContent = refusal;
  part("refusal").hidden = refusal === "";
  part("done").hidden = refusal !== "";
  if (part("train")) part("train").hidden = refusal === "";
  part("empty").focus({ preventScroll: true });
}

part("no-store-read").addEventListener("click", () => {
  isStoreNoticeRead = true;
});
room.querySelectorAll("[data-dismiss]").forEach((button) => {
  button.addEventListener("click", () => {
    button.closest(".notice").hidden = true;
  });
});

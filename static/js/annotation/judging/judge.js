// The judging room shows a pair, accepts an answer and shows the next pair. No key press waits for the
// server: pairs and videos are loaded ahead (queue, stage), and answers are sent later (outbox). In
// training, annotators wait for the feedback on their answer. What is asked, and how it is answered, is up to the
// campaign's kind of question (question).

import { UNREACHABLE } from "./clip.js";
import { connect } from "./controls.js";
import { Guidelines } from "./guidelines.js";
import { History } from "./history.js";
import * as notices from "./notices.js";
import { Outbox } from "./outbox.js";
import { Queue } from "./queue.js";
import { Remaining } from "./remaining.js";
import {
  dialogs,
  hasVideo,
  isIn,
  isSeen,
  isSettled,
  isTraining,
  part,
  room,
  announce,
  setSeen,
  setState,
} from "./room.js";
import { Server } from "./server.js";
import { Sheet } from "./sheet.js";
import { WorkSession } from "./work-session.js";
import { Stage } from "./stage.js";
import { Tabs } from "./tabs.js";
import { Tally } from "./tally.js";
import { Timeline } from "./timeline.js";
import { translate } from "./texts.js";
import { Training } from "./training.js";
import { Viewing } from "./viewing.js";

const RELEASED_MS = 1000;
// The message about an escalation, by its kind.
const ESCALATED = {
  unsure: translate("Sent to a lead."),
  "cannot-play": translate("Video reported."),
};

const { campaign, owner } = room.dataset;
const bindings = JSON.parse(room.dataset.keys);
const showConnection = () => notices.showConnection(server, outbox, queue);
const server = new Server(owner, showConnection);
const viewing = new Viewing({ onSeen });
const guidelines = new Guidelines({ server, onRead: onGuidelinesRead });
const sheet = new Sheet(part("sheet-box"), part("sheet"), { onSeen });
const stage = new Stage(part("stage"), {
  onBroken: (problem) => notices.showVideoProblem(problem, isCutOff(problem)),
  onPlayable: () => notices.showVideoProblem(null, false),
  onPlaying: notices.showPlaying,
  onSound: notices.showSound,
  onJump: () => viewing.jump(),
});
const timeline = new Timeline({
  slider: part("timeline"),
  text: part("position"),
  onHold: () => stage.hold(),
  onRelease: () => stage.release(),
  onSeek: (seconds) => stage.seek(seconds),
});
const { default: Question } = await import(room.dataset.questionModule);
const keys = new Set(Object.keys(bindings));
const question = new Question({ stage, timeline, submit: answer, keys });
const outbox = new Outbox({
  server,
  owner,
  onChange: showConnection,
  onRefused,
  onCaughtUp: () => queue.refillNow(),
  // This room also sends answers from the room of another campaign.
  onGuideline: (version, of) => of === campaign && guidelines.receiveVersion(version),
});
const remaining = isTraining
  ? null
  : new Remaining({
      judged: Number(room.dataset.judged),
      left: Number(room.dataset.left),
      seconds_each: Number(room.dataset.secondsEach),
      onChange: notices.showLeft,
    });
const tally = new Tally(Number(room.dataset.judged), {
  countUnsent: () => outbox.countIn(campaign),
  onChange: (judged) => {
    notices.showJudged(judged);
    remaining?.show(judged);
    guidelines.countAnswers(judged);
  },
});
const queue = new Queue({
  server,
  url: room.dataset.claimUrl,
  prepare: (items) => {
    stage.prepare(items);
    sheet.prepare(items);
  },
  isUnsent: (assignment) => outbox.isUnsent(assignment),
  // In training, the number of judged pairs from the server is not used: it leaves out retired items.
  onClaim: () => (isTraining ? { left: false, receive: () => {} } : startClaim()),
  onGuideline: (version) => guidelines.receiveVersion(version),
});
const workSession = new WorkSession({
  owner,
  breakMinutes: Number(room.dataset.breakMinutes),
  onBreak: notices.suggestBreak,
});
const tabs = new Tabs(owner, {
  onAnswered,
  // Wait until the server has released the other tab's pairs.
  onLeft: () => setTimeout(() => queue.renew(), RELEASED_MS),
});
const training = isTraining ? new Training({ part, question, onNext: goOn }) : null;
const history = isTraining
  ? null
  : new History({
      server,
      list: part("history"),
      url: room.dataset.historyUrl,
      question,
      escalated: ESCALATED,
      onCorrect: goBackTo,
      onChange: (isEmpty) => {
        part("undo").disabled = isEmpty;
      },
    });

let current = null;
// The message about the previous pair if it was escalated.
let escalated = "";
// Identifies the current fetch of the next pair. Until it ends, there is no pair to answer.
let fetching = null;

function startClaim() {
  const setJudged = tally.startClaim();
  return {
    left: remaining.isOld,
    receive: (claimed) => {
      remaining.update(claimed);
      setJudged(claimed.judged);
    },
  };
}

// --- From pair to pair ----------------------------------------------------------------------

async function advance() {
  current = null;
  queue.shown = null;
  setState("loading");
  const ticket = {};
  fetching = ticket;
  const item = await queue.next();
  // Meanwhile, the annotator has gone back to an earlier pair. `item` is shown after that one.
  if (fetching !== ticket) {
    if (item) queue.putBack(item);
    return;
  }
  show(item);
}

function show(item) {
  fetching = null;
  current = item;
  queue.shown = item;
  setSeen(false);
  notices.showUnseen(false);
  notices.showVideoProblem(null, false);
  notices.showNote(noteOn(item));
  stage.show(hasVideo ? item : null);
  timeline.follow(stage.video);
  viewing.begin(stage.video);
  sheet.show(item);
  question.show(item);
  if (item && !hasVideo) onSeen();
  setState(item ? "ready" : "empty");
  if (item) question.focus();
  else notices.showEmpty(queue.refusal);
}

function noteOn(item) {
  return item?.corrects ? question.textOfEarlier(item) : escalated;
}

// The pair's video or sheet is on the screen.
function onSeen() {
  setSeen(true);
  notices.showUnseen(false);
}

// --- Answers --------------------------------------------------------------------------------

// `button` submits the answer. `isMeant(state)` returns whether a key press or a tap is meant for what the room shows.
function answer(button, isMeant = isSettled) {
  if (isIn("feedback")) goOn();
  // If Escape has closed the dialog, it opens again only after its "close" event.
  if (guidelines.isUnread) return;
  if (!isMeant("ready")) return;
  if (!isSeen()) {
    notices.showUnseen(true);
    announce(part("unseen").textContent);
    return;
  }
  const fields = question.answer(button);
  if (!fields) return;
  escalated = "";
  const item = { ...current, ...fields };
  const countsIn = isTraining || item.corrects ? null : campaign;
  const sent = outbox.add(room.dataset.submitUrl, bodyOf(item, fields), {
    item: isTraining ? item : null,
    countsIn,
    campaign,
  });
  leave(item.assignment, countsIn);
  if (isTraining) {
    waitForFeedback(sent);
    return;
  }
  if (countsIn) tally.add(1);
  history.add({ ...item, client_key: sent.client_key });
  announce(question.textOfAnswered(item));
  advance();
}

function bodyOf({ assignment, corrects = false, client_key }, fields) {
  return {
    assignment,
    ...fields,
    corrects,
    corrected_key: corrects ? client_key : null,
    guideline: guidelines.version,
    seconds: viewing.seconds,
    viewing: { ...viewing.record(), place: workSession.count(), sheet: sheet.wasSeen },
  };
}

// Remove the pair here and in other tabs.
function leave(assignment, countsIn = null) {
  queue.leave(assignment);
  tabs.sendAnswered(assignment, countsIn);
}

function undo() {
  if (history?.last) goBackTo(history.last);
}

// Show an answered or escalated pair again. The next answer corrects the earlier one, and an escalation is
// withdrawn.
function goBackTo({ escalation, ...item }) {
  escalated = "";
  if (current) queue.putBack(current);
  history.remove(item.assignment);
  if (escalation) {
    outbox.add(room.dataset.withdrawUrl, { assignment: item.assignment });
    remaining.add(1);
    escalated = translate("No longer escalated. You can answer it now.");
  }
  show({ ...item, corrects: !escalation });
  announce(noteOn(current));
  escalated = "";
}

// --- Training -------------------------------------------------------------------------------

async function waitForFeedback(sent) {
  setState("sending");
  const { body } = await outbox.response(sent);
  if (!body.feedback) {
    advance();
    return;
  }
  tally.add(1);
  setState("feedback");
  announce(training.showFeedback(body.feedback, sent.body));
}

// Go from the feedback to the next pair.
function goOn() {
  if (isSettled("feedback")) advance();
}

// --- Escalations ----------------------------------------------------------------------------

function escalate(kind, reason) {
  if (!isIn("ready")) return;
  const { corrects, ...item } = current;
  outbox.add(room.dataset.escalateUrl, { assignment: item.assignment, kind, reason });
  leave(item.assignment);
  // If the pair was opened again with undo, its earlier answer no longer counts.
  if (corrects) tally.add(-1);
  remaining?.add(-1);
  escalated = ESCALATED[kind];
  history?.add({ ...item, escalation: kind });
  announce(`${escalated} ${question.next}`);
  advance();
}

// A video in which the page has found no fault is reported only after a confirmation.
function cannotPlay() {
  if (!isSettled("ready")) return;
  if (stage.problem?.isFault) escalate("cannot-play", stage.problem.text);
  else notices.confirmReport(isCutOff(stage.problem));
}

// Return whether the network may be the cause of the video's problem.
function isCutOff(problem) {
  return !problem?.isFault && (problem === UNREACHABLE || server.isAway || !navigator.onLine);
}

function openReasonDialog() {
  if (!isSettled("ready")) return;
  part("reason").value = "";
  dialogs.unsure.showModal();
}

// The time on the pair starts when the annotator has read the guidelines.
function onGuidelinesRead() {
  if (isIn("ready")) viewing.restart();
}

// --- Other tabs, the server and the browser -------------------------------------------------

function onRefused({ body }, detail) {
  history?.remove(body.assignment);
  notices.showRefusal(detail);
}

// The same person has answered a pair in another tab.
function onAnswered({ assignment, countsIn }) {
  queue.leave(assignment);
  if (countsIn === campaign) tally.add(1);
  if (current?.assignment !== assignment || !isIn("ready")) return;
  announce(question.answeredElsewhere);
  advance();
}

// The browser shows the page again from its memory. Its pairs were released when it was left.
function restart() {
  const isFree = !isIn("sending", "feedback");
  if (isFree && current) queue.putBack(current);
  if (isFree) queue.shown = null;
  queue.renew();
  if (isFree) advance();
}

// Release unanswered pairs immediately, so that others do not wait for the leases to end.
window.addEventListener("pagehide", () => {
  server.post(room.dataset.releaseUrl, {});
  tabs.sendLeft();
});
window.addEventListener("pageshow", (event) => {
  if (event.persisted) restart();
});
window.addEventListener("beforeunload", (event) => {
  if (outbox.unsent.length > 0) event.preventDefault();
});

// --- Start ----------------------------------------------------------------------------------

function setSpeed(direction) {
  part("speed").textContent = `${stage.changeSpeed(direction)}×`;
}

function toggleSheet() {
  sheet.toggle();
  sheet.prepare(queue.coming);
}

connect({
  bindings,
  answer,
  actions: {
    undo,
    unsure: openReasonDialog,
    "cannot-play": cannotPlay,
    play: () => (isIn("feedback") ? goOn() : stage.toggle()),
    "frame-back": () => stage.step(-1),
    "frame-on": () => stage.step(1),
    "second-back": () => stage.skip(-1),
    "second-on": () => stage.skip(1),
    sound: () => stage.toggleSound(),
    slower: () => setSpeed(-1),
    faster: () => setSpeed(1),
    sheet: toggleSheet,
    next: goOn,
    ...question.actions,
  },
});
part("unsure-form").addEventListener("submit", () => escalate("unsure", part("reason").value));
part("report-form").addEventListener("submit", () => {
  escalate("cannot-play", part("video-reason").textContent || translate("The page found no problem."));
});
part("stage").addEventListener("click", () => stage.toggle());
part("retry").addEventListener("click", () => {
  // The annotator may have accepted a consent text or passed the training on another page.
  if (queue.refusal) location.reload();
  queue.reopen();
  advance();
});
setSpeed(0);
history?.load();
await outbox.open();
tally.add(outbox.countIn(campaign));
// An answer that was submitted before the page was reloaded and that has no feedback yet.
const pendingFeedback = isTraining ? outbox.unsent.find(({ item }) => item) : null;
if (pendingFeedback) {
  show(pendingFeedback.item);
  waitForFeedback(pendingFeedback);
} else {
  advance();
}

// The judging room: shows a pair, takes an answer, shows the next. No key press waits for the
// server: pairs and videos come ahead of it (queue, stage), answers go out behind it (outbox). Only
// in training does the person wait, to be told whether they were right.

import { Checklist } from "./checklist.js";
import { AWAY } from "./clip.js";
import { connect } from "./controls.js";
import { Guidelines } from "./guidelines.js";
import { History } from "./history.js";
import * as notices from "./notices.js";
import { Outbox } from "./outbox.js";
import { Queue } from "./queue.js";
import {
  dialogs,
  isIn,
  isSeen,
  isSettled,
  isTraining,
  markGiven,
  part,
  room,
  say,
  setSeen,
  setState,
  textOf,
} from "./room.js";
import { Server } from "./server.js";
import { Sheet } from "./sheet.js";
import { Sitting } from "./sitting.js";
import { Stage } from "./stage.js";
import { Tabs } from "./tabs.js";
import { Tally } from "./tally.js";
import { Timeline } from "./timeline.js";
import { Training } from "./training.js";
import { Viewing } from "./viewing.js";

const GIVEN_BACK_MS = 1000;

const { campaign, owner } = room.dataset;
const bindings = JSON.parse(room.dataset.keys);
const tellOfServer = () => notices.tellOfServer(server, outbox, queue);
const server = new Server(owner, tellOfServer);
const viewing = new Viewing({ onSeen });
const guidelines = new Guidelines({ server, onRead: onGuidelinesRead });
const checklist = new Checklist(part("checklist"), {
  caption: part("caption"),
  keys: new Set(Object.keys(bindings)),
});
const sheet = new Sheet(part("sheet-box"), part("sheet"), { onSeen });
const stage = new Stage(part("stage"), {
  onBroken: (trouble) => notices.tellOfVideo(trouble, isCutOff(trouble)),
  onPlayable: () => notices.tellOfVideo(null, false),
  onPlaying: notices.tellOfPlaying,
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
const outbox = new Outbox({
  server,
  owner,
  onChange: tellOfServer,
  onRefused,
  onCaughtUp: () => queue.ask(),
  // This room also sends answers from the room of another campaign.
  onGuideline: (version, of) => of === campaign && guidelines.hear(version),
});
const tally = new Tally(Number(room.dataset.judged), {
  waiting: () => outbox.countIn(campaign),
  tell: notices.tellJudged,
});
const queue = new Queue({
  server,
  url: room.dataset.claimUrl,
  prepare: (items) => {
    stage.prepare(items);
    sheet.prepare(items);
  },
  isOnItsWay: (assignment) => outbox.isWaiting(assignment),
  // In training, pairs that were taken out of it meanwhile are not counted.
  onAsk: () => (isTraining ? () => {} : tally.ask()),
  onGuideline: (version) => guidelines.hear(version),
});
const sitting = new Sitting({
  owner,
  breakMinutes: Number(room.dataset.breakMinutes),
  onBreak: notices.tellBreak,
});
const tabs = new Tabs(owner, {
  onAnswered,
  // Once what the other tab gives back has arrived.
  onLeft: () => setTimeout(() => queue.renew(), GIVEN_BACK_MS),
});
const training = isTraining ? new Training({ part, textOf, onNext: goOn }) : null;
const history = isTraining
  ? null
  : new History({
      server,
      list: part("history"),
      url: room.dataset.historyUrl,
      textOf,
      onCorrect: goBackTo,
      onChange: (isEmpty) => {
        part("undo").disabled = isEmpty;
      },
    });

let current = null;
// What became of the pair before, if it was handed on.
let handedOn = "";
// One at a time: while the next pair is being fetched there is none to answer.
let fetching = null;

// --- From pair to pair ----------------------------------------------------------------------

async function advance() {
  current = null;
  queue.shown = null;
  setState("loading");
  const ticket = {};
  fetching = ticket;
  const item = await queue.next();
  // Meanwhile the person went back to an earlier pair: this one comes after it.
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
  notices.tellUnseen(false);
  notices.tellOfVideo(null, false);
  notices.remark(remarkOn(item));
  stage.show(item);
  timeline.follow(stage.video);
  viewing.begin(stage.video);
  sheet.show(item);
  part("caption").textContent = item ? item.caption : "";
  checklist.show(item);
  markGiven(item?.corrects ? item.label : null);
  setState(item ? "ready" : "empty");
  if (item) part("caption").focus({ preventScroll: true });
  else notices.tellEmpty(queue.refusal);
}

function remarkOn(item) {
  if (item?.corrects) return `Again: you said ${textOf(item.label)}.`;
  return handedOn && `${handedOn}; it cannot be taken back here.`;
}

// Something of the pair is on the screen.
function onSeen() {
  setSeen(true);
  notices.tellUnseen(false);
}

// --- Answers --------------------------------------------------------------------------------

function answer(label) {
  if (isIn("feedback")) goOn();
  // A dialog that Escape has closed opens again only after its "close" event.
  if (guidelines.isUnread) return;
  if (!isSettled("ready")) return;
  if (!isSeen()) {
    notices.tellUnseen(true);
    say(part("unseen").textContent);
    return;
  }
  handedOn = "";
  const item = { ...current, missing: checklist.missing, label };
  const countsIn = isTraining || item.corrects ? null : campaign;
  const sent = outbox.add(room.dataset.submitUrl, bodyOf(item), {
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
  history.add(item);
  say(`${textOf(label)}. Next pair.`);
  advance();
}

function bodyOf({ assignment, corrects = false, missing, label }) {
  return {
    assignment,
    label,
    corrects,
    missing,
    guideline: guidelines.version,
    seconds: viewing.seconds,
    viewing: { ...viewing.record(), place: sitting.count(), sheet: sheet.wasSeen },
  };
}

// The pair does not come again, neither here nor in another tab.
function leave(assignment, countsIn = null) {
  queue.leave(assignment);
  tabs.tellAnswered(assignment, countsIn);
}

// Whoever has just handed a pair on means that one, and not the one answered before it.
function undo() {
  if (isTraining) return;
  if (handedOn) tellOfHandedOn();
  else if (history.last) goBackTo(history.last);
}

function tellOfHandedOn() {
  const more = history.last ? " Undo once more opens your last answer." : "";
  const text = `${handedOn}; it cannot be taken back here.${more}`;
  handedOn = "";
  notices.remark(text);
  say(text);
}

// A pair answered before comes back; answering it again corrects the first answer.
function goBackTo(item) {
  handedOn = "";
  if (current) queue.putBack(current);
  history.remove(item.assignment);
  show({ ...item, corrects: true });
  say(remarkOn(current));
}

// --- Training -------------------------------------------------------------------------------

async function waitForFeedback(sent) {
  setState("sending");
  const { body } = await outbox.outcome(sent);
  if (!body.feedback) {
    advance();
    return;
  }
  tally.add(1);
  setState("feedback");
  say(training.tell(body.feedback, sent.body.label));
}

// From what was told to the next pair.
function goOn() {
  if (isSettled("feedback")) advance();
}

// --- Handing a pair on instead of answering it ----------------------------------------------

function escalate(kind, reason) {
  if (!isIn("ready")) return;
  outbox.add(room.dataset.escalateUrl, { assignment: current.assignment, kind, reason });
  leave(current.assignment);
  handedOn = kind === "unsure" ? "Sent to a lead" : "Reported";
  say(`${handedOn}; it cannot be taken back here. Next pair.`);
  advance();
}

// A video that seems to be in order is reported only after a second look.
function cannotPlay() {
  if (!isSettled("ready")) return;
  if (stage.trouble?.isFault) escalate("cannot-play", stage.trouble.text);
  else notices.askAboutVideo(isCutOff(stage.trouble));
}

// Whether the network may be to blame for what is wrong with the video.
function isCutOff(trouble) {
  return !trouble?.isFault && (trouble === AWAY || server.isAway || !navigator.onLine);
}

function askForReason() {
  if (!isSettled("ready")) return;
  part("reason").value = "";
  dialogs.unsure.showModal();
}

// The time on the pair begins when the annotator has read them.
function onGuidelinesRead() {
  if (isIn("ready")) viewing.beginAgain();
}

// --- What comes from elsewhere --------------------------------------------------------------

function onRefused({ body }, said) {
  history?.remove(body.assignment);
  notices.tellRefused(said);
}

// In another tab, by the same person.
function onAnswered({ assignment, countsIn }) {
  queue.leave(assignment);
  if (countsIn === campaign) tally.add(1);
  if (current?.assignment !== assignment || !isIn("ready")) return;
  say("You have answered this pair in another tab. Next pair.");
  advance();
}

// The page is shown again from the browser's memory; what it held went back when it was left.
function startAnew() {
  const isFree = !isIn("sending", "feedback");
  if (isFree && current) queue.putBack(current);
  if (isFree) queue.shown = null;
  queue.renew();
  if (isFree) advance();
}

// What is held and not answered goes back at once, for others need not wait for the lease to end.
window.addEventListener("pagehide", () => {
  server.post(room.dataset.releaseUrl, {});
  tabs.tellLeft();
});
window.addEventListener("pageshow", (event) => {
  if (event.persisted) startAnew();
});
window.addEventListener("beforeunload", (event) => {
  if (outbox.waiting.length > 0) event.preventDefault();
});

// --- Beginning ------------------------------------------------------------------------------

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
    unsure: askForReason,
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
    ...checklist.actions,
  },
});
part("unsure-form").addEventListener("submit", () => escalate("unsure", part("reason").value));
part("report-form").addEventListener("submit", () => {
  escalate("cannot-play", part("video-reason").textContent || "The page itself saw no fault.");
});
part("stage").addEventListener("click", () => stage.toggle());
part("again").addEventListener("click", () => {
  // What was in the way may be on another page by now: a consent, a training that was passed.
  if (queue.refusal) location.reload();
  queue.lookAgain();
  advance();
});
setSpeed(0);
history?.load();
await outbox.open();
tally.add(outbox.countIn(campaign));
// Answered before a reload, and not yet told whether it was right.
const untold = isTraining ? outbox.waiting.find(({ item }) => item) : null;
if (untold) {
  show(untold.item);
  waitForFeedback(untold);
} else {
  advance();
}

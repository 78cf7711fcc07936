// The judging room: shows a pair, takes an answer, shows the next. No key press waits for the
// server: pairs and videos come ahead of it (queue, stage), answers go out behind it (outbox).

import { History } from "./history.js";
import { Outbox, post } from "./outbox.js";
import { Queue } from "./queue.js";
import { Stage } from "./stage.js";
import { onSwipe } from "./swipe.js";

// A second press meant for the pair before must not answer the one that has just appeared.
const DEAF_MS = 250;

const room = document.getElementById("room");
const part = (name) => room.querySelector(`[data-part="${name}"]`);
const answers = [...room.querySelectorAll("[data-label]")];
const dialogs = Object.fromEntries(
  [...room.querySelectorAll("dialog")].map((dialog) => [dialog.id, dialog]),
);

const stage = new Stage(part("stage"), {
  onBroken: (reason) => tellOfVideo(reason),
  onPlayable: () => tellOfVideo(""),
});
const queue = new Queue({
  url: room.dataset.claimUrl,
  stage,
  onItsWay: (assignment) =>
    outbox.waiting.some((answer) => answer.body.assignment === assignment),
  onTrouble: () => {
    part("logged-out").hidden = !queue.loggedOut;
  },
});
const outbox = new Outbox({
  owner: room.dataset.owner,
  onChange: tellOfOutbox,
});

const history = new History({
  list: part("history"),
  url: room.dataset.historyUrl,
  textOf,
  onCorrect: goBackTo,
});
let current = null;
let shownAt = 0;
let judged = Number(room.dataset.judged);

// One at a time: while the next pair is being fetched there is none to answer.
let fetching = null;

async function advance() {
  current = null;
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
  stage.show(item);
  shownAt = performance.now();
  part("caption").textContent = item ? item.caption : "";
  part("undo").disabled = history.isEmpty;
  part("logged-out").hidden = true;
  part("closed").hidden = !queue.closed;
  part("done").hidden = queue.closed;
  setState(item ? "ready" : "empty");
  if (item) part("caption").focus({ preventScroll: true });
}

function answer(label) {
  if (room.dataset.state !== "ready" || performance.now() - shownAt < DEAF_MS) return;
  const seconds = Math.round(performance.now() - shownAt) / 1000;
  const { assignment, corrects = false } = current;
  outbox.add(room.dataset.submitUrl, { assignment, label, seconds, corrects });
  if (!corrects) setJudged(judged + 1);
  history.add(current, label);
  say(`${textOf(label)}. Next pair.`);
  advance();
}

function undo() {
  const item = history.last;
  if (item) goBackTo(item);
}

// A pair answered before comes back; answering it again corrects the first answer.
function goBackTo(item) {
  if (current) queue.putBack(current);
  history.remove(item);
  show({ ...item, corrects: true });
  say("Back to a pair that you have answered.");
}

// Hand the pair on instead of answering it.
function escalate(kind, reason) {
  if (room.dataset.state !== "ready") return;
  outbox.add(room.dataset.escalateUrl, { assignment: current.assignment, kind, reason });
  say(kind === "unsure" ? "Sent to a lead. Next pair." : "Reported. Next pair.");
  advance();
}

function cannotPlay() {
  escalate("cannot-play", part("video-reason").textContent);
}

function askForReason() {
  if (room.dataset.state !== "ready") return;
  part("reason").value = "";
  dialogs.unsure.showModal();
}

function setSpeed(direction) {
  part("speed").textContent = `${stage.changeSpeed(direction)}×`;
}

function setJudged(count) {
  judged = count;
  part("judged").textContent = judged.toLocaleString();
}

function setState(state) {
  room.dataset.state = state;
  [...answers, part("unsure"), part("cannot-play")].forEach((button) => {
    button.disabled = state !== "ready";
  });
}

function tellOfVideo(reason) {
  part("video-problem").hidden = reason === "";
  part("video-reason").textContent = reason;
}

function tellOfOutbox({ waiting, loggedOut, refused, failing }) {
  const badge = part("waiting");
  badge.hidden = waiting === 0 || !(failing || loggedOut || waiting > 3);
  badge.textContent = `${waiting} waiting`;
  part("logged-out").hidden = !loggedOut;
  part("refused").hidden = refused === 0;
}

function textOf(label) {
  return answers.find((button) => button.dataset.label === String(label)).dataset.text;
}

function say(text) {
  part("live").textContent = text;
}

const keys = {
  z: undo,
  backspace: undo,
  u: askForReason,
  x: cannotPlay,
  " ": () => stage.toggle(),
  ",": () => stage.step(-1),
  ".": () => stage.step(1),
  "[": () => setSpeed(-1),
  "]": () => setSpeed(1),
  h: () => dialogs.guidelines.showModal(),
  "?": () => dialogs.keys.showModal(),
};
answers.forEach((button, place) => {
  const label = Number(button.dataset.label);
  button.addEventListener("click", () => answer(label));
  keys[button.dataset.key.toLowerCase()] = () => answer(label);
  if (answers.length === 2) keys[place === 0 ? "arrowleft" : "arrowright"] = () => answer(label);
});

document.addEventListener("keydown", (event) => {
  const action = keys[event.key.toLowerCase()];
  if (!action || room.querySelector("dialog[open]")) return;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  // A focused button keeps its own space and enter; text fields keep everything.
  if (event.target.closest("input, textarea, select")) return;
  if (event.key === " " && event.target.closest("button, a, summary")) return;
  event.preventDefault();
  if (!event.repeat) action();
});

part("undo").addEventListener("click", undo);
part("cannot-play").addEventListener("click", cannotPlay);
part("unsure").addEventListener("click", askForReason);
part("unsure-form").addEventListener("submit", () => escalate("unsure", part("reason").value));
part("slower").addEventListener("click", () => setSpeed(-1));
part("faster").addEventListener("click", () => setSpeed(1));
setSpeed(0);
if (answers.length === 2) {
  const [low, high] = answers.map((button) => Number(button.dataset.label));
  onSwipe(part("stage"), { left: () => answer(low), right: () => answer(high) });
}
part("again").addEventListener("click", () => {
  queue.lookAgain();
  advance();
});
part("stage").addEventListener("click", () => stage.toggle());
room.querySelectorAll("[data-open]").forEach((button) => {
  button.addEventListener("click", () => dialogs[button.dataset.open].showModal());
});
room.querySelectorAll("[data-close]").forEach((button) => {
  button.addEventListener("click", () => button.closest("dialog").close());
});
// What is held and not answered goes back at once, for others need not wait for the lease to end.
window.addEventListener("pagehide", () => {
  post(room.dataset.releaseUrl, {}).catch(() => {});
});
window.addEventListener("beforeunload", (event) => {
  if (outbox.waiting.length > 0) event.preventDefault();
});

outbox
  .open()
  .catch(() => say("This browser keeps no answers for later; stay online."))
  .then(advance);
history.load();

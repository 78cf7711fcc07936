// A judging room for tests that press keys: the parts of its page, and a server with pairs.

import { h, load, openBrowser, pass, settle } from "./browser.mjs";

// Longer than the time in which the room ignores keys.
export const SETTLED_MS = 251;

const QUESTIONS = new URL("../../static/js/annotation/questions/", import.meta.url);

const BINDINGS = {
  j: "answer-1",
  f: "answer-0",
  z: "undo",
  u: "unsure",
  x: "cannot-play",
  Space: "play",
};
const ORDER_BINDINGS = {
  1: "choose-1",
  2: "choose-2",
  3: "choose-3",
  4: "choose-4",
  5: "choose-5",
  ArrowUp: "above",
  ArrowDown: "below",
  o: "raise",
  l: "lower",
  Home: "top",
  End: "bottom",
  Enter: "confirm",
  z: "undo",
  u: "unsure",
  x: "cannot-play",
};
const BUTTONS = [
  "retry", "undo", "unsure", "cannot-play", "play", "frame-back", "frame-on", "slower", "faster", "sound",
  "no-store-read", "guideline-read", "guideline-close", "next", "judge-now", "judge-open",
];
const PARTS = [
  "break", "break-text", "done", "empty", "explanation", "feedback", "first", "foot", "own-answer", "guideline-changed",
  "judged", "left", "live", "no-store", "offline", "offline-empty", "opened", "position", "reason", "refusal", "refused", "refused-reason",
  "pair-note", "report-cut-off", "report-form", "report-sound", "signed-out", "speed", "stage", "swipe", "timeline", "unseen",
  "unsure-form", "verdict", "video-problem", "video-reason", "video-report", "unsent",
];

const named = (tag, name, ...children) => h(tag, { "data-part": name }, ...children);
const answerButton = (label, text) =>
  h("button", { "data-submit": `answer-${label}`, "data-label": label, "data-text": text });
const guideline = (version) => h("div", { "data-version": version });

const captionOfPair = () => [named("p", "caption"), answerButton(0, "Not relevant"), answerButton(1, "Relevant")];
const captionsToOrder = () => [
  named("ol", "captions"),
  named("p", "unmoved"),
  ...["raise", "lower"].map((name) => named("button", name)),
  h("button", { "data-submit": "confirm" }),
];

function buildRoom({ training, ordering }) {
  const requirement = h(
    "p", { "data-requirement": "", "data-last": 2, "data-needed": 2, "data-name": "Round 1", "data-url": "/round-1/" },
    h("b", { "data-requirement-count": "" }),
    h("b", { "data-requirement-met": "", hidden: true }),
    h("b", { "data-requirement-unmet": "" }),
  );
  const dialogs = ["keys", "unsure", "report"].map((id) => h("dialog", { id }));
  const room = h(
    "div",
    {
      id: "room",
      "data-state": "loading",
      "data-campaign": "8",
      "data-owner": "1",
      "data-claim-url": "/claim/",
      "data-submit-url": "/judgments/",
      "data-escalate-url": "/escalations/",
      "data-withdraw-url": "/withdrawals/",
      "data-history-url": "/history/",
      "data-release-url": "/release/",
      "data-judged": "0",
      "data-left": "12",
      "data-seconds-each": "0",
      "data-keys": JSON.stringify(ordering ? ORDER_BINDINGS : BINDINGS),
      "data-break-minutes": "0",
      ...(training ? { "data-training": "" } : {}),
      "data-question-module": new URL(`${ordering ? "order" : "label"}.js`, QUESTIONS).href,
    },
    ...(ordering ? captionsToOrder() : captionOfPair()),
    ...BUTTONS.map((name) => named("button", name)),
    ...PARTS.map((name) => named("div", name)),
    h("div", { popover: "" }, named("ul", "history")),
    h("dialog", { id: "guidelines", "data-url": "/guidelines/" }, h("h2"), named("div", "guideline", guideline(1))),
    h("div", { "data-part": "requirements", "data-right": "" }, requirement),
    ...dialogs,
  );
  document.body.append(room);
  return room;
}

const captionOf = (number) => ({ caption: `caption ${number}` });
// Five captions to be put in order: 1a to 1e, 2a to 2e, and so on.
const captionsOf = (number) => ({
  captions: [..."abcde"].map((letter, place) => ({ place, text: `${number}${letter}` })),
});

export class Room {
  static async open({ training = false, ordering = false, pairs = 12, past = [], machine = undefined, server = null } = {}) {
    const room = new Room();
    const browser = openBrowser({ machine, now: machine ? Date.now() : undefined });
    room.machine = browser.machine;
    room.server = browser.server;
    room.element = buildRoom({ training, ordering });
    if (server) room.server.handlers = server.handlers;
    else room.serve(pairs, ordering ? captionsOf : captionOf);
    if (past.length > 0) room.server.on("/history/", () => ({ body: past }));
    await load("judge");
    await settle();
    return room;
  }

  // Assign pairs 1 to `pairs`, and accept every answer.
  serve(pairs, contentOf = captionOf) {
    const items = Array.from({ length: pairs }, (_, place) => ({
      assignment: place + 1,
      ...contentOf(place + 1),
      video: `/media/${place + 1}/`,
    }));
    this.server.on("/claim/", () => ({ body: { items: items.splice(0, 10), judged: 0 } }));
    this.server.on("/history/", () => ({ body: [] }));
    this.server.on("/release/", () => ({}));
    this.server.on("/judgments/", () => ({ status: 201 }));
    this.server.on("/escalations/", () => ({ status: 201 }));
    this.server.on("/withdrawals/", () => ({ status: 200 }));
    for (let number = 1; number <= pairs; number += 1) {
      this.server.on(`/media/${number}/`, () => ({ body: "video" }));
    }
  }

  part(name) {
    return this.element.querySelector(`[data-part="${name}"]`);
  }

  get state() {
    return this.element.dataset.state;
  }

  get caption() {
    return this.part("caption").textContent;
  }

  // The captions to be put in order, as they are shown.
  get captions() {
    return this.part("captions").children.map((row) => row.textContent);
  }

  get video() {
    return this.part("stage").children[0];
  }

  // Show the first frame, and wait until the pair can be answered.
  async look() {
    this.video.arrive();
    this.video.showFrame();
    await pass(SETTLED_MS);
  }

  async press(key) {
    document.body.fire("keydown", { key });
    await settle();
  }

  async judge(...keys) {
    for (const key of keys) {
      await this.look();
      await this.press(key);
    }
  }

  // Return the requests to an address, as [pair, value of a field].
  sent(url, field) {
    return this.server.callsOf(url).map((body) => [body.assignment, body[field]]);
  }

  get answers() {
    return this.sent("/judgments/", "label");
  }
}

// The pairs that come next: claimed a batch at a time, their videos fetched before they are shown.

import { post } from "./outbox.js";

const CLAIM = 10;
const REFILL_BELOW = 5;
const PRELOAD = 3;
const RETRY_MS = 3000;
const WAIT_MS = 300;
// Not, or no longer, open to this person: asking again by itself would not help.
const CLOSED = new Set([403, 404, 409]);

export class Queue {
  // `onItsWay(assignment)` tells whether an answer to it has yet to reach the server.
  // `onTrouble` is called where a claim failed that will be tried again.
  constructor({ url, stage, onItsWay, onTrouble }) {
    this.onTrouble = onTrouble;
    this.url = url;
    this.stage = stage;
    this.onItsWay = onItsWay;
    this.items = [];
    this.seen = new Set();
    this.exhausted = false;
    this.closed = false;
    this.loggedOut = false;
  }

  // The next item, or null where there is none for this person now.
  async next() {
    while (this.items.length === 0 && !this.exhausted) await this.refill();
    const item = this.items.shift() ?? null;
    if (this.items.length < REFILL_BELOW) this.refill();
    this.preload();
    return item;
  }

  // Put items back in front, first one first: for undo.
  putBack(...items) {
    this.items.unshift(...items);
    this.preload();
  }

  lookAgain() {
    this.exhausted = false;
  }

  // One claim at a time. It returns what is held already, too, so known items are dropped.
  refill() {
    this.refilling ??= this.claim().finally(() => {
      this.refilling = null;
    });
    return this.refilling;
  }

  async claim() {
    let response;
    try {
      response = await post(this.url, { count: CLAIM });
    } catch {
      response = null;
    }
    this.loggedOut = response?.status === 401;
    this.closed = CLOSED.has(response?.status);
    if (this.closed) {
      this.exhausted = true;
      return;
    }
    if (!response?.ok) {
      this.onTrouble();
      await pause(RETRY_MS);
      return;
    }
    const { items } = await response.json();
    // Nor those whose answer is still on its way, perhaps since before a reload.
    const fresh = items.filter(
      ({ assignment }) => !this.seen.has(assignment) && !this.onItsWay(assignment),
    );
    fresh.forEach((item) => this.seen.add(item.assignment));
    this.items.push(...fresh);
    this.preload();
    if (this.items.length > 0) return;
    // Answers under way make room for new pairs once they are stored; without any, that was all.
    if (items.some((item) => this.onItsWay(item.assignment))) await pause(WAIT_MS);
    else this.exhausted = true;
  }

  preload() {
    this.items.slice(0, PRELOAD).forEach((item) => this.stage.prepare(item));
  }
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

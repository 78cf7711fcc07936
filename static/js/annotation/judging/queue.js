// The pairs that come next: claimed a batch at a time, made ready before they are shown.

const CLAIM = 10;
const REFILL_BELOW = 5;
const PRELOAD = 3;
const RETRY_MS = 3000;
const WAIT_MS = 300;
// Leases last for half an hour; what was claimed longer ago than this may be another's by now.
const STALE_MS = 25 * 60 * 1000;
// Not, or no longer, open to this person: asking again by itself would not help.
const REFUSED = new Set([403, 404, 409]);

export class Queue {
  // `prepare(items)` is told which pairs come next. `isOnItsWay(assignment)` tells whether an
  // answer to it has yet to reach the server. `onAsk()` is called before each claim, and what it
  // returns with how many pairs the server says are judged. `onGuideline(version)` is called with
  // the current version of the campaign's guidelines.
  constructor({ server, url, prepare, isOnItsWay, onAsk, onGuideline }) {
    Object.assign(this, { server, url, prepare, isOnItsWay, onAsk, onGuideline });
    this.items = [];
    this.shown = null;
    this.gone = new Set();
    this.isExhausted = false;
    this.refusal = "";
    this.claimedAt = Infinity;
  }

  // The next item, or null where there is none for this person now.
  async next() {
    if (Date.now() - this.claimedAt > STALE_MS) await this.renew();
    while (this.items.length === 0 && !this.isExhausted) await this.refill();
    const item = this.items.shift() ?? null;
    this.shown = item;
    if (item && this.items.length < REFILL_BELOW) this.refill();
    this.prepareNext();
    return item;
  }

  // Put an item back in front: for undo.
  putBack(item) {
    this.items.unshift(item);
    this.prepareNext();
  }

  // Answered or handed on: it does not come again.
  leave(assignment) {
    this.gone.add(assignment);
    this.items = this.items.filter((item) => item.assignment !== assignment);
  }

  lookAgain() {
    this.isExhausted = false;
    this.refusal = "";
  }

  // What was claimed may have been given back: take what the server says instead, if it can be
  // asked.
  async renew() {
    const before = this.items;
    this.items = [];
    this.lookAgain();
    if (!(await this.refill())) this.items.push(...before);
  }

  // Ask the server, though there are pairs enough; not before it has said what it was asked.
  async ask() {
    await this.refilling;
    await this.refill();
  }

  // One claim at a time. True where the server has said what there is.
  refill() {
    this.refilling ??= this.claim().finally(() => {
      this.refilling = null;
    });
    return this.refilling;
  }

  async claim() {
    const hear = this.onAsk();
    const outcome = await this.server.post(this.url, { count: CLAIM });
    const { status, body, said, isSignedOut } = outcome;
    if (status === 200) {
      this.onGuideline(outcome.guideline);
      hear(body.judged);
      await this.take(body.items);
    } else if (REFUSED.has(status) && !isSignedOut) this.close(said);
    else {
      if (this.items.length === 0) await pause(RETRY_MS);
      return false;
    }
    return true;
  }

  // A claim brings what is held already, too: known items are dropped, and so are those whose
  // answer is still on its way, perhaps since before a reload.
  async take(items) {
    this.claimedAt = Date.now();
    const known = new Set([this.shown, ...this.items].map((item) => item?.assignment));
    const isFresh = ({ assignment }) =>
      !known.has(assignment) && !this.gone.has(assignment) && !this.isOnItsWay(assignment);
    this.items.push(...items.filter(isFresh));
    this.prepareNext();
    if (this.items.length > 0) return;
    // Answers under way make room for new pairs once they are stored; without any, that was all.
    if (items.some((item) => this.isOnItsWay(item.assignment))) await pause(WAIT_MS);
    else this.isExhausted = true;
  }

  // The server hands out nothing, and has taken back what it had handed out.
  close(reason) {
    this.isExhausted = true;
    this.refusal = reason;
    this.items = [];
  }

  // Those to be ready: the one that is shown, or about to be, and the next.
  get coming() {
    return [this.shown, ...this.items.slice(0, PRELOAD)].filter(Boolean);
  }

  prepareNext() {
    this.prepare(this.coming);
  }
}

function pause(ms) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
    window.addEventListener("online", resolve, { once: true });
  });
}

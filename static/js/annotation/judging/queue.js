// The next pairs. They are claimed in batches and loaded before they are shown.

const CLAIM = 10;
const REFILL_BELOW = 5;
const PRELOAD = 3;
const RETRY_MS = 3000;
const WAIT_MS = 300;
// A lease lasts half an hour. Pairs claimed longer ago than this may be assigned to others.
const STALE_MS = 25 * 60 * 1000;
// HTTP statuses of a response if the annotator may not judge in the campaign. Repeating the request
// would not help.
const REFUSED = new Set([403, 404, 409]);

export class Queue {
  // `prepare(items)` is called with the pairs that come next. `isUnsent(assignment)` returns whether
  // an answer has not reached the server yet. `onClaim()` is called before each claim; it
  // returns `left`, whether to ask what is left, and `receive`, a function that takes the response.
  // `onGuideline(version)` is called with the current version of the campaign's guidelines.
  constructor({ server, url, prepare, isUnsent, onClaim, onGuideline }) {
    Object.assign(this, { server, url, prepare, isUnsent, onClaim, onGuideline });
    this.items = [];
    this.shown = null;
    this.gone = new Set();
    this.isExhausted = false;
    this.refusal = "";
    this.claimedAt = Infinity;
  }

  // Return the next item, or null if there is none for this annotator now.
  async next() {
    if (Date.now() - this.claimedAt > STALE_MS) await this.renew();
    while (this.items.length === 0 && !this.isExhausted) await this.refill();
    const item = this.items.shift() ?? null;
    this.shown = item;
    if (item && this.items.length < REFILL_BELOW) this.refill();
    this.prepareNext();
    return item;
  }

  // Put an item back to the front, after an undo.
  putBack(item) {
    this.items.unshift(item);
    this.prepareNext();
  }

  // Remove an answered or escalated pair, and do not show it again.
  leave(assignment) {
    this.gone.add(assignment);
    this.items = this.items.filter((item) => item.assignment !== assignment);
  }

  reopen() {
    this.isExhausted = false;
    this.refusal = "";
  }

  // Claim again, because the pairs may have been released. Keep them if the server cannot be reached.
  async renew() {
    const before = this.items;
    this.items = [];
    this.reopen();
    if (!(await this.refill())) this.items.push(...before);
  }

  // Claim after the current claim has ended, even if there are enough pairs.
  async refillNow() {
    await this.refilling;
    await this.refill();
  }

  // Claim, one request at a time. Returns whether the server has responded.
  refill() {
    this.refilling ??= this.claim().finally(() => {
      this.refilling = null;
    });
    return this.refilling;
  }

  async claim() {
    const { left, receive } = this.onClaim();
    const outcome = await this.server.post(this.url, { count: CLAIM, left });
    const { status, body, detail, isSignedOut } = outcome;
    if (status === 200) {
      this.onGuideline(outcome.guideline);
      receive(body);
      await this.take(body.items);
    } else if (REFUSED.has(status) && !isSignedOut) this.close(detail);
    else {
      if (this.items.length === 0) await pause(Math.max(RETRY_MS, 1000 * outcome.retryAfter));
      return false;
    }
    return true;
  }

  // A claim also returns the pairs that the annotator holds already. Drop those that are in the queue,
  // and those with an unsent answer, possibly from before a reload.
  async take(items) {
    this.claimedAt = Date.now();
    const queued = new Set([this.shown, ...this.items].map((item) => item?.assignment));
    const isFresh = ({ assignment }) =>
      !queued.has(assignment) && !this.gone.has(assignment) && !this.isUnsent(assignment);
    this.items.push(...items.filter(isFresh));
    this.prepareNext();
    if (this.items.length > 0) return;
    // The server assigns further pairs when it has stored the unsent answers. If no answer is unsent,
    // there are no more pairs.
    if (items.some((item) => this.isUnsent(item.assignment))) await pause(WAIT_MS);
    else this.isExhausted = true;
  }

  // Stop, because the server assigns no pairs and has released those that were assigned.
  close(reason) {
    this.isExhausted = true;
    this.refusal = reason;
    this.items = [];
  }

  // The current pair, and the next ones to load.
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

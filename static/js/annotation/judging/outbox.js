// Answers on their way to the server. They are stored before they are sent, so a reload, a crash or
// an hour without a network loses none; each has a UUID made once, so sending it again cannot count
// it twice.

import { Store } from "./store.js";

const RETRY_SECONDS = [1, 2, 5, 10, 30];
// Answers to be tried again; any other from 400 to 499 will be the same for ever.
const LATER = new Set([401, 403, 408, 425, 429]);

export class Outbox {
  // `onChange()` is called where there are more or fewer `waiting`, `onRefused(answer, said)` where
  // the server does not take an answer, or keeps it without counting it, `onCaughtUp()` where all
  // are sent after some had to wait or were refused. `onGuideline(version, campaign)` is called
  // with the campaign of an answer and the current version of its guidelines.
  constructor({ server, owner, onChange, onRefused, onCaughtUp, onGuideline }) {
    Object.assign(this, { server, owner, onChange, onRefused, onCaughtUp, onGuideline });
    this.store = new Store();
    this.waiting = [];
    this.listeners = new Map();
    this.sending = false;
    this.isBehind = false;
    this.failures = 0;
    this.isStored = true;
    // Perhaps the person comes back from signing in, in another window or tab.
    window.addEventListener("online", () => this.retryNow());
    window.addEventListener("focus", () => this.retryNow());
    document.addEventListener("visibilitychange", () => this.retryNow());
  }

  // What was left from before this page was opened is sent first.
  async open() {
    try {
      const stored = await this.store.open();
      // Another person's answers on this machine wait for that person.
      const own = stored.filter((answer) => answer.owner === this.owner);
      this.waiting.unshift(...own.toSorted((a, b) => a.at - b.at));
      this.isBehind = own.length > 0;
    } catch {
      this.isStored = false;
    }
    this.onChange();
    this.send();
  }

  // `body` is what `url` is sent, with the answer's UUID as its `client_key`. `item` is kept with
  // it, to show the pair once the outcome is known. So are its `campaign` and the campaign that it
  // `countsIn`.
  add(url, body, { item = null, countsIn = null, campaign = null } = {}) {
    const client_key = crypto.randomUUID();
    const answer = {
      client_key,
      owner: this.owner,
      at: Date.now(),
      url,
      body: { ...body, client_key },
      item,
      countsIn,
      campaign,
    };
    this.waiting.push(answer);
    this.onChange();
    this.store.put(answer);
    this.send();
    return answer;
  }

  // What the server says to an answer that waits, once it has it or has refused it for good.
  outcome(answer) {
    return new Promise((resolve) => {
      this.listeners.set(answer.client_key, resolve);
    });
  }

  // How many more a campaign will have counted once all are sent.
  countIn(campaign) {
    return this.waiting.filter((answer) => answer.countsIn === campaign).length;
  }

  isWaiting(assignment) {
    return this.waiting.some((answer) => answer.body.assignment === assignment);
  }

  retryNow() {
    clearTimeout(this.timer);
    this.send();
  }

  // One at a time, oldest first: a correction must not overtake what it corrects.
  async send() {
    if (this.sending) return;
    this.sending = true;
    this.pause = 0;
    try {
      while (this.waiting.length > 0 && (await this.sendOne(this.waiting[0]))) this.failures = 0;
    } finally {
      this.sending = false;
    }
    if (this.waiting.length === 0) {
      if (this.isBehind) this.onCaughtUp();
      this.isBehind = false;
      return;
    }
    this.isBehind = true;
    const pause = this.pause || RETRY_SECONDS[Math.min(this.failures, RETRY_SECONDS.length - 1)];
    this.failures += 1;
    this.timer = setTimeout(() => this.send(), pause * 1000);
  }

  // True where the server has the answer for good, or has refused it for good.
  async sendOne(answer) {
    const outcome = await this.server.post(answer.url, answer.body);
    const { status, said, isSignedOut } = outcome;
    this.pause = outcome.retryAfter;
    const isTaken = status === 200 || status === 201;
    const isRefused = isFinalRefusal(outcome);
    if (isTaken || isRefused) this.forget(answer, outcome);
    if (isTaken) this.onGuideline(outcome.guideline, answer.campaign);
    if (isRefused) this.isBehind = true;
    if (isRefused || (status === 403 && !isSignedOut)) this.onRefused(answer, said);
    this.onChange();
    return isTaken || isRefused;
  }

  // The oldest answer needs no more sending.
  forget(answer, outcome) {
    this.waiting.shift();
    this.store.delete(answer.client_key);
    this.listeners.get(answer.client_key)?.(outcome);
    this.listeners.delete(answer.client_key);
  }
}

// Whether the server would refuse the answer again. It keeps some refused answers without counting
// them, and sends `kept` with those.
function isFinalRefusal({ status, body }) {
  return status >= 400 && status < 500 && (body.kept === true || !LATER.has(status));
}

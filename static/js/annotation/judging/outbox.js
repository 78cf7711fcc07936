// Unsent answers. They are also stored in the browser, so that none is lost by a reload, a crash or a
// day offline. Each has its own UUID, so that an answer that is sent twice counts once.

import { newUuid } from "../../shared/uuid.js";
import { AnswerStore } from "./store.js";

// The page waits no longer than this for the browser's store.
const STORE_MS = 2000;
const RETRY_SECONDS = [1, 2, 5, 10, 30];
// If the server responds with one of these statuses, the answer is sent again, unless the response contains
// `kept`. Any other status from 400 to 499 is final.
const LATER = new Set([401, 403, 408, 425, 429]);

export class Outbox {
  // `onChange()` is called when the number of `unsent` answers may have changed. `onRefused(answer, detail)`
  // is called when the server refuses an answer, or keeps it without counting it. `onCaughtUp()` is called
  // when no answer is left, if some had been delayed or refused. `onGuideline(version, campaign)` is called
  // when the server accepts an answer, with the current version of the guidelines and the campaign of the
  // answer.
  constructor({ server, owner, onChange, onRefused, onCaughtUp, onGuideline }) {
    Object.assign(this, { server, owner, onChange, onRefused, onCaughtUp, onGuideline });
    this.store = new AnswerStore();
    this.unsent = [];
    this.listeners = new Map();
    this.sending = false;
    this.isBehind = false;
    this.failures = 0;
    this.isStored = true;
    // The server may be reachable again, or the annotator may have signed in in another window or tab.
    window.addEventListener("online", () => this.retryNow());
    window.addEventListener("focus", () => this.retryNow());
    document.addEventListener("visibilitychange", () => this.retryNow());
  }

  // Load the answers that were stored before this page was opened. They are sent first. Some browsers never
  // open the store.
  async open() {
    const isInTime = await Promise.race([this.load(), resolveAfter(STORE_MS, false)]);
    if (isInTime) return;
    this.isStored = false;
    this.onChange();
  }

  async load() {
    try {
      const stored = await this.store.open();
      // The store may open late. It then also gets the answers that were given in the meantime.
      this.unsent.forEach((answer) => this.store.put(answer));
      // Answers of another person on this computer are left for that person.
      const own = stored.filter((answer) => answer.owner === this.owner);
      this.unsent.unshift(...own.toSorted((a, b) => a.at - b.at));
      this.isBehind = own.length > 0;
      this.isStored = true;
    } catch {
      this.isStored = false;
    }
    this.onChange();
    this.send();
    return true;
  }

  // Send `body` to `url` with a new UUID as its `client_key`. `item` is stored with an answer of the
  // training, so that after a reload the page can show the pair again with the server's feedback. `campaign`
  // is the campaign of the answer. `countsIn` is the campaign whose count the answer raises; null in training
  // and for a correction.
  add(url, body, { item = null, countsIn = null, campaign = null } = {}) {
    const client_key = newUuid();
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
    this.unsent.push(answer);
    this.onChange();
    this.store.put(answer);
    this.send();
    return answer;
  }

  // Return a promise of the final response to an unsent answer: the one after which it is not sent again.
  response(answer) {
    return new Promise((resolve) => {
      this.listeners.set(answer.client_key, resolve);
    });
  }

  // Return the number of unsent answers that will count in a campaign.
  countIn(campaign) {
    return this.unsent.filter((answer) => answer.countsIn === campaign).length;
  }

  isUnsent(assignment) {
    return this.unsent.some((answer) => answer.body.assignment === assignment);
  }

  retryNow() {
    clearTimeout(this.timer);
    this.send();
  }

  // Send one answer at a time, oldest first, so that a correction arrives after the answer it corrects.
  async send() {
    if (this.sending) return;
    this.sending = true;
    this.pause = 0;
    try {
      while (this.unsent.length > 0 && (await this.sendOne(this.unsent[0]))) this.failures = 0;
    } finally {
      this.sending = false;
    }
    if (this.unsent.length === 0) {
      if (this.isBehind) this.onCaughtUp();
      this.isBehind = false;
      return;
    }
    this.isBehind = true;
    const pause = this.pause || RETRY_SECONDS[Math.min(this.failures, RETRY_SECONDS.length - 1)];
    this.failures += 1;
    this.timer = setTimeout(() => this.send(), pause * 1000);
  }

  // Return whether the answer need not be sent again, because it was accepted or its refusal is final.
  async sendOne(answer) {
    const response = await this.server.post(answer.url, answer.body);
    const { status, detail, isSignedOut } = response;
    this.pause = response.retryAfter;
    const isAccepted = status === 200 || status === 201;
    const isRefused = isFinalRefusal(response);
    if (isAccepted || isRefused) this.forget(answer, response);
    if (isAccepted) this.onGuideline(response.guideline, answer.campaign);
    if (isRefused) this.isBehind = true;
    if (isRefused || (status === 403 && !isSignedOut)) this.onRefused(answer, detail);
    this.onChange();
    return isAccepted || isRefused;
  }

  // Remove `answer`, and pass on the response to the code that waits for it.
  forget(answer, response) {
    this.unsent = this.unsent.filter((other) => other !== answer);
    this.store.delete(answer.client_key);
    this.listeners.get(answer.client_key)?.(response);
    this.listeners.delete(answer.client_key);
  }
}

function resolveAfter(ms, value) {
  return new Promise((resolve) => {
    setTimeout(() => resolve(value), ms);
  });
}

// Return whether a refusal is final, so that the answer is not sent again. The server keeps some refused
// answers without counting them. Its response to such an answer contains `kept`.
function isFinalRefusal({ status, body }) {
  return status >= 400 && status < 500 && (body.kept === true || !LATER.has(status));
}

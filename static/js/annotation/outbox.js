// Answers on their way to the server. They are written to IndexedDB before they are sent, so a
// reload, a crash or an hour without a network loses none; each has a UUID made once, so sending
// it again cannot count it twice.

const RETRY_SECONDS = [1, 2, 5, 10, 30];
const LOGGED_OUT = new Set([401, 403]);
// Answers to be tried again; any other from 400 to 499 will be the same for ever.
const LATER = new Set([401, 403, 408, 425, 429]);
const SEND_MS = 20_000;

export class Outbox {
  // `onChange({waiting, loggedOut, refused})` is called whenever the person should see something.
  constructor({ owner, onChange }) {
    this.owner = owner;
    this.onChange = onChange;
    this.waiting = [];
    this.sending = false;
    this.failures = 0;
    this.loggedOut = false;
    this.refused = 0;
    window.addEventListener("online", () => this.retryNow());
    document.addEventListener("visibilitychange", () => this.retryNow());
  }

  async open() {
    this.db = await openDatabase();
    const stored = await asPromise(this.store("readonly").getAll());
    // Another person's answers on this machine wait for that person.
    this.waiting = stored.filter((answer) => answer.owner === this.owner);
    this.waiting.sort((a, b) => a.at - b.at);
    this.changed();
    this.send();
  }

  // `body` is what `url` is sent, with the answer's UUID as its `client_key`.
  add(url, body) {
    const client_key = crypto.randomUUID();
    const answer = {
      client_key,
      owner: this.owner,
      at: Date.now(),
      url,
      body: { ...body, client_key },
    };
    this.waiting.push(answer);
    this.changed();
    if (this.db) this.store("readwrite").put(answer);
    this.send();
  }

  retryNow() {
    clearTimeout(this.timer);
    this.send();
  }

  // One at a time, oldest first: a correction must not overtake what it corrects.
  async send() {
    if (this.sending) return;
    this.sending = true;
    try {
      while (this.waiting.length > 0 && (await this.sendOne(this.waiting[0]))) {
        this.failures = 0;
      }
    } finally {
      this.sending = false;
    }
    if (this.waiting.length > 0) {
      const pause = RETRY_SECONDS[Math.min(this.failures, RETRY_SECONDS.length - 1)];
      this.failures += 1;
      this.timer = setTimeout(() => this.send(), pause * 1000);
    }
  }

  // True where the server has the answer for good, or has refused it for good.
  async sendOne(answer) {
    let status = 0;
    try {
      const response = await post(answer.url, answer.body);
      status = response.status;
    } catch {
      status = 0;
    }
    this.loggedOut = LOGGED_OUT.has(status);
    const refused = status >= 400 && status < 500 && !LATER.has(status);
    const settled = status === 200 || status === 201 || refused;
    if (refused) this.refused += 1;
    if (settled) {
      this.waiting.shift();
      if (this.db) this.store("readwrite").delete(answer.client_key);
    }
    this.changed();
    return settled;
  }

  changed() {
    this.onChange({
      waiting: this.waiting.length,
      loggedOut: this.loggedOut,
      refused: this.refused,
      failing: this.failures > 0,
    });
  }

  store(mode) {
    return this.db.transaction("answers", mode, { durability: "strict" }).objectStore("answers");
  }
}

export function post(url, body) {
  return fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-CSRFToken": csrfToken() },
    body: JSON.stringify(body),
    credentials: "same-origin",
    keepalive: true,
    signal: AbortSignal.timeout(SEND_MS),
  });
}

// Read at each call: a login in another tab changes it.
function csrfToken() {
  const cookie = document.cookie.split("; ").find((part) => part.startsWith("csrftoken="));
  return cookie ? decodeURIComponent(cookie.split("=")[1]) : "";
}

function openDatabase() {
  const request = indexedDB.open("hearth-outbox", 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore("answers", { keyPath: "client_key" });
  };
  return asPromise(request);
}

function asPromise(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

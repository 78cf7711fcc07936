import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { beforeEach, mock, test } from "node:test";

import { load, openBrowser, pass, settle } from "./browser.mjs";

const URL_OF_ALL = "/benchmarks/tiny/videos/uploads/";
const URL_OF_ONE = `${URL_OF_ALL}1/`;

const CONTENT = "0123456789";

let tus;
let server;
let file;

// A server that stores parts. `answers` are statuses that it sends before it works again.
class TusServer {
  stored = "";
  answers = [];
  calls = [];

  async fetch(url, { method, headers, body, redirect, signal }) {
    signal.throwIfAborted();
    assert.equal(redirect, "manual");
    assert.deepEqual([headers["Tus-Resumable"], headers["X-CSRFToken"]], ["1.0.0", "token"]);
    this.calls.push(`${method} ${url} ${headers["Upload-Offset"] ?? ""}`.trim());
    const status = this.answers.shift() ?? 200;
    if (status === 0) throw new TypeError("network");
    if (status === "redirect") return { ok: false, status: 0, type: "opaqueredirect" };
    if (status >= 400) return answer(status, {}, `<p class="lonely-reason"> The reason </p>`);
    if (method === "POST") return answer(201, { Location: URL_OF_ONE, ...this.offset() });
    const part = Buffer.from(body).toString();
    const digest = createHash("sha256").update(part).digest("base64");
    assert.equal(headers["Upload-Checksum"], `sha256 ${digest}`);
    assert.equal(Number(headers["Upload-Offset"]), this.stored.length);
    this.stored += part;
    return answer(204, this.offset());
  }

  offset() {
    return { "Upload-Offset": String(this.stored.length) };
  }
}

function partOf(start, end) {
  return { arrayBuffer: async () => Buffer.from(CONTENT.slice(start, end)) };
}

function answer(status, headers, text = "") {
  return { ok: status < 300, status, headers: new Headers(headers), text: async () => text };
}

beforeEach(async () => {
  openBrowser();
  server = new TusServer();
  mock.method(globalThis, "fetch", (...call) => server.fetch(...call));
  globalThis.DOMParser = class {
    parseFromString(html) {
      const reason = html.match(/lonely-reason">(.*)</)?.[1];
      return { querySelector: () => (reason ? { textContent: reason } : null) };
    }
  };
  // The real function takes an unknown number of turns of the event loop.
  mock.method(crypto.subtle, "digest", async (_, part) => createHash("sha256").update(part).digest());
  file = { name: "v1 ü.mp4", lastModified: 7, size: CONTENT.length, slice: partOf };
  tus = await load("pooling/tus");
});

function sendInParts({ signal = new AbortController().signal } = {}) {
  const seen = { sent: [], waits: [], end: "open" };
  const note = (end) => {
    seen.end = end;
  };
  tus
    .sendFile(file, {
      url: URL_OF_ALL,
      csrf: "token",
      partBytes: 4,
      signal,
      onProgress: (bytes) => seen.sent.push(bytes),
      onWait: (seconds) => seen.waits.push(seconds),
    })
    .then(
      () => note("sent"),
      (error) => note(`${error.constructor.name}: ${error.message}`),
    );
  return seen;
}

test("a file is sent in parts with checksums", async () => {
  const seen = sendInParts();
  await settle();
  assert.deepEqual([seen.end, seen.sent, server.stored], ["sent", [0, 4, 8, 10], "0123456789"]);
  assert.deepEqual(server.calls, [
    `POST ${URL_OF_ALL}`,
    `PATCH ${URL_OF_ONE} 0`,
    `PATCH ${URL_OF_ONE} 4`,
    `PATCH ${URL_OF_ONE} 8`,
  ]);
});

test("a file that was begun before continues at its offset", async () => {
  server.stored = "0123456";
  const seen = sendInParts();
  await settle();
  assert.deepEqual([seen.end, seen.sent, server.stored], ["sent", [7, 10], "0123456789"]);
});

for (const status of [0, 409, 423, 460, 503]) {
  test(`after the status ${status} for a part, the script requests the offset`, async () => {
    server.answers = [201, 204, status, 0];
    const seen = sendInParts();
    await settle();
    assert.deepEqual([seen.end, seen.waits], ["open", [1]]);
    await pass(1000);
    await pass(2000);
    assert.deepEqual([seen.end, seen.waits, server.stored], ["sent", [1, 2], "0123456789"]);
    assert.equal(server.calls.filter((call) => call.startsWith("POST")).length, 3);
  });
}

for (const [answers, reason] of [
  [[409], "Refused: The reason"],
  [[201, 413], "Refused: The reason"],
  [[507], "Refused: The reason"],
  [["redirect"], "Refused: You are signed out. Sign in again."],
]) {
  test(`a final response ends the upload with its reason: ${answers}`, async () => {
    server.answers = answers;
    const seen = sendInParts();
    await settle();
    assert.deepEqual([seen.end, seen.waits], [reason, []]);
  });
}

test("a pause ends the wait for the server", async () => {
  const pausing = new AbortController();
  server.answers = [201, 0];
  const seen = sendInParts({ signal: pausing.signal });
  await settle();
  pausing.abort();
  await settle();
  assert.deepEqual([seen.end, seen.waits], ["DOMException: paused", [1]]);
});

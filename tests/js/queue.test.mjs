// The queue of claimed pairs: when it claims more, and which pairs it keeps.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { load, openBrowser, pass, settle } from "./browser.mjs";

const URL = "/claim/";
const MINUTE = 60_000;

const items = (...numbers) => numbers.map((assignment) => ({ assignment, caption: `c${assignment}` }));
const numbersOf = (some) => some.map((item) => item?.assignment ?? null);
const range = (first, last) => Array.from({ length: last - first + 1 }, (_, place) => first + place);

let server;
let onItsWay;
let prepared;
let judged;
let versions;
let queue;

// The server assigns these pairs, batch by batch, and then no more.
function assignBatches(...batches) {
  server.on(URL, () => ({ body: { items: items(...(batches.shift() ?? [])), judged: 7 } }));
}

beforeEach(async () => {
  ({ server } = openBrowser());
  onItsWay = new Set();
  prepared = [];
  judged = [];
  versions = [];
  const { Server } = await load("server");
  const { Queue } = await load("queue");
  queue = new Queue({
    server: new Server("1", () => {}),
    url: URL,
    prepare: (coming) => prepared.push(numbersOf(coming)),
    isUnsent: (assignment) => onItsWay.has(assignment),
    onClaim: () => ({ left: false, receive: (claimed) => judged.push(claimed.judged) }),
    onGuideline: (version) => versions.push(version),
  });
});

test("pairs come in the server's order, claimed ten at a time before they run out", async () => {
  assignBatches(range(1, 10), range(11, 20));
  const shown = [];
  for (let turn = 0; turn < 5; turn += 1) shown.push(await queue.next());
  assert.deepEqual(numbersOf(shown), [1, 2, 3, 4, 5]);
  assert.deepEqual(server.callsOf(URL), [{ count: 10, left: false }]);
  await queue.next();
  await settle();
  assert.deepEqual(server.callsOf(URL), [{ count: 10, left: false }, { count: 10, left: false }]);
  assert.deepEqual(numbersOf(queue.items), range(7, 20));
  assert.deepEqual(judged, [7, 7]);
  assert.deepEqual(versions, [null, null]);
});

test("the pair that is shown and the next three are made ready", async () => {
  assignBatches(range(1, 10));
  await queue.next();
  assert.deepEqual(prepared.at(-1), [1, 2, 3, 4]);
  await queue.next();
  assert.deepEqual(prepared.at(-1), [2, 3, 4, 5]);
});

test("two simultaneous requests make one claim", async () => {
  assignBatches(range(1, 10));
  await Promise.all([queue.refill(), queue.refill()]);
  assert.equal(server.calls.length, 1);
});

test("a claim also returns held pairs; those that are shown, queued or answered are not added again", async () => {
  assignBatches(range(1, 6), range(1, 9));
  await queue.next();
  queue.leave(3);
  onItsWay.add(7);
  await queue.refill();
  assert.deepEqual(numbersOf(queue.items), [2, 4, 5, 6, 8, 9]);
});

test("a pair that is put back is next", async () => {
  assignBatches(range(1, 10));
  const first = await queue.next();
  await queue.next();
  queue.putBack(first);
  assert.equal((await queue.next()).assignment, 1);
});

test("when the server has no pairs, the queue claims no more until it is reopened", async () => {
  assignBatches([], [1]);
  assert.equal(await queue.next(), null);
  assert.equal(await queue.next(), null);
  assert.equal(server.calls.length, 1);
  queue.reopen();
  assert.equal((await queue.next()).assignment, 1);
});

test("while answers are being sent, an empty queue claims again after a pause", async () => {
  assignBatches([1], [2]);
  onItsWay.add(1);
  const next = queue.next();
  await pass(299);
  assert.equal(server.calls.length, 1);
  await pass(1);
  assert.equal((await next).assignment, 2);
});

test("a refusal closes the queue with the server's reason and drops held pairs", async () => {
  assignBatches(range(1, 6));
  await queue.next();
  server.on(URL, () => ({ status: 409, body: { detail: "This campaign is closed." } }));
  await queue.refill();
  assert.equal(await queue.next(), null);
  assert.deepEqual([queue.refusal, queue.items], ["This campaign is closed.", []]);
});

test("after signing out, the queue is not closed and tries again", async () => {
  server.on(URL, () => ({ status: 403, body: { detail: "CSRF Failed: token missing" } }));
  const next = queue.next();
  await settle();
  assert.deepEqual([queue.isExhausted, queue.refusal], [false, ""]);
  assignBatches([1]);
  await pass(3000);
  assert.equal((await next).assignment, 1);
});

test("without a network the queue tries again after three seconds", async () => {
  const next = queue.next();
  await pass(2999);
  assert.equal(server.calls.length, 1);
  assignBatches([1]);
  await pass(1);
  assert.equal((await next).assignment, 1);
});

test("a busy server sets the pause before the next claim", async () => {
  const answers = [{ status: 429, headers: { "Retry-After": "7" } }, { body: { items: items(1), judged: 0 } }];
  server.on(URL, () => answers.shift());
  const next = queue.next();
  await pass(6999);
  assert.equal(server.callsOf(URL).length, 1);
  await pass(1);
  assert.equal((await next).assignment, 1);
  assert.deepEqual([queue.isExhausted, queue.refusal], [false, ""]);
});

test("when the network is back, the queue tries again immediately", async () => {
  const next = queue.next();
  await settle();
  assignBatches([1]);
  window.fire("online");
  assert.equal((await next).assignment, 1);
});

test("pairs claimed 25 minutes ago are claimed again, because their leases may have expired", async () => {
  assignBatches(range(1, 10), range(5, 14));
  await queue.next();
  await pass(25 * MINUTE);
  assert.equal((await queue.next()).assignment, 2);
  assert.equal(server.calls.length, 1);
  await pass(1);
  assert.equal((await queue.next()).assignment, 5);
});

test("old pairs are kept if the server cannot be reached", async () => {
  assignBatches(range(1, 10));
  await queue.next();
  server.handlers.clear();
  await pass(26 * MINUTE);
  const next = queue.next();
  await pass(3000);
  assert.equal((await next).assignment, 2);
});

test("`refillNow` waits for an unfinished claim and then claims", async () => {
  assignBatches([1], [2]);
  const first = queue.refill();
  await queue.refillNow();
  await first;
  assert.equal(server.calls.length, 2);
});

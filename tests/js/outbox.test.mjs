// The outbox: answers that wait in the browser until the server has stored them.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { load, openBrowser, pass, settle } from "./browser.mjs";

const URL = "/judgments/";

let machine;
let server;
let log;
let outbox;

// Open a page of the person `owner`, with an outbox that is not open yet. `browser`: options of
// `openBrowser`.
async function openPage({ owner = "1", ...browser } = {}) {
  ({ machine, server } = openBrowser(browser));
  log = [];
  const { Server } = await load("server");
  const { Outbox } = await load("outbox");
  outbox = new Outbox({
    server: new Server(owner, () => {}),
    owner,
    onChange: () => {},
    onRefused: ({ body }, said) => log.push(["refused", body.assignment, said]),
    onCaughtUp: () => log.push(["caught up"]),
    onGuideline: (version, campaign) => log.push(["guideline", version, campaign]),
  });
  return outbox;
}

const reload = (options = {}) => openPage({ machine, now: Date.now(), ...options });
const answer = (assignment, options) => outbox.add(URL, { assignment, label: 1 }, options);
const sent = () => server.callsOf(URL).map(({ assignment }) => assignment);
const unsent = () => outbox.unsent.map(({ body }) => body.assignment);
const stored = async () => (await storedRows()).map(({ body }) => body.assignment);

async function storedRows() {
  const { AnswerStore } = await load("store");
  return new AnswerStore().open();
}

function take() {
  server.on(URL, () => ({ status: 201 }));
}

function refuse(status, body = {}, headers = {}) {
  server.on(URL, () => ({ status, body, headers }));
}

beforeEach(async () => {
  await openPage();
  await outbox.open();
});

test("answers are sent one at a time, in their order", async () => {
  const held = [];
  server.on(URL, () => new Promise((resolve) => {
    held.push(() => resolve({ status: 201 }));
  }));
  [1, 2, 3].forEach((assignment) => answer(assignment));
  for (const expected of [[1], [1, 2], [1, 2, 3]]) {
    await settle();
    assert.deepEqual(sent(), expected);
    held.pop()();
  }
  await settle();
  assert.deepEqual(unsent(), []);
});

test("an answer is sent with its key, its owner and the CSRF token", async () => {
  document.cookie = "theme=dark; csrftoken=a%20b";
  take();
  const { client_key } = answer(5);
  await settle();
  const [call] = server.calls;
  assert.deepEqual(call.body, { assignment: 5, label: 1, client_key });
  assert.equal(call.headers["X-CSRFToken"], "a b");
  assert.equal(call.headers["X-Hearth-Person"], "1");
});

test("the CSRF token of another site on this host is not sent", async () => {
  const name = document.createElement("meta");
  name.setAttribute("name", "csrf-cookie");
  name.content = "csrftoken_b";
  document.body.append(name);
  document.cookie = "csrftoken_a=theirs; csrftoken_b=ours=1";
  take();
  answer(5);
  await settle();
  assert.equal(server.calls[0].headers["X-CSRFToken"], "ours=1");
});

test("an answer is stored until the server has it", async () => {
  answer(1);
  await settle();
  assert.deepEqual(await stored(), [1]);
  take();
  await pass(1000);
  assert.deepEqual(await stored(), []);
});

test("a reload sends unsent answers, oldest first and with the same keys", async () => {
  const keys = [];
  for (const assignment of [1, 2]) {
    keys.push(answer(assignment).client_key);
    await pass(10);
  }
  await reload();
  take();
  await outbox.open();
  await settle();
  assert.deepEqual(server.callsOf(URL).map(({ client_key }) => client_key), keys);
  assert.deepEqual(log.at(-1), ["caught up"]);
});

test("the answers of another person on this machine stay stored and are not sent", async () => {
  answer(1);
  await reload({ owner: "2" });
  take();
  await outbox.open();
  await settle();
  assert.deepEqual([sent(), await stored()], [[], [1]]);
});

test("pauses between attempts grow from 1 to 30 seconds, and begin at 1 after a success", async () => {
  answer(1);
  const pauses = [1, 2, 5, 10, 30, 30];
  for (const [place, seconds] of pauses.entries()) {
    await pass(1000 * seconds - 1);
    assert.equal(sent().length, place + 1);
    await pass(1);
    assert.equal(sent().length, place + 2);
  }
  take();
  await pass(30_000);
  assert.deepEqual(unsent(), []);
  server.handlers.clear();
  answer(2);
  await pass(1000);
  assert.deepEqual(sent().slice(-2), [2, 2]);
});

for (const [target, type] of [["window", "online"], ["window", "focus"], ["document", "visibilitychange"]]) {
  test(`the event "${type}" of the ${target} makes the outbox send immediately`, async () => {
    answer(1);
    await settle();
    take();
    globalThis[target].fire(type);
    await settle();
    assert.deepEqual(unsent(), []);
  });
}

test("the header Retry-After sets the pause", async () => {
  refuse(429, {}, { "Retry-After": "7" });
  answer(1);
  await pass(6999);
  assert.equal(sent().length, 1);
  await pass(1);
  assert.equal(sent().length, 2);
});

test("a final refusal drops the answer and reports why; the next one is sent", async () => {
  const answers = [{ status: 409, body: { detail: "The pair is settled." } }, { status: 201 }];
  server.on(URL, () => answers.shift());
  answer(1);
  answer(2);
  await settle();
  assert.deepEqual([sent(), unsent(), await stored()], [[1, 2], [], []]);
  assert.deepEqual(log, [
    ["refused", 1, "The pair is settled."],
    ["guideline", null, null],
    ["caught up"],
  ]);
});

test("an answer that the server keeps without counting it is not sent again", async () => {
  refuse(403, { detail: "You may not judge any more.", kept: true });
  answer(1);
  await settle();
  assert.deepEqual([unsent(), log[0]], [[], ["refused", 1, "You may not judge any more."]]);
});

test("an answer refused for lack of permission stays unsent, and the page gives the reason", async () => {
  refuse(403, { detail: "Read the guidelines first." });
  answer(1);
  await settle();
  assert.deepEqual([unsent(), log], [[1], [["refused", 1, "Read the guidelines first."]]]);
});

for (const [status, detail] of [[401, "Sign in."], [403, "CSRF Failed: cookie not set"], [500, ""]]) {
  test(`an answer stays unsent without a message after ${`${status} ${detail}`.trim()}`, async () => {
    refuse(status, { detail });
    answer(1);
    await settle();
    assert.deepEqual([unsent(), log], [[1], []]);
  });
}

test("`response` waits for the last response to an answer", async () => {
  const answers = [{ status: 503 }, { status: 201, body: { feedback: "right" } }];
  server.on(URL, () => answers.shift());
  const outcome = outbox.response(answer(1));
  await pass(1000);
  assert.deepEqual((await outcome).body, { feedback: "right" });
});

test("the guideline version is reported with the campaign of the answer", async () => {
  server.on(URL, () => ({ status: 201, headers: { "X-Hearth-Guideline": "3" } }));
  answer(1, { campaign: "8" });
  await settle();
  assert.deepEqual(log, [["guideline", 3, "8"]]);
});

test("unsent answers are counted by campaign", async () => {
  answer(1, { countsIn: "8" });
  answer(2, { countsIn: "9" });
  answer(3);
  assert.deepEqual([outbox.countIn("8"), outbox.countIn("7")], [1, 0]);
  assert.deepEqual([outbox.isUnsent(3), outbox.isUnsent(4)], [true, false]);
});

test("each answer has a random UUID of version 4, even on a page that came over plain HTTP", () => {
  const keys = [answer(1), answer(2)].map(({ client_key }) => client_key);
  for (const key of keys) assert.match(key, /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  assert.notEqual(keys[0], keys[1]);
});

test("a store that opens late is not waited for, and then loses no answer", async () => {
  answer(1);
  await settle();
  const database = machine.indexedDB.open("hearth-outbox");
  let open;
  const late = { addEventListener: (type, act) => { if (type === "success") open = act; } };
  const indexedDB = { open: () => late };
  await openPage({ machine: { ...machine, indexedDB }, now: Date.now() });
  const opening = outbox.open();
  await pass(2000);
  await opening;
  answer(2);
  assert.deepEqual([outbox.isStored, unsent()], [false, [2]]);
  late.result = database.result;
  open();
  await settle();
  assert.deepEqual([outbox.isStored, unsent()], [true, [1, 2]]);
  take();
  await pass(1000);
  assert.deepEqual(sent().slice(-2), [1, 2]);
  assert.deepEqual([...database.result.records.keys()], []);
});

test("without a store, answers are still sent", async () => {
  const indexedDB = { open: () => { throw new Error("private window"); } };
  await openPage({ machine: { ...machine, indexedDB } });
  take();
  await outbox.open();
  answer(1);
  await settle();
  assert.deepEqual([outbox.isStored, sent(), unsent()], [false, [1], []]);
});

test("a store that fails later does not prevent sending an answer", async () => {
  take();
  outbox.store.db.transaction = () => {
    throw new Error("full");
  };
  answer(1);
  await settle();
  assert.deepEqual([sent(), unsent()], [[1], []]);
});

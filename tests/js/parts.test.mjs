// The smaller parts of the room: work session, tally, history, tabs, checklist and swipes.

import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";

import { h, load, openBrowser, pass, settle } from "./browser.mjs";

const MINUTE = 60_000;

const item = (assignment, label = 1) => ({ assignment, label, caption: `c${assignment}` });

let machine;
let server;

beforeEach(() => {
  ({ machine, server } = openBrowser());
});

describe("work session", () => {
  let breaks;
  let workSession;

  async function startSession({ owner = "1", breakMinutes = 20 } = {}) {
    breaks = [];
    const { WorkSession } = await load("work-session");
    workSession = new WorkSession({ owner, breakMinutes, onBreak: (minutes) => breaks.push(minutes) });
  }

  // Answer once a minute, this number of times.
  async function work(minutes) {
    for (let minute = 0; minute < minutes; minute += 1) {
      await pass(MINUTE);
      workSession.count();
    }
  }

  beforeEach(() => startSession());

  test("answers are numbered from one", () => {
    assert.deepEqual([workSession.count(), workSession.count(), workSession.count()], [1, 2, 3]);
  });

  test("half an hour without an answer ends the work session", async () => {
    workSession.count();
    await pass(30 * MINUTE - 1);
    assert.equal(workSession.count(), 2);
    await pass(30 * MINUTE);
    assert.equal(workSession.count(), 1);
  });

  test("a work session continues after a reload, only for the same person", async () => {
    workSession.count();
    openBrowser({ machine, now: Date.now() });
    await startSession();
    assert.equal(workSession.count(), 2);
    openBrowser({ machine, now: Date.now() });
    await startSession({ owner: "2" });
    assert.equal(workSession.count(), 1);
  });

  test("a break is suggested after twenty minutes of work, and after twenty more", async () => {
    workSession.count();
    await work(45);
    assert.deepEqual(breaks, [20, 40]);
  });

  test("five minutes without an answer are a break", async () => {
    workSession.count();
    await work(15);
    await pass(5 * MINUTE);
    workSession.count();
    await work(19);
    assert.deepEqual(breaks, []);
  });

  test("with 0 minutes no break is suggested", async () => {
    await startSession({ breakMinutes: 0 });
    workSession.count();
    await work(60);
    assert.deepEqual(breaks, []);
  });

  test("without a store the work session lasts as long as the page", async () => {
    const broken = { getItem: () => { throw new Error("denied"); }, setItem: () => { throw new Error("denied"); } };
    openBrowser({ machine: { ...machine, sessionStorage: broken } });
    await startSession();
    assert.deepEqual([workSession.count(), workSession.count()], [1, 2]);
  });
});

describe("tally", () => {
  let unsent;
  let shown;
  let tally;

  beforeEach(async () => {
    unsent = 0;
    shown = [];
    const { Tally } = await load("tally");
    tally = new Tally(10, {
      countUnsent: () => unsent,
      onChange: (judged) => shown.push(judged),
    });
  });

  test("an answer counts immediately", () => {
    tally.add(1);
    assert.deepEqual(shown, [11]);
  });

  test("the server corrects the count if no answer is being sent", () => {
    tally.startClaim()(25);
    tally.startClaim()(3);
    assert.deepEqual(shown, [25, 3]);
  });

  test("an answer that is being sent still counts if the server has not counted it", () => {
    tally.add(1);
    unsent = 1;
    tally.startClaim()(10);
    assert.equal(shown.at(-1), 11);
  });

  test("an answer that is submitted during a claim is not counted twice", () => {
    const setJudged = tally.startClaim();
    tally.add(1);
    unsent = 1;
    setJudged(11);
    assert.equal(shown.at(-1), 11);
  });
});

describe("history", () => {
  let corrected;
  let isEmpty;
  let history;
  let list;
  let box;

  const numbers = () => history.items.map(({ assignment }) => assignment);

  beforeEach(async () => {
    corrected = [];
    list = h("ul");
    box = h("div", { popover: "" }, list);
    const { Server } = await load("server");
    const { History } = await load("history");
    history = new History({
      server: new Server("1", () => {}),
      list,
      url: "/history/",
      question: { captionOf: ({ caption }) => caption, textOf: ({ label }) => ["No", "Yes"][label] },
      escalated: { unsure: "Sent" },
      onCorrect: ({ assignment }) => corrected.push(assignment),
      onChange: (empty) => { isEmpty = empty; },
    });
  });

  test("the last answer is first, even if it is a correction", () => {
    [1, 2, 1].forEach((assignment) => history.add(item(assignment)));
    assert.deepEqual([numbers(), history.last.assignment], [[1, 2], 1]);
  });

  test("ten answers are kept", () => {
    for (let assignment = 1; assignment <= 12; assignment += 1) history.add(item(assignment));
    assert.deepEqual(numbers(), [12, 11, 10, 9, 8, 7, 6, 5, 4, 3]);
  });

  test("a removed answer cannot be undone", () => {
    history.add(item(1));
    assert.equal(isEmpty, false);
    history.remove(1);
    assert.deepEqual([isEmpty, history.last], [true, undefined]);
  });

  test("earlier answers are fetched and added at the end, none twice", async () => {
    server.on("/history/", () => ({ body: [item(2), item(1)] }));
    history.add(item(2));
    await history.load();
    assert.deepEqual(numbers(), [2, 1]);
  });

  test("without a network, only the answers of this page are listed", async () => {
    history.add(item(2));
    await history.load();
    assert.deepEqual(numbers(), [2]);
  });

  test("rows are shown when the box is open, and each row has a button to correct its answer", () => {
    history.add(item(1, 0));
    assert.deepEqual(list.children, []);
    box.isPopoverOpen = true;
    box.fire("toggle");
    const [row] = list.children;
    assert.deepEqual(row.children.map((child) => child.textContent), ["c1", "No", "Answer again"]);
    row.querySelector("button").click();
    assert.deepEqual([corrected, box.isPopoverOpen], [[1], false]);
  });
});

test("tabs receive the answers of the same person, but not of others", async () => {
  const heard = [];
  const { Tabs } = await load("tabs");
  const open = (owner, name) => new Tabs(owner, {
    onAnswered: ({ assignment, countsIn }) => heard.push([name, assignment, countsIn]),
    onLeft: () => heard.push([name, "left"]),
  });
  const [first] = [open("1", "first"), open("1", "second"), open("2", "other")];
  first.sendAnswered(5, "8");
  first.sendLeft();
  while (heard.length < 2) await settle();
  assert.deepEqual(heard, [["second", 5, "8"], ["second", "left"]]);
});

describe("checklist", () => {
  let checklist;
  let box;

  beforeEach(async () => {
    box = h("div", {}, h("bdi"));
    const { Checklist } = await load("checklist");
    checklist = new Checklist(box, { caption: h("p"), keys: new Set(["1"]) });
  });

  test("elements are marked and unmarked by click and by key", () => {
    checklist.show({ elements: ["a dog", "runs"] });
    checklist.buttons[0].click();
    checklist.actions["mark-2"]();
    assert.deepEqual(checklist.missing, ["a dog", "runs"]);
    checklist.actions["mark-2"]();
    checklist.actions["mark-9"]();
    assert.deepEqual(checklist.missing, ["a dog"]);
  });

  test("a digit is shown if its key has an action", () => {
    checklist.show({ elements: ["a dog", "runs"] });
    assert.deepEqual(checklist.buttons.map((button) => button.textContent), ["1 a dog", "runs"]);
  });

  test("a pair that is shown again has its marks", () => {
    checklist.show({ elements: ["a dog", "runs"], missing: ["runs"] });
    assert.deepEqual(checklist.missing, ["runs"]);
  });

  test("without elements there is nothing to mark", () => {
    checklist.show({ elements: [] });
    assert.deepEqual([checklist.missing, box.hidden], [null, true]);
  });
});

test("a claim counts again what is left after a minute", async () => {
  const { Remaining } = await load("remaining");
  let at = 0;
  const texts = [];
  const onChange = (text) => texts.push(text);
  const remaining = new Remaining({ judged: 0, left: 9, seconds_each: null, onChange, now: () => at });
  at = 60_000;
  assert.equal(remaining.isOld, false);
  remaining.update({ judged: 1 });
  at = 60_001;
  assert.equal(remaining.isOld, true);
  remaining.update({ judged: 1, left: 5, seconds_each: null });
  remaining.show(2);
  assert.equal(remaining.isOld, false);
  assert.deepEqual(texts, ["about 9 left", "about 6 left", "about 4 left"]);
});

describe("swipe", () => {
  const cases = [
    ["to the left", [-100, 10], ["left"]],
    ["to the right", [100, -10], ["right"]],
    ["too short", [79, 0], []],
    ["along the page", [90, 50], []],
  ];
  for (const [name, [x, y], expected] of cases) {
    test(name, async () => {
      const { onSwipe } = await load("swipe");
      const done = [];
      const stage = h("div");
      onSwipe(stage, { left: () => done.push("left"), right: () => done.push("right") });
      stage.fire("touchstart", { touches: [{ clientX: 200, clientY: 200 }] });
      stage.fire("touchend", { changedTouches: [{ clientX: 200 + x, clientY: 200 + y }] });
      assert.deepEqual(done, expected);
    });
  }

  test("two fingers are not a swipe", async () => {
    const { onSwipe } = await load("swipe");
    const done = [];
    const stage = h("div");
    onSwipe(stage, { left: () => done.push("left"), right: () => done.push("right") });
    const touch = { clientX: 0, clientY: 0 };
    stage.fire("touchstart", { touches: [touch, touch] });
    stage.fire("touchend", { changedTouches: [{ clientX: 200, clientY: 0 }] });
    assert.deepEqual(done, []);
  });
});

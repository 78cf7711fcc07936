// The sentences of the room if it waits for long, or if a script fails.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { h, load, openBrowser, pass } from "./browser.mjs";

let room;
let change;

const setState = (state) => {
  room.dataset.state = state;
  change();
};
const shown = () =>
  room.children.filter(({ hidden }) => !hidden).map(({ dataset }) => dataset.part);

beforeEach(async () => {
  openBrowser();
  globalThis.MutationObserver = class {
    constructor(act) {
      change = act;
    }

    observe() {}
  };
  const parts = ["slow", "failed", "failed-reason", "offline", "signed-out"];
  room = h("div", { id: "room", "data-state": "loading" }, ...parts.map((name) => h("p", { "data-part": name })));
  for (const part of room.children) part.hidden = part.dataset.part !== "failed-reason";
  document.body.append(room);
  await load("watch");
});

test("a room that waits for four seconds says so until it goes on", async () => {
  await pass(3999);
  assert.deepEqual(shown(), ["failed-reason"]);
  await pass(1);
  assert.deepEqual(shown(), ["slow", "failed-reason"]);
  setState("ready");
  await pass(10_000);
  assert.deepEqual(shown(), ["failed-reason"]);
  setState("sending");
  await pass(4000);
  assert.deepEqual(shown(), ["slow", "failed-reason"]);
});

test("a wait that another notice explains needs no second one", async () => {
  room.querySelector("[data-part=offline]").hidden = false;
  await pass(4000);
  assert.deepEqual(shown(), ["failed-reason", "offline"]);
});

for (const [name, type, event, reason] of [
  ["an error", "error", { message: "x is undefined", filename: "https://hearth.example/a.js" }, "x is undefined"],
  ["a script that is not loaded", "error", { target: { tagName: "SCRIPT", src: "/a.js" } }, "/a.js"],
  ["a rejection", "unhandledrejection", { reason: new TypeError("no") }, "TypeError: no"],
]) {
  test(`${name} is shown`, async () => {
    window.fire(type, event);
    await pass(10_000);
    assert.deepEqual(shown(), ["failed", "failed-reason"]);
    assert.equal(room.querySelector("[data-part=failed-reason]").textContent, reason);
  });
}

test("an error of another site's script, or of a picture, is not shown", () => {
  window.fire("error", { message: "x", filename: "https://elsewhere.example/a.js" });
  window.fire("error", { target: { tagName: "IMG" } });
  assert.deepEqual(shown(), ["failed-reason"]);
});

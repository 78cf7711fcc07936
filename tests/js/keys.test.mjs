// The keys of the judging room and the desk.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { h, load, openBrowser } from "./browser.mjs";

const ALT_GRAPH = { getModifierState: (name) => name === "AltGraph" };

let isBlocked;
let done;

beforeEach(async () => {
  openBrowser();
  isBlocked = false;
  done = [];
  const { listenToKeys } = await load("keys");
  const act = (name) => () => done.push(name);
  listenToKeys({
    bindings: { j: "yes", Space: "play", Enter: "next", "[": "slower", ArrowLeft: "back", x: "unknown" },
    actions: { yes: act("yes"), play: act("play"), next: act("next"), slower: act("slower"), back: act("back") },
    isBlocked: () => isBlocked,
  });
});

function place(tag, ...children) {
  const element = h(tag, {}, ...children);
  document.body.append(element);
  return element;
}

const press = (key, properties = {}, target = document.body) =>
  target.fire("keydown", { key, ...properties });

test("a key runs its action, and the browser ignores it", () => {
  assert.equal(press("j").isPrevented, true);
  assert.equal(press("ArrowLeft").isPrevented, true);
  assert.equal(press(" ").isPrevented, true);
  assert.deepEqual(done, ["yes", "back", "play"]);
});

test("capital letters are the same keys", () => {
  press("J");
  assert.deepEqual(done, ["yes"]);
});

test("a key without a binding or without an action here is left to the browser", () => {
  assert.deepEqual([press("q").isPrevented, press("x").isPrevented], [false, false]);
  assert.deepEqual(done, []);
});

test("a slider handles the keys that move it and no others", () => {
  const slider = place("input");
  slider.type = "range";
  assert.equal(press("ArrowLeft", {}, slider).isPrevented, false);
  assert.equal(press("j", {}, slider).isPrevented, true);
  assert.deepEqual(done, ["yes"]);
});

test("a key that is held down acts once", () => {
  press("j");
  assert.equal(press("j", { repeat: true }).isPrevented, true);
  assert.deepEqual(done, ["yes"]);
});

for (const modifier of ["ctrlKey", "altKey", "metaKey"]) {
  test(`a key with ${modifier} is left to the browser`, () => {
    assert.equal(press("j", { [modifier]: true }).isPrevented, false);
    assert.deepEqual(done, []);
  });
}

test("characters typed with AltGr run their action, because some keyboards type [ with AltGr", () => {
  press("[", { ctrlKey: true, altKey: true, ...ALT_GRAPH });
  assert.deepEqual(done, ["slower"]);
});

test("characters typed with AltGr and Meta run no action", () => {
  press("[", { metaKey: true, ...ALT_GRAPH });
  assert.deepEqual(done, []);
});

test("keys of an input method are text", () => {
  press("j", { isComposing: true });
  assert.deepEqual(done, []);
});

test("while a dialog is open, keys do nothing", () => {
  isBlocked = true;
  assert.equal(press("j").isPrevented, false);
  assert.deepEqual(done, []);
});

for (const tag of ["input", "textarea", "select"]) {
  test(`a key in <${tag}> is text`, () => {
    assert.equal(press("j", {}, place(tag)).isPrevented, false);
    assert.deepEqual(done, []);
  });
}

for (const tag of ["button", "a", "summary"]) {
  test(`<${tag}> handles space and enter itself and no other key`, () => {
    const inside = h("span");
    place(tag, inside);
    assert.equal(press(" ", {}, inside).isPrevented, false);
    assert.equal(press("Enter", {}, inside).isPrevented, false);
    press("j", {}, inside);
    assert.deepEqual(done, ["yes"]);
  });
}

test("holding space on a button presses it once", () => {
  const button = place("button");
  assert.equal(press(" ", { repeat: true }, button).isPrevented, true);
});

// The comparison of ranked lists: keys, videos that lists share, and players.

import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";

import { h, load, newMachine, openBrowser, pass, settle } from "./browser.mjs";

let followed;
let machine;
let observer;

const find = (selector) => document.querySelector(selector);
const found = () => document.querySelectorAll(".found");
const named = (name) => found().find((item) => item.getAttribute("title") === name);
const focused = () => document.activeElement?.getAttribute("title");
const reachable = () => found().filter((item) => item.tabIndex === 0 && item.querySelector("video").tabIndex === 0);
const marked = () => found().filter((item) => item.classList.contains("is-shared")).map((item) => item.getAttribute("title"));
const playing = () => found().filter((item) => !item.querySelector("video").paused).map((item) => item.getAttribute("title"));

function link(rel, act = () => followed.push(rel)) {
  const made = h("a", { rel });
  made.addEventListener("click", act);
  return made;
}

const makeItem = ([name, video]) => h("li", { class: "found", title: name, "data-video": video }, h("video"));

// Open the page with these lists: pairs of a name and a video.
async function openPage(lists, { letters = null } = {}) {
  machine = newMachine();
  if (letters) machine.localStorage.setItem("hearth-compare-letters", letters);
  openBrowser({ machine });
  globalThis.IntersectionObserver = class {
    seen = [];

    constructor(act) {
      this.act = act;
      observer = this;
    }

    observe(target) {
      this.seen.push(target);
    }

    disconnect() {
      this.seen = [];
    }
  };
  followed = [];
  const caption = h("input", { id: "id_caption" });
  caption.select = () => followed.push("selected");
  document.body.append(
    link("prev"),
    link("next"),
    h("details", {}, caption),
    h("button", { "data-play-all": "", hidden: true }),
    h("input", { type: "checkbox", "data-letters": "" }),
    ...lists.map((list) => h("ol", { class: "compare-list" }, ...list.map(makeItem))),
  );
  await load("evaluation/lab/compare");
}

const press = (key, properties = {}, target = document.activeElement ?? document.body) => target.fire("keydown", { key, ...properties });

const LISTS = [
  [["a1", "7"], ["a2", "8"], ["a3", "9"]],
  [["b1", "9"], ["b2", "7"]],
  [],
];

beforeEach(() => openPage(LISTS));

describe("keys on the page", () => {
  test("arrow keys go from caption to caption", () => {
    press("ArrowRight");
    press("ArrowLeft");
    assert.deepEqual(followed, ["next", "prev"]);
  });

  for (const [what, properties] of [
    ["Shift", { shiftKey: true }],
    ["Ctrl", { ctrlKey: true }],
    ["Alt", { altKey: true }],
    ["the command key", { metaKey: true }],
    ["automatic repetition", { repeat: true }],
  ]) {
    test(`with ${what}, an arrow key does not change the caption`, () => {
      press("ArrowRight", properties);
      assert.deepEqual(followed, []);
    });
  }

  test("fields handle their keys themselves", () => {
    find("#id_caption").focus();
    press("ArrowRight");
    press("g");
    assert.deepEqual(followed, []);
  });

  test("a letter opens a collapsed field and goes to it", () => {
    assert.equal(press("G").isPrevented, true);
    assert.deepEqual([find("details").open, document.activeElement.id, followed], [true, "id_caption", ["selected"]]);
  });

  test("single-letter keys are on at first, and the browser remembers that they were turned off", async () => {
    const box = find("[data-letters]");
    assert.equal(box.checked, true);
    box.checked = false;
    box.fire("change");
    assert.equal(machine.localStorage.getItem("hearth-compare-letters"), "off");
    await openPage(LISTS, { letters: "off" });
    assert.equal(find("[data-letters]").checked, false);
    assert.equal(press("g").isPrevented, false);
    assert.deepEqual(followed, []);
    press("ArrowRight");
    assert.deepEqual(followed, ["next"]);
  });
});

describe("keys in the lists", () => {
  for (const [from, key, shiftKey, to] of [
    ["a1", "ArrowDown", false, "a2"],
    ["a2", "ArrowUp", false, "a1"],
    ["a1", "ArrowUp", false, "a1"],
    ["a3", "ArrowDown", false, "a3"],
    ["a1", "End", false, "a3"],
    ["a3", "Home", false, "a1"],
    ["a2", "ArrowRight", true, "b2"],
    ["a3", "ArrowRight", true, "b2"],
    ["b1", "ArrowLeft", true, "a1"],
    ["a1", "ArrowLeft", true, "a1"],
    ["b1", "ArrowRight", true, "b1"],
    ["a1", "ArrowDown", true, "a1"],
  ]) {
    test(`${shiftKey ? "Shift " : ""}${key} goes from ${from} to ${to}`, () => {
      named(from).focus();
      const event = press(key, { shiftKey });
      assert.deepEqual([focused(), event.isPrevented], [to, from !== to]);
    });
  }

  test("Tab reaches one video, which is the first or the one focused last", () => {
    assert.deepEqual(reachable(), [named("a1")]);
    named("b2").fire("focus");
    assert.deepEqual(reachable(), [named("b2")]);
  });

  test("Enter plays and pauses the video", () => {
    named("a2").focus();
    press("Enter");
    assert.deepEqual(playing(), ["a2"]);
    press("Enter");
    assert.deepEqual(playing(), []);
  });
});

test("a video is marked in the other lists", () => {
  named("a1").fire("pointerenter");
  assert.deepEqual(marked(), ["b2"]);
  named("a2").fire("pointerenter");
  assert.deepEqual(marked(), []);
  named("b1").focus();
  named("a2").fire("pointerleave");
  assert.deepEqual(marked(), ["a3"]);
});

describe("players", () => {
  test("one video plays at a time", async () => {
    await named("a1").querySelector("video").play();
    await named("b1").querySelector("video").play();
    assert.deepEqual(playing(), ["b1"]);
  });

  test("all visible videos play together, until they are stopped", async () => {
    const button = find("[data-play-all]");
    assert.equal(button.hidden, false);
    button.click();
    assert.equal(observer.seen.length, 5);
    const see = (name, isIntersecting) => observer.act([{ target: named(name).querySelector("video"), isIntersecting }]);
    see("a1", true);
    see("b1", true);
    await settle();
    assert.deepEqual([playing(), button.ariaPressed], [["a1", "b1"], "true"]);
    see("a1", false);
    assert.deepEqual(playing(), ["b1"]);
    button.click();
    see("a2", true);
    assert.deepEqual([playing(), button.ariaPressed, observer.seen], [[], "false", []]);
  });

  test("controls are visible while a video is used", async () => {
    const item = named("a1");
    const video = item.querySelector("video");
    assert.equal(video.controls, false);
    item.fire("pointerenter");
    assert.equal(video.controls, true);
    item.focus();
    item.fire("pointerleave");
    await pass(1);
    assert.equal(video.controls, true);
    item.blur();
    item.fire("focusout");
    await pass(1);
    assert.equal(video.controls, false);
  });
});

// The desk: keys press its buttons and control the video, and a ruling is sent once.

import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";

import { h, load, openBrowser, pass, settle } from "./browser.mjs";

const SETTLED_MS = 251;
const BINDINGS = {
  j: "answer-1",
  z: "undo",
  n: "next",
  k: "keys",
  Space: "play",
  ",": "frame-back",
  ".": "frame-on",
  ArrowLeft: "second-back",
  ArrowRight: "second-on",
  m: "sound",
  s: "slower",
  d: "faster",
};
const VIDEO = "/media/1/";

let desk;
let pressed;
let server;

const find = (selector) => document.querySelector(selector);
const video = () => find(".judge-video");
const problem = () => find('[data-part="video-problem"]');

function button(action) {
  const made = h("button", { "data-action": action });
  made.addEventListener("click", () => pressed.push(action));
  return made;
}

async function openDesk({ address = VIDEO } = {}) {
  ({ server } = openBrowser());
  server.on(VIDEO, () => ({ body: "video" }));
  pressed = [];
  const stage = address ? [h("div", { "data-part": "stage" }, h("video", { src: address }))] : [];
  desk = h(
    "div",
    { id: "desk", "data-bindings": JSON.stringify(BINDINGS), "data-task": "7", "data-video": address },
    h("button", { "data-action": "keys", hidden: true }),
    ...stage,
    h("p", { "data-part": "video-problem", hidden: true }),
    h("form", { method: "post" }, h("textarea"), button("answer-1")),
    h("form", { method: "post" }, button("undo")),
    button("next"),
    h("dialog", { id: "keys" }),
  );
  document.body.append(desk);
  await load("annotation/desk");
  await settle();
}

// Send a form. Returns whether the page prevents it.
function submit(place) {
  return desk.querySelectorAll("form")[place].fire("submit").isPrevented;
}

async function press(...keys) {
  for (const key of keys) document.body.fire("keydown", { key });
  await settle();
}

beforeEach(async () => {
  await openDesk();
  await pass(SETTLED_MS);
});

describe("keys", () => {
  test("a key presses the button of its action", async () => {
    await press("j", "z", "n", "q");
    assert.deepEqual(pressed, ["answer-1", "undo", "next"]);
  });

  test("no key submits a ruling in the first quarter of a second", async () => {
    await openDesk();
    await pass(249);
    await press("j");
    assert.deepEqual(pressed, []);
    await pass(1);
    await press("j");
    assert.deepEqual(pressed, ["answer-1"]);
  });

  test("keys that are typed into the reason are text", () => {
    find("textarea").fire("keydown", { key: "j" });
    assert.deepEqual(pressed, []);
  });

  test("the list of keys opens by its button and its key, and no key submits a ruling while it is open", async () => {
    const dialog = document.getElementById("keys");
    const list = find('[data-action="keys"]');
    assert.equal(list.hidden, false);
    list.click();
    assert.equal(dialog.open, true);
    await press("j");
    assert.deepEqual(pressed, []);
    dialog.close();
    await press("k");
    assert.equal(dialog.open, true);
  });
});

describe("the video", () => {
  test("the page's own video is replaced by one that plays without sound and pauses on a click", () => {
    assert.deepEqual(find('[data-part="stage"]').children, [video()]);
    assert.deepEqual([video().src, video().paused, video().muted], [VIDEO, false, true]);
    find('[data-part="stage"]').click();
    assert.equal(video().paused, true);
  });

  test("keys pause the video, move its position, change its speed and turn on its sound", async () => {
    video().arrive();
    Object.assign(video(), { duration: 10, currentTime: 5 });
    await press(" ");
    assert.equal(video().paused, true);
    const positions = [];
    for (const key of ["ArrowRight", "ArrowLeft", ".", ","]) {
      await press(key);
      positions.push(video().currentTime);
    }
    assert.deepEqual(positions, [6, 5, 5.04, 5]);
    await press("s");
    assert.equal(video().playbackRate, 0.75);
    await press("d", "d", "m");
    assert.deepEqual([video().playbackRate, video().muted], [1.5, false]);
  });

  test("a problem is shown until the video plays", async () => {
    server.handlers.delete(VIDEO);
    video().fail();
    await settle();
    const text = "The video cannot be loaded because the server cannot be reached. It will load when the connection is back.";
    assert.deepEqual([problem().hidden, problem().textContent], [false, text]);
    server.on(VIDEO, () => ({ body: "video" }));
    await pass(3000);
    video().arrive();
    assert.deepEqual([problem().hidden, problem().textContent, video().paused], [true, "", false]);
  });

  test("without a video, its keys do nothing and a pair can be ruled on", async () => {
    await openDesk({ address: "" });
    await pass(SETTLED_MS);
    await press(" ", "ArrowRight", "j");
    assert.deepEqual(pressed, ["answer-1"]);
  });
});

describe("sending", () => {
  test("one form is sent, once, and then no key presses a button", async () => {
    assert.deepEqual([submit(0), submit(0), submit(1)], [false, true, true]);
    await press("j", "n");
    assert.deepEqual(pressed, []);
  });

  test("a page that the browser restores can send again", async () => {
    submit(0);
    window.fire("pageshow");
    await press("j");
    assert.deepEqual([pressed, submit(0)], [["answer-1"], false]);
  });
});

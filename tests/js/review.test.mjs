// A lead's review of answers in training: keys move from answer to answer, and one video plays.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { h, load, openBrowser } from "./browser.mjs";

let answers;
let scrolls;

async function openReview({ reducedMotion = false, hash = "" } = {}) {
  openBrowser();
  globalThis.matchMedia = () => ({ matches: reducedMotion });
  location.hash = hash;
  scrolls = [];
  answers = ["1", "2", "3"].map((number) =>
    h("article", { id: `answer-${number}` }, h("video"), h("textarea"), h("a"), h("input")));
  for (const answer of answers) answer.scrollIntoView = ({ behavior }) => scrolls.push([answer.id, behavior]);
  document.body.append(h("ol", { "data-review": "" }, ...answers));
  await load("annotation/training");
}

beforeEach(() => openReview());

const videoOf = (answer) => answer.querySelector("video");
const playing = () => answers.filter((answer) => !videoOf(answer).paused).map((answer) => answer.id);
const press = (target, key, properties = {}) => target.fire("keydown", { key, ...properties }).isPrevented;

test("n and p move to the next and the previous answer", () => {
  assert.equal(press(answers[0], "n"), true);
  assert.equal(document.activeElement, answers[1]);
  press(answers[1], "P");
  assert.equal(document.activeElement, answers[0]);
  assert.deepEqual(scrolls, [["answer-2", "smooth"], ["answer-1", "smooth"]]);
});

test("there is nothing before the first and after the last answer", () => {
  press(answers[0], "p");
  press(answers[2], "n");
  assert.deepEqual([document.activeElement, scrolls], [null, []]);
});

test("c goes to the comment, and Escape back to the answer", () => {
  const comment = answers[1].querySelector("textarea");
  press(answers[1], "c");
  assert.equal(document.activeElement, comment);
  assert.equal(press(comment, "n"), false);
  assert.equal(document.activeElement, comment);
  press(comment, "Escape");
  assert.equal(document.activeElement, answers[1]);
});

test("the space bar plays and pauses the video of the answer", () => {
  assert.equal(press(answers[0], " "), true);
  assert.deepEqual(playing(), ["answer-1"]);
  press(answers[0], " ");
  assert.deepEqual(playing(), []);
});

test("an answer without a video has nothing to play", () => {
  videoOf(answers[0]).remove();
  assert.equal(press(answers[0], " "), true);
  answers[0].fire("focusin");
  answers[1].fire("focusin");
  assert.equal(videoOf(answers[1]).paused, false);
});

test("a link handles the space bar itself, and other keys work on it", () => {
  const link = answers[0].querySelector("a");
  assert.equal(press(link, " "), false);
  assert.deepEqual(playing(), []);
  assert.equal(press(link, "n"), true);
});

for (const modifier of ["ctrlKey", "metaKey", "altKey", "shiftKey"]) {
  test(`with ${modifier}, a key is not handled`, () => {
    assert.equal(press(answers[0], "n", { [modifier]: true }), false);
  });
}

test("the video of the focused answer plays, and all others stop", () => {
  answers[0].fire("focusin");
  assert.deepEqual(playing(), ["answer-1"]);
  answers[2].fire("focusin");
  assert.deepEqual(playing(), ["answer-3"]);
  answers[1].querySelector("textarea").fire("focusin");
  assert.deepEqual(playing(), []);
});

test("with reduced motion, no video plays by itself and pages do not scroll smoothly", async () => {
  await openReview({ reducedMotion: true });
  press(answers[0], "n");
  answers[1].fire("focusin");
  assert.deepEqual([playing(), scrolls], [[], [["answer-2", "auto"]]]);
});

test("the answer in the address has the focus", async () => {
  await openReview({ hash: "#answer-3" });
  assert.equal(document.activeElement, answers[2]);
});

// How long a pair is shown, and what is recorded about its video.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { h, load, openBrowser, pass } from "./browser.mjs";

let seen;
let video;
let viewing;

beforeEach(async () => {
  openBrowser();
  seen = 0;
  video = h("video");
  const { Viewing } = await load("viewing");
  viewing = new Viewing({ onSeen: () => { seen += 1; } });
});

async function playFor(ms) {
  await video.play();
  video.fire("playing");
  await pass(ms);
  video.pause();
}

test("time is counted from when the pair is shown", async () => {
  viewing.begin(null);
  await pass(1234);
  assert.equal(viewing.seconds, 1.234);
  viewing.begin(null);
  assert.equal(viewing.seconds, 0);
});

test("a pair left open for days counts as a day", async () => {
  viewing.begin(null);
  await pass(3 * 24 * 3600 * 1000);
  assert.equal(viewing.seconds, 24 * 3600);
});

test("without a video only hidden and watched times are recorded", () => {
  viewing.begin(null);
  assert.deepEqual(viewing.record(), { hidden: 0, watched: 0 });
});

test("the first frame is recorded once, and announced once", async () => {
  viewing.begin(video);
  await pass(80);
  video.showFrame(0);
  await pass(40);
  video.showFrame(0.04);
  assert.equal(viewing.record().first_frame, 0.08);
  assert.equal(seen, 1);
});

test("a frame of the previous pair does not count for this pair", async () => {
  const before = video;
  viewing.begin(before);
  video = h("video");
  viewing.begin(video);
  before.showFrame(0);
  assert.deepEqual([seen, viewing.record().first_frame], [0, undefined]);
});

test("a video that does not play counts as seen when its first frame is loaded", () => {
  viewing.begin(video);
  video.arrive();
  assert.equal(seen, 1);
});

test("a file without an image track never counts as seen", () => {
  viewing.begin(video);
  video.arrive({ width: 0 });
  assert.equal(seen, 0);
});

test("watching is counted while the video plays", async () => {
  viewing.begin(video);
  await playFor(500);
  await pass(1000);
  await playFor(250);
  assert.equal(viewing.record().watched, 0.75);
});

test("a video that waits for the network is not watched", async () => {
  viewing.begin(video);
  await video.play();
  video.fire("playing");
  await pass(500);
  video.fire("waiting");
  await pass(1000);
  video.fire("playing");
  await pass(100);
  assert.equal(viewing.record().watched, 0.6);
});

test("a hidden page is not watched", async () => {
  viewing.begin(video);
  await video.play();
  video.fire("playing");
  await pass(500);
  document.setHidden(true);
  await pass(2000);
  document.setHidden(false);
  await pass(300);
  assert.deepEqual(
    [viewing.record().watched, viewing.record().hidden, viewing.seconds],
    [0.8, 2, 2.8],
  );
});

test("a pair that is shown in a hidden page is hidden from the start", async () => {
  document.setHidden(true);
  viewing.begin(video);
  await pass(700);
  assert.equal(viewing.record().hidden, 0.7);
});

test("each restart of a playing video is a replay, but a step back is not", async () => {
  viewing.begin(video);
  await video.play();
  [0, 1, 2, 0, 1, 0].forEach((time) => video.showFrame(time));
  video.pause();
  [0.9, 0.8].forEach((time) => video.showFrame(time));
  assert.equal(viewing.record().replays, 2);
});

test("the recorded speed is the speed at the time of the answer", () => {
  viewing.begin(video);
  video.playbackRate = 1.5;
  assert.equal(viewing.record().speed, 1.5);
});

test("when the time on the pair starts again, a video that is already playing counts as watched", async () => {
  viewing.begin(video);
  await video.play();
  video.arrive();
  await pass(4000);
  viewing.restart();
  await pass(600);
  assert.deepEqual([viewing.seconds, viewing.record().watched], [0.6, 0.6]);
});

// The whole room: states, answers and undo, and effects of other tabs, the server and the browser.

import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";

import { load, pass, settle } from "./browser.mjs";
import { Room, SETTLED_MS } from "./room.mjs";

const said = () => room.part("live").textContent;

let room;

function denied() {
  throw new DOMException("denied", "SecurityError");
}

async function escalate(reason) {
  await room.look();
  await room.press("u");
  room.part("reason").value = reason;
  document.getElementById("unsure").close();
  room.part("unsure-form").fire("submit");
  await settle();
}

function disconnect() {
  const handlers = new Map(room.server.handlers);
  room.server.handlers.clear();
  return () => handlers.forEach((handler, url) => room.server.on(url, handler));
}

// A long video is not fetched before it is shown, so it stops without the server.
async function watchLongVideo() {
  const headers = { "Content-Length": 20_000_001 };
  room.server.on("/media/5/", () => ({ headers }));
  await room.judge("j", "j", "j", "j");
  await room.look();
  assert.equal(room.video.src, "/media/5/");
  return room.video;
}

async function stop(video) {
  video.fail();
  await settle();
  assert.deepEqual([video.paused, room.part("video-problem").hidden], [true, false]);
}

const feedback = (isRight) => () => ({
  status: 201,
  body: { feedback: { is_right: isRight, relevant: true, explanation: "The dog runs." } },
});

describe("judging", () => {
  beforeEach(async () => {
    room = await Room.open();
  });

  test("the first pair is shown, and the next are fetched", () => {
    assert.deepEqual([room.state, room.caption], ["ready", "caption 1"]);
    const media = room.server.calls.map(({ url }) => url).filter((url) => url.startsWith("/media/"));
    assert.deepEqual(media, ["/media/1/", "/media/2/", "/media/3/", "/media/4/"]);
  });

  test("a key answers the pair and shows the next", async () => {
    await room.judge("j", "f");
    assert.deepEqual(room.answers, [[1, 1], [2, 0]]);
    assert.deepEqual([room.state, room.caption], ["ready", "caption 3"]);
    assert.equal(room.part("judged").textContent, "2");
  });

  test("each answer lowers the number of answers that are left, and each claim corrects it", async () => {
    const left = () => room.part("left").textContent;
    const items = [1, 2, 3, 4, 5, 6].map((assignment) => ({ assignment, caption: "c", video: `/media/${assignment}/` }));
    const claims = [
      { items, judged: 0, left: 1127, seconds_each: 4.8 },
      { items: [], judged: 0, left: 3, seconds_each: null },
    ];
    room.server.on("/claim/", () => ({ body: claims.length > 1 ? claims.shift() : claims[0] }));
    room.server.on("/release/", () => ({}));
    room = await Room.open({ server: room.server });
    assert.equal(left(), "· about 1,127 left, ≈ 1 h 31 min at your pace");
    room.server.on("/judgments/", () => new Promise(() => {}));
    await room.judge("j");
    assert.equal(left(), "· about 2 left");
    await room.judge("j");
    assert.equal(left(), "· about 1 left");
    await room.judge("j");
    assert.equal(left(), "");
  });

  test("the hint for new people ends with the last answer for which it is meant", async () => {
    room.part("first").dataset.until = "3";
    await room.judge("j", "j");
    assert.notEqual(room.part("first"), null);
    await room.judge("j");
    assert.equal(room.part("first"), null);
  });

  test("no answer is accepted in the first quarter of a second", async () => {
    room.video.arrive();
    room.video.showFrame();
    await pass(SETTLED_MS - 2);
    await room.press("j");
    assert.deepEqual(room.answers, []);
    await pass(2);
    await room.press("j");
    assert.deepEqual(room.answers, [[1, 1]]);
  });

  test("no answer is accepted before a part of the video was seen", async () => {
    await pass(SETTLED_MS);
    room.video.pause();
    await room.press("j");
    assert.deepEqual([room.answers, room.part("unseen").hidden], [[], false]);
    await room.judge("j");
    assert.deepEqual([room.answers, room.part("unseen").hidden], [[[1, 1]], true]);
  });

  test("an answer contains how long the pair was shown and its place in the work session", async () => {
    await pass(1000);
    await room.judge("j");
    const [body] = room.server.callsOf("/judgments/");
    assert.equal(body.seconds, 1.251);
    assert.deepEqual(body.viewing, {
      hidden: 0, watched: 0.251, first_frame: 1, replays: 0, speed: 1, place: 1, sheet: false,
    });
    assert.deepEqual([body.corrects, body.missing, body.guideline], [false, null, 1]);
  });

  test("the second click of a double click answers no pair", async () => {
    await room.look();
    const [, relevant] = room.element.querySelectorAll("[data-label]");
    relevant.fire("click", { detail: 1 });
    await room.look();
    relevant.fire("click", { detail: 2 });
    await settle();
    assert.deepEqual(room.answers, [[1, 1]]);
  });

  test("a quick second tap answers a pair that has been on the screen for 150 milliseconds", async () => {
    const [, relevant] = room.element.querySelectorAll("[data-label]");
    const tap = async (detail) => {
      relevant.fire("pointerdown", { pointerType: "touch" });
      relevant.fire("click", { detail });
      await settle();
    };
    await room.look();
    await tap(1);
    await pass(500);
    room.video.arrive();
    room.video.showFrame();
    await pass(149);
    await tap(2);
    assert.deepEqual(room.answers, [[1, 1]]);
    await pass(1);
    await tap(2);
    assert.deepEqual(room.answers, [[1, 1], [2, 1]]);
  });

  test("without a network, answers stay unsent and the next pairs are shown", async () => {
    room.server.handlers.delete("/judgments/");
    await room.judge("j", "j");
    assert.deepEqual([room.state, room.caption], ["ready", "caption 3"]);
    assert.deepEqual([room.part("offline").hidden, room.part("unsent").textContent], [false, "2 unsent"]);
  });

  test("without a network and without loaded pairs, the room says so", async () => {
    room = await Room.open({ pairs: 6 });
    room.server.handlers.clear();
    await room.judge("j", "j", "j", "j", "j", "j");
    assert.deepEqual(
      [room.state, room.part("offline").hidden, room.part("offline-empty").hidden],
      ["loading", false, false],
    );
  });

  test("a browser that denies all storage judges, and says that unsent answers are not kept", async () => {
    const storage = { getItem: denied, setItem: denied };
    const machine = { localStorage: storage, sessionStorage: storage, indexedDB: { open: denied } };
    room = await Room.open({ machine });
    assert.equal(room.part("no-store").hidden, false);
    room.part("faster").click();
    await room.judge("j");
    assert.deepEqual([room.answers, room.video.playbackRate, room.part("speed").textContent], [[[1, 1]], 1.5, "1.5×"]);
  });

  test("when all pairs are judged, the room is empty and claims again on request", async () => {
    room = await Room.open({ pairs: 1 });
    await room.judge("j");
    assert.deepEqual([room.state, room.caption, room.part("done").hidden], ["empty", "", false]);
    room.serve(2);
    room.part("retry").click();
    await settle();
    assert.deepEqual([room.state, room.caption], ["ready", "caption 2"]);
  });

  test("a closed campaign shows an empty room with the server's reason", async () => {
    room = await Room.open({ pairs: 6 });
    room.server.on("/claim/", () => ({ status: 409, body: { detail: "The campaign is closed." } }));
    // The first answer leaves four pairs, so the room claims more.
    await room.judge("j", "j");
    assert.equal(room.state, "empty");
    assert.deepEqual([room.part("refusal").textContent, room.part("done").hidden], ["The campaign is closed.", true]);
  });

  test("a refused answer is reported and cannot be undone", async () => {
    room.server.on("/judgments/", () => ({ status: 409, body: { detail: "The pair is settled." } }));
    await room.judge("j");
    assert.equal(room.part("refused-reason").textContent, "The pair is settled.");
    assert.equal(room.part("undo").disabled, true);
  });
});

describe("undo", () => {
  beforeEach(async () => {
    room = await Room.open();
    await room.judge("j", "f");
  });

  test("undo shows the last pair with its answer, and the next answer corrects it", async () => {
    await room.press("z");
    assert.deepEqual([room.caption, room.part("pair-note").textContent], ["caption 2", "Your earlier answer: Not relevant"]);
    const [no, yes] = room.element.querySelectorAll("[data-label]");
    assert.deepEqual([no.ariaPressed, yes.ariaPressed], ["true", "false"]);
    await room.judge("j");
    const last = room.server.callsOf("/judgments/").at(-1);
    assert.deepEqual([last.assignment, last.label, last.corrects], [2, 1, true]);
    const [, second] = room.server.callsOf("/judgments/");
    assert.deepEqual([second.corrected_key, last.corrected_key], [null, second.client_key]);
  });

  test("the pair that was on the screen is shown afterwards, and the count is unchanged", async () => {
    await room.press("z");
    await room.judge("j");
    assert.deepEqual([room.caption, room.part("judged").textContent], ["caption 3", "2"]);
  });

  test("undo twice goes back two pairs", async () => {
    await room.press("z");
    await room.press("z");
    assert.equal(room.caption, "caption 1");
    await room.judge("j", "j");
    assert.equal(room.caption, "caption 3");
  });

  test("while the next pair is being fetched, the earlier one is shown first", async () => {
    room = await Room.open({ pairs: 6 });
    let respond;
    room.server.on("/claim/", () => new Promise((resolve) => { respond = resolve; }));
    await room.judge("j", "j", "j", "j", "j", "j");
    assert.equal(room.state, "loading");
    await room.press("z");
    assert.deepEqual([room.state, room.caption], ["ready", "caption 6"]);
    respond({ body: { items: [{ assignment: 7, caption: "caption 7", video: null }], judged: 6 } });
    await settle();
    assert.equal(room.caption, "caption 6");
    await room.judge("f");
    assert.equal(room.caption, "caption 7");
  });

  test("undo without an answer does nothing", async () => {
    room = await Room.open();
    await room.press("z");
    assert.deepEqual([room.state, room.caption], ["ready", "caption 1"]);
  });
});

describe("escalations", () => {
  beforeEach(async () => {
    room = await Room.open();
  });

  test("an unsure annotator escalates the pair with a reason", async () => {
    await escalate("two dogs");
    assert.deepEqual(room.sent("/escalations/", "reason"), [[1, "two dogs"]]);
    assert.deepEqual([room.caption, room.part("judged").textContent], ["caption 2", "0"]);
  });

  test("undo withdraws an escalation, and the next undo opens the last answer", async () => {
    await room.judge("j");
    await escalate("two dogs");
    await room.press("z");
    assert.deepEqual(room.server.callsOf("/withdrawals/").map(({ assignment }) => assignment), [2]);
    assert.deepEqual([room.caption, said()], ["caption 2", "No longer escalated. You can answer it now."]);
    await room.judge("f");
    assert.deepEqual(room.answers, [[1, 1], [2, 0]]);
    assert.equal(room.server.callsOf("/judgments/")[1].corrects, false);
    await escalate("three dogs");
    await room.press("z");
    await room.press("z");
    assert.equal(room.caption, "caption 2");
    assert.equal(said(), "Your earlier answer: Not relevant");
  });

  test("undo withdraws an escalation from before the page was loaded", async () => {
    const past = { assignment: 90, caption: "caption 90", video: "/media/1/" };
    room = await Room.open({ past: [{ ...past, escalation: "unsure" }] });
    await room.press("z");
    assert.deepEqual(room.server.callsOf("/withdrawals/").map(({ assignment }) => assignment), [90]);
    assert.deepEqual([room.caption, said()], ["caption 90", "No longer escalated. You can answer it now."]);
    await room.judge("f");
    assert.deepEqual(room.answers, [[90, 0]]);
  });

  test("an answer that is opened again and escalated is no longer counted", async () => {
    await room.judge("j", "j");
    await room.press("z");
    assert.equal(room.part("judged").textContent, "2");
    await escalate("two dogs");
    assert.deepEqual(room.sent("/escalations/", "reason"), [[2, "two dogs"]]);
    assert.equal(room.part("judged").textContent, "1");
  });

  test("a pair without a video is reported immediately, with the reason", async () => {
    room = await Room.open({ pairs: 0 });
    room.server.on("/claim/", () => ({ body: { items: [{ assignment: 1, caption: "c", video: null }], judged: 0 } }));
    room.part("retry").click();
    await pass(SETTLED_MS);
    assert.equal(room.part("video-reason").textContent, "This pair has no video.");
    await room.press("x");
    assert.deepEqual(room.sent("/escalations/", "reason"), [[1, "This pair has no video."]]);
  });

  test("a video that cannot be played is reported immediately", async () => {
    room.video.fire("error");
    await pass(SETTLED_MS);
    await room.press("x");
    assert.deepEqual(room.sent("/escalations/", "reason"), [[1, "This video cannot be played."]]);
  });

  test("a video that plays is reported only after confirmation", async () => {
    await room.look();
    await room.press("x");
    const report = document.getElementById("report");
    assert.deepEqual([report.open, room.sent("/escalations/", "kind")], [true, []]);
    report.close();
    room.part("report-form").fire("submit");
    await settle();
    assert.deepEqual(room.sent("/escalations/", "kind"), [[1, "cannot-play"]]);
  });
});

describe("other tabs, the server and the browser", () => {
  beforeEach(async () => {
    room = await Room.open();
  });

  test("a pair answered in another tab is replaced by the next", async () => {
    const other = new BroadcastChannel("hearth-room-1");
    other.postMessage({ assignment: 1, countsIn: "8" });
    while (room.caption === "caption 1") await settle();
    assert.deepEqual([room.caption, room.part("judged").textContent], ["caption 2", "1"]);
    assert.equal(said(), "You have answered this pair in another tab. Next pair.");
  });

  test("after new guidelines, no answer is accepted until they were read", async () => {
    globalThis.DOMParser = class {
      parseFromString(text) {
        const page = document.createElement("div");
        const version = document.createElement("div");
        version.dataset.version = text;
        page.append(version);
        return page;
      }
    };
    room.server.on("/guidelines/", () => ({ body: "2" }));
    room.server.on("/judgments/", () => ({ status: 201, headers: { "X-Hearth-Guideline": "2" } }));
    await room.judge("j");
    const dialog = document.getElementById("guidelines");
    assert.equal(dialog.open, true);
    dialog.close();
    assert.equal(dialog.open, true);
    room.part("guideline-read").click();
    assert.equal(dialog.open, false);
    await room.judge("j");
    assert.deepEqual(room.server.callsOf("/judgments/").map((body) => body.guideline), [1, 2]);
  });

  test("leaving the page releases the pairs", () => {
    window.fire("pagehide");
    assert.deepEqual(room.server.callsOf("/release/"), [{}]);
  });

  test("leaving the page asks for confirmation only with unsent answers", async () => {
    assert.equal(window.fire("beforeunload").isPrevented, false);
    room.server.handlers.delete("/judgments/");
    await room.judge("j");
    assert.equal(window.fire("beforeunload").isPrevented, true);
  });

  test("a page restored from the browser's memory claims pairs again", async () => {
    window.fire("pageshow", { persisted: true });
    await settle();
    // The server has released pairs 1 to 10 and assigns the next ones.
    assert.deepEqual([room.state, room.caption], ["ready", "caption 11"]);
  });
});

describe("the video", () => {
  beforeEach(async () => {
    room = await Room.open();
    await room.look();
  });

  test("sound is off until it is turned on, and stays on for the next pair and the next visit", async () => {
    const first = room.video;
    assert.deepEqual([first.muted, room.part("sound").ariaPressed], [true, "false"]);
    room.part("sound").click();
    assert.deepEqual([first.muted, room.part("sound").ariaPressed], [false, "true"]);
    await room.press("j");
    assert.equal(room.video.muted, false);
    room = await Room.open({ machine: room.machine });
    assert.deepEqual([room.video.muted, room.part("sound").ariaPressed], [false, "true"]);
  });

  test("a video plays without sound if the browser does not allow sound yet", async () => {
    room.part("sound").click();
    const { video } = room;
    video.pause();
    const play = video.play.bind(video);
    video.play = () => {
      if (video.muted) return play();
      return Promise.reject(Object.assign(new Error("no"), { name: "NotAllowedError" }));
    };
    await room.press(" ");
    assert.deepEqual([video.paused, video.muted], [false, true]);
    video.play = play;
    room.part("sound").click();
    assert.deepEqual([video.muted, room.part("sound").ariaPressed], [false, "true"]);
  });

  test("when the network is back, a video that played continues at its position and speed", async () => {
    const video = await watchLongVideo();
    room.part("faster").click();
    video.currentTime = 4;
    const reconnect = disconnect();
    await stop(video);
    await pass(3000);
    await stop(video);
    reconnect();
    await pass(3000);
    video.arrive();
    assert.deepEqual([video.paused, video.currentTime, video.playbackRate], [false, 4, 1.5]);
    assert.equal(room.part("video-problem").hidden, true);
  });

  test("when the network is back, a video that was paused stays paused", async () => {
    const video = await watchLongVideo();
    await room.press(" ");
    const reconnect = disconnect();
    await stop(video);
    reconnect();
    await pass(3000);
    video.arrive();
    assert.deepEqual([video.src, video.paused], ["/media/5/", true]);
  });

  test("a video plays after it was fetched again together with the next ones", async () => {
    const reconnect = disconnect();
    await room.judge("j", "j", "j", "j");
    await stop(room.video);
    reconnect();
    window.fire("online");
    await settle();
    assert.deepEqual([room.caption, room.video.src.startsWith("blob:")], ["caption 5", true]);
    room.video.arrive();
    assert.equal(room.video.paused, false);
  });

  test("the timeline shows the position and moves it", () => {
    const { video } = room;
    const slider = room.part("timeline");
    video.duration = 75;
    video.currentTime = 5;
    video.fire("timeupdate");
    assert.deepEqual([slider.disabled, slider.value, slider.max], [false, 5, 75]);
    assert.equal(room.part("position").textContent, "0:05 / 1:15");
    slider.focus();
    slider.fire("pointerdown");
    assert.equal(video.paused, true);
    slider.value = "60";
    slider.fire("input");
    assert.equal(video.currentTime, 60);
    slider.fire("pointerup");
    assert.deepEqual([video.paused, document.activeElement], [false, document.body]);
  });

  test("a video of unknown length has no timeline", () => {
    room.video.duration = Infinity;
    room.video.fire("durationchange");
    assert.deepEqual([room.part("timeline").disabled, room.part("position").textContent], [true, ""]);
  });

  test("a jump back on the timeline is not counted as a replay, but a later restart is", async () => {
    room.video.duration = 10;
    room.video.showFrame(4);
    room.part("timeline").value = "1";
    room.part("timeline").fire("input");
    room.video.showFrame(1);
    room.video.showFrame(0.5);
    await room.press("j");
    const [body] = room.server.callsOf("/judgments/");
    assert.equal(body.viewing.replays, 1);
  });
});

describe("hints", () => {
  test("new annotators see a hint to read the guidelines until they have opened them", async () => {
    room = await Room.open();
    assert.equal(room.part("first").hidden, false);
    const dialog = room.element.querySelector("dialog[data-url]");
    dialog.showModal();
    dialog.close();
    assert.equal(room.part("first").hidden, true);
    room = await Room.open({ machine: room.machine });
    assert.equal(room.part("first").hidden, true);
  });

  test("the hint for swipes is shown until the fifth swipe in this browser", async () => {
    room = await Room.open();
    const hint = room.part("swipe");
    for (let swipe = 1; swipe <= 5; swipe += 1) {
      assert.equal(hint.hidden, false);
      await room.look();
      room.part("stage").fire("touchstart", { touches: [{ clientX: 0, clientY: 0 }] });
      room.part("stage").fire("touchend", { changedTouches: [{ clientX: 100, clientY: 0 }] });
      await settle();
    }
    assert.equal(hint.hidden, true);
    assert.equal(room.answers.length, 5);
  });
});

describe("training", () => {
  beforeEach(async () => {
    room = await Room.open({ training: true });
  });

  test("an answer is followed by feedback on whether it was correct", async () => {
    room.server.on("/judgments/", feedback(false));
    await room.judge("f");
    assert.equal(room.state, "feedback");
    assert.deepEqual(
      ["verdict", "own-answer", "explanation", "judged"].map((name) => room.part(name).textContent),
      ["Wrong: the pair is relevant", "Your answer: Not relevant", "The dog runs.", "1"],
    );
    await pass(SETTLED_MS);
    await room.press("Enter");
    assert.deepEqual([room.state, room.caption], ["ready", "caption 2"]);
  });

  test("until the server has sent the feedback, no key answers", async () => {
    let answer;
    room.server.on("/judgments/", () => new Promise((resolve) => { answer = resolve; }));
    await room.judge("j");
    assert.equal(room.state, "sending");
    await pass(SETTLED_MS);
    await room.press("f");
    assert.equal(room.answers.length, 1);
    answer(feedback(true)());
    await settle();
    assert.equal(room.state, "feedback");
  });

  test("if the page is reloaded before the feedback arrives, the feedback is still shown", async () => {
    room.server.handlers.delete("/judgments/");
    await room.judge("j");
    const { server } = room;
    server.on("/judgments/", feedback(true));
    room = await Room.open({ training: true, machine: room.machine, server });
    assert.deepEqual([room.state, room.caption], ["feedback", "caption 1"]);
    assert.equal(room.part("verdict").textContent, "Correct: relevant");
  });

  test("enough correct answers admit the annotator to the campaign", async () => {
    room.server.on("/judgments/", feedback(true));
    await room.judge("j");
    assert.equal(room.part("opened").textContent, "");
    assert.equal(room.element.querySelector("[data-requirement-count]").textContent, "Correct so far: 1 of 1");
    await pass(SETTLED_MS);
    await room.press("Enter");
    await room.judge("j");
    assert.equal(room.part("opened").textContent, "Round 1 is now open to you.");
    // The main button leads there, and Enter presses it.
    const [judge, next] = [room.part("judge-now"), room.part("next")];
    assert.deepEqual([judge.hidden, judge.href, document.activeElement], [false, "/round-1/", judge]);
    assert.equal(next.classList.contains("btn-primary"), false);
    assert.equal(room.part("judge-open").hidden, false);
    await pass(SETTLED_MS);
    await room.press("j");
    await room.judge("j");
    assert.deepEqual([judge.hidden, document.activeElement], [true, next]);
    assert.equal(next.classList.contains("btn-primary"), true);
  });

  test("training answers cannot be undone", async () => {
    room.server.on("/judgments/", feedback(true));
    await room.judge("j");
    await room.press("z");
    assert.equal(room.state, "feedback");
  });
});

test("a kind of question that only names its answers has all other sentences", async () => {
  room = await Room.open();
  const { Question } = await load("question");
  class Words extends Question {
    textOf({ words }) {
      return words;
    }
  }
  const item = { words: "a dog runs" };
  const question = new Words({});
  assert.equal(question.textOfAnswered(item), "a dog runs. Next video.");
  assert.equal(question.textOfEarlier(item), "Your earlier answer: a dog runs");
  assert.equal(question.answeredElsewhere, "You have answered this video in another tab. Next video.");
  assert.deepEqual([true, false].map((is_right) => question.verdict({ is_right })), ["Correct", "Wrong"]);
  assert.deepEqual([question.captionOf(item), question.actions], ["", {}]);
});

// The room as a whole: its states, answers, undo, and what comes from elsewhere.

import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";

import { pass, settle } from "./browser.mjs";
import { Room, SETTLED_MS } from "./room.mjs";

const said = () => room.part("live").textContent;

let room;

async function escalate(reason) {
  await room.look();
  await room.press("u");
  room.part("reason").value = reason;
  document.getElementById("unsure").close();
  room.part("unsure-form").fire("submit");
  await settle();
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

  test("no answer is taken in the first quarter of a second", async () => {
    room.video.arrive();
    room.video.showFrame();
    await pass(SETTLED_MS - 2);
    await room.press("j");
    assert.deepEqual(room.answers, []);
    await pass(2);
    await room.press("j");
    assert.deepEqual(room.answers, [[1, 1]]);
  });

  test("no answer is taken before something of the video was seen", async () => {
    await pass(SETTLED_MS);
    room.video.pause();
    await room.press("j");
    assert.deepEqual([room.answers, room.part("unseen").hidden], [[], false]);
    await room.judge("j");
    assert.deepEqual([room.answers, room.part("unseen").hidden], [[[1, 1]], true]);
  });

  test("an answer says how long the pair was shown, and its place in the sitting", async () => {
    await pass(1000);
    await room.judge("j");
    const [body] = room.server.callsOf("/judgments/");
    assert.equal(body.seconds, 1.251);
    assert.deepEqual(body.viewing, {
      hidden: 0, watched: 0.251, first_frame: 1, replays: 0, speed: 1, place: 1, sheet: false,
    });
    assert.deepEqual([body.corrects, body.missing, body.guideline], [false, null, 1]);
  });

  test("the second half of a double click answers nothing", async () => {
    await room.look();
    const [, relevant] = room.element.querySelectorAll("[data-label]");
    relevant.fire("click", { detail: 1 });
    await room.look();
    relevant.fire("click", { detail: 2 });
    await settle();
    assert.deepEqual(room.answers, [[1, 1]]);
  });

  test("without the network answers wait, and the next pairs are shown", async () => {
    room.server.handlers.delete("/judgments/");
    await room.judge("j", "j");
    assert.deepEqual([room.state, room.caption], ["ready", "caption 3"]);
    assert.deepEqual([room.part("offline").hidden, room.part("waiting").textContent], [false, "2 waiting"]);
  });

  test("when all pairs are judged the room is empty, and looks again on request", async () => {
    room = await Room.open({ pairs: 1 });
    await room.judge("j");
    assert.deepEqual([room.state, room.caption, room.part("done").hidden], ["empty", "", false]);
    room.serve(2);
    room.part("again").click();
    await settle();
    assert.deepEqual([room.state, room.caption], ["ready", "caption 2"]);
  });

  test("a closed campaign is empty with the server's reason", async () => {
    room = await Room.open({ pairs: 6 });
    room.server.on("/claim/", () => ({ status: 409, body: { detail: "The campaign is closed." } }));
    // The first answer leaves four pairs, so the room asks for more.
    await room.judge("j", "j");
    assert.equal(room.state, "empty");
    assert.deepEqual([room.part("refusal").textContent, room.part("done").hidden], ["The campaign is closed.", true]);
  });

  test("a refused answer is named, and cannot be undone", async () => {
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

  test("the last pair comes back with its answer, and the next answer corrects it", async () => {
    await room.press("z");
    assert.deepEqual([room.caption, room.part("remark").textContent], ["caption 2", "Again: you said Not relevant."]);
    const [no, yes] = room.element.querySelectorAll("[data-label]");
    assert.deepEqual([no.ariaPressed, yes.ariaPressed], ["true", "false"]);
    await room.judge("j");
    const last = room.server.callsOf("/judgments/").at(-1);
    assert.deepEqual([last.assignment, last.label, last.corrects], [2, 1, true]);
  });

  test("afterwards comes the pair that was on the screen, and the count stays", async () => {
    await room.press("z");
    await room.judge("j");
    assert.deepEqual([room.caption, room.part("judged").textContent], ["caption 3", "2"]);
  });

  test("twice goes back two pairs", async () => {
    await room.press("z");
    await room.press("z");
    assert.equal(room.caption, "caption 1");
    await room.judge("j", "j");
    assert.equal(room.caption, "caption 3");
  });

  test("while the next pair is being fetched, the earlier one is shown first", async () => {
    room = await Room.open({ pairs: 6 });
    let handOut;
    room.server.on("/claim/", () => new Promise((resolve) => { handOut = resolve; }));
    await room.judge("j", "j", "j", "j", "j", "j");
    assert.equal(room.state, "loading");
    await room.press("z");
    assert.deepEqual([room.state, room.caption], ["ready", "caption 6"]);
    handOut({ body: { items: [{ assignment: 7, caption: "caption 7", video: null }], judged: 6 } });
    await settle();
    assert.equal(room.caption, "caption 6");
    await room.judge("f");
    assert.equal(room.caption, "caption 7");
  });

  test("with nothing to undo it does nothing", async () => {
    room = await Room.open();
    await room.press("z");
    assert.deepEqual([room.state, room.caption], ["ready", "caption 1"]);
  });
});

describe("handing on", () => {
  beforeEach(async () => {
    room = await Room.open();
  });

  test("an unsure annotator sends the pair on with a reason", async () => {
    await escalate("two dogs");
    assert.deepEqual(room.sent("/escalations/", "reason"), [[1, "two dogs"]]);
    assert.deepEqual([room.caption, room.part("judged").textContent], ["caption 2", "0"]);
  });

  test("it cannot be undone: the first undo says so, the second opens the last answer", async () => {
    await room.judge("j");
    await escalate("two dogs");
    await room.press("z");
    assert.equal(said(), "Sent to a lead; it cannot be taken back here. Undo once more opens your last answer.");
    assert.equal(room.caption, "caption 3");
    await room.press("z");
    assert.equal(room.caption, "caption 1");
  });

  test("a pair without a video is reported at once, with the reason", async () => {
    room = await Room.open({ pairs: 0 });
    room.server.on("/claim/", () => ({ body: { items: [{ assignment: 1, caption: "c", video: null }], judged: 0 } }));
    room.part("again").click();
    await pass(SETTLED_MS);
    assert.equal(room.part("video-reason").textContent, "This pair has no video.");
    await room.press("x");
    assert.deepEqual(room.sent("/escalations/", "reason"), [[1, "This pair has no video."]]);
  });

  test("a video that cannot be played is reported at once, too", async () => {
    room.video.fire("error");
    await pass(SETTLED_MS);
    await room.press("x");
    assert.deepEqual(room.sent("/escalations/", "reason"), [[1, "This video cannot be played."]]);
  });

  test("a video that plays is reported only after a question", async () => {
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

describe("what comes from elsewhere", () => {
  beforeEach(async () => {
    room = await Room.open();
  });

  test("a pair answered in another tab gives way to the next", async () => {
    const other = new BroadcastChannel("hearth-room-1");
    other.postMessage({ assignment: 1, countsIn: "8" });
    while (room.caption === "caption 1") await settle();
    assert.deepEqual([room.caption, room.part("judged").textContent], ["caption 2", "1"]);
    assert.equal(said(), "You have answered this pair in another tab. Next pair.");
  });

  test("new guidelines take no answer until they were read", async () => {
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

  test("who leaves gives back what is held", () => {
    window.fire("pagehide");
    assert.deepEqual(room.server.callsOf("/release/"), [{}]);
  });

  test("who leaves with unsent answers is asked, otherwise not", async () => {
    assert.equal(window.fire("beforeunload").isPrevented, false);
    room.server.handlers.delete("/judgments/");
    await room.judge("j");
    assert.equal(window.fire("beforeunload").isPrevented, true);
  });

  test("a page that comes back from the browser's memory asks for pairs again", async () => {
    window.fire("pageshow", { persisted: true });
    await settle();
    // The server has taken back pairs 1 to 10 and hands out the next.
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

  test("plays without sound if the browser does not allow sound yet", async () => {
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

  test("a pair without a video has no timeline", () => {
    room.video.duration = Infinity;
    room.video.fire("durationchange");
    assert.deepEqual([room.part("timeline").disabled, room.part("position").textContent], [true, ""]);
  });

  test("going back is not counted as a replay", async () => {
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
  test("new annotators are sent to the guidelines until they have opened them", async () => {
    room = await Room.open();
    assert.equal(room.part("first").hidden, false);
    const dialog = room.element.querySelector("dialog[data-url]");
    dialog.showModal();
    dialog.close();
    assert.equal(room.part("first").hidden, true);
    room = await Room.open({ machine: room.machine });
    assert.equal(room.part("first").hidden, true);
  });

  test("swiping is announced until five swipes in this browser", async () => {
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

  test("an answer is followed by whether it was right", async () => {
    room.server.on("/judgments/", feedback(false));
    await room.judge("f");
    assert.equal(room.state, "feedback");
    assert.deepEqual(
      ["verdict", "given", "explanation", "judged"].map((name) => room.part(name).textContent),
      ["Wrong: it is relevant", "You said: Not relevant", "The dog runs.", "1"],
    );
    await pass(SETTLED_MS);
    await room.press("Enter");
    assert.deepEqual([room.state, room.caption], ["ready", "caption 2"]);
  });

  test("until the server has said it, no key answers", async () => {
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

  test("a reload before the outcome shows it afterwards", async () => {
    room.server.handlers.delete("/judgments/");
    await room.judge("j");
    const { server } = room;
    server.on("/judgments/", feedback(true));
    room = await Room.open({ training: true, machine: room.machine, server });
    assert.deepEqual([room.state, room.caption], ["feedback", "caption 1"]);
    assert.equal(room.part("verdict").textContent, "Right: relevant");
  });

  test("enough right answers in a row open the campaign", async () => {
    room.server.on("/judgments/", feedback(true));
    await room.judge("j");
    assert.equal(room.part("opened").textContent, "");
    await pass(SETTLED_MS);
    await room.press("Enter");
    await room.judge("j");
    assert.equal(room.part("opened").textContent, "You are in: Round 1 is open to you now.");
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

  test("nothing can be undone", async () => {
    room.server.on("/judgments/", feedback(true));
    await room.judge("j");
    await room.press("z");
    assert.equal(room.state, "feedback");
  });
});

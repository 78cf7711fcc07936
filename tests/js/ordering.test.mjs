// Ordering studies: five captions are put in order by keys, buttons and dragging, and then confirmed.

import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";

import { load, pass, settle } from "./browser.mjs";
import { Room, SETTLED_MS } from "./room.mjs";

const spoken = () => room.part("live").textContent;
const HEIGHT = 40;

let room;

const orders = () => room.sent("/judgments/", "places");
const rows = () => room.part("captions").children;
const chosen = () => rows().map((row) => row.ariaSelected).indexOf("true");

// Show the first frame, and press keys.
async function order(...keys) {
  await room.look();
  for (const key of keys) await room.press(key);
}

// Give each row a box: 40 pixels high, from the top of the list down.
function layOut() {
  for (const row of rows()) {
    row.getBoundingClientRect = () => {
      const top = rows().indexOf(row) * HEIGHT;
      return { top, bottom: top + HEIGHT, height: HEIGHT };
    };
  }
}

// Press a pointer on a row, and return a function that sends its next events.
function grab(target, pointerType = "mouse") {
  layOut();
  const clientY = rows().indexOf(target.closest("li")) * HEIGHT + HEIGHT / 2;
  const shared = { pointerId: 1, pointerType, isPrimary: true, button: 0, buttons: 1 };
  target.fire("pointerdown", { ...shared, clientY });
  return (type, pixels, own = {}) =>
    room.part("captions").fire(type, { ...shared, clientY: clientY + pixels, ...own });
}

describe("places", () => {
  let functions;

  beforeEach(async () => {
    functions = await load("drag");
  });

  for (const [from, top, expected] of [
    [2, 80, 2],
    [2, 101, 3],
    [2, 100, 2],
    [2, 59, 1],
    [2, 500, 4],
    [2, -500, 0],
  ]) {
    test(`a row dragged from place ${from} until its top is at ${top} pixels gets place ${expected}`, () => {
      const edges = { top, bottom: top + HEIGHT };
      assert.equal(functions.placeOfDragged(from, edges, [20, 60, 100, 140, 180]), expected);
    });
  }

  test("a tall row passes a short one once, without swapping back", () => {
    const edges = { top: 21, bottom: 121 };
    assert.equal(functions.placeOfDragged(0, edges, [50, 120]), 1);
    assert.equal(functions.placeOfDragged(1, edges, [20, 90]), 1);
  });
});

describe("ordering", () => {
  beforeEach(async () => {
    room = await Room.open({ ordering: true });
  });

  test("the captions of the first video are shown, and the first has the focus", () => {
    assert.deepEqual([room.state, room.captions], ["ready", ["1a", "1b", "1c", "1d", "1e"]]);
    assert.deepEqual([chosen(), document.activeElement === rows()[0]], [0, true]);
    assert.deepEqual(rows().map((row) => row.tabIndex), [0, -1, -1, -1, -1]);
  });

  test("keys choose and move captions, and each move is announced", async () => {
    await order("4", "o");
    assert.deepEqual([room.captions.join(" "), spoken()], ["1a 1b 1d 1c 1e", "Place 3 of 5: 1d"]);
    assert.deepEqual([chosen(), document.activeElement === rows()[2]], [2, true]);
    await room.press("Home");
    await room.press("ArrowDown");
    await room.press("End");
    assert.deepEqual([room.captions.join(" "), spoken()], ["1d 1b 1c 1e 1a", "Place 5 of 5: 1a"]);
    await room.press("l");
    await room.press("ArrowDown");
    assert.deepEqual([room.captions.join(" "), chosen()], ["1d 1b 1c 1e 1a", 4]);
    assert.deepEqual(orders(), []);
  });

  test("buttons move the caption that was clicked", async () => {
    await room.look();
    rows()[1].children[0].fire("click");
    room.part("lower").click();
    assert.equal(room.captions.join(" "), "1a 1c 1b 1d 1e");
    room.part("raise").click();
    room.part("raise").click();
    assert.equal(room.captions.join(" "), "1b 1a 1c 1d 1e");
  });

  test("Enter confirms the order and shows the next video", async () => {
    await order("3", "Home", "Enter");
    assert.deepEqual(orders(), [[1, [2, 0, 1, 3, 4]]]);
    assert.deepEqual([room.captions[0], room.part("judged").textContent], ["2a", "1"]);
    assert.equal(spoken(), "Order confirmed. Next video.");
    const [body] = room.server.callsOf("/judgments/");
    assert.deepEqual(["label" in body, "missing" in body, body.corrects], [false, false, false]);
  });

  test("an order in which no caption was moved must be confirmed twice", async () => {
    room.part("unmoved").textContent = "You have not moved a caption.";
    await order("Enter");
    assert.deepEqual([orders(), room.part("unmoved").hidden], [[], false]);
    assert.equal(spoken(), "You have not moved a caption.");
    room.element.querySelector("[data-submit=confirm]").fire("click", { detail: 2 });
    await settle();
    assert.deepEqual(orders(), []);
    room.element.querySelector("[data-submit=confirm]").click();
    await settle();
    assert.deepEqual(orders(), [[1, [0, 1, 2, 3, 4]]]);
    assert.equal(room.part("unmoved").hidden, true);
  });

  test("no order is accepted before a part of the video was seen", async () => {
    await pass(SETTLED_MS);
    await room.press("o");
    await room.press("2");
    await room.press("o");
    await room.press("Enter");
    assert.deepEqual([orders(), room.part("unseen").hidden], [[], false]);
    await room.look();
    await room.press("Enter");
    assert.deepEqual(orders(), [[1, [1, 0, 2, 3, 4]]]);
  });

  test("undo shows the earlier order, and the next one corrects it", async () => {
    await order("5", "Home", "Enter");
    await order("2", "Home", "z");
    assert.deepEqual(room.captions, ["1e", "1a", "1b", "1c", "1d"]);
    assert.equal(spoken(), "Your earlier order. Change it and confirm it again.");
    await order("End", "Enter");
    assert.deepEqual(orders(), [[1, [4, 0, 1, 2, 3]], [1, [0, 1, 2, 3, 4]]]);
    const [first, second] = room.server.callsOf("/judgments/");
    assert.deepEqual([second.corrects, second.corrected_key], [true, first.client_key]);
    // The video that was on the screen follows, with its captions in the order that they had.
    assert.deepEqual(room.captions, ["2b", "2a", "2c", "2d", "2e"]);
  });

  test("the list of answers shows the first caption, and opens an order from before a reload", async () => {
    const { server } = room;
    const captions = [..."vwxyz"].map((text, place) => ({ place, text }));
    const earlier = { assignment: 90, captions, places: [3, 0, 1, 2, 4], client_key: "k", video: "/media/1/" };
    server.on("/history/", () => ({ body: [earlier] }));
    room = await Room.open({ ordering: true, server });
    const box = room.part("history").parent;
    box.isPopoverOpen = true;
    box.fire("toggle");
    const [row] = room.part("history").children;
    assert.deepEqual(row.children.map((child) => child.textContent), ["y", "in first place", "Answer again"]);
    row.querySelector("button").click();
    await order("Enter");
    assert.deepEqual(room.captions.length, 5);
    assert.deepEqual(orders(), [[90, [3, 0, 1, 2, 4]]]);
  });

  test("after a reload, an order that was not sent is sent", async () => {
    const { server, machine } = room;
    server.handlers.delete("/judgments/");
    await order("2", "Home", "Enter");
    server.on("/judgments/", () => ({ status: 201 }));
    room = await Room.open({ ordering: true, machine, server });
    assert.deepEqual(orders(), [[1, [1, 0, 2, 3, 4]]]);
  });

  test("a video ordered in another tab is replaced by the next", async () => {
    const other = new BroadcastChannel("hearth-room-1");
    other.postMessage({ assignment: 1, countsIn: "8" });
    await settle();
    await new Promise((resolve) => { setImmediate(resolve); });
    await settle();
    assert.deepEqual([room.captions[0], room.part("judged").textContent], ["2a", "1"]);
    assert.equal(spoken(), "You have answered this video in another tab. Next video.");
  });
});

describe("dragging", () => {
  beforeEach(async () => {
    room = await Room.open({ ordering: true });
    // No animation frame runs, so that a row moves only when the test sends an event.
    globalThis.requestAnimationFrame = () => {};
    Object.assign(window, { innerHeight: 900, scrollBy: () => {} });
    await room.look();
  });

  test("a mouse drags a row, and the other rows make room for it", () => {
    const [row] = rows();
    const send = grab(row);
    send("pointermove", 3);
    assert.equal(row.dataset.dragged, undefined);
    send("pointermove", 65);
    assert.deepEqual([room.captions.join(" "), row.dataset.dragged], ["1b 1c 1a 1d 1e", ""]);
    assert.equal(row.style.translate, "0 -15px");
    assert.equal(spoken(), "");
    send("pointerup", 65);
    assert.deepEqual([row.style.translate, row.dataset.dragged], ["none", undefined]);
    assert.deepEqual([spoken(), chosen()], ["Place 3 of 5: 1a", 2]);
    send("pointermove", -90);
    assert.equal(room.captions.join(" "), "1b 1c 1a 1d 1e");
  });

  test("a press without movement moves nothing", () => {
    const send = grab(rows()[0]);
    send("pointerup", 0);
    send("pointermove", 90);
    // The button was released outside the list.
    grab(rows()[0])("pointermove", 90, { buttons: 0 });
    assert.equal(room.captions.join(" "), "1a 1b 1c 1d 1e");
  });

  test("a finger drags a row by its handle, and scrolls the page elsewhere", () => {
    grab(rows()[4].children[0], "touch")("pointermove", -90);
    assert.equal(room.captions.join(" "), "1a 1b 1c 1d 1e");
    const send = grab(rows()[4].children[1], "touch");
    send("pointermove", -90);
    // Another finger is ignored.
    send("pointermove", 0, { pointerId: 2 });
    send("pointerup", -90);
    assert.deepEqual([room.captions.join(" "), spoken()], ["1a 1b 1e 1c 1d", "Place 3 of 5: 1e"]);
  });

  test("a drag that the browser cancels leaves the order as it was", () => {
    const send = grab(rows()[1].children[1], "touch");
    send("pointermove", 90);
    assert.equal(room.captions.join(" "), "1a 1c 1d 1b 1e");
    send("pointercancel", 90);
    assert.deepEqual([room.captions.join(" "), spoken()], ["1a 1b 1c 1d 1e", ""]);
  });

  test("a drag ends when the order is confirmed by a key", async () => {
    const send = grab(rows()[0]);
    send("pointermove", 90);
    await room.press("Enter");
    send("pointermove", 190);
    send("pointerup", 190);
    assert.deepEqual(room.captions, ["2a", "2b", "2c", "2d", "2e"]);
    assert.deepEqual(orders(), [[1, [1, 2, 0, 3, 4]]]);
  });
});

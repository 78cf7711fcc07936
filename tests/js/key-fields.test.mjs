// The fields for keys on My work: a pressed key becomes the content of the field.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { h, load, openBrowser } from "./browser.mjs";

const NAMES = { Space: "Leertaste", Backspace: "Rücktaste", Delete: "Entf", PageUp: "Bild auf", ArrowLeft: "←" };

let field;

beforeEach(async () => {
  openBrowser();
  field = h("input");
  document.body.append(h("form", { "data-key-names": JSON.stringify(NAMES) }, field, h("button")));
  field.value = "J";
  await load("annotation/me");
});

// Press a key. Returns the content of the field, and whether the browser still handles the key.
function press(key, properties = {}) {
  const event = field.fire("keydown", { key, ...properties });
  return [field.value, !event.isPrevented];
}

for (const [key, shown] of [
  ["k", "K"],
  ["ö", "Ö"],
  ["?", "?"],
  [" ", "Leertaste"],
  ["ArrowLeft", "←"],
  ["PageUp", "Bild auf"],
  ["F2", "F2"],
  ["MediaTrackPreviousAndMore", "MEDIATRACKPREVIOUSAN"],
]) {
  test(`${key} is shown as ${shown}`, () => assert.deepEqual(press(key), [shown, false]));
}

for (const key of ["Backspace", "Delete"]) {
  test(`${key} empties a field, and is entered as a key into an empty field`, () => {
    assert.deepEqual(press(key), ["", false]);
    assert.deepEqual(press(key), [NAMES[key], false]);
  });
}

for (const key of ["Tab", "Enter", "Escape", "Shift", "CapsLock", "Unidentified"]) {
  test(`${key} keeps its usual function`, () => assert.deepEqual(press(key), ["J", true]));
}

for (const [what, properties, expected] of [
  ["with Ctrl", { ctrlKey: true }, ["J", true]],
  ["with Alt", { altKey: true }, ["J", true]],
  ["with the command key", { metaKey: true }, ["J", true]],
  ["typed with AltGr, which Windows reports as Ctrl and Alt", { ctrlKey: true, altKey: true, getModifierState: () => true }, ["@", false]],
  ["of an input method", { isComposing: true }, ["J", true]],
]) {
  test(`a key ${what}`, () => assert.deepEqual(press("@", properties), expected));
}

test("buttons of the form handle their keys themselves", () => {
  const event = field.parent.querySelector("button").fire("keydown", { key: "k" });
  assert.deepEqual([event.isPrevented, field.value], [false, "J"]);
});

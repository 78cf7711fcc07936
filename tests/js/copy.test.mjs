// The button that copies a text, with or without access to the clipboard.

import assert from "node:assert/strict";
import { test } from "node:test";

import { h, load, openBrowser, settle } from "./browser.mjs";

for (const [what, isAllowed, expected] of [
  ["a text is copied", true, { button: "Kopiert", status: "In der Zwischenablage.", copied: ["hearth_key"] }],
  ["without access, the text is selected", false, { button: "Kopieren", status: "Markiert.", copied: [] }],
]) {
  test(what, async () => {
    openBrowser();
    const copied = [];
    navigator.clipboard = {
      async writeText(text) {
        if (!isAllowed) throw new Error("denied");
        copied.push(text);
      },
    };
    const field = h("input");
    field.value = "hearth_key";
    let isSelected = false;
    field.select = () => {
      isSelected = true;
    };
    const button = h("button", { hidden: true, "data-copied": "Kopiert" }, "Kopieren");
    const status = h("p", { role: "status", "data-copied": "In der Zwischenablage.", "data-selected": "Markiert." });
    document.body.append(h("div", { "data-copy": "" }, field, button, status));
    await load("people/copy");
    assert.equal(button.hidden, false);
    button.click();
    await settle();
    assert.equal(isSelected, true);
    assert.deepEqual({ button: button.textContent, status: status.textContent, copied }, expected);
  });
}

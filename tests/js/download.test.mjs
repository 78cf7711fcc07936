// The button that saves the text of a field as a file.

import assert from "node:assert/strict";
import { test } from "node:test";

import { h, load, openBrowser } from "./browser.mjs";

test("the text is saved under the name of the file", async () => {
  openBrowser();
  const field = h("textarea");
  field.value = "email,name,link\n";
  const button = h("button", { hidden: true });
  document.body.append(h("div", { "data-download": "invitations.csv" }, field, button));
  const saved = [];
  const create = document.createElement.bind(document);
  document.createElement = (name) => {
    const made = create(name);
    if (name === "a") made.click = () => saved.push([made.download, made.href]);
    return made;
  };
  const blobs = [];
  URL.createObjectURL = (blob) => `blob:${blobs.push(blob)}`;
  const revoked = [];
  URL.revokeObjectURL = (address) => revoked.push(address);
  await load("people/download");

  assert.equal(button.hidden, false);
  button.click();
  assert.deepEqual(saved, [["invitations.csv", "blob:1"]]);
  assert.deepEqual(revoked, ["blob:1"]);
  assert.equal(await blobs[0].text(), "email,name,link\n");
});

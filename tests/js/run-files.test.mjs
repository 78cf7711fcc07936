import assert from "node:assert/strict";
import { test } from "node:test";

import { h, load } from "./browser.mjs";
import { addForm, openForms } from "./forms.mjs";

openForms();
const input = h("input", { type: "file", name: "file" });
addForm({ "data-upload": "" }, input);
const { namesFor } = await load("pooling/run-files");

test("several files can be selected", () => assert.equal(input.multiple, true));

for (const [file, system, names] of [
  ["clip.run.gz", "", { system: "clip", name: "" }],
  ["CE v2.0.npy", "", { system: "CE v2.0", name: "" }],
  ["seed-1.json", "CLIP", { system: "CLIP", name: "seed-1" }],
  [".run", "", { system: ".run", name: "" }],
]) {
  test(`the names of ${file} with the system “${system}”`, () => {
    assert.deepEqual(namesFor(file, system), names);
  });
}

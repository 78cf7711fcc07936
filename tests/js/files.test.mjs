import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { load, openBrowser } from "./browser.mjs";

let files;

beforeEach(async () => {
  openBrowser();
  files = await load("pooling/files");
});

const file = (name) => ({ isFile: true, file: (resolve) => resolve({ name }) });

// A folder whose reader returns two entries at a time, as browsers return a hundred.
function folder(...children) {
  return {
    isFile: false,
    createReader: () => {
      const rest = [...children];
      return { readEntries: (resolve) => resolve(rest.splice(0, 2)) };
    },
  };
}

function transfer(...entries) {
  const items = entries.map((entry) => ({ webkitGetAsEntry: () => entry }));
  return { items, files: [{ name: "plain.mp4" }, { name: ".hidden" }] };
}

const names = (found) => found.map(({ name }) => name);

test("the files of a dropped folder and of its folders are found", async () => {
  const deep = folder(file("v4.mp4"), file(".DS_Store"));
  const dropped = transfer(folder(file("v1.mp4"), file("v2.mp4"), file("v3.mp4"), deep), file("v5.mp4"));
  assert.deepEqual(names(await files.droppedFiles(dropped)), [
    "v1.mp4",
    "v2.mp4",
    "v3.mp4",
    "v4.mp4",
    "v5.mp4",
  ]);
});

test("without entries, the plain files are used", async () => {
  assert.deepEqual(names(await files.droppedFiles(transfer(null))), ["plain.mp4"]);
});

test("hidden files are left out of a choice", async () => {
  const chosen = [{ name: ".DS_Store" }, { name: "v1.mp4" }];
  assert.deepEqual(names(await files.chosenFiles(chosen)), ["v1.mp4"]);
});

// Forms with a file: a script sends them and shows the progress.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { h, load } from "./browser.mjs";
import { addForm, openForms, progressOfJob } from "./forms.mjs";

let browser;
let form;

beforeEach(async () => {
  browser = openForms();
  form = addForm({ "data-upload": "" }, ...fields());
  await load("shared/upload");
});

function fields() {
  const box = h(
    "div", { "data-upload-progress": "", hidden: true },
    h("progress", { value: "0" }),
    h("p", { "data-upload-text": "" }),
  );
  return [h("input", { type: "file", name: "file" }), box, h("button", { type: "submit" })];
}

function upload() {
  form.requestSubmit(null);
  return browser.uploads.at(-1);
}

const part = (selector) => form.querySelector(selector);
const text = () => part("[data-upload-text]").textContent;
const state = () => ({
  text: text(),
  hasFailed: part("[data-upload-progress]").matches(".has-failed"),
  isDisabled: part("button").disabled,
});

test("the script sends the form with the headers of htmx", () => {
  const request = upload();
  assert.deepEqual(
    [request.method, request.url, request.headers],
    ["POST", "/start/", { "HX-Request": "true", "HX-Current-URL": "https://hearth.example/judge/" }],
  );
  assert.deepEqual(request.content.fields, { file: "" });
  assert.deepEqual(form.sent, []);
  assert.equal(part("[data-upload-progress]").hidden, false);
  assert.deepEqual(state(), { text: "Sending", hasFailed: false, isDisabled: true });
});

for (const [loaded, total, value, shown] of [
  [1_000_000, 2_500_000, 40, "40 % of 2.5 MB sent"],
  [999_999, 1_000_000, 99, "99 % of 1.0 MB sent"],
  [750, 1_500, 50, "50 % of 2 kB sent"],
]) {
  test(`the progress is shown: ${shown}`, () => {
    upload().upload.fire("progress", { lengthComputable: true, loaded, total });
    assert.deepEqual([part("progress").value, text()], [value, shown]);
  });
}

test("without a known size, no progress is shown", () => {
  upload().upload.fire("progress", { lengthComputable: false, loaded: 5, total: 0 });
  assert.deepEqual([part("progress").value, text()], [0, "Sending"]);
});

test("after the last byte, the server stores the file", () => {
  upload().upload.fire("load");
  assert.equal(text(), "The file has been sent. The server is storing it.");
  assert.equal(part("progress").hasAttribute("value"), false);
});

test("the form is replaced by the progress of its job", () => {
  const progress = progressOfJob();
  browser.answer("progress", progress);
  upload().respond({ headers: { "X-Job": "7" }, html: "progress" });
  assert.deepEqual(document.body.children, [progress]);
  assert.deepEqual(browser.processed, [progress]);
  assert.deepEqual(browser.visited, []);
});

test("the browser goes to the page of the response if the response names no job", () => {
  upload().respond({ url: "/benchmarks/tiny/" });
  upload().respond({ headers: { "HX-Redirect": "/accounts/login/" } });
  assert.deepEqual(browser.visited, ["/benchmarks/tiny/", "/accounts/login/"]);
});

test("errors of the form are shown, and the selected file stays selected", () => {
  const selected = part("input");
  const errors = h("div", { "data-form-errors": "" });
  const next = addForm({ "data-upload": "" }, errors, ...fields());
  next.remove();
  browser.answer("errors", next);
  upload().respond({ status: 422, html: "errors" });
  assert.deepEqual(document.body.children, [next]);
  assert.deepEqual(next.querySelectorAll("input"), [selected]);
  assert.equal(document.activeElement, errors);

  form = next;
  upload();
  assert.deepEqual([browser.uploads.length, next.sent], [2, []]);
});

test("the reason on a page with an error is shown", () => {
  const reason = "Nothing was stored. Tell an admin, and try again later.";
  const page = h(
    "section", {},
    h("h1", {}, "The disk is full"),
    h("p", { class: "lonely-reason" }, reason),
  );
  browser.answer("full", page);
  upload().respond({ status: 507, html: "full" });
  assert.deepEqual(state(), { text: `The disk is full. ${reason}`, hasFailed: true, isDisabled: false });
});

for (const [reason, fail] of [
  ["The server responded with status 500. Nothing was stored.", (request) => request.respond({ status: 500 })],
  ["The connection was lost and nothing was stored. Try again.", (request) => request.fire("error")],
]) {
  test(`a failed upload can be repeated: ${reason}`, () => {
    fail(upload());
    assert.deepEqual(state(), { text: reason, hasFailed: true, isDisabled: false });
    upload();
    assert.deepEqual(state(), { text: "Sending", hasFailed: false, isDisabled: true });
    assert.equal(browser.uploads.length, 2);
  });
}

test("the script does nothing on a page without an upload", async () => {
  browser = openForms();
  form = addForm({});
  await load("shared/upload");
  form.requestSubmit(null);
  assert.deepEqual([form.sent, browser.uploads], [[null], []]);
});

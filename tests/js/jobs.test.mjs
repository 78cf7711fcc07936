import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { h, load, settle } from "./browser.mjs";
import { addForm, openForms, progressOfJob } from "./forms.mjs";

let browser;
let form;
let button;

beforeEach(async () => {
  browser = openForms();
  await load("shared/jobs");
  button = h("button", { name: "what" });
  button.value = "build";
  const depth = h("input", { name: "depth" });
  depth.value = "10";
  form = addForm({ "data-job": "" }, depth, button);
});

const notices = () => form.querySelectorAll("[data-job-failure]");

test("a form is replaced by the progress of its job", async () => {
  const progress = progressOfJob();
  browser.answer("progress", progress);
  browser.server.on("/start/", () => ({ headers: { "X-Job": "7" }, body: "progress" }));
  form.requestSubmit(button);
  assert.equal(button.disabled, true);
  await settle();
  assert.deepEqual(document.body.children, [progress]);
  assert.deepEqual(browser.processed, [progress]);
  assert.equal(document.activeElement, progress.querySelector("[data-job-title]"));
  assert.deepEqual(browser.server.calls, [
    {
      url: "/start/",
      headers: { "HX-Request": "true", "HX-Current-URL": "https://hearth.example/judge/" },
      body: { depth: "10", what: "build" },
    },
  ]);
  assert.deepEqual(form.sent, []);
});

test("the browser goes to another page if the server redirects it", async () => {
  const headers = { "HX-Redirect": "/labels/3/", "X-Job": "7" };
  browser.server.on("/start/", () => ({ headers, body: "" }));
  form.requestSubmit(button);
  await settle();
  assert.deepEqual(browser.visited, ["/labels/3/"]);
  assert.deepEqual(document.body.children, [form]);
  assert.deepEqual(form.sent, []);
});

for (const [what, status, errors] of [
  ["the form with its errors", 422, [h("div", { "data-form-errors": "" })]],
  ["a page with a preview", 200, []],
]) {
  test(`${what} is shown in place of the page, and the form is sent once`, async () => {
    const old = h("main", {}, form);
    document.body.append(old);
    const shown = h("main", {}, ...errors);
    browser.answer("a page", shown);
    browser.server.on("/start/", () => ({ status, body: "a page" }));
    form.requestSubmit(button);
    await settle();
    assert.deepEqual(document.body.children, [shown]);
    assert.deepEqual(browser.processed, [shown]);
    assert.equal(document.activeElement, errors[0] ?? shown);
    assert.equal(browser.server.calls.length, 1);
    assert.deepEqual(form.sent, []);
  });
}

test("a response that is not a page is reported, and the form is not sent again", async () => {
  browser.answer("bad gateway", h("body"));
  browser.server.on("/start/", () => ({ status: 502, body: "bad gateway" }));
  form.requestSubmit(button);
  await settle();
  assert.deepEqual(
    notices().map((notice) => notice.textContent),
    ["The server responded with status 502. Check the list of jobs, then try again."],
  );
  assert.equal(button.disabled, false);
  assert.equal(browser.server.calls.length, 1);
  assert.deepEqual(form.sent, []);
});

test("a lost connection is reported once, and the form is not sent again", async () => {
  for (const _ of [1, 2]) {
    form.requestSubmit(button);
    await settle();
  }
  assert.deepEqual(
    notices().map((notice) => [notice.getAttribute("role"), notice.textContent]),
    [["alert", "The connection was lost. Check the list of jobs, then try again."]],
  );
  assert.equal(form.firstElementChild, notices()[0]);
  assert.equal(button.disabled, false);
  assert.equal(browser.server.calls.length, 2);
  assert.deepEqual(form.sent, []);
});

test("other forms are sent by the browser", async () => {
  const other = addForm({}, h("button"));
  other.requestSubmit(null);
  await settle();
  assert.deepEqual(other.sent, [null]);
  assert.deepEqual(browser.server.calls, []);
});

// The tables of an analysis: sorting by any column, and long tables with a filter.

import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";

import { h, load, openBrowser } from "./browser.mjs";

let table;
let heads;
let body;

// A cell is a text, or a number with its text: [0.5, "50 %"]. The heads of numbers begin with #.
async function openTable(titles, rows) {
  openBrowser();
  heads = titles.map((title) => h("th", { class: title.startsWith("#") ? "num" : "" }, title));
  body = h("tbody", {}, ...rows.map(makeRow));
  table = h("table", { "data-sortable": "" }, h("thead", {}, h("tr", {}, ...heads)), body);
  table.tHead = { rows: [{ cells: heads }] };
  table.tBodies = [body];
  Object.defineProperty(body, "rows", { get: () => body.children });
  document.body.append(h("div", { class: "table-box" }, table), h("p", { class: "table-count" }, `${rows.length} rows`));
  await load("evaluation/lab/tables");
}

function makeRow(values) {
  const row = h("tr", {}, ...values.map((value) => {
    if (!Array.isArray(value)) return h("td", {}, value);
    const [number, text] = value;
    return h("td", number === null ? {} : { "data-value": String(number) }, text);
  }));
  row.cells = row.children;
  return row;
}

const click = (column) => heads[column].querySelector("button").click();
const firstCells = () => body.children.map((row) => row.cells[0].textContent);
const sorts = () => heads.map((head) => [head.ariaSort, head.querySelector("span").textContent]);

describe("sorting", () => {
  beforeEach(() =>
    openTable(["Run", "#Score"], [
      ["beta", [0.2, "20 %"]],
      ["Änne", [-1, "−1"]],
      ["alpha", [null, "–"]],
      ["gamma", [10, "10"]],
      ["delta", [0.2, "20 %"]],
    ]));

  test("a head becomes a button with the same text", () => {
    assert.deepEqual(heads.map((head) => head.textContent), ["Run", "#Score"]);
    assert.deepEqual(sorts(), [[null, ""], [null, ""]]);
  });

  test("texts are sorted from A, and then from Z", () => {
    click(0);
    assert.deepEqual(firstCells(), ["alpha", "Änne", "beta", "delta", "gamma"]);
    assert.deepEqual(sorts(), [["ascending", "▴"], [null, ""]]);
    click(0);
    assert.deepEqual(firstCells(), ["gamma", "delta", "beta", "Änne", "alpha"]);
    assert.deepEqual(sorts(), [["descending", "▾"], [null, ""]]);
  });

  test("numbers are sorted by value from the highest, and undefined ones are always last", () => {
    click(1);
    assert.deepEqual(firstCells(), ["gamma", "beta", "delta", "Änne", "alpha"]);
    assert.deepEqual(sorts(), [[null, ""], ["descending", "▾"]]);
    click(1);
    assert.deepEqual(firstCells(), ["Änne", "beta", "delta", "gamma", "alpha"]);
    assert.deepEqual(sorts(), [[null, ""], ["ascending", "▴"]]);
  });

  test("only the column that was clicked last is marked", () => {
    click(1);
    click(0);
    assert.deepEqual(sorts(), [["ascending", "▴"], [null, ""]]);
  });
});

const numbered = (n) => Array.from({ length: n }, (_, place) => [`row ${place + 1}`, place % 2 ? "Even number" : "odd"]);
const shown = () => body.children.filter((row) => !row.hidden).map((row) => row.cells[0].textContent);
const count = () => document.querySelector(".table-count");
const filter = () => document.querySelector("input");
const status = () => count().querySelector("span").textContent;
const button = () => count().querySelector("button");

function type(words) {
  filter().value = words;
  filter().fire("input");
}

describe("long tables", () => {
  test("twenty rows need neither a filter nor a button", async () => {
    await openTable(["Run", "Kind"], numbered(20));
    assert.equal(filter(), null);
    assert.equal(count().textContent, "20 rows");
    assert.equal(shown().length, 20);
  });

  test("a longer table shows its first twenty rows until it is opened", async () => {
    await openTable(["Run", "Kind"], numbered(21));
    assert.deepEqual([shown().length, shown().at(-1)], [20, "row 20"]);
    assert.deepEqual([status(), button().textContent], ["20 of 21 rows", "Show all 21"]);
    button().click();
    assert.deepEqual([shown().length, status(), button().textContent], [21, "21 rows", "Show the first 20"]);
    button().click();
    assert.equal(shown().length, 20);
  });

  test("a filter finds the rows that contain all its words, in any order and case", async () => {
    await openTable(["Run", "Kind"], numbered(60));
    type("  NUMBER 5 even ");
    assert.deepEqual(shown(), ["row 50", "row 52", "row 54", "row 56", "row 58"]);
    assert.deepEqual([status(), button().hidden], ["5 of 60 rows", true]);
    type("odd");
    assert.deepEqual([shown().length, status(), button().textContent], [20, "20 of 60 rows", "Show all 30"]);
    type("nothing");
    assert.deepEqual([shown(), status()], [[], "0 of 60 rows"]);
  });

  test("after sorting, the first rows of the new order are shown", async () => {
    await openTable(["Run", "#Number"], Array.from({ length: 30 }, (_, place) => [`row ${place}`, [place, `${place}`]]));
    click(1);
    assert.deepEqual([shown()[0], shown().at(-1)], ["row 29", "row 10"]);
  });
});

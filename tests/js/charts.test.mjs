// The specifications of charts: colours, legends, and the width of the page.

import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";

import { load, openBrowser } from "./browser.mjs";

const COLOURS = { original: "grey", labels: "orange", categories: ["c0", "c1"], systems: ["s0", "s1", "s2"] };

let specs;

beforeEach(async () => {
  openBrowser();
  specs = await load("evaluation/lab/chart-specs");
});

const drawn = (spec, width = 1000) => specs.specFor({ usermeta: {}, data: { values: [] }, ...spec }, width, COLOURS);

const colour = (field, more = {}) => ({ color: { field, type: "nominal", ...more } });

function scaleOf(names, { usermeta = {}, ...more } = {}) {
  const values = names.map((name) => ({ run: name }));
  return drawn({ usermeta, data: { values }, encoding: colour("run", more) }).encoding.color.scale;
}

describe("colours", () => {
  test("a system has the colour of its number, and “only blue” has the colour of the system blue", () => {
    const usermeta = { systems: { blue: 1, red: 5 } };
    assert.deepEqual(scaleOf(["red", "blue", "only blue"], { usermeta }), {
      domain: ["red", "blue", "only blue"],
      range: ["s2", "s1", "s1"],
    });
  });

  test("a system can have the name of a property that all objects have", () => {
    const names = ["__proto__", "constructor", "only toString", "hasOwnProperty", "other"];
    const systems = JSON.parse('{"__proto__": 0, "constructor": 1, "toString": 2}');
    assert.deepEqual(scaleOf(names, { usermeta: { systems } }).range, ["s0", "s1", "s2", "c0", "c1"]);
    assert.deepEqual(scaleOf(["constructor"]).range, ["c0"]);
  });

  test("labels and original positives have fixed colours, and other names get the category colours in turn", () => {
    const names = ["one", "Original positives", "two", "By the labels", "neither", "three"];
    const kinds = { "Original positives": "original", neither: "original", "By the labels": "labels" };
    assert.deepEqual(scaleOf(names, { usermeta: { kinds } }).range, ["c0", "grey", "c1", "orange", "grey", "c0"]);
  });

  test("names are coloured once, in the order of the chart", () => {
    assert.deepEqual(scaleOf(["b", "a", "b"], { sort: ["a"] }), { domain: ["a", "b"], range: ["c0", "c1"] });
  });

  test("a range of colours that the chart itself contains is kept", () => {
    assert.deepEqual(scaleOf(["a"], { scale: { range: ["pink"] } }), { domain: ["a"], range: ["pink"] });
  });

  test("layers and the charts of a facet are coloured, numbers are not", () => {
    const values = [{ run: "a", share: 0.5 }];
    const { spec } = drawn({
      data: { values },
      facet: {},
      spec: { width: 300, layer: [{ encoding: colour("run") }, { encoding: { color: { field: "share", type: "quantitative" } } }] },
    });
    assert.deepEqual(spec.layer.map(({ encoding }) => encoding.color.scale), [{ domain: ["a"], range: ["c0"] }, undefined]);
  });
});

describe("width", () => {
  test("a single chart is as wide as its container", () => {
    const { width, autosize } = drawn({});
    assert.deepEqual({ width, autosize }, { width: "container", autosize: { type: "fit-x", contains: "padding" } });
    assert.equal(drawn({ width: 240 }).width, 240);
  });

  // Each chart needs 70 % of 300 pixels and 130 for its axis: 340.
  for (const [width, columns, chart] of [
    [1400, 3, 300],
    [1020, 3, 210],
    [1019, 2, 300],
    [679, 1, 300],
    [390, 1, 260],
    [200, 1, 120],
  ]) {
    test(`at ${width} pixels, a facet has ${columns} columns of ${chart} pixels`, () => {
      const facet = drawn({ facet: {}, columns: 3, spec: { width: 300 } }, width);
      assert.deepEqual([facet.columns, facet.spec.width, facet.width], [columns, chart, undefined]);
    });
  }

  test("the parts of a composed chart are not wider than the page", () => {
    const spec = { vconcat: [{ width: 600 }, { hconcat: [{ width: 100 }, { width: 400 }, {}] }] };
    const { vconcat, width } = drawn(spec, 390);
    assert.deepEqual(vconcat, [{ width: 260 }, { hconcat: [{ width: 100 }, { width: 260 }, {}] }]);
    assert.equal(width, undefined);
  });

  test("a narrow page has its own specification, with the same colours of systems", () => {
    const narrow = { mark: "bar", data: { values: [] } };
    const usermeta = { narrow, systems: { blue: 0 } };
    assert.deepEqual([drawn({ usermeta, mark: "rect" }, 600).mark, drawn({ usermeta, mark: "rect" }, 599).mark], ["rect", "bar"]);
    assert.deepEqual(drawn({ usermeta }, 599).usermeta, usermeta);
  });

  test("the specification of the server is not changed", () => {
    const spec = { usermeta: {}, data: { values: [] }, vconcat: [{ width: 600 }] };
    specs.specFor(spec, 390, COLOURS);
    assert.deepEqual(spec, { usermeta: {}, data: { values: [] }, vconcat: [{ width: 600 }] });
  });

  test("composed charts and those with a narrow version are drawn again for a new width", () => {
    const changing = [{ usermeta: {} }, { usermeta: {}, vconcat: [] }, { usermeta: {}, facet: {} }, { usermeta: { narrow: {} } }];
    assert.deepEqual(changing.map(specs.changesWithWidth), [false, true, true, true]);
  });

  for (const [width, facet, labelLimit, columns] of [
    [1180, undefined, 260, 4],
    [600, undefined, 260, 2],
    [599, undefined, 110, 4],
    [730, {}, 260, 2],
    [729, {}, 110, 4],
    [100, undefined, 110, 1],
  ]) {
    test(`at ${width} pixels${facet ? ", in a facet" : ""}, a legend has ${columns} columns`, () => {
      assert.deepEqual(specs.legendFor({ facet }, width), { labelLimit, columns });
    });
  }
});

test("a legend has room for the longest name, up to the width of the page", () => {
  const encoding = { color: { type: "nominal", field: "runs" } };
  const legend = (runs) => specs.legendFor({ encoding, data: { values: [{ runs }] } }, 310);
  assert.deepEqual(legend("x".repeat(10)), { labelLimit: 110, columns: 2 });
  assert.deepEqual(legend("x".repeat(20)), { labelLimit: 150, columns: 1 });
  assert.deepEqual(legend("x".repeat(90)), { labelLimit: 275, columns: 1 });
});

test("both themes have the same number of colours", () => {
  const counts = Object.values(specs.COLOURS).map(({ categories, systems }) => [categories.length, systems.length]);
  assert.deepEqual(counts, [[7, 9], [7, 9]]);
});

// Adapts a chart's Vega-Lite specification to the colours and the width of the page.

// People with any kind of colour blindness can distinguish these (after Okabe and Ito).
export const COLOURS = {
  light: {
    original: "#a2978a",
    labels: "#b4490f",
    categories: ["#b4490f", "#25211c", "#87972a", "#6f86a6", "#c9748f", "#8d6e63", "#5c5470"],
    // Only systems have these colours.
    systems: ["#0b6e8f", "#c58a00", "#8a4f9e", "#3f7d3f", "#5b6ad0", "#a3324a", "#1f8a83", "#7a5230", "#b05fa0"],
  },
  dark: {
    original: "#8f8579",
    labels: "#f39a63",
    categories: ["#f39a63", "#ede6dd", "#c7d36b", "#a9bdd8", "#e8a3b8", "#c4a89f", "#b3a8d1"],
    systems: ["#62bfe0", "#e5c36a", "#cf9fdf", "#86cfa4", "#9aa6f5", "#f08a9b", "#5fd1c8", "#c9a27a", "#e59ad2"],
  },
};
// Space for the axis of each chart of a facet, in pixels.
const AXIS = 130;
// Charts of a facet shrink to this share of their width before a column is dropped.
const SMALLEST = 0.7;
const NARROW = 600;
// The width of a character of a legend, and of its symbol with the space around it, in pixels.
const CHARACTER = 7.5;
const SYMBOL = 35;

export const isNarrow = (width) => width < NARROW;

// The width of the longest name in a legend, in pixels: an estimate from its number of characters.
function longestName(spec) {
  const { color, strokeDash, shape } = spec.encoding ?? {};
  const fields = [color, strokeDash, shape].filter((one) => one?.type === "nominal").map((one) => one.field);
  const names = (spec.data?.values ?? []).flatMap((row) => fields.map((field) => String(row[field])));
  return CHARACTER * Math.max(0, ...names.map((name) => name.length));
}

// A legend has as many names side by side as fit. In a facet, it begins at the first chart.
export function legendFor(spec, width) {
  const room = width - (spec.facet ? AXIS : 0);
  const usual = isNarrow(room) ? 110 : 260;
  const labelLimit = Math.max(usual, Math.min(longestName(spec), room - SYMBOL));
  return { labelLimit, columns: Math.max(1, Math.floor(room / (labelLimit + SYMBOL))) };
}

// All encodings that give each name a colour, in the chart and in its parts.
function colourEncodings(spec) {
  const parts = ["spec", "layer", "hconcat", "vconcat"].flatMap((name) => spec[name] ?? []);
  const own = spec.encoding?.color;
  return [...(own?.type === "nominal" ? [own] : []), ...parts.flatMap(colourEncodings)];
}

// A system has the same colour in all charts of a benchmark. `usermeta.systems` contains its number.
// Some other names, too, each have one colour in all charts. `usermeta.kinds` contains the key of that colour
// in a theme of `COLOURS`.
function setColours(spec, colours) {
  const { systems = {}, kinds = {} } = spec.usermeta ?? {};
  for (const encoding of colourEncodings(spec)) {
    const values = spec.data.values.map((row) => row[encoding.field]);
    const domain = [...new Set([...(encoding.sort ?? []), ...values])];
    let others = 0;
    const range = domain.map((name) => {
      const system = [name, String(name).replace(/^only /, "")].find((text) => Object.hasOwn(systems, text));
      if (system !== undefined) return colours.systems[systems[system] % colours.systems.length];
      if (Object.hasOwn(kinds, name)) return colours[kinds[name]];
      return colours.categories[others++ % colours.categories.length];
    });
    encoding.scale = { domain, range, ...encoding.scale };
  }
}

const isComposed = (spec) => ["vconcat", "hconcat", "concat", "facet", "repeat"].some((name) => name in spec);

// A facet shows as many charts side by side as fit.
function fitFacet(spec, width) {
  const columns = Math.floor(width / (SMALLEST * spec.spec.width + AXIS));
  spec.columns = Math.max(1, Math.min(spec.columns, columns));
  spec.spec.width = Math.max(120, Math.min(spec.spec.width, width / spec.columns - AXIS));
}

// The parts of a composed chart are not wider than the page.
function fitParts(spec, width) {
  for (const part of [...(spec.vconcat ?? []), ...(spec.hconcat ?? [])]) {
    if (part.width) part.width = Math.min(part.width, Math.max(120, width - AXIS));
    fitParts(part, width);
  }
}

// A chart that is too wide for a narrow page contains another specification in `usermeta.narrow`.
function versionFor(spec, width) {
  const { usermeta } = spec;
  return structuredClone(usermeta.narrow && isNarrow(width) ? { ...usermeta.narrow, usermeta } : spec);
}

// Whether a chart must be drawn again for a new width. Vega adapts all other charts by itself.
export const changesWithWidth = (spec) => isComposed(spec) || Boolean(spec.usermeta.narrow);

// Return the specification to draw. `colours` is a theme of `COLOURS`.
export function specFor(original, width, colours) {
  const spec = versionFor(original, width);
  setColours(spec, colours);
  if (spec.facet) fitFacet(spec, width);
  fitParts(spec, width);
  if (!isComposed(spec)) {
    spec.width ??= "container";
    spec.autosize ??= { type: "fit-x", contains: "padding" };
  }
  return spec;
}

// Draws the charts of an analysis from their Vega-Lite specifications in the colours of the page, and
// draws them again when the theme or the width changes. Vega interprets expressions, because the
// Content-Security-Policy allows no eval.

// People with any kind of colour blindness can distinguish these (after Okabe and Ito).
const COLOURS = {
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
const ORIGINAL = "Original positives";
const LABELS = new Set(["By the labels", "With the labels", "From the labels"]);
// Room for the axis next to one chart of a facet, in pixels.
const AXIS = 130;
// Charts of a facet shrink to this share of their width before a column is dropped.
const SMALLEST = 0.7;
const NARROW = 600;

// A legend has as many names side by side as fit.
function legend(width) {
  const labelLimit = width < NARROW ? 110 : 260;
  return { labelLimit, columns: Math.max(1, Math.floor(width / (labelLimit + 35))) };
}

function coloursOf(place) {
  return COLOURS[place.closest("[data-bs-theme]").dataset.bsTheme === "dark" ? "dark" : "light"];
}

// The Vega-Lite configuration in the colours of the page. `room` is the width of the legend.
function configure(place, room) {
  const { labels: accent, categories } = coloursOf(place);
  const style = getComputedStyle(place);
  const [ink, muted, line] = ["--h-ink", "--h-muted", "--h-line"].map((name) => style.getPropertyValue(name).trim());
  const text = { labelColor: muted, titleColor: ink };
  return {
    background: "transparent",
    font: getComputedStyle(document.body).fontFamily,
    view: { stroke: line },
    axis: { ...text, gridColor: line, domainColor: line, tickColor: line, labelFontSize: 12, titleFontSize: 12, titleFontWeight: 600 },
    axisY: { labelLimit: place.clientWidth < NARROW ? 100 : 180 },
    legend: { ...text, ...legend(room), symbolBaseFillColor: muted, symbolBaseStrokeColor: muted, symbolOpacity: 1, orient: "top", layout: { top: { direction: "vertical" } }, labelFontSize: 12, titleFontSize: 12 },
    header: text,
    title: { color: ink },
    text: { color: ink },
    rule: { color: muted },
    bar: { color: accent },
    area: { color: accent },
    line: { color: accent },
    point: { color: accent, filled: true, opacity: 1 },
    range: { category: categories },
  };
}

// All encodings of a colour by names, in the chart and in its parts.
function colourEncodings(spec) {
  const parts = ["spec", "layer", "hconcat", "vconcat"].flatMap((name) => spec[name] ?? []);
  const own = spec.encoding?.color;
  return [...(own?.type === "nominal" ? [own] : []), ...parts.flatMap(colourEncodings)];
}

// A system has the same colour in all charts of a benchmark. `usermeta.systems` has its number.
function setColours(spec, colours) {
  const systems = spec.usermeta?.systems ?? {};
  for (const encoding of colourEncodings(spec)) {
    const values = spec.data.values.map((row) => row[encoding.field]);
    const domain = [...new Set([...(encoding.sort ?? []), ...values])];
    let others = 0;
    const range = domain.map((name) => {
      const number = systems[name] ?? systems[String(name).replace(/^only /, "")];
      if (number !== undefined) return colours.systems[number % colours.systems.length];
      if (name === ORIGINAL || name === "neither") return colours.original;
      if (LABELS.has(name)) return colours.labels;
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

// The parts of a composed chart are as narrow as the page.
function fitParts(spec, width) {
  for (const part of [...(spec.vconcat ?? []), ...(spec.hconcat ?? [])]) {
    if (part.width) part.width = Math.min(part.width, Math.max(120, width - AXIS));
    fitParts(part, width);
  }
}

// A chart that is too wide for a narrow page has another specification for it in `usermeta.narrow`.
function specFor(figure, width) {
  const { usermeta } = figure.spec;
  const isOther = usermeta.narrow && width < NARROW;
  return structuredClone(isOther ? { ...usermeta.narrow, usermeta } : figure.spec);
}

async function drawInto(place, figure) {
  const spec = specFor(figure, place.clientWidth);
  setColours(spec, coloursOf(place));
  if (spec.facet) fitFacet(spec, place.clientWidth);
  fitParts(spec, place.clientWidth);
  if (!isComposed(spec)) {
    spec.width ??= "container";
    spec.autosize ??= { type: "fit-x", contains: "padding" };
  }
  const { view } = await vegaEmbed(place, spec, {
    mode: "vega-lite",
    actions: false,
    ast: true,
    // In a facet, the legend begins at the first chart.
    config: configure(place, place.clientWidth - (spec.facet ? AXIS : 0)),
    defaultStyle: false,
    logLevel: vega.Error,
    renderer: "svg",
    tooltip: { disableDefaultStyle: true },
  });
  return view;
}

async function draw(figure) {
  figure.spec ??= await (await fetch(figure.dataset.chart)).json();
  figure.view?.finalize();
  figure.view = await drawInto(figure.querySelector(".lab-plot"), figure);
  const box = figure.querySelector(".lab-box");
  figure.querySelector("[data-wide]").hidden = box.scrollWidth <= box.clientWidth;
  for (const button of figure.querySelectorAll("[data-save]")) button.hidden = false;
}

// Files are printed on white paper, so they are drawn again in the light theme.
async function save(figure, type) {
  const paper = document.createElement("div");
  paper.className = "lab-paper";
  paper.dataset.bsTheme = "light";
  figure.querySelector(".lab-plot").after(paper);
  const view = await drawInto(paper, figure);
  const link = document.createElement("a");
  link.href = await view.toImageURL(type, type === "png" ? 2 : 1);
  link.download = `${figure.dataset.file}.${type}`;
  link.click();
  view.finalize();
  paper.remove();
}

const figures = [...document.querySelectorAll("[data-chart]")];
for (const figure of figures) {
  figure.addEventListener("click", (event) => {
    const { save: type } = event.target.dataset;
    if (type) save(figure, type);
  });
}

// Vega adapts other charts to a new width by itself.
let width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === width) return;
  width = innerWidth;
  for (const figure of figures) if (figure.spec && (isComposed(figure.spec) || figure.spec.usermeta.narrow)) draw(figure);
});

const drawAll = () => Promise.all(figures.map(draw));
// Vega's scripts are deferred, too, and come first in the page.
drawAll();
new MutationObserver(drawAll).observe(document.documentElement, { attributeFilter: ["data-bs-theme"] });

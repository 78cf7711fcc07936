// Draws the charts of an analysis from their Vega-Lite specifications in the colours of the page, and
// draws them again when the theme or the width changes. Vega interprets expressions, because the
// Content-Security-Policy allows no eval.

import { changesWithWidth, COLOURS, isNarrow, legendFor, specFor } from "./chart-specs.js";

// After a change of the width, charts are redrawn when it has been stable for this time.
const REDRAW_MS = 150;

function coloursOf(place) {
  return COLOURS[place.closest("[data-bs-theme]").dataset.bsTheme === "dark" ? "dark" : "light"];
}

// The Vega-Lite configuration in the colours of the page.
function configure(place, spec) {
  const width = place.clientWidth;
  const { labels: accent, categories } = coloursOf(place);
  const style = getComputedStyle(place);
  const [ink, muted, line] = ["--h-ink", "--h-muted", "--h-line"].map((name) => style.getPropertyValue(name).trim());
  const text = { labelColor: muted, titleColor: ink };
  return {
    background: "transparent",
    font: getComputedStyle(document.body).fontFamily,
    view: { stroke: line },
    axis: { ...text, gridColor: line, domainColor: line, tickColor: line, labelFontSize: 12, labelSeparation: 6, titleFontSize: 12, titleFontWeight: 600 },
    axisY: { labelLimit: isNarrow(width) ? 100 : 180 },
    legend: { ...text, ...legendFor(spec, width), symbolBaseFillColor: muted, symbolBaseStrokeColor: muted, symbolOpacity: 1, orient: "top", layout: { top: { direction: "vertical" } }, labelFontSize: 12, titleFontSize: 12 },
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

async function drawInto(place, figure) {
  const spec = specFor(figure.spec, place.clientWidth, coloursOf(place));
  const { view } = await vegaEmbed(place, spec, {
    mode: "vega-lite",
    actions: false,
    ast: true,
    config: configure(place, spec),
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

let width = innerWidth;
let timer = null;
addEventListener("resize", () => {
  if (innerWidth === width) return;
  width = innerWidth;
  clearTimeout(timer);
  timer = setTimeout(() => {
    for (const figure of figures) if (figure.spec && changesWithWidth(figure.spec)) draw(figure);
  }, REDRAW_MS);
});

const drawAll = () => Promise.all(figures.map(draw));
// Vega's scripts are deferred, too, and come first in the page.
drawAll();
new MutationObserver(drawAll).observe(document.documentElement, { attributeFilter: ["data-bs-theme"] });

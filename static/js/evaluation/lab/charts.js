// Draws the charts of an analysis from their Vega-Lite specifications, in the page's colours, and
// draws them again when light turns to dark. Expressions are interpreted: the page allows no eval.

// Told apart with every kind of colour blindness (after Okabe and Ito), on light and on dark.
const LIGHT = ["#a2978a", "#b4490f", "#0b6e8f", "#3f7d3f", "#8a4f9e", "#c58a00", "#5b6ad0", "#25211c"];
const DARK = ["#8f8579", "#f39a63", "#62bfe0", "#86cfa4", "#cf9fdf", "#e5c36a", "#9aa6f5", "#ede6dd"];

// As many names side by side as there is room for; what does not fit would be cut off.
function legend(width) {
  const labelLimit = width < 600 ? 95 : 260;
  return { labelLimit, columns: Math.max(1, Math.floor(width / (labelLimit + 40))) };
}

// In the colours of the place that the chart is drawn into.
function look(place) {
  const dark = place.closest("[data-bs-theme]").dataset.bsTheme === "dark";
  const style = getComputedStyle(place);
  const [ink, muted, line] = ["--h-ink", "--h-muted", "--h-line"].map((name) => style.getPropertyValue(name).trim());
  const words = { labelColor: muted, titleColor: ink };
  return {
    background: "transparent",
    font: getComputedStyle(document.body).fontFamily,
    view: { stroke: line },
    axis: { ...words, gridColor: line, domainColor: line, tickColor: line, labelFontSize: 12, titleFontSize: 12, titleFontWeight: 600 },
    legend: { ...words, ...legend(place.clientWidth), symbolBaseFillColor: muted, symbolBaseStrokeColor: muted, symbolOpacity: 1, orient: "top", layout: { top: { direction: "vertical" } }, labelFontSize: 12, titleFontSize: 12 },
    header: words,
    title: { color: ink },
    text: { color: ink },
    rule: { color: muted },
    bar: { color: dark ? DARK[1] : LIGHT[1] },
    area: { color: dark ? DARK[1] : LIGHT[1] },
    line: { color: dark ? DARK[1] : LIGHT[1] },
    point: { color: dark ? DARK[1] : LIGHT[1], filled: true, opacity: 1 },
    range: { category: dark ? DARK : LIGHT },
  };
}

const isWhole = (spec) => ["vconcat", "hconcat", "concat", "facet", "repeat"].some((name) => name in spec);

async function drawInto(place, figure) {
  const spec = structuredClone(figure.spec);
  if (!isWhole(spec)) {
    spec.width ??= "container";
    spec.autosize ??= { type: "fit-x", contains: "padding" };
  }
  const { view } = await vegaEmbed(place, spec, {
    mode: "vega-lite",
    actions: false,
    ast: true,
    config: look(place),
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
  for (const button of figure.querySelectorAll("[data-save]")) button.hidden = false;
}

// Files are for white paper, whatever the page looks like: the chart is drawn once more, in light.
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

const drawAll = () => Promise.all(figures.map(draw));
// The scripts of Vega are deferred like this one, and stand before it.
drawAll();
new MutationObserver(drawAll).observe(document.documentElement, { attributeFilter: ["data-bs-theme"] });

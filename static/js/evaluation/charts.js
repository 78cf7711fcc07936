// Draws the charts of an analysis from their Vega-Lite specifications, in the page's colours, and
// draws them again when light turns to dark. Expressions are interpreted: the page allows no eval.

// Told apart with every kind of colour blindness (after Okabe and Ito), on light and on dark.
const LIGHT = ["#a2978a", "#b4490f", "#0b6e8f", "#3f7d3f", "#8a4f9e", "#c58a00", "#5b6ad0", "#25211c"];
const DARK = ["#8f8579", "#f39a63", "#62bfe0", "#86cfa4", "#cf9fdf", "#e5c36a", "#9aa6f5", "#ede6dd"];

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function look() {
  const dark = document.documentElement.dataset.bsTheme === "dark";
  const [ink, muted, line] = ["--h-ink", "--h-muted", "--h-line"].map(colour);
  const words = { labelColor: muted, titleColor: ink };
  return {
    background: "transparent",
    font: getComputedStyle(document.body).fontFamily,
    view: { stroke: line },
    axis: { ...words, gridColor: line, domainColor: line, tickColor: line, labelFontSize: 12, titleFontSize: 12, titleFontWeight: 600 },
    // On a phone a single row of names would be cut off.
    legend: { ...words, orient: "top", columns: innerWidth < 600 ? 2 : 0, labelFontSize: 12, labelLimit: 260, titleFontSize: 12 },
    header: words,
    title: { color: ink },
    text: { color: ink },
    rule: { color: muted },
    bar: { color: dark ? DARK[1] : LIGHT[1] },
    area: { color: dark ? DARK[1] : LIGHT[1] },
    line: { color: dark ? DARK[1] : LIGHT[1] },
    point: { color: dark ? DARK[1] : LIGHT[1], filled: true },
    range: { category: dark ? DARK : LIGHT },
  };
}

const isWhole = (spec) => ["vconcat", "hconcat", "concat", "facet", "repeat"].some((name) => name in spec);

async function draw(figure) {
  const plot = figure.querySelector(".lab-plot");
  figure.spec ??= await (await fetch(figure.dataset.chart)).json();
  const spec = structuredClone(figure.spec);
  if (!isWhole(spec)) {
    spec.width ??= "container";
    spec.autosize ??= { type: "fit-x", contains: "padding" };
  }
  figure.view?.finalize();
  const { view } = await vegaEmbed(plot, spec, {
    mode: "vega-lite",
    actions: false,
    ast: true,
    config: look(),
    defaultStyle: false,
    logLevel: vega.Error,
    renderer: "svg",
    tooltip: { disableDefaultStyle: true },
  });
  figure.view = view;
  for (const button of figure.querySelectorAll("[data-save]")) button.hidden = false;
}

async function save(figure, type) {
  const link = document.createElement("a");
  link.href = await figure.view.toImageURL(type, type === "png" ? 2 : 1);
  link.download = `${figure.dataset.file}.${type}`;
  link.click();
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

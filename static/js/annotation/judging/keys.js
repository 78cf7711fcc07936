// What keys do. Which key does what is the person's choice and comes with the page.

const MOVES_SLIDER = new Set([
  "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown",
]);

// `bindings` name what a key does, `actions` do it. `isDeaf()` tells when keys are for somebody
// else, such as an open dialog.
export function listenToKeys({ bindings, actions, isDeaf }) {
  document.addEventListener("keydown", (event) => {
    if (isDeaf() || event.isComposing || isChord(event)) return;
    if (belongsToField(event)) return;
    const isButton = event.target.closest("button, a, summary");
    // A focused button keeps its own space and enter, but a key held down presses it once.
    if (isButton && (event.key === " " || event.key === "Enter")) {
      if (event.repeat) event.preventDefault();
      return;
    }
    const act = actions[bindings[nameOf(event)]];
    if (!act) return;
    event.preventDefault();
    if (!event.repeat) act();
  });
}

// Text fields keep every key. A slider keeps only the keys that move it.
function belongsToField({ key, target }) {
  const field = target.closest("input, textarea, select");
  return field !== null && (field.type !== "range" || MOVES_SLIDER.has(key));
}

function nameOf({ key }) {
  if (key === " ") return "Space";
  return key.length === 1 ? key.toLowerCase() : key;
}

// A browser's or a screen reader's own. On some keyboards [ and ] are written with AltGr, which
// counts as Ctrl and Alt.
function isChord(event) {
  if (event.metaKey) return true;
  return (event.ctrlKey || event.altKey) && !event.getModifierState("AltGraph");
}

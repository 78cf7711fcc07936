// What keys do. Which key does what is the person's choice and comes with the page.

// `bindings` name what a key does, `actions` do it. `isDeaf()` tells when keys are for somebody
// else, such as an open dialog.
export function listenToKeys({ bindings, actions, isDeaf }) {
  document.addEventListener("keydown", (event) => {
    if (isDeaf() || event.isComposing || isChord(event)) return;
    // Text fields keep every key.
    if (event.target.closest("input, textarea, select")) return;
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

// The keyboard. The page contains the annotator's choice of keys.

const MOVES_SLIDER = new Set([
  "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown",
]);

// `bindings`: the name of an action for each key. `actions`: functions by name. `isBlocked()` returns
// whether keys belong to something else, such as an open dialog.
export function listenToKeys({ bindings, actions, isBlocked }) {
  document.addEventListener("keydown", (event) => {
    if (isBlocked() || event.isComposing || isChord(event)) return;
    if (belongsToField(event)) return;
    const isButton = event.target.closest("button, a, summary");
    // Space and Enter press a focused button, but only once while the key is held down.
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

// Chords belong to the browser or screen reader. Some keyboards type [ and ] with AltGr, which counts
// as Ctrl and Alt.
function isChord(event) {
  if (event.metaKey) return true;
  return (event.ctrlKey || event.altKey) && !event.getModifierState("AltGraph");
}

// The keyboard. The annotator has chosen the key for each action, and the page contains this choice.

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
    // The browser presses a focused button or link with Space or Enter. A key that is held down counts once.
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

// All fields except sliders keep every key. A slider keeps only the keys that move it.
function belongsToField({ key, target }) {
  const field = target.closest("input, textarea, select");
  return field !== null && (field.type !== "range" || MOVES_SLIDER.has(key));
}

function nameOf({ key }) {
  if (key === " ") return "Space";
  return key.length === 1 ? key.toLowerCase() : key;
}

// Keys that are pressed together with Ctrl, Alt or Meta belong to the browser or screen reader. AltGr is
// allowed, because some keyboards type [ and ] with it. Browsers report it as Ctrl and Alt.
function isChord(event) {
  if (event.metaKey) return true;
  return (event.ctrlKey || event.altKey) && !event.getModifierState("AltGraph");
}

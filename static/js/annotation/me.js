// Sets a key when it is pressed in a field. Without this script, the names of keys can be typed.

// Keys that keep their usual function in forms.
const UNTOUCHED_KEYS = new Set(["Tab", "Enter", "Escape", "Shift", "Control", "Alt", "Meta", "AltGraph", "CapsLock"]);
const CLEARING_KEYS = new Set(["Backspace", "Delete"]);
const NAME_LENGTH_MAX = 20;

const form = document.querySelector("[data-key-names]");
const names = JSON.parse(form.dataset.keyNames);
const nameOf = (key) => names[key === " " ? "Space" : key] ?? key.toUpperCase().slice(0, NAME_LENGTH_MAX);

form.addEventListener("keydown", (event) => {
  const field = event.target.closest("input");
  // Input methods and the keyboards of phones enter text without usable key events.
  if (!field || UNTOUCHED_KEYS.has(event.key) || event.isComposing || event.key === "Unidentified") return;
  if (event.ctrlKey || event.metaKey || event.altKey) {
    if (!event.getModifierState("AltGraph")) return;
  }
  event.preventDefault();
  const isCleared = CLEARING_KEYS.has(event.key) && field.value !== "";
  field.value = isCleared ? "" : nameOf(event.key);
});

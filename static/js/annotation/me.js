// Keys are chosen by pressing them. Without this their names can be written.

// These keep what they do in every form.
const KEPT = new Set(["Tab", "Enter", "Escape", "Shift", "Control", "Alt", "Meta", "AltGraph", "CapsLock"]);
const EMPTIES = new Set(["Backspace", "Delete"]);
const SHOWN = {
  " ": "Space",
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  PageUp: "Page up",
  PageDown: "Page down",
};

const form = document.querySelector("[data-keys-form]");

form.addEventListener("keydown", (event) => {
  const field = event.target.closest("input");
  // What an input method or a phone's keyboard writes arrives as text.
  if (!field || KEPT.has(event.key) || event.isComposing || event.key === "Unidentified") return;
  if (event.ctrlKey || event.metaKey || event.altKey) {
    if (!event.getModifierState("AltGraph")) return;
  }
  event.preventDefault();
  const isEmptied = EMPTIES.has(event.key) && field.value !== "";
  field.value = isEmptied ? "" : (SHOWN[event.key] ?? event.key.toUpperCase().slice(0, 20));
});

// The texts of the room's scripts in the annotator's language. The page contains the translations
// (annotation/texts.py); a text without a translation stays English.

const element = document.getElementById("room-texts");
const translations = element ? JSON.parse(element.textContent) : {};

// Return the text in the annotator's language, with each {name} replaced by its value.
export function translate(text, values = {}) {
  const translation = translations[text] ?? text;
  return translation.replaceAll(/\{(\w+)\}/g, (_, name) => values[name]);
}

// Return a number with the separators of the annotator's language.
export function formatNumber(number) {
  return number.toLocaleString(document.documentElement?.lang || "en");
}

// Choices that stay in this browser. If it does not let the page store data, for example because cookies are
// blocked, they last until the page is closed.

const unstored = new Map();

// Return the text that was stored under the key, or null.
export function recall(key) {
  if (unstored.has(key)) return unstored.get(key);
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

// Store a text.
export function keep(key, text) {
  try {
    localStorage.setItem(key, text);
    unstored.delete(key);
  } catch {
    unstored.set(key, String(text));
  }
}

// Shows a sentence and a link if the room waits for long, or if a script fails. This module imports nothing, so
// that it works even if the other modules cannot be loaded.

const WAIT_MS = 4000;
const WAITING = new Set(["loading", "sending"]);

const room = document.getElementById("room");
const part = (name) => room.querySelector(`[data-part="${name}"]`);
let timer;

function follow() {
  clearTimeout(timer);
  part("slow").hidden = true;
  if (WAITING.has(room.dataset.state)) timer = setTimeout(showSlow, WAIT_MS);
}

// Another notice may already explain the wait.
function showSlow() {
  part("slow").hidden = ["failed", "offline", "signed-out"].some((name) => !part(name).hidden);
}

function showFailed(reason) {
  part("failed-reason").textContent = reason;
  part("failed").hidden = false;
  part("slow").hidden = true;
}

new MutationObserver(follow).observe(room, { attributeFilter: ["data-state"] });
follow();
// An error while a script is loaded does not rise to the window, so it is caught on its way down.
window.addEventListener("error", ({ target, message, filename }) => {
  if (target.tagName === "SCRIPT") showFailed(target.src);
  else if (filename?.startsWith(location.origin)) showFailed(message);
}, true);
window.addEventListener("unhandledrejection", ({ reason }) => showFailed(String(reason)));

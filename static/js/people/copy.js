// A button that copies the text of the field next to it. Without this script, people copy by hand.

for (const box of document.querySelectorAll("[data-copy]")) {
  const field = box.querySelector("input");
  const button = box.querySelector("button");
  const status = document.querySelector("[data-copied]");

  button.hidden = false;
  field.addEventListener("focus", () => field.select());
  button.addEventListener("click", async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
      button.textContent = "Copied";
      status.textContent = "Copied to the clipboard.";
    } catch {
      // Browsers allow access to the clipboard only over HTTPS or on this machine.
      status.textContent = "The text is selected. Copy it with your keyboard.";
    }
  });
}

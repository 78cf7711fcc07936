// A button that copies the text of the field next to it. Without this script, people copy by hand.

for (const box of document.querySelectorAll("[data-copy]")) {
  const field = box.querySelector("input");
  const button = box.querySelector("button");
  const status = box.querySelector("[role=status]");

  button.hidden = false;
  field.addEventListener("focus", () => field.select());
  button.addEventListener("click", async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
      button.textContent = button.dataset.copied;
      status.textContent = status.dataset.copied;
    } catch {
      // Browsers allow access to the clipboard only over HTTPS or on this machine.
      status.textContent = status.dataset.selected;
    }
  });
}

// A button that copies the field beside it. Without it the field can be copied by hand.

for (const box of document.querySelectorAll("[data-copy]")) {
  const field = box.querySelector("input");
  const button = box.querySelector("button");
  const said = document.querySelector("[data-copied]");

  button.hidden = false;
  field.addEventListener("focus", () => field.select());
  button.addEventListener("click", async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
      button.textContent = "Copied";
      said.textContent = "The link is copied.";
    } catch {
      // Only pages over HTTPS or of this machine may write to the clipboard.
      said.textContent = "The link is selected: copy it with your keyboard.";
    }
  });
}

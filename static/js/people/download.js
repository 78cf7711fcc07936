// A button that saves the text of a field as a file. Without this script, people copy the text.

for (const box of document.querySelectorAll("[data-download]")) {
  const field = box.querySelector("textarea");
  const button = box.querySelector("button");

  button.hidden = false;
  button.addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([field.value], { type: "text/csv" }));
    link.download = box.dataset.download;
    link.click();
    URL.revokeObjectURL(link.href);
  });
}

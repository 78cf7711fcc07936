// On a phone, the rows of some tables are lists, in which each cell shows the title of its column
// and empty cells are hidden.

for (const { tHead, tBodies } of document.querySelectorAll(".table-list")) {
  const titles = [...tHead.rows[0].cells].map((head) => head.dataset.title ?? "");
  for (const { cells } of tBodies[0].rows) {
    for (const [column, cell] of [...cells].entries()) {
      cell.dataset.title = titles[column];
      cell.toggleAttribute("data-empty", !cell.textContent.trim() && !cell.querySelector("img"));
    }
  }
}

// Tables that can be ordered by any column and, where they are long, narrowed down to some rows.

const MANY = 8;
const text = (cell) => cell.textContent.trim();
// What is undefined has no number; it comes last in either direction.
const number = (cell) => (cell.dataset.value ? Number(cell.dataset.value) : NaN);

function order(rows, column, isNumber, descending) {
  const sign = descending ? -1 : 1;
  const key = isNumber ? number : text;
  return rows.toSorted((one, other) => {
    const [a, b] = [key(one.cells[column]), key(other.cells[column])];
    if (!isNumber) return sign * a.localeCompare(b);
    return Number.isNaN(a) - Number.isNaN(b) || sign * (a - b) || 0;
  });
}

function makeSortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  for (const [column, head] of heads.entries()) {
    const isNumber = head.classList.contains("num");
    const button = document.createElement("button");
    const mark = document.createElement("span");
    button.type = "button";
    button.className = "sort";
    mark.ariaHidden = "true";
    button.append(text(head), mark);
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      // Numbers begin with the highest, words with A.
      const next = { ascending: "descending", descending: "ascending" };
      const direction = next[head.ariaSort] ?? (isNumber ? "descending" : "ascending");
      for (const other of heads) {
        other.removeAttribute("aria-sort");
        other.querySelector("span").textContent = "";
      }
      head.ariaSort = direction;
      mark.textContent = direction === "descending" ? "▾" : "▴";
      body.append(...order([...body.rows], column, isNumber, direction === "descending"));
    });
  }
}

function makeFilter(table) {
  const rows = [...table.tBodies[0].rows];
  if (rows.length < MANY) return;
  const line = document.createElement("p");
  const label = document.createElement("label");
  const input = document.createElement("input");
  const count = document.createElement("span");
  line.className = "table-filter";
  input.type = "search";
  count.role = "status";
  label.append("Rows with ", input);
  line.append(label, count);
  table.closest(".table-box").before(line);
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const all = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => all.includes(word));
      shown += !row.hidden;
    }
    count.textContent = words.length ? `${shown} of ${rows.length}` : "";
  });
}

for (const table of document.querySelectorAll("[data-sortable]")) {
  makeSortable(table);
  makeFilter(table);
}

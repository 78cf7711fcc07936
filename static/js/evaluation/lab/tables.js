// Tables that can be sorted by any column. Long tables have a filter, and show only their first rows at
// first.

const FIRST_ROWS = 20;
const text = (cell) => cell.textContent.trim();
// An undefined value has no number. It comes last in either direction.
const number = (cell) => (cell.dataset.value ? Number(cell.dataset.value) : NaN);

function order(rows, column, isNumber, descending) {
  const sign = descending ? -1 : 1;
  const key = isNumber ? number : text;
  return rows.toSorted((first, second) => {
    const [a, b] = [key(first.cells[column]), key(second.cells[column])];
    if (!isNumber) return sign * a.localeCompare(b);
    return Number.isNaN(a) - Number.isNaN(b) || sign * (a - b) || 0;
  });
}

function makeSortable(table, changed) {
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
      // The first click sorts numbers from the highest and texts from A.
      const next = { ascending: "descending", descending: "ascending" };
      const direction = next[head.ariaSort] ?? (isNumber ? "descending" : "ascending");
      for (const other of heads) {
        other.removeAttribute("aria-sort");
        other.querySelector("span").textContent = "";
      }
      head.ariaSort = direction;
      mark.textContent = direction === "descending" ? "▾" : "▴";
      body.append(...order([...body.rows], column, isNumber, direction === "descending"));
      changed();
    });
  }
}

function makeFilter(table, changed) {
  const line = document.createElement("p");
  const label = document.createElement("label");
  const input = document.createElement("input");
  line.className = "table-filter";
  input.type = "search";
  label.append("Rows containing ", input);
  line.append(label);
  table.closest(".table-box").before(line);
  input.addEventListener("input", changed);
  return input;
}

// Shows the first rows that contain the words of the filter, or all of them after a click on the button,
// and states how many rows are shown.
function makeFold(table) {
  const count = table.closest(".table-box").nextElementSibling;
  const total = count.textContent;
  const button = document.createElement("button");
  const status = document.createElement("span");
  let isOpen = false;
  button.type = "button";
  button.className = "link";
  status.role = "status";
  count.replaceChildren(status, button);
  const update = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = [...table.tBodies[0].rows];
    const found = rows.filter((row) => {
      const all = row.textContent.toLowerCase();
      return words.every((word) => all.includes(word));
    });
    const shown = new Set(isOpen ? found : found.slice(0, FIRST_ROWS));
    for (const row of rows) row.hidden = !shown.has(row);
    status.textContent = shown.size < rows.length ? `${shown.size} of ${total}` : total;
    button.hidden = found.length <= FIRST_ROWS;
    button.textContent = isOpen ? `Show the first ${FIRST_ROWS}` : `Show all ${found.length}`;
  };
  const filter = makeFilter(table, update);
  button.addEventListener("click", () => {
    isOpen = !isOpen;
    update();
  });
  update();
  return update;
}

for (const table of document.querySelectorAll("[data-sortable]")) {
  const isLong = table.tBodies[0].rows.length > FIRST_ROWS;
  makeSortable(table, isLong ? makeFold(table) : () => {});
}

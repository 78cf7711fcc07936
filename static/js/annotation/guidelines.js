// Shows the rows for further pictures one by one. Without this script, all rows are visible.

const empty = [...document.querySelectorAll("[data-pictures] [data-empty]")];
const button = document.querySelector("[data-add-picture]");

for (const row of empty) row.hidden = true;
button.hidden = empty.length === 0;

button.addEventListener("click", () => {
  const row = empty.shift();
  row.hidden = false;
  row.querySelector("input[type=file]").focus();
  button.hidden = empty.length === 0;
});

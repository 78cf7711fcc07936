// Rows for further pictures appear one by one. Without this all of them are there from the start.

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

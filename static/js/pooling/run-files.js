// Uploads several run files at once from the page that uploads a run. Each file becomes a separate job. The
// progress and errors of the job are shown below the name of the file. Without this script, one file is
// uploaded at a time.

import { headersFor } from "../shared/jobs.js";
import { fileSize, sendFile } from "../shared/upload.js";

// The endings of files with runs, such as "clip.run.gz".
const ENDING = /(\.(run|txt|trec|json|npy|tsv|csv|res))?(\.gz)?$/i;

// Returns the names of the system and of the run for a file. If the field of the system is empty, the name
// of the file becomes the name of the system. Otherwise it becomes the name of the run.
export function namesFor(file, system) {
  const stem = file.replace(ENDING, "").slice(0, 100) || file.slice(0, 100);
  return system ? { system, name: stem } : { system: stem, name: "" };
}

const FORM = "form[data-upload]";
const FILES = "input[type=file][name=file]";
document.querySelector(FORM).querySelector(FILES).multiple = true;
document.addEventListener("change", (event) => {
  if (event.target.matches(FILES)) showFiles(event.target.closest(FORM), [...event.target.files]);
});
// In the capture phase, this listener runs before the listener for a single file (shared/upload).
document.addEventListener("submit", submit, { capture: true });
document.addEventListener("htmx:afterSwap", (event) => announce(event.target));

function showFiles(form, files) {
  const list = form.querySelector("[data-run-files]");
  const isSeveral = files.length > 1;
  list.hidden = !isSeveral;
  list.replaceChildren(...(isSeveral ? files.map((file, place) => rowOf(form, file, place)) : []));
  for (const name of ["system", "name"]) {
    const field = form.querySelector(`#id_${name}`);
    field.closest(".field").hidden = isSeveral;
    field.disabled = isSeveral;
  }
}

function rowOf(form, file, place) {
  const row = form.querySelector("[data-run-file]").content.firstElementChild.cloneNode(true);
  row.querySelector("[data-file-name]").textContent = file.name;
  row.querySelector("[data-file-size]").textContent = fileSize(file.size);
  const names = namesFor(file.name, form.querySelector("#id_system").value.trim());
  for (const [name, value] of Object.entries(names)) {
    field(row, name).value = value;
    field(row, name).id = `run-file-${place}-${name}`;
    row.querySelector(`[data-label=${name}]`).htmlFor = field(row, name).id;
  }
  return row;
}

const field = (row, name) => row.querySelector(`input[name=${name}]`);

async function submit(event) {
  const form = event.target.closest(FORM);
  const list = form?.querySelector("[data-run-files]");
  if (!list || list.hidden) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  const input = form.querySelector(FILES);
  const files = [...input.files];
  const rows = [...list.children];
  const button = form.querySelector("button[type=submit]");
  button.disabled = true;
  input.disabled = true;
  // One after the other, so that each gets the whole connection.
  for (const [place, row] of rows.entries()) {
    if (!row.dataset.job) await upload(form, row, files[place]);
  }
  input.disabled = false;
  button.disabled = rows.every((row) => row.dataset.job);
}

async function upload(form, row, file) {
  const box = row.querySelector("[data-file-job]");
  const bar = document.createElement("progress");
  bar.className = "bar";
  bar.max = 100;
  bar.setAttribute("aria-label", `Upload of ${file.name}`);
  box.replaceChildren(bar);
  const answer = await sendFile(form.action, contentOf(form, row, file), (percent) => {
    bar.value = percent;
  });
  if (!answer.job) {
    box.replaceChildren(notice(answer.reason));
    return;
  }
  row.dataset.job = answer.job;
  for (const name of ["system", "name"]) field(row, name).disabled = true;
  const line = await fetch(`/jobs/${answer.job}/line/`, { headers: headersFor() });
  box.innerHTML = await line.text();
  window.htmx.process(box);
}

// Returns the form with one file and its names.
function contentOf(form, row, file) {
  const content = new FormData(form);
  for (const name of ["system", "name"]) content.set(name, field(row, name).value);
  content.set("file", file);
  return content;
}

function notice(reason) {
  const text = document.createElement("p");
  text.className = "notice notice-error";
  text.textContent = reason;
  return text;
}

function announce(target) {
  const line = target?.closest?.(".run-file")?.querySelector(".job-line");
  if (!line || ["queued", "running"].includes(line.dataset.jobState)) return;
  const name = line.closest(".run-file").querySelector("[data-file-name]").textContent;
  document.querySelector("[data-run-status]").textContent = `${name}: ${line.dataset.jobState}`;
}

// Shows the progress of an upload, and then the progress of the job that reads the file. Without this
// script, the form is sent as usual.

import { headersFor, JOB, showAnswer } from "./jobs.js";

const first = document.querySelector("form[data-upload]");
if (first) watch(first);

function watch(form) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form);
  });
}

function send(form) {
  const box = form.querySelector("[data-upload-progress]");
  const bar = box.querySelector("progress");
  const text = box.querySelector("[data-upload-text]");
  const button = form.querySelector("button[type=submit]");
  const request = new XMLHttpRequest();

  const announce = (message) => {
    text.textContent = message;
  };
  const fail = (message) => {
    box.classList.add("has-failed");
    button.disabled = false;
    announce(message);
  };

  request.upload.addEventListener("progress", (event) => {
    if (!event.lengthComputable) return;
    const percent = Math.floor((100 * event.loaded) / event.total);
    bar.value = percent;
    announce(`${percent} % of ${fileSize(event.total)} sent`);
  });
  request.upload.addEventListener("load", () => {
    bar.removeAttribute("value");
    announce("The file has been sent. The server is storing it.");
  });
  request.addEventListener("load", () => {
    const headers = { get: (name) => request.getResponseHeader(name) };
    if (request.status === 422) showErrors(form, request.responseText);
    else if (request.status >= 300) fail(reasonIn(request.responseText, request.status));
    else if (!showAnswer(form, headers, request.responseText)) location.assign(request.responseURL);
  });
  request.addEventListener("error", () => {
    fail("The connection was lost and nothing was stored. Try again.");
  });

  const content = new FormData(form);
  box.hidden = false;
  box.classList.remove("has-failed");
  bar.value = 0;
  button.disabled = true;
  announce("Sending");
  request.open("POST", form.action);
  for (const [name, value] of Object.entries(headersFor())) request.setRequestHeader(name, value);
  request.send(content);
}

// Sends one file. Returns { job }, the id of the job that reads it, or { reason }, the text of the error.
export function sendFile(address, content, showPercent) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) showPercent(Math.floor((100 * event.loaded) / event.total));
    });
    request.addEventListener("load", () => {
      const job = request.getResponseHeader(JOB);
      resolve(job ? { job } : { reason: reasonIn(request.responseText, request.status) });
    });
    request.addEventListener("error", () => {
      resolve({ reason: "The connection was lost and nothing was stored. Try again." });
    });
    request.open("POST", address);
    for (const [name, value] of Object.entries(headersFor())) request.setRequestHeader(name, value);
    request.send(content);
  });
}

// Shows the form with its errors, and keeps the selected files.
function showErrors(form, html) {
  const next = new DOMParser().parseFromString(html, "text/html").querySelector("form[data-upload]");
  for (const selected of form.querySelectorAll("input[type=file]")) {
    next.querySelector(`input[type=file][name="${selected.getAttribute("name")}"]`).replaceWith(selected);
  }
  form.replaceWith(next);
  watch(next);
  next.querySelector("[data-form-errors]")?.focus();
}

// Returns the reason on a page with an error, or the errors of the form.
function reasonIn(html, status) {
  const page = new DOMParser().parseFromString(html, "text/html");
  const errors = page.querySelector("[data-form-errors]");
  if (errors) return errors.textContent.replace(/\s+/g, " ").trim();
  const texts = [page.querySelector("h1"), page.querySelector(".lonely-reason")];
  if (!texts.every(Boolean)) return `The server responded with status ${status}. Nothing was stored.`;
  return texts.map((element) => element.textContent.trim()).join(". ");
}

export function fileSize(bytes) {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

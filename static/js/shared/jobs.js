// A form with data-job is replaced by the progress of the job that it starts.
// Without this script, the browser goes to the page of the job.

// The header with the id of the job, in responses that show its progress.
export const JOB = "X-Job";

document.addEventListener("submit", (event) => {
  const form = event.target.closest("form[data-job]");
  if (!form) return;
  event.preventDefault();
  start(form, event.submitter);
});

async function start(form, button) {
  // A disabled button is not sent, so the data are collected first.
  const body = new FormData(form, button);
  if (button) button.disabled = true;
  const answer = await send(form, body);
  if (answer && (showAnswer(form, answer.headers, answer.html) || showPage(answer.html))) return;
  // The server may have received the form, so it is not sent again automatically.
  if (button) button.disabled = false;
  const problem = answer
    ? `The server responded with status ${answer.status}.`
    : "The connection was lost.";
  showFailure(form, `${problem} Check the list of jobs, then try again.`);
}

// Sends the form and returns the response, or null if the connection is lost.
async function send(form, body) {
  try {
    const answer = await fetch(form.action, {
      method: "POST",
      body,
      headers: headersFor(),
    });
    return { status: answer.status, headers: answer.headers, html: await answer.text() };
  } catch {
    return null;
  }
}

function showFailure(form, text) {
  const notice = form.querySelector("[data-job-failure]") ?? document.createElement("p");
  notice.className = "notice notice-error";
  notice.setAttribute("role", "alert");
  notice.dataset.jobFailure = "";
  form.prepend(notice);
  notice.textContent = text;
}

// Returns headers that make the server respond with a part of a page.
export function headersFor() {
  return { "HX-Request": "true", "HX-Current-URL": location.href };
}

// Shows a job's progress in place of the form. Returns false if the response is something else.
export function showAnswer(form, headers, html) {
  const target = headers.get("HX-Redirect");
  if (target) {
    location.assign(target);
    return true;
  }
  if (!headers.get(JOB)) return false;
  const box = document.createElement("div");
  box.innerHTML = html;
  const progress = box.firstElementChild;
  form.replaceWith(progress);
  window.htmx.process(progress);
  progress.querySelector("[data-job-title]").focus();
  return true;
}

// Shows a page of the server, such as the form with its errors, in place of this one. Returns false
// if the text is not a page of Hearth.
function showPage(html) {
  const page = new DOMParser().parseFromString(html, "text/html");
  const main = page.querySelector("main");
  if (!main) return false;
  document.title = page.title;
  document.querySelector("main").replaceWith(main);
  window.htmx.process(main);
  (main.querySelector("[data-form-errors], [data-shown]") ?? main).focus();
  return true;
}

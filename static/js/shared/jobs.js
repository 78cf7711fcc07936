// A form with data-job is replaced by the progress of the job that it starts.
// Without this script, the browser goes to the page of the job.

// The header with the id of the job, in answers that show its progress.
const JOB = "X-Job";

document.addEventListener("submit", (event) => {
  const form = event.target.closest("form[data-job]");
  if (!form) return;
  event.preventDefault();
  start(form, event.submitter);
});

async function start(form, button) {
  if (button) button.disabled = true;
  try {
    const answer = await fetch(form.action, {
      method: "POST",
      body: new FormData(form, button),
      headers: headersFor(),
    });
    if (!showAnswer(form, answer.headers, await answer.text())) sendAsUsual(form, button);
  } catch {
    // The server may have received the form, so it is not sent again automatically.
    if (button) button.disabled = false;
    showFailure(form, "The connection was lost. Check the list of jobs, then try again.");
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

// Returns headers that make the server answer with a part of a page.
export function headersFor() {
  return { "HX-Request": "true", "HX-Current-URL": location.href };
}

// Shows a job's progress in place of the form. Returns false if the answer is something else.
export function showAnswer(form, headers, html) {
  const elsewhere = headers.get("HX-Redirect");
  if (elsewhere) {
    location.assign(elsewhere);
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

// The server answers with a page, such as the form with its errors. A refused form has stored
// nothing, so it can be sent again.
function sendAsUsual(form, button) {
  form.removeAttribute("data-job");
  if (button) button.disabled = false;
  form.requestSubmit(button);
}

// Shows how much of a file has been sent. Without it the form works as forms do.

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

  const say = (message) => {
    text.textContent = message;
  };
  const fail = (message) => {
    box.classList.add("has-failed");
    button.disabled = false;
    say(message);
  };

  request.upload.addEventListener("progress", (event) => {
    if (!event.lengthComputable) return;
    const percent = Math.floor((100 * event.loaded) / event.total);
    bar.value = percent;
    say(`${percent} % of ${megabytes(event.total)} sent`);
  });
  request.upload.addEventListener("load", () => {
    bar.removeAttribute("value");
    say("All sent; the server is storing it.");
  });
  request.addEventListener("load", () => {
    if (request.status === 422) showErrors(form, request.responseXML);
    else if (request.status < 300) location.assign(request.responseURL);
    else fail(`The server answered ${request.status}. Nothing was stored.`);
  });
  request.addEventListener("error", () => {
    fail("The connection broke. Nothing was stored; you can send it again.");
  });

  const content = new FormData(form);
  box.hidden = false;
  box.classList.remove("has-failed");
  bar.value = 0;
  button.disabled = true;
  say("Sending");
  request.open("POST", form.action);
  request.responseType = "document";
  request.send(content);
}

// The form as the server answered it, but with the file that is chosen already.
function showErrors(form, answer) {
  const next = answer.querySelector("form[data-upload]");
  const chosen = form.querySelector("input[type=file]");
  next.querySelector("input[type=file]").replaceWith(chosen);
  form.replaceWith(next);
  watch(next);
  next.querySelector("[data-form-errors]")?.focus();
}

function megabytes(bytes) {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

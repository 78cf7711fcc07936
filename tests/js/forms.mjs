// Pages with forms that scripts send. The responses are elements that the test builds.

import { h, openBrowser, Target } from "./browser.mjs";

// Open a browser for the scripts of forms. `visited` are the addresses it goes to, `processed` the
// elements that htmx has processed, `uploads` the requests with files. `answer(html, element)`
// makes `element` the content of the text `html`.
export function openForms() {
  const browser = openBrowser();
  const seen = { visited: [], processed: [], uploads: [] };
  const contents = new Map();

  location.assign = (url) => seen.visited.push(url);
  window.htmx = { process: (element) => seen.processed.push(element) };
  globalThis.FormData = SentForm;
  globalThis.XMLHttpRequest = class extends Upload {
    send(content) {
      this.content = content;
      seen.uploads.push(this);
    }
  };
  globalThis.DOMParser = class {
    parseFromString(html) {
      return h("html", {}, contents.get(html));
    }
  };
  document.createElement = (tag) => {
    const element = h(tag);
    Object.defineProperty(element, "innerHTML", {
      set(html) {
        element.replaceChildren(contents.get(html));
      },
    });
    return element;
  };
  return { ...browser, ...seen, answer: (html, element) => contents.set(html, element) };
}

// The fields of a form. The server of the tests reads a body as JSON.
class SentForm {
  constructor(form, button = null) {
    this.fields = Object.fromEntries(
      form.querySelectorAll("input").map((input) => [input.getAttribute("name"), input.value]),
    );
    if (button) this.fields[button.getAttribute("name")] = button.value;
  }

  toString() {
    return JSON.stringify(this.fields);
  }
}

class Upload extends Target {
  upload = new Target();
  headers = {};

  open(method, url) {
    Object.assign(this, { method, url });
  }

  setRequestHeader(name, value) {
    this.headers[name] = value;
  }

  getResponseHeader(name) {
    return this.answered[name] ?? null;
  }

  respond({ status = 200, headers = {}, html = "", url = this.url }) {
    Object.assign(this, { status, answered: headers, responseText: html, responseURL: url });
    this.fire("load");
  }
}

// Add a form to the page. `sent` are the buttons with which the browser itself has sent it.
export function addForm(attributes, ...children) {
  const form = h("form", attributes, ...children);
  form.action = "/start/";
  form.sent = [];
  form.requestSubmit = (button) => {
    const event = form.fire("submit", { submitter: button });
    if (!event.isPrevented) form.sent.push(button);
  };
  document.body.append(form);
  return form;
}

// The part of a page that shows a job.
export function progressOfJob() {
  return h("section", {}, h("p", { "data-job-title": "" }));
}

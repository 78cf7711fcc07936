// The page that adds videos: choose or drop files, see what matches, and send the files.

import { chosenFiles, droppedFiles } from "./files.js";
import { Refused, sendFile } from "./tus.js";

// Two files at once keep the connection busy while the server stores a part.
const AT_ONCE = 2;
const WORDS = {
  match: "Files of videos, to be sent",
  archive: "Archives, to be sent and unpacked",
  present: "Files of videos that already have a file",
  new: "Files whose name matches no video",
  ambiguous: "Files that match several videos, or the same video as another file",
};
const SENT = new Set(["match", "archive"]);
const SHOWN_NAMES = 20;

class AddVideos {
  plan = [];
  pausing = null;

  constructor(box) {
    this.box = box;
    this.csrf = box.querySelector("[name=csrfmiddlewaretoken]").value;
  }

  listen() {
    for (const input of this.box.querySelectorAll("input[type=file]")) {
      const take = async () => this.show(await chosenFiles(input.files));
      input.addEventListener("change", take);
      // On a slow connection, files can be chosen before this script runs.
      if (input.files.length > 0) take();
    }
    this.takeDrops();
    this.part("send").addEventListener("click", () => this.send());
    this.part("pause").addEventListener("click", () => this.pausing?.abort());
    window.addEventListener("beforeunload", (event) => {
      if (this.isSending) event.preventDefault();
    });
  }

  get isSending() {
    return this.pausing !== null;
  }

  part(name) {
    return this.box.querySelector(`[data-${name}]`);
  }

  takeDrops() {
    const mark = (isOver) => this.part("drop").classList.toggle("is-over", isOver);
    this.box.addEventListener("dragover", (event) => {
      event.preventDefault();
      mark(true);
    });
    this.box.addEventListener("dragleave", () => mark(false));
    this.box.addEventListener("drop", async (event) => {
      event.preventDefault();
      mark(false);
      await this.show(await droppedFiles(event.dataTransfer));
    });
  }

  showStatus(text, isProblem = false) {
    this.part("text").textContent = text;
    this.part("text").classList.toggle("text-bad", isProblem);
  }

  // Requests the plan for the files from the server, and shows it. Nothing is sent yet.
  async show(files) {
    if (this.isSending) return;
    this.showStatus("Comparing the names with the videos of the benchmark");
    const { planUrl, filesMax } = this.box.dataset;
    try {
      this.plan = await planOf(files, planUrl, this.csrf, Number(filesMax));
    } catch (error) {
      this.showStatus(error.message, true);
      return;
    }
    this.showStatus("");
    listPlan(this.part("plan"), this.plan);
    this.offer("Send", this.unsent().length);
    this.part("plan").focus();
  }

  unsent() {
    return this.plan.filter(({ status, isDone }) => SENT.has(status) && !isDone);
  }

  offer(verb, count) {
    this.part("send").hidden = count === 0;
    this.part("send").textContent = `${verb} ${count} ${count === 1 ? "file" : "files"}`;
  }

  async send() {
    const entries = this.unsent();
    const queue = [...entries];
    this.pausing = new AbortController();
    this.part("send").hidden = true;
    this.part("pause").hidden = false;
    this.part("progress").hidden = false;
    await Promise.all(Array.from({ length: AT_ONCE }, () => this.work(queue, entries)));
    this.finish(entries);
  }

  // Sends the files of the queue one after the other.
  async work(queue, entries) {
    while (queue.length > 0 && !this.pausing.signal.aborted) {
      const entry = queue.shift();
      entry.problem = "";
      try {
        await this.sendOne(entry, entries);
        entry.isDone = true;
        this.report(entries);
      } catch (error) {
        if (error instanceof Refused) entry.problem = error.message;
        else if (error.name !== "AbortError") throw error;
      }
    }
  }

  sendOne(entry, entries) {
    return sendFile(entry.file, {
      url: this.box.dataset.uploadUrl,
      partBytes: Number(this.box.dataset.partBytes),
      csrf: this.csrf,
      signal: this.pausing.signal,
      onProgress: (bytes) => {
        entry.sent = bytes;
        this.report(entries);
        refresh();
      },
      onWait: (seconds) => {
        this.showStatus(`The connection was lost. Next attempt in ${seconds} s.`, true);
      },
    });
  }

  report(entries) {
    const total = entries.reduce((sum, { file }) => sum + file.size, 0);
    const sent = entries.reduce((sum, entry) => sum + entry.sent, 0);
    const done = entries.filter((entry) => entry.isDone).length;
    this.part("bar").value = total ? (100 * sent) / total : 100;
    this.showStatus(`${done} of ${entries.length} files, ${megabytes(sent)} of ${megabytes(total)} sent`);
  }

  finish(entries) {
    const failed = entries.filter((entry) => entry.problem);
    const left = this.unsent().length;
    this.part("pause").hidden = true;
    this.pausing = null;
    listProblems(this.part("plan"), failed);
    this.offer("Continue with", left);
    if (left === 0) this.showStatus("All files have been sent. The list below shows their states.");
    else if (failed.length > 0) this.showStatus("Some files could not be sent.", true);
    else this.showStatus("Paused. The sent parts are stored for a week.");
    refresh();
  }
}

async function planOf(files, url, csrf, filesMax) {
  const sorted = [...files].toSorted((one, two) => (one.name < two.name ? -1 : 1));
  const entries = [];
  for (let start = 0; start < sorted.length; start += filesMax) {
    const group = sorted.slice(start, start + filesMax);
    const answer = await fetch(url, {
      method: "POST",
      headers: { "X-CSRFToken": csrf, "Content-Type": "application/json" },
      body: JSON.stringify({
        files: group.map(({ name, size, lastModified }) => ({ name, size, modified: lastModified })),
      }),
    }).catch(() => null);
    if (!answer?.ok) throw new Error("The server cannot be reached, or you are signed out.");
    const { files: found } = await answer.json();
    for (const [number, file] of group.entries()) entries.push({ ...found[number], file });
  }
  return entries;
}

// Shows the number of files of each status, and the names of those that are not sent.
function listPlan(box, plan) {
  const items = Object.keys(WORDS).flatMap((status) => {
    const entries = plan.filter((entry) => entry.status === status);
    if (entries.length === 0) return [];
    const item = element("li", `${WORDS[status]}: ${entries.length}`);
    const begun = entries.filter((entry) => entry.sent > 0).length;
    if (begun > 0) item.append(` (begun before: ${begun})`);
    if (!SENT.has(status)) item.append(names(entries.map((entry) => entry.file.name)));
    return [item];
  });
  if (items.length === 0) items.push(element("li", "There is no file in this selection."));
  box.replaceChildren(...items);
}

function listProblems(box, entries) {
  box.replaceChildren(
    ...entries.map((entry) => {
      const item = element("li", "");
      item.append(element("bdi", entry.file.name), `: ${entry.problem}`);
      return item;
    }),
  );
}

function names(all) {
  const details = element("details", "");
  const list = element("ul", "");
  list.append(...all.slice(0, SHOWN_NAMES).map((name) => wrapped("li", element("bdi", name))));
  if (all.length > SHOWN_NAMES) list.append(element("li", `and ${all.length - SHOWN_NAMES} more`));
  details.append(element("summary", "Show names"), list);
  return details;
}

function element(tag, text) {
  const made = document.createElement(tag);
  made.textContent = text;
  return made;
}

function wrapped(tag, child) {
  const made = document.createElement(tag);
  made.append(child);
  return made;
}

// Lets htmx request the list of files again, at most once per second.
let refreshedAt = 0;
function refresh() {
  if (Date.now() - refreshedAt < 1000) return;
  refreshedAt = Date.now();
  document.body.dispatchEvent(new Event("uploads-changed"));
}

function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
}

const root = document.querySelector("[data-add-videos]");
if (root) {
  const page = new AddVideos(root);
  page.listen();
}

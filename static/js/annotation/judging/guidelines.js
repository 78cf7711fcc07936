// The guidelines on the screen. Each answer contains their version. When a lead writes a new version,
// the room shows it and accepts no answer until the annotator has read it.

import { keep, recall } from "../../shared/storage.js";
import { dialogs, part, room } from "./room.js";

// The annotators who have opened the guidelines in this browser.
const OPENED_KEY = "hearth-guidelines-opened";

export class Guidelines {
  // `onRead()` is called when the annotator has read a new version.
  constructor({ server, onRead }) {
    Object.assign(this, { server, onRead });
    this.dialog = dialogs.guidelines;
    this.version = this.versionShown;
    this.isUnread = false;
    this.isFetching = false;
    part("guideline-read").addEventListener("click", () => this.confirm());
    this.dialog.addEventListener("cancel", (event) => {
      if (this.isUnread) event.preventDefault();
    });
    // Browsers close a dialog at the second Escape, even if the page prevents the first.
    this.dialog.addEventListener("close", () => {
      if (this.isUnread) this.open();
    });
    this.showHint();
    this.dialog.addEventListener("close", () => this.rememberOpened());
    // The annotator's last answer was made under another version.
    if ("changed" in this.dialog.dataset) this.showChanged();
  }

  // New annotators are asked to read the guidelines until they have opened them.
  showHint() {
    if (part("first")) part("first").hidden = openedBy().includes(room.dataset.owner);
  }

  // Called with the number of answers that the annotator has given.
  countAnswers(count) {
    const hint = part("first");
    if (hint && count >= Number(hint.dataset.until)) hint.remove();
  }

  rememberOpened() {
    const { owner } = room.dataset;
    keep(OPENED_KEY, JSON.stringify([...new Set([...openedBy(), owner])]));
    this.showHint();
  }

  get versionShown() {
    return Number(part("guideline").querySelector("[data-version]").dataset.version);
  }

  // `version`: the current version of the campaign's guidelines, from the server, or null.
  async receiveVersion(version) {
    if (version === null || version <= this.version || this.isUnread || this.isFetching) return;
    this.isFetching = true;
    try {
      await this.fetch();
    } catch {
      // The next response of the server starts this again.
    } finally {
      this.isFetching = false;
    }
  }

  async fetch() {
    const page = await this.server.getPage(this.dialog.dataset.url);
    const text = page.querySelector("[data-version]");
    // `version` stays the earlier one until the annotator has read the new one.
    if (!text || Number(text.dataset.version) <= this.version) return;
    part("guideline").replaceChildren(text);
    this.showChanged();
  }

  showChanged() {
    this.isUnread = true;
    this.mark();
    const other = Object.values(dialogs).find((dialog) => dialog.open && dialog !== this.dialog);
    // The annotator may be typing in the other dialog.
    if (other) other.addEventListener("close", () => this.open(), { once: true });
    else this.open();
  }

  open() {
    if (!this.dialog.open) this.dialog.showModal();
    // The button gets no focus, so that a key meant for the pair does not press it.
    this.dialog.querySelector("h2").focus();
    this.dialog.scrollTop = 0;
  }

  confirm() {
    this.isUnread = false;
    this.version = this.versionShown;
    this.dialog.close();
    this.mark();
    this.onRead();
  }

  mark() {
    part("guideline-changed").hidden = !this.isUnread;
    part("guideline-read").hidden = !this.isUnread;
    part("guideline-close").hidden = this.isUnread;
  }
}

function openedBy() {
  try {
    return JSON.parse(recall(OPENED_KEY)) ?? [];
  } catch {
    return [];
  }
}

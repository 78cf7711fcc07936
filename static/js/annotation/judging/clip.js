// One video: fetched whole before it is shown if it is short, so that it plays without the network.

const BLOB_MAX_BYTES = 20_000_000;
const FETCH_MS = 120_000;

// What can be wrong with a video. A fault is the video's own; the others may pass.
export const NO_VIDEO = { text: "This pair has no video.", isFault: true };
const MISSING = { text: "This video is not there any more.", isFault: true };
const BROKEN = { text: "This video cannot be played.", isFault: true };
// Some codecs play only their sound, without an error.
export const NO_PICTURE = { text: "This video has no picture.", isFault: true };
export const AWAY = {
  text: "The video is not coming, for the server cannot be reached. It comes once it can.",
  isFault: false,
};
export const LATE = { text: "The video is not coming.", isFault: false };

export class Clip {
  // `onTrouble()` is called once `trouble` says what is wrong.
  constructor(url, onTrouble) {
    this.url = url;
    this.onTrouble = onTrouble;
    this.trouble = null;
    this.isOwn = new URL(url, location.href).origin === location.origin;
    this.video = document.createElement("video");
    Object.assign(this.video, { muted: true, loop: true, playsInline: true, preload: "auto" });
    this.video.tabIndex = -1;
    this.video.className = "judge-video";
    this.video.addEventListener("error", () => this.explain());
  }

  get isLoading() {
    return Boolean(this.fetching) || this.video.hasAttribute("src");
  }

  // Ahead of being shown.
  async fetch() {
    if (this.isLoading) return;
    this.trouble = null;
    if (!this.isOwn) {
      this.video.src = this.url;
      return;
    }
    const fetching = new AbortController();
    this.fetching = fetching;
    try {
      const signals = [fetching.signal, AbortSignal.timeout(FETCH_MS)];
      const response = await fetch(this.url, { signal: AbortSignal.any(signals) });
      if (response.ok) await this.hold(response);
      else this.fail(troubleOf(response.status));
    } catch {
      if (!fetching.signal.aborted) this.fail(AWAY);
    } finally {
      if (this.fetching === fetching) this.fetching = null;
    }
  }

  async hold(response) {
    if (Number(response.headers.get("Content-Length")) > BLOB_MAX_BYTES) {
      this.stream();
      return;
    }
    const fetching = this.fetching;
    const blob = await response.blob();
    if (fetching !== this.fetching) return;
    this.blob = URL.createObjectURL(blob);
    this.video.src = this.blob;
  }

  // Now: the first frame of what has not come yet need not wait for the rest.
  stream() {
    if (this.video.hasAttribute("src")) return;
    this.trouble = null;
    this.stopFetching();
    this.video.src = this.url;
  }

  retry() {
    this.release();
    this.stream();
  }

  // An error does not tell why: it may be the video, or that the person was signed out.
  async explain() {
    if (!this.video.hasAttribute("src")) return;
    if (this.blob) this.fail(BROKEN);
    else if (this.isOwn) this.fail(await this.ask());
    else this.fail(navigator.onLine ? BROKEN : AWAY);
  }

  async ask() {
    try {
      const response = await fetch(this.url, { method: "HEAD" });
      return response.ok ? BROKEN : troubleOf(response.status);
    } catch {
      return AWAY;
    }
  }

  fail(trouble) {
    this.trouble = trouble;
    if (!trouble.isFault) this.release();
    this.onTrouble();
  }

  stopFetching() {
    this.fetching?.abort();
    this.fetching = null;
  }

  // Let go of the bytes.
  release() {
    this.stopFetching();
    this.video.removeAttribute("src");
    this.video.load();
    if (this.blob) URL.revokeObjectURL(this.blob);
    this.blob = null;
  }
}

function troubleOf(status) {
  return status === 404 || status === 410 ? MISSING : AWAY;
}

// One video. A short one is fetched completely before it is shown, so that it plays offline. If its address
// is on another site, the video element loads it instead.

import { translate } from "./texts.js";

const BLOB_MAX_BYTES = 20_000_000;
const FETCH_MS = 120_000;

// Problems of a video. A fault (`isFault`) is permanent; other problems can pass.
export const NO_VIDEO = { text: translate("This pair has no video."), isFault: true };
const MISSING = { text: translate("This video no longer exists."), isFault: true };
const BROKEN = { text: translate("This video cannot be played."), isFault: true };
// With some codecs, browsers play only the sound and report no error.
export const NO_PICTURE = { text: translate("The images of this video cannot be shown."), isFault: true };
export const UNREACHABLE = {
  text: translate("The video cannot be loaded because the server cannot be reached. It will load when the connection is back."),
  isFault: false,
};
export const SLOW = { text: translate("The video does not load."), isFault: false };

export class Clip {
  // `onProblem()` is called when `problem` is set.
  constructor(url, onProblem) {
    this.url = url;
    this.onProblem = onProblem;
    this.problem = null;
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

  // Fetch the video before it is shown.
  async fetch() {
    if (this.isLoading) return;
    this.problem = null;
    if (!this.isOwn) {
      this.video.src = this.url;
      return;
    }
    const fetching = new AbortController();
    this.fetching = fetching;
    try {
      const signals = [fetching.signal, AbortSignal.timeout(FETCH_MS)];
      const response = await fetch(this.url, { signal: AbortSignal.any(signals) });
      if (response.ok) await this.load(response);
      else this.fail(problemOf(response.status));
    } catch {
      if (!fetching.signal.aborted) this.fail(UNREACHABLE);
    } finally {
      if (this.fetching === fetching) this.fetching = null;
    }
  }

  // Load a short video completely. Stream a long one.
  async load(response) {
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

  // Play while loading, so that the first frame does not wait for the rest.
  stream() {
    if (this.video.hasAttribute("src")) return;
    this.problem = null;
    this.stopFetching();
    this.video.src = this.url;
  }

  retry() {
    this.releaseForRetry();
    this.stream();
  }

  // Stop loading. When the video is loaded again, it starts at the same position.
  releaseForRetry() {
    const { currentTime } = this.video;
    this.release();
    this.video.currentTime = currentTime;
  }

  // A media error does not contain its cause: the video may be broken, or the annotator signed out.
  async explain() {
    if (!this.video.hasAttribute("src")) return;
    if (this.blob) this.fail(BROKEN);
    else if (this.isOwn) this.fail(await this.findProblem());
    else this.fail(navigator.onLine ? BROKEN : UNREACHABLE);
  }

  async findProblem() {
    try {
      const response = await fetch(this.url, { method: "HEAD" });
      return response.ok ? BROKEN : problemOf(response.status);
    } catch {
      return UNREACHABLE;
    }
  }

  fail(problem) {
    this.problem = problem;
    if (!problem.isFault) this.releaseForRetry();
    this.onProblem();
  }

  stopFetching() {
    this.fetching?.abort();
    this.fetching = null;
  }

  // Stop loading and free the memory.
  release() {
    this.stopFetching();
    this.video.removeAttribute("src");
    this.video.load();
    if (this.blob) URL.revokeObjectURL(this.blob);
    this.blob = null;
  }
}

function problemOf(status) {
  return status === 404 || status === 410 ? MISSING : UNREACHABLE;
}

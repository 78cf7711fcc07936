// Times that the browser measures while the annotator works on one pair.

const SECONDS_MAX = 24 * 3600;

export class Viewing {
  // `onSeen()` is called once the first frame of the pair's video is on the screen.
  constructor({ onSeen }) {
    this.onSeen = onSeen;
    document.addEventListener("visibilitychange", () => this.onVisibility());
  }

  // Start measuring a pair with this video (or null).
  begin(video) {
    this.stopListening?.abort();
    this.video = video ?? null;
    this.shownAt = performance.now();
    this.firstFrame = null;
    this.lastFrame = null;
    this.replays = 0;
    this.watched = new Stopwatch();
    this.hidden = new Stopwatch();
    if (document.hidden) this.hidden.start();
    if (this.video) this.listen(this.video);
  }

  // Measure the pair again from zero. A video that is already playing sends no "playing" event, so its
  // stopwatch starts here.
  restart() {
    this.begin(this.video);
    const { video } = this;
    const plays = video && !video.paused && video.readyState >= HTMLMediaElement.HAVE_FUTURE_DATA;
    if (plays && !document.hidden) this.watched.start();
  }

  // The time since the pair was shown, in seconds.
  get seconds() {
    return rounded((performance.now() - this.shownAt) / 1000);
  }

  record() {
    const seen = { hidden: this.hidden.seconds, watched: this.watched.seconds };
    if (this.firstFrame !== null) seen.first_frame = this.firstFrame;
    if (this.video) Object.assign(seen, { replays: this.replays, speed: this.video.playbackRate });
    return seen;
  }

  listen(video) {
    this.stopListening = new AbortController();
    const { signal } = this.stopListening;
    const start = () => document.hidden || video.paused || this.watched.start();
    const stop = () => this.watched.stop();
    video.addEventListener("playing", start, { signal });
    ["pause", "waiting", "emptied"].forEach((event) => video.addEventListener(event, stop, { signal }));
    if (video.requestVideoFrameCallback) this.nextFrame(video);
    else video.addEventListener("timeupdate", () => this.onFrame(video.currentTime), { signal });
    // The first frame of a paused video may already be on the screen. The callback above is then not called.
    const paint = () => requestAnimationFrame(() => this.onPaint(video));
    if (video.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA) paint();
    else video.addEventListener("loadeddata", paint, { signal });
  }

  nextFrame(video) {
    video.requestVideoFrameCallback((now, frame) => {
      if (video !== this.video) return;
      this.onFrame(frame.mediaTime, Math.max(frame.expectedDisplayTime, this.shownAt));
      this.nextFrame(video);
    });
  }

  // `time` is the position in the video. It decreases when the video starts again, and when the
  // annotator steps back, which pauses the video.
  onFrame(time, at = performance.now()) {
    this.see(at);
    if (this.lastFrame !== null && time < this.lastFrame && !this.video.paused) this.replays += 1;
    this.lastFrame = time;
  }

  // Called before the position changes other than by playing, so that a lower position does not count
  // as a replay.
  jump() {
    this.lastFrame = null;
  }

  onPaint(video) {
    // A file without an image track has the width 0. It shows no frame.
    if (video === this.video && video.paused && video.videoWidth > 0) this.see(performance.now());
  }

  see(at) {
    if (this.firstFrame !== null) return;
    this.firstFrame = rounded((at - this.shownAt) / 1000);
    this.onSeen();
  }

  onVisibility() {
    if (!this.hidden) return;
    if (document.hidden) {
      this.hidden.start();
      this.watched.stop();
    } else {
      this.hidden.stop();
      if (this.video && !this.video.paused) this.watched.start();
    }
  }
}

class Stopwatch {
  constructor() {
    this.passed = 0;
    this.since = null;
  }

  start() {
    this.since ??= performance.now();
  }

  stop() {
    if (this.since !== null) this.passed += performance.now() - this.since;
    this.since = null;
  }

  get seconds() {
    const running = this.since === null ? 0 : performance.now() - this.since;
    return rounded((this.passed + running) / 1000);
  }
}

// Round to milliseconds, up to the server's maximum, because a pair can stay open for days.
function rounded(seconds) {
  return Math.min(Math.round(seconds * 1000) / 1000, SECONDS_MAX);
}

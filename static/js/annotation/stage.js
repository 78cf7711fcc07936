// The videos: one is shown, the next ones are ready behind it.

const BLOB_MAX_BYTES = 20_000_000;
const FIRST_FRAME_MS = 8000;
const KEPT_BEHIND = 2;
const SPEEDS = [0.5, 0.75, 1, 1.5, 2];
const SPEED_KEY = "hearth-speed";
// Clips have 24 to 30 frames a second; a step of this length never skips one by much.
const FRAME_SECONDS = 1 / 25;

export class Stage {
  constructor(box, { onBroken, onPlayable }) {
    this.box = box;
    this.onBroken = onBroken;
    this.onPlayable = onPlayable;
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.prepared = new Map();
    this.behind = [];
    this.speed = Number(localStorage.getItem(SPEED_KEY)) || 1;
  }

  // Fetch an item's video, once. A short clip is held whole, so that it plays without the network.
  prepare(item) {
    if (!item.video || this.prepared.has(item.assignment)) return;
    const video = document.createElement("video");
    Object.assign(video, { muted: true, loop: true, playsInline: true, preload: "auto" });
    video.tabIndex = -1;
    video.className = "judge-video";
    this.prepared.set(item.assignment, video);
    this.load(video, item.video);
  }

  async load(video, url) {
    if (new URL(url, location.href).origin !== location.origin) {
      video.src = url;
      return;
    }
    try {
      const response = await fetch(url);
      const size = Number(response.headers.get("Content-Length"));
      if (!response.ok || size > BLOB_MAX_BYTES) throw new Error("not held whole");
      video.dataset.blob = URL.createObjectURL(await response.blob());
      video.src = video.dataset.blob;
    } catch {
      video.src = url;
    }
  }

  // Show an item's video; the one shown before stays near for an undo.
  show(item) {
    clearTimeout(this.timer);
    this.video?.pause();
    this.video = null;
    this.item = item;
    if (!item?.video) {
      this.box.replaceChildren();
      if (item) this.onBroken("This pair has no video.");
      return;
    }
    this.prepare(item);
    this.video = this.prepared.get(item.assignment);
    this.box.replaceChildren(this.video);
    this.video.playbackRate = this.speed;
    this.watch(this.video, item);
    if (!this.still.matches) this.video.play().catch(() => {});
    this.forgetOld(item);
  }

  toggle() {
    if (!this.video) return;
    if (this.video.paused) this.video.play().catch(() => {});
    else this.video.pause();
  }

  // One frame back (-1) or on (1).
  step(direction) {
    if (!this.video) return;
    this.video.pause();
    this.video.currentTime = Math.max(0, this.video.currentTime + direction * FRAME_SECONDS);
  }

  // Slower (-1) or faster (1); the choice stays with the person. Returns the new speed.
  changeSpeed(direction) {
    const place = SPEEDS.indexOf(this.speed) + direction;
    this.speed = SPEEDS[Math.min(Math.max(place, 0), SPEEDS.length - 1)] ?? 1;
    localStorage.setItem(SPEED_KEY, this.speed);
    if (this.video) this.video.playbackRate = this.speed;
    return this.speed;
  }

  // Some codecs play only their sound, without an error: no picture is a fault, too.
  watch(video, item) {
    const broken = (reason) => {
      if (this.item === item) this.onBroken(reason);
    };
    const check = () => {
      clearTimeout(this.timer);
      if (video.videoWidth === 0) broken("This video has no picture.");
      else if (this.item === item) this.onPlayable();
    };
    if (video.error) broken("This video cannot be played.");
    else if (video.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA) check();
    else {
      video.onloadeddata = check;
      video.onerror = () => broken("This video cannot be played.");
      this.timer = setTimeout(() => broken("The video is not coming."), FIRST_FRAME_MS);
    }
  }

  forgetOld(item) {
    this.behind = this.behind.filter((other) => other.assignment !== item.assignment);
    this.behind.push(item);
    while (this.behind.length > KEPT_BEHIND + 1) {
      const { assignment } = this.behind.shift();
      const video = this.prepared.get(assignment);
      this.prepared.delete(assignment);
      if (!video) continue;
      video.removeAttribute("src");
      video.load();
      if (video.dataset.blob) URL.revokeObjectURL(video.dataset.blob);
    }
  }
}

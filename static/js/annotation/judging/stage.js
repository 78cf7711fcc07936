// The videos: one is shown, and the next ones are loaded.

import { keep, recall } from "../../shared/storage.js";
import { Clip, NO_PICTURE, NO_VIDEO, SLOW, UNREACHABLE } from "./clip.js";

const FIRST_FRAME_MS = 8000;
const RETRY_MS = 3000;
const BEHIND_MAX = 2;
const SPEEDS = [0.5, 0.75, 1, 1.5, 2];
const SPEED_KEY = "hearth-speed";
const SOUND_KEY = "hearth-sound";
// Videos have 24 to 30 frames per second, so a step of this length moves by about one frame.
const FRAME_SECONDS = 1 / 25;

export class Stage {
  // `onBroken(problem)` and `onPlayable()` are called for the video that is shown, and
  // `onPlaying(isPlaying)` when it starts and stops. `onSound(hasSound)` is called when the sound is
  // turned on or off, and `onJump()` before the position changes other than by playing.
  constructor(box, { onBroken, onPlayable, onPlaying = () => {}, onSound = () => {}, onJump = () => {} }) {
    Object.assign(this, { box, onBroken, onPlayable, onPlaying, onSound, onJump });
    this.reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");
    this.clips = new Map();
    this.behind = [];
    this.speed = Number(recall(SPEED_KEY)) || 1;
    this.hasSound = recall(SOUND_KEY) === "on";
    this.onSound(this.hasSound);
  }

  get video() {
    return this.clip?.video;
  }

  // The problem of the video that is shown, or null.
  get problem() {
    return this.item && !this.clip ? NO_VIDEO : (this.clip?.problem ?? null);
  }

  // Fetch the videos of these items, each once, and release those that are no longer needed.
  prepare(items) {
    const needed = new Set([...items, ...this.behind].map((item) => item.video));
    for (const [address, clip] of this.clips) {
      if (needed.has(address)) continue;
      this.clips.delete(address);
      clip.release();
    }
    items.forEach((item) => this.clipOf(item)?.fetch());
  }

  // Items with the same video share its clip, so that a video is loaded once for all sentences of a
  // paragraph.
  clipOf(item) {
    if (!item.video) return null;
    if (!this.clips.has(item.video)) {
      const clip = new Clip(item.video, () => this.report(clip));
      const { video } = clip;
      ["play", "pause"].forEach((event) => video.addEventListener(event, () => this.follow(video)));
      video.addEventListener("loadeddata", () => this.check(clip));
      this.clips.set(item.video, clip);
    }
    return this.clips.get(item.video);
  }

  follow(video) {
    if (video !== this.video) return;
    this.onPlaying(!video.paused);
    // After an error, the video was paused by the browser, not by the annotator.
    if (!video.error) this.isMeantToPlay = !video.paused;
  }

  // Show an item's video. The earlier one stays loaded for an undo.
  show(item) {
    clearTimeout(this.timer);
    this.video?.pause();
    const last = this.clip;
    this.item = item;
    this.clip = item ? this.clipOf(item) : null;
    if (this.clip && this.clip === last) this.video.currentTime = 0;
    this.box.replaceChildren(...(this.video ? [this.video] : []));
    if (!this.clip) {
      if (item) this.onBroken(NO_VIDEO);
      return;
    }
    this.keepBehind(item);
    if (!this.problem?.isFault) this.clip.stream();
    this.isMeantToPlay = !this.reducedMotion.matches;
    this.start();
  }

  start() {
    this.timer = setTimeout(() => this.report(this.clip, slowOrUnreachable()), FIRST_FRAME_MS);
    this.resume();
    if (this.problem) this.report(this.clip);
    else this.check(this.clip);
  }

  // Each time the browser loads a video, it pauses the video and restores the normal speed.
  resume() {
    this.video.playbackRate = this.speed;
    if (this.isMeantToPlay && this.video.paused) this.play();
  }

  play() {
    const { video } = this;
    video.muted = !this.hasSound;
    video.play().catch((error) => {
      // Browsers refuse to play sound before the annotator has used the page.
      if (error.name !== "NotAllowedError" || video !== this.video || video.muted) return;
      video.muted = true;
      video.play().catch(() => {});
    });
  }

  toggle() {
    if (!this.video) return;
    if (this.video.paused) this.play();
    else this.video.pause();
  }

  // Turn the sound on or off. The choice stays in this browser.
  toggleSound() {
    const isHeard = this.hasSound && !this.video?.muted;
    this.hasSound = !isHeard;
    keep(SOUND_KEY, this.hasSound ? "on" : "off");
    if (this.video) this.video.muted = !this.hasSound;
    this.onSound(this.hasSound);
  }

  // Move one frame back (-1) or forward (1).
  step(direction) {
    if (!this.video) return;
    this.video.pause();
    this.skip(direction * FRAME_SECONDS);
  }

  // Move some seconds back (negative) or forward.
  skip(seconds) {
    if (this.video) this.seek(this.video.currentTime + seconds);
  }

  seek(seconds) {
    if (!this.video) return;
    this.onJump();
    this.video.currentTime = Math.min(Math.max(0, seconds), this.video.duration || seconds);
  }

  // Pause while the annotator drags the timeline.
  hold() {
    if (!this.video) return;
    this.resumes = !this.video.paused;
    this.video.pause();
  }

  release() {
    if (this.video && this.resumes) this.play();
    this.resumes = false;
  }

  // Play slower (-1) or faster (1). The choice stays in this browser. Returns the new speed.
  changeSpeed(direction) {
    const place = SPEEDS.indexOf(this.speed) + direction;
    this.speed = SPEEDS[Math.min(Math.max(place, 0), SPEEDS.length - 1)] ?? 1;
    keep(SPEED_KEY, this.speed);
    if (this.video) this.video.playbackRate = this.speed;
    return this.speed;
  }

  // Check a clip if its first frame has been loaded.
  check(clip) {
    if (clip.video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA) return;
    const { videoWidth, videoHeight } = clip.video;
    if (videoWidth === 0) clip.problem = NO_PICTURE;
    else clip.video.style.setProperty("--shape", videoWidth / videoHeight);
    if (clip !== this.clip) return;
    clearTimeout(this.timer);
    if (clip.problem) this.report(clip);
    else this.onPlayable();
    this.resume();
  }

  // Report the problem if this clip is shown. If the server cannot be reached, try again later.
  report(clip, problem = clip.problem) {
    if (clip !== this.clip) return;
    clearTimeout(this.timer);
    this.onBroken(problem);
    if (problem === UNREACHABLE) this.timer = setTimeout(() => this.retry(clip), RETRY_MS);
  }

  retry(clip) {
    if (clip !== this.clip) return;
    clip.retry();
    this.start();
  }

  keepBehind(item) {
    this.behind = this.behind.filter((other) => other.assignment !== item.assignment);
    this.behind.push(item);
    this.behind = this.behind.slice(-BEHIND_MAX - 1);
  }
}

function slowOrUnreachable() {
  return navigator.onLine ? SLOW : UNREACHABLE;
}

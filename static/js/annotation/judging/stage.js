// The videos: one is shown, the next ones are ready behind it.

import { AWAY, Clip, LATE, NO_PICTURE, NO_VIDEO } from "./clip.js";

const FIRST_FRAME_MS = 8000;
const RETRY_MS = 3000;
const KEPT_BEHIND = 2;
const SPEEDS = [0.5, 0.75, 1, 1.5, 2];
const SPEED_KEY = "hearth-speed";
const SOUND_KEY = "hearth-sound";
// Clips have 24 to 30 frames a second; a step of this length never skips one by much.
const FRAME_SECONDS = 1 / 25;

export class Stage {
  // `onBroken(trouble)` and `onPlayable()` are about the video that is shown, `onPlaying(playing)`
  // tells when it starts and stops. `onSound(hasSound)` is called when the sound is turned on or
  // off, and `onJump()` before the position changes other than by playing.
  constructor(box, { onBroken, onPlayable, onPlaying = () => {}, onSound = () => {}, onJump = () => {} }) {
    Object.assign(this, { box, onBroken, onPlayable, onPlaying, onSound, onJump });
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.clips = new Map();
    this.behind = [];
    this.speed = Number(localStorage.getItem(SPEED_KEY)) || 1;
    this.hasSound = localStorage.getItem(SOUND_KEY) === "on";
    this.onSound(this.hasSound);
  }

  get video() {
    return this.clip?.video;
  }

  // What is wrong with the video that is shown, or null.
  get trouble() {
    return this.item && !this.clip ? NO_VIDEO : (this.clip?.trouble ?? null);
  }

  // Fetch the videos of these items, each once, and let go of what is neither coming nor near.
  prepare(items) {
    const wanted = new Set([...items, ...this.behind].map((item) => item.assignment));
    for (const [assignment, clip] of this.clips) {
      if (wanted.has(assignment)) continue;
      this.clips.delete(assignment);
      clip.release();
    }
    items.forEach((item) => this.clipOf(item)?.fetch());
  }

  clipOf(item) {
    if (!item.video) return null;
    if (!this.clips.has(item.assignment)) {
      const clip = new Clip(item.video, () => this.tell(clip));
      const { video } = clip;
      const tellPlaying = () => video === this.video && this.onPlaying(!video.paused);
      ["play", "pause"].forEach((event) => video.addEventListener(event, tellPlaying));
      video.addEventListener("loadeddata", () => this.check(clip));
      this.clips.set(item.assignment, clip);
    }
    return this.clips.get(item.assignment);
  }

  // Show an item's video; the one shown before stays near for an undo.
  show(item) {
    clearTimeout(this.timer);
    this.video?.pause();
    this.item = item;
    this.clip = item ? this.clipOf(item) : null;
    this.box.replaceChildren(...(this.video ? [this.video] : []));
    if (!this.clip) {
      if (item) this.onBroken(NO_VIDEO);
      return;
    }
    this.keepBehind(item);
    if (!this.trouble?.isFault) this.clip.stream();
    this.start();
  }

  start() {
    this.video.playbackRate = this.speed;
    this.timer = setTimeout(() => this.tell(this.clip, late()), FIRST_FRAME_MS);
    if (this.trouble) this.tell(this.clip);
    else this.check(this.clip);
    if (!this.still.matches) this.play();
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
    localStorage.setItem(SOUND_KEY, this.hasSound ? "on" : "off");
    if (this.video) this.video.muted = !this.hasSound;
    this.onSound(this.hasSound);
  }

  // One frame back (-1) or forward (1).
  step(direction) {
    if (!this.video) return;
    this.video.pause();
    this.skip(direction * FRAME_SECONDS);
  }

  // Some seconds back (negative) or forward.
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

  // Slower (-1) or faster (1); the choice stays with the person. Returns the new speed.
  changeSpeed(direction) {
    const place = SPEEDS.indexOf(this.speed) + direction;
    this.speed = SPEEDS[Math.min(Math.max(place, 0), SPEEDS.length - 1)] ?? 1;
    localStorage.setItem(SPEED_KEY, this.speed);
    if (this.video) this.video.playbackRate = this.speed;
    return this.speed;
  }

  // The first frame of a clip is here, or should be.
  check(clip) {
    if (clip.video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA) return;
    const { videoWidth, videoHeight } = clip.video;
    if (videoWidth === 0) clip.trouble = NO_PICTURE;
    else clip.video.style.setProperty("--shape", videoWidth / videoHeight);
    if (clip !== this.clip) return;
    clearTimeout(this.timer);
    if (clip.trouble) this.tell(clip);
    else this.onPlayable();
  }

  // Say what is wrong, if the clip is the one that is shown; what may pass is tried again.
  tell(clip, trouble = clip.trouble) {
    if (clip !== this.clip) return;
    clearTimeout(this.timer);
    this.onBroken(trouble);
    if (trouble === AWAY) this.timer = setTimeout(() => this.retry(clip), RETRY_MS);
  }

  retry(clip) {
    if (clip !== this.clip) return;
    clip.retry();
    this.start();
  }

  keepBehind(item) {
    this.behind = this.behind.filter((other) => other.assignment !== item.assignment);
    this.behind.push(item);
    this.behind = this.behind.slice(-KEPT_BEHIND - 1);
  }
}

function late() {
  return navigator.onLine ? LATE : AWAY;
}

// The timeline of the video: a slider that shows the position and moves it.

export class Timeline {
  // `onHold()` and `onRelease()` are called when a pointer grabs and releases the slider, and
  // `onSeek(seconds)` when the slider is moved.
  constructor({ slider, text, onHold, onRelease, onSeek }) {
    Object.assign(this, { slider, text, onHold, onRelease, onSeek });
    this.isHeld = false;
    slider.addEventListener("pointerdown", () => this.hold());
    ["pointerup", "pointercancel"].forEach((event) => {
      slider.addEventListener(event, () => this.release());
    });
    slider.addEventListener("input", () => this.seek());
  }

  // From now on, show the position of this video, or no position if it is null.
  follow(video) {
    this.stopListening?.abort();
    this.stopListening = new AbortController();
    this.video = video ?? null;
    this.isHeld = false;
    const { signal } = this.stopListening;
    ["timeupdate", "durationchange", "seeked", "emptied"].forEach((event) => {
      this.video?.addEventListener(event, () => this.draw(), { signal });
    });
    this.draw();
  }

  draw() {
    const { duration = 0, currentTime = 0 } = this.video ?? {};
    // The duration is NaN before the video is loaded, and infinite if the file does not contain it.
    const isKnown = Number.isFinite(duration) && duration > 0;
    this.slider.disabled = !isKnown;
    this.slider.max = isKnown ? duration : 1;
    if (!this.isHeld) this.slider.value = isKnown ? currentTime : 0;
    this.text.textContent = isKnown ? `${clock(currentTime)} / ${clock(duration)}` : "";
    this.slider.setAttribute("aria-valuetext", this.text.textContent);
  }

  hold() {
    if (this.slider.disabled) return;
    this.isHeld = true;
    this.onHold();
  }

  // Remove the focus from the slider, so that the arrow keys no longer move it but start their actions.
  release() {
    if (!this.isHeld) return;
    this.isHeld = false;
    this.onRelease();
    this.slider.blur();
  }

  seek() {
    this.onSeek(Number(this.slider.value));
  }
}

// Return minutes and seconds, such as 1:05.
function clock(seconds) {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

// Plays only a span of the video, again and again. The judging room of spans and that of scenes use it.

const FRAME = 1 / 25;

export class SpanPlayer {
  // `stage`: shows the video. `span()` returns the span to stay in, { start, end } in seconds, or null to stop.
  constructor(stage, span) {
    Object.assign(this, { stage, span });
  }

  start() {
    cancelAnimationFrame(this.timer);
    this.keepInside();
  }

  keepInside() {
    const span = this.span();
    if (!span) return;
    const { video } = this.stage;
    const isOutside = video && (video.currentTime >= span.end || video.currentTime < span.start - FRAME);
    if (isOutside && !video.paused && !video.seeking) this.stage.seek(span.start);
    this.timer = requestAnimationFrame(() => this.keepInside());
  }
}

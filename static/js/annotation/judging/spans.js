// Spans of a video: marking them while it plays, and changing them. The judging room and the desk use it.

import { keep, recall } from "../../shared/storage.js";
import { SpanPlayer } from "./span-player.js";
import { translate } from "./texts.js";

export const SPANS_MAX = 20;
const FRAME = 1 / 25;
const HALF = 0.5;
const SHIFT_KEY = "hearth-shift";
const EDGES = ["start", "end"];
const OTHER = { start: "end", end: "start" };
const DIRECTIONS = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 };

// The spans of one answer. Times are in seconds. A span without an end is open: its end is not marked yet. `marks`
// are the times at which the person pressed keys while the video played, before the shift.
export class Spans {
  constructor(spans = []) {
    this.list = spans.map(([start, end], place) => ({ start, end, marks: spans.marks?.[place] ?? [null, null] }));
    this.chosen = this.list[0] ?? null;
    this.edge = "start";
  }

  get open() {
    return this.list.find(({ end }) => end === null);
  }

  get pairs() {
    return this.list.map(({ start, end }) => [start, end]);
  }

  get marks() {
    return this.list.map(({ marks }) => marks);
  }

  get number() {
    return this.list.indexOf(this.chosen) + 1;
  }

  get next() {
    return this.list[this.number];
  }

  // Return the text of the reason why these spans are no answer yet, or null.
  get problem() {
    if (this.list.length === 0) return translate("Mark the start and the end of at least one span first.");
    if (this.open) return translate("A span must end after its start. Mark its end.");
    const overlaps = this.list.some(({ end }, place) => this.list[place + 1]?.start < end);
    return overlaps ? translate("The spans overlap. Merge them, or move an edge.") : null;
  }

  choose(span, edge = "start") {
    this.chosen = span ?? null;
    this.edge = edge;
  }

  sort() {
    this.list.sort((one, other) => one.start - other.start || one.end - other.end);
  }

  // Begin a span at this time, or move the start of the open one. Returns whether there is room for it.
  markStart(time, raw) {
    if (!this.open && this.list.length >= SPANS_MAX) return false;
    const span = this.open ?? { end: null, marks: [null, null] };
    if (!this.open) this.list.push(span);
    Object.assign(span, { start: time, marks: [raw, span.marks[1]] });
    this.sort();
    this.choose(span, "end");
    return true;
  }

  // End the open span or the chosen one. Returns whether the time is after its start.
  markEnd(time, raw) {
    const span = this.open ?? this.chosen;
    if (!span || time <= span.start) return false;
    Object.assign(span, { end: time, marks: [span.marks[0], raw] });
    this.sort();
    this.choose(span, "end");
    return true;
  }

  setWhole(duration) {
    this.list = [{ start: 0, end: rounded(duration), marks: [null, null] }];
    this.choose(this.list[0]);
  }

  // Move an edge of a span to a time. The edges never pass each other, and stay in the video.
  move(span, edge, time, duration) {
    const [low, high] = edge === "start" ? [0, (span.end ?? duration) - FRAME] : [span.start + FRAME, duration];
    span[edge] = rounded(Math.min(Math.max(time, low), Math.max(low, high)));
    span.marks = span.marks.map((mark, place) => (EDGES[place] === edge ? null : mark));
    this.sort();
    this.choose(span, edge);
  }

  // Split the chosen span. Returns whether the time is inside it.
  split(time) {
    const span = this.chosen;
    if (!span || this.list.length >= SPANS_MAX || time < span.start + FRAME || time > span.end - FRAME) return false;
    this.list.push({ start: time, end: span.end, marks: [null, span.marks[1]] });
    Object.assign(span, { end: time, marks: [span.marks[0], null] });
    this.sort();
    this.choose(span, "end");
    return true;
  }

  // Merge the chosen span with the next one. Returns whether there is one.
  merge() {
    const { chosen, next } = this;
    if (!next || chosen.end === null || next.end === null) return false;
    const isLast = next.end > chosen.end;
    chosen.marks = [chosen.marks[0], (isLast ? next : chosen).marks[1]];
    chosen.end = Math.max(chosen.end, next.end);
    this.list.splice(this.number, 1);
    return true;
  }

  remove() {
    const place = this.list.indexOf(this.chosen);
    if (place === -1) return false;
    this.list.splice(place, 1);
    this.choose(this.list[Math.min(place, this.list.length - 1)]);
    return true;
  }
}

// Spans on a track below the video, with handles, a list and buttons.
export class SpanEditor {
  // `part(name)` returns an element, `say(text)` makes screen readers read a text, `isActive()` returns whether spans
  // can be changed, and `onChange(spans)` is called after each change. `reaction`: the person's reaction time in
  // seconds, 0 if it is not known.
  constructor({ stage, part, say, isActive = () => true, onChange = () => {}, reaction = 0 }) {
    Object.assign(this, { stage, part, say, isActive, onChange, reaction });
    this.track = part("span-track");
    this.spans = new Spans();
    this.correct = [];
    this.isLocked = false;
    this.player = new SpanPlayer(stage, () => this.lockedSpan);
    this.isShifting = reaction > 0 && recall(SHIFT_KEY) !== "off";
    this.track.addEventListener("pointerdown", (event) => this.grab(event));
    this.track.addEventListener("pointermove", (event) => this.drag(event));
    ["pointerup", "pointercancel"].forEach((type) => this.track.addEventListener(type, () => this.drop()));
    this.track.addEventListener("keydown", (event) => this.moveByKey(event));
    this.part("span-list").addEventListener("click", ({ target }) => this.chooseAt(target.closest("button")));
    Object.entries(this.actions).forEach(([name, act]) => part(name)?.addEventListener("click", act));
    this.drawShift();
  }

  get duration() {
    const { duration } = this.stage.video ?? {};
    return Number.isFinite(duration) ? duration : 0;
  }

  get time() {
    return this.stage.video?.currentTime ?? 0;
  }

  // The shift of the marks that are made now, in seconds.
  get shift() {
    return this.isShifting ? this.reaction : 0;
  }

  // Show spans, each with a start and an end. cuts: times of scene cuts.
  show({ spans = [], marks, cuts = [] } = {}) {
    this.spans = new Spans(Object.assign([...spans], { marks }));
    this.cuts = cuts;
    this.correct = [];
    this.setLocked(false);
    this.followed?.abort();
    this.followed = new AbortController();
    const { signal } = this.followed;
    this.stage.video?.addEventListener("durationchange", () => this.draw(), { signal });
    this.stage.video?.addEventListener("timeupdate", () => this.drawTime(), { signal });
    this.draw();
  }

  // Show the correct spans below the person's own.
  showCorrect(spans) {
    this.correct = spans;
    this.draw();
  }

  // --- Actions ------------------------------------------------------------------------------

  get actions() {
    const all = {
      "mark-start": () => this.markStart(),
      "mark-end": () => this.markEnd(),
      whole: () => this.setWhole(),
      edge: () => this.chooseEdge(OTHER[this.spans.edge]),
      "edge-back": () => this.nudge(-FRAME),
      "edge-on": () => this.nudge(FRAME),
      "edge-earlier": () => this.nudge(-HALF),
      "edge-later": () => this.nudge(HALF),
      jump: () => this.jump(),
      lock: () => this.setLocked(!this.isLocked, true),
      "span-before": () => this.chooseSpan(this.spans.number - 2),
      "span-after": () => this.chooseSpan(this.spans.number),
      split: () => this.split(),
      merge: () => this.merge(),
      delete: () => this.remove(),
      shift: () => this.toggleShift(),
    };
    return Object.fromEntries(Object.entries(all).map(([name, act]) => [name, () => this.isActive() && act()]));
  }

  // Return the time of a mark that is made now, and the time of the key press if the video plays. Only then does the
  // mark come late by the reaction time, which is longer in the video if it plays faster.
  mark() {
    const { video } = this.stage;
    if (!video || video.paused) return [rounded(this.time), null];
    const time = this.time - this.shift * video.playbackRate;
    return [rounded(Math.max(0, time)), rounded(this.time)];
  }

  markStart() {
    const [time, raw] = this.mark();
    const text = this.spans.markStart(time, raw)
      ? translate("Start {seconds} seconds", { seconds: tenths(time) })
      : translate("An answer can have at most {count} spans.", { count: SPANS_MAX });
    this.change(text);
  }

  markEnd() {
    const [time, raw] = this.mark();
    const text = this.spans.markEnd(time, raw)
      ? translate("End {seconds} seconds", { seconds: tenths(time) })
      : translate("A span must end after its start. Mark its end.");
    this.change(text);
  }

  setWhole() {
    if (!this.duration) return;
    this.spans.setWhole(this.duration);
    this.change(translate("The whole video: {start} to {end} seconds", textsOf(this.spans.chosen)));
  }

  chooseEdge(edge) {
    if (!this.spans.chosen) return;
    this.spans.choose(this.spans.chosen, edge);
    this.change(this.edgeText());
  }

  chooseSpan(place) {
    const span = this.spans.list[place];
    if (!span) return;
    this.spans.choose(span);
    this.change(this.spanText());
  }

  chooseAt(button) {
    if (button && this.isActive()) this.chooseSpan([...this.part("span-list").querySelectorAll("button")].indexOf(button));
  }

  // Move the chosen edge, and show the frame at the edge.
  nudge(seconds) {
    const { chosen, edge } = this.spans;
    if (!chosen || chosen[edge] === null) {
      this.change(translate("No span is chosen."));
      return;
    }
    this.spans.move(chosen, edge, chosen[edge] + seconds, this.duration);
    this.jump();
    this.change(this.edgeText());
  }

  jump() {
    const time = this.spans.chosen?.[this.spans.edge];
    if (typeof time !== "number") return;
    this.stage.video?.pause();
    this.stage.seek(time);
  }

  split() {
    const time = rounded(this.time);
    const isSplit = this.spans.split(time);
    this.change(
      isSplit
        ? translate("Split at {seconds} seconds", { seconds: tenths(time) })
        : translate("Move to a time inside the span first."),
    );
  }

  merge() {
    const isMerged = this.spans.merge();
    this.change(
      isMerged
        ? translate("Merged: {start} to {end} seconds", textsOf(this.spans.chosen))
        : translate("There is no later span to merge with."),
    );
  }

  remove() {
    this.change(this.spans.remove() ? translate("Span deleted") : translate("No span is chosen."));
  }

  toggleShift() {
    this.isShifting = this.reaction > 0 && !this.isShifting;
    keep(SHIFT_KEY, this.isShifting ? "on" : "off");
    this.drawShift();
    const seconds = this.shift.toFixed(2);
    this.say(
      this.isShifting
        ? translate("Your marks are shifted by {seconds} seconds.", { seconds })
        : translate("Your marks are not shifted."),
    );
  }

  // --- Playing only the span ----------------------------------------------------------------

  setLocked(isLocked, isSpoken = false) {
    const canLock = this.spans.chosen && this.spans.chosen.end !== null;
    if (isLocked && !canLock) {
      this.say(translate("No span is chosen."));
      return;
    }
    this.isLocked = isLocked;
    if (this.part("lock")) this.part("lock").ariaPressed = isLocked;
    if (isSpoken) this.say(isLocked ? translate("Only the span plays.") : translate("The whole video plays."));
    if (!isLocked) return;
    this.stage.seek(this.spans.chosen.start);
    this.stage.play();
    this.player.start();
  }

  get lockedSpan() {
    const { chosen } = this.spans;
    return this.isLocked && chosen && chosen.end !== null ? chosen : null;
  }

  // --- Handles ------------------------------------------------------------------------------

  grab(event) {
    const handle = event.target.closest("[data-edge]");
    if (!handle || !this.isActive() || event.button !== 0) return;
    event.preventDefault();
    this.track.setPointerCapture(event.pointerId);
    this.held = { span: this.spans.list[Number(handle.dataset.place)], edge: handle.dataset.edge };
    this.stage.hold();
  }

  drag({ clientX }) {
    if (!this.held) return;
    const { left, width } = this.track.getBoundingClientRect();
    const time = ((clientX - left) / width) * this.duration;
    this.spans.move(this.held.span, this.held.edge, time, this.duration);
    this.stage.seek(this.held.span[this.held.edge]);
    this.change("");
  }

  drop() {
    if (!this.held) return;
    this.held = null;
    this.stage.release();
    this.change(this.edgeText());
  }

  // Arrow keys move the handle that has the focus, and do not reach the actions of the room.
  moveByKey(event) {
    const handle = event.target.closest("[data-edge]");
    const direction = DIRECTIONS[event.key];
    if (!handle || !direction || !this.isActive()) return;
    event.preventDefault();
    event.stopPropagation();
    const { place, edge } = handle.dataset;
    this.spans.choose(this.spans.list[Number(place)], edge);
    this.nudge(direction * (event.shiftKey ? HALF : FRAME));
    this.track.querySelector(`[data-place="${this.spans.number - 1}"][data-edge="${edge}"]`)?.focus();
  }

  // --- Drawing ------------------------------------------------------------------------------

  change(text) {
    this.draw();
    if (text) this.say(text);
    this.onChange(this.spans);
  }

  draw() {
    const { list, chosen } = this.spans;
    const { duration } = this;
    const bars = duration ? list.flatMap((span, place) => this.barsOf(span, place)) : [];
    const cuts = duration ? (this.cuts ?? []).map((time) => this.at("span-cut", time)) : [];
    const correct = duration ? this.correct.map(([start, end]) => this.at("span-correct", start, end)) : [];
    this.cursor = this.at("span-now", this.time);
    this.track.replaceChildren(...cuts, ...correct, ...bars, this.cursor);
    this.part("span-list").replaceChildren(...list.map((span) => rowOf(span, span === chosen)));
  }

  drawTime() {
    if (this.cursor && this.duration) this.cursor.style.insetInlineStart = `${(100 * this.time) / this.duration}%`;
  }

  barsOf(span, place) {
    const isChosen = span === this.spans.chosen;
    const bar = this.at("span-bar", span.start, span.end ?? span.start);
    bar.dataset.chosen = isChosen;
    const handles = EDGES.filter((edge) => span[edge] !== null).map((edge) => this.handleOf(span, place, edge));
    return [bar, ...handles];
  }

  handleOf(span, place, edge) {
    const handle = this.at("span-handle", span[edge], null, "button");
    handle.type = "button";
    Object.assign(handle.dataset, { place, edge, chosen: span === this.spans.chosen && edge === this.spans.edge });
    const name = edge === "start" ? translate("Start of span {number}", { number: place + 1 })
      : translate("End of span {number}", { number: place + 1 });
    const values = {
      role: "slider",
      "aria-label": name,
      "aria-valuemin": 0,
      "aria-valuemax": rounded(this.duration),
      "aria-valuenow": span[edge],
      "aria-valuetext": translate("{seconds} seconds", { seconds: tenths(span[edge]) }),
    };
    Object.entries(values).forEach(([attribute, value]) => handle.setAttribute(attribute, value));
    return handle;
  }

  // Return an element of the track at a time, or from a start to an end.
  at(className, start, end = null, tag = "span") {
    const element = document.createElement(tag);
    element.className = className;
    const share = (time) => `${this.duration ? (100 * time) / this.duration : 0}%`;
    element.style.insetInlineStart = share(start);
    if (end !== null) element.style.width = share(end - start);
    return element;
  }

  drawShift() {
    const box = this.part("reaction");
    if (!box) return;
    box.textContent = this.reaction
      ? translate("Your reaction time: {seconds} s", { seconds: this.reaction.toFixed(2) })
      : translate("Your reaction time is measured in training.");
    this.part("shift").ariaPressed = this.isShifting;
    this.part("shift").disabled = !this.reaction;
  }

  // --- Texts --------------------------------------------------------------------------------

  edgeText() {
    const { chosen, edge } = this.spans;
    const seconds = chosen[edge] === null ? "–" : tenths(chosen[edge]);
    return edge === "start"
      ? translate("Start {seconds} seconds", { seconds })
      : translate("End {seconds} seconds", { seconds });
  }

  spanText() {
    const { chosen, number, list } = this.spans;
    const values = { number, total: list.length, ...textsOf(chosen) };
    return translate("Span {number} of {total}: {start} to {end} seconds", values);
  }
}

function rowOf(span, isChosen) {
  const row = document.createElement("li");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "btn btn-sm btn-outline-secondary";
  button.ariaPressed = isChosen;
  button.textContent = textOfSpan([span.start, span.end]);
  row.append(button);
  return row;
}

// Return a span as a text, such as 3.2–5.8 s.
export function textOfSpan([start, end]) {
  return `${tenths(start)}–${end === null ? "…" : tenths(end)} s`;
}

function textsOf({ start, end }) {
  return { start: tenths(start), end: end === null ? "–" : tenths(end) };
}

function tenths(seconds) {
  return seconds.toFixed(1);
}

function rounded(seconds) {
  return Math.round(seconds * 1000) / 1000;
}

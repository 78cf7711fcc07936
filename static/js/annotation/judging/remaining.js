// About how many answers the annotator has left, and how long they take at their pace. Each answer lowers the
// number immediately, and a claim corrects it once a minute, because the server takes time to count.

import { formatNumber, translate } from "./texts.js";

const COUNTED_FOR_MS = 60_000;

export class Remaining {
  // `left` and `seconds_each` as in the response to a claim. `onChange(text)` is called with the new text. `now()`
  // returns milliseconds.
  constructor({ judged, left, seconds_each, onChange, now = Date.now }) {
    this.onChange = onChange;
    this.now = now;
    this.judged = judged;
    this.update({ judged, left, seconds_each });
  }

  // Whether the next claim is to count what is left.
  get isOld() {
    return this.now() - this.countedAt > COUNTED_FOR_MS;
  }

  // Called with the response to a claim, which contains the number only if the claim asked for it.
  update({ judged, left, seconds_each }) {
    if (left === undefined) return;
    this.countedAt = this.now();
    this.total = judged + left;
    this.secondsEach = seconds_each;
    this.show(this.judged);
  }

  // Called with 1 when there is one answer more to give, and with -1 after an escalation.
  add(count) {
    this.total += count;
    this.show(this.judged);
  }

  show(judged) {
    this.judged = judged;
    this.onChange(textOf(this.total - judged, this.secondsEach));
  }
}

function textOf(count, secondsEach) {
  if (count <= 0) return "";
  const left = formatNumber(count);
  if (!secondsEach) return translate("about {left} left", { left });
  const time = inMinutes(count * secondsEach);
  return translate("about {left} left, ≈ {time} at your pace", { left, time });
}

// The same as `hearth.shared.numbers.minutes`.
function inMinutes(seconds) {
  const minutes = Math.ceil(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

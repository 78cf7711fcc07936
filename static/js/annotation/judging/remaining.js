// About how many answers the annotator has left, and how long they take at their pace. Each answer lowers the
// number immediately, and each claim corrects it.

import { formatNumber, translate } from "./texts.js";

export class Remaining {
  // `left` and `seconds_each` as in the response to a claim. `onChange(text)` is called with the new text.
  constructor({ judged, left, seconds_each, onChange }) {
    this.onChange = onChange;
    this.judged = judged;
    this.update({ judged, left, seconds_each });
  }

  update({ judged, left, seconds_each }) {
    // A server of an older version does not send the number.
    this.total = left === undefined ? judged : judged + left;
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

// The same as `config.shared.numbers.minutes`.
function inMinutes(seconds) {
  const minutes = Math.ceil(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

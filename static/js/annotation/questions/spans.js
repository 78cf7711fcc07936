// The question whether a caption matches the video, and at which times. The annotator marks spans while the video
// plays, and then confirms them, or answers that the caption is not relevant.

import { Question } from "../judging/question.js";
import { announce, bringIntoView, isIn, part, room } from "../judging/room.js";
import { SpanEditor, textOfSpan } from "../judging/spans.js";
import { translate } from "../judging/texts.js";

const CORRECT_RELEVANT = translate("Correct: relevant");
const CORRECT_NOT = translate("Correct: not relevant");
const WRONG_RELEVANT = translate("Wrong: the pair is relevant");
const WRONG_NOT = translate("Wrong: the pair is not relevant");

export default class SpansQuestion extends Question {
  constructor(options) {
    super(options);
    this.caption = part("caption");
    this.buttons = [...room.querySelectorAll("[data-label]")];
    this.editor = new SpanEditor({
      stage: this.stage,
      part,
      say: announce,
      isActive: () => isIn("ready"),
      onChange: (spans) => this.changed(spans),
      reaction: Number(part("reaction").dataset.seconds) || 0,
    });
  }

  get actions() {
    return this.editor.actions;
  }

  // The spans are kept in the item, because it can be shown again before it is answered.
  show(item) {
    this.item = item;
    this.caption.textContent = item ? item.caption : "";
    part("span-problem").hidden = true;
    this.editor.show({ ...item, ...item?.draft });
    this.buttons.forEach((button) => {
      button.ariaPressed = item?.corrects ? button.dataset.label === String(item.label) : null;
    });
  }

  changed({ pairs, marks }) {
    if (this.item) this.item.draft = { spans: pairs, marks };
    part("span-problem").hidden = true;
  }

  focus() {
    this.caption.focus({ preventScroll: true });
    bringIntoView(this.caption, part("mark-end"));
  }

  answer({ dataset }) {
    const { spans, shift } = this.editor;
    if (dataset.label === "0") return { label: 0, spans: [], marks: undefined, draft: undefined };
    if (spans.problem) {
      part("span-problem").textContent = spans.problem;
      part("span-problem").hidden = false;
      announce(spans.problem);
      return null;
    }
    return { label: 1, spans: spans.pairs, marks: spans.marks, shift, draft: undefined };
  }

  // --- Texts --------------------------------------------------------------------------------

  textOf({ label, spans = [] }) {
    const { text } = this.buttons.find((button) => button.dataset.label === String(label)).dataset;
    const times = spans.map((span) => textOfSpan(span)).join(", ");
    return times ? translate("{label}, spans: {spans}", { label: text, spans: times }) : text;
  }

  get next() {
    return translate("Next pair.");
  }

  get answeredElsewhere() {
    return translate("You have answered this pair in another tab. Next pair.");
  }

  // Draw the correct spans, and return how much the answer overlaps with them.
  verdict({ is_right, relevant, spans, overlap, tolerance }) {
    this.editor.showCorrect(spans);
    const isTimed = relevant && this.editor.spans.list.length > 0;
    if (!isTimed) {
      if (is_right) return relevant ? CORRECT_RELEVANT : CORRECT_NOT;
      return relevant ? WRONG_RELEVANT : WRONG_NOT;
    }
    const [percent, needed] = [overlap, tolerance].map((share) => Math.round(100 * share));
    const text = is_right
      ? translate("Correct: the times overlap by {percent} %", { percent })
      : translate("Wrong: the times overlap by {percent} %, and {needed} % are needed", { percent, needed });
    return `${text}. ${translate("Your spans and the correct spans are on the timeline.")}`;
  }
}

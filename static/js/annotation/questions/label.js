// The question of most campaigns: whether a caption matches the video. A button for each label
// answers it.

import { keep, recall } from "../../shared/storage.js";
import { Checklist } from "../judging/checklist.js";
import { Question } from "../judging/question.js";
import { bringIntoView, part, room } from "../judging/room.js";
import { onSwipe } from "../judging/swipe.js";
import { translate } from "../judging/texts.js";

const SWIPES_KEY = "hearth-swipes";
// After this many swipes in this browser the hint is hidden.
const SWIPE_HINT_MAX = 5;
// Keys: whether the answer was correct, and whether the pair is relevant.
const VERDICTS = {
  "true-true": translate("Correct: relevant"),
  "true-false": translate("Correct: not relevant"),
  "false-true": translate("Wrong: the pair is relevant"),
  "false-false": translate("Wrong: the pair is not relevant"),
};

export default class LabelQuestion extends Question {
  constructor(options) {
    super(options);
    this.caption = part("caption");
    this.buttons = [...room.querySelectorAll("[data-label]")];
    this.checklist = new Checklist(part("checklist"), { caption: this.caption, keys: this.keys });
    if (this.buttons.length === 2) this.connectSwipes();
  }

  get actions() {
    return this.checklist.actions;
  }

  show(item) {
    this.caption.textContent = item ? item.caption : "";
    this.checklist.show(item);
    this.markEarlier(item?.corrects ? item.label : null);
  }

  // Mark the label of the earlier answer to the pair, or none (null).
  markEarlier(label) {
    this.buttons.forEach((button) => {
      button.ariaPressed = label === null ? null : button.dataset.label === String(label);
    });
  }

  focus() {
    this.caption.focus({ preventScroll: true });
    bringIntoView(this.caption);
  }

  answer({ dataset }) {
    return { label: Number(dataset.label), missing: this.checklist.missing };
  }

  // --- Swipes -------------------------------------------------------------------------------

  connectSwipes() {
    const [low, high] = this.buttons;
    const swiped = (button) => {
      keep(SWIPES_KEY, swipes() + 1);
      showSwipeHint();
      this.submit(button);
    };
    onSwipe(part("stage"), { left: () => swiped(low), right: () => swiped(high) });
    showSwipeHint();
  }

  // --- Texts --------------------------------------------------------------------------------

  // Return the text on the label's button.
  textOf({ label }) {
    return this.buttons.find((button) => button.dataset.label === String(label)).dataset.text;
  }

  get next() {
    return translate("Next pair.");
  }

  get answeredElsewhere() {
    return translate("You have answered this pair in another tab. Next pair.");
  }

  verdict({ is_right, relevant }) {
    return VERDICTS[`${is_right}-${relevant}`];
  }
}

// Show the hint that a swipe submits an answer. Style sheets show it only on touch screens.
function showSwipeHint() {
  if (part("swipe")) part("swipe").hidden = swipes() >= SWIPE_HINT_MAX;
}

function swipes() {
  return Number(recall(SWIPES_KEY)) || 0;
}

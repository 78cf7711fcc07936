// The question of most campaigns: whether a caption matches the video. A button for each label
// answers it.

import { Checklist } from "./checklist.js";
import { answers, bringIntoView, markEarlierAnswer, part } from "./room.js";
import { translate } from "./texts.js";

export class LabelQuestion {
  // `keys`: the keys that have an action.
  constructor({ keys }) {
    this.caption = part("caption");
    this.checklist = new Checklist(part("checklist"), { caption: this.caption, keys });
    this.actions = this.checklist.actions;
    this.next = translate("Next pair.");
    this.answeredElsewhere = translate("You have answered this pair in another tab. Next pair.");
  }

  show(item) {
    this.caption.textContent = item ? item.caption : "";
    this.checklist.show(item);
    markEarlierAnswer(item?.corrects ? item.label : null);
  }

  focus() {
    this.caption.focus({ preventScroll: true });
    bringIntoView(this.caption);
  }

  // Return the fields of an answer, or null if it must not be sent yet.
  answer(label) {
    return { label, missing: this.checklist.missing };
  }

  // Return the text on the label's button.
  textOf({ label }) {
    return answers.find((button) => button.dataset.label === String(label)).dataset.text;
  }

  // Return what the list of the last answers shows of an item.
  captionOf({ caption }) {
    return caption;
  }

  textOfEarlier(item) {
    return translate("Your earlier answer: {label}", { label: this.textOf(item) });
  }

  textOfAnswered(item) {
    return translate("{label}. Next pair.", { label: this.textOf(item) });
  }
}

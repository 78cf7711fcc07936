// What the room asks about an item, and how an answer is given and shown. Each kind of question is one module in
// `questions/`: its default export extends this class. The page contains the address of the module, and nothing
// else in the room knows a kind.

import { bringIntoView, part } from "./room.js";
import { translate } from "./texts.js";

export class Question {
  // `stage` and `timeline` show the video of the item. `submit(button)` submits an answer as a click on this button
  // does. `keys`: the keys that have an action.
  constructor({ stage, timeline, submit, keys }) {
    Object.assign(this, { stage, timeline, submit, keys });
  }

  // The question's own actions, under their names in the key bindings. The buttons with `data-submit` need none.
  get actions() {
    return {};
  }

  // Show an item, or none (null). If `item.corrects`, it contains the fields of the earlier answer.
  show() {}

  focus() {
    bringIntoView(part("stage"));
  }

  // Return the fields of an answer after the button was pressed, or null if it must not be sent yet.
  answer() {
    throw new Error("Each kind of question has its own answers.");
  }

  // --- Texts --------------------------------------------------------------------------------

  // Return the answer in an item.
  textOf() {
    return "";
  }

  // Return what the list of the last answers shows of an item.
  captionOf({ caption = "" }) {
    return caption;
  }

  textOfEarlier(item) {
    return translate("Your earlier answer: {label}", { label: this.textOf(item) });
  }

  textOfAnswered(item) {
    return `${this.textOf(item)}. ${this.next}`;
  }

  get next() {
    return translate("Next video.");
  }

  get answeredElsewhere() {
    return translate("You have answered this video in another tab. Next video.");
  }

  // Return the first sentence of the feedback on an answer in training.
  verdict({ is_right }) {
    return is_right ? translate("Correct") : translate("Wrong");
  }
}

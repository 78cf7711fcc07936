// Whether a phrasing says the same as its caption: two texts and no video, answered as the question about pairs.

import { part } from "../judging/room.js";
import { translate } from "../judging/texts.js";
import LabelQuestion from "./label.js";

export default class FaithfulnessQuestion extends LabelQuestion {
  show(item) {
    super.show(item);
    part("phrasing").textContent = item ? item.phrasing : "";
  }

  answer({ dataset }) {
    return { label: Number(dataset.label) };
  }

  captionOf({ phrasing }) {
    return phrasing;
  }

  get next() {
    return translate("Next texts.");
  }

  get answeredElsewhere() {
    return translate("You have answered these texts in another tab. Next texts.");
  }
}

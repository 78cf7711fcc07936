// A sentence about a video. The annotator types it, and submits it with the button or with Ctrl+Enter.

import { Question } from "../judging/question.js";
import { part } from "../judging/room.js";

export default class SentenceQuestion extends Question {
  constructor(options) {
    super(options);
    this.field = part("sentence");
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.ctrlKey) this.submit(part("send"));
    });
  }

  show(item) {
    this.field.value = item?.sentence ?? "";
  }

  focus() {
    this.field.focus();
  }

  answer() {
    const sentence = this.field.value.trim();
    return sentence ? { sentence } : null;
  }

  textOf({ sentence }) {
    return sentence;
  }
}

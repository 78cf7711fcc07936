// What happens in a scene. Only the scene plays. The annotator types a sentence, and submits it with the button or
// with Ctrl+Enter.

import { Question } from "../judging/question.js";
import { announce, bringIntoView, part } from "../judging/room.js";
import { SpanPlayer } from "../judging/span-player.js";
import { translate } from "../judging/texts.js";

export default class SceneQuestion extends Question {
  constructor(options) {
    super(options);
    this.field = part("description");
    this.player = new SpanPlayer(this.stage, () => this.scene);
    this.field.addEventListener("input", () => this.changed());
    this.field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      this.submit(part("send"));
    });
  }

  // The text is kept in the item, because it can be shown again before it is sent.
  show(item) {
    this.item = item;
    const [start, end] = item?.scene ?? [0, 0];
    this.scene = item ? { start, end } : null;
    this.field.value = item?.draft ?? item?.scene_text ?? "";
    part("description-problem").hidden = true;
    part("scene").textContent = item ? textOf(this.scene) : "";
    if (!item) return;
    if (this.stage.video) this.stage.video.currentTime = start;
    this.player.start();
  }

  changed() {
    if (this.item) this.item.draft = this.field.value;
    part("description-problem").hidden = true;
  }

  focus() {
    this.field.focus({ preventScroll: true });
    bringIntoView(part("stage"), this.field);
  }

  answer() {
    const text = this.field.value.trim();
    if (text) return { scene_text: text, draft: undefined };
    part("description-problem").hidden = false;
    announce(part("description-problem").textContent);
    this.field.focus();
    return null;
  }

  // --- Texts --------------------------------------------------------------------------------

  textOf({ scene_text: text }) {
    return text;
  }

  captionOf({ scene: [start, end] }) {
    return textOf({ start, end });
  }

  get next() {
    return translate("Next scene.");
  }

  get answeredElsewhere() {
    return translate("You have described this scene in another tab. Next scene.");
  }
}

function textOf({ start, end }) {
  return translate("Scene from {start} to {end} seconds", { start: start.toFixed(1), end: end.toFixed(1) });
}

// Training: feedback on each answer before the next pair, and progress toward entry requirements.

import { translate } from "./texts.js";

const MET = "[data-requirement-met]";

function isMarkedMet(requirement) {
  return requirement.querySelector(MET)?.hidden === false;
}

export class Training {
  constructor({ part, question, onNext }) {
    Object.assign(this, { part, question });
    this.requirements = [...part("requirements").querySelectorAll("[data-requirement]")];
    // Whether the annotator's last answers were correct, newest first.
    this.right = [...part("requirements").dataset.right].map(Number);
    part("next").addEventListener("click", onNext);
    this.draw();
  }

  // Show the feedback on an answer. Returns it as one text.
  showFeedback(feedback, answer) {
    const { is_right, explanation } = feedback;
    const verdict = this.question.verdict(feedback);
    this.part("verdict").textContent = verdict;
    this.part("own-answer").textContent = is_right
      ? ""
      : translate("Your answer: {label}", { label: this.question.textOf(answer) });
    this.part("explanation").textContent = explanation;
    this.part("feedback").dataset.right = is_right;
    this.right.unshift(Number(is_right));
    const opened = this.draw();
    const texts = opened.map(({ name }) => translate("{name} is now open to you.", { name }));
    this.part("opened").textContent = texts.join(" ");
    this.offerJudging(opened[0]);
    return `${verdict}. ${explanation} ${texts.join(" ")}`.trim();
  }

  // Update the requirements on the page. Returns the campaigns that the last answer opened.
  draw() {
    const opened = this.requirements.filter((requirement) => this.updateRequirement(requirement));
    const met = this.requirements.find((requirement) => isMarkedMet(requirement));
    const link = this.part("judge-open");
    link.hidden = !met;
    if (met) link.href = met.dataset.url;
    return opened.map(({ dataset }) => dataset);
  }

  // If a campaign has opened, make the link to it the main button.
  offerJudging(campaign) {
    const link = this.part("judge-now");
    const next = this.part("next");
    link.hidden = !campaign;
    if (campaign) link.href = campaign.url;
    next.classList.toggle("btn-primary", !campaign);
    next.classList.toggle("btn-outline-secondary", Boolean(campaign));
    (campaign ? link : next).focus({ preventScroll: true });
  }

  // Show how many of the last answers were correct. Returns whether that opens a campaign now.
  updateRequirement(requirement) {
    const last = Number(requirement.dataset.last);
    const recent = this.right.slice(0, last);
    const count = recent.reduce((sum, right) => sum + right, 0);
    requirement.querySelector("[data-requirement-count]").textContent =
      recent.length > 0 ? translate("Correct so far: {count} of {total}", { count, total: recent.length }) : "";
    const isMet = recent.length === last && count >= Number(requirement.dataset.needed || Infinity);
    const met = requirement.querySelector(MET);
    if (!met?.hidden || !isMet) return false;
    met.hidden = false;
    requirement.querySelector("[data-requirement-unmet]").hidden = true;
    return true;
  }
}

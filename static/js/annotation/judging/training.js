// Training: an answer is right or wrong, and the person is told before the next pair comes.

export class Training {
  constructor({ part, textOf, onNext }) {
    Object.assign(this, { part, textOf });
    this.gates = [...part("gates").querySelectorAll("[data-gate]")];
    // The person's last answers, newest first.
    this.right = [...part("gates").dataset.right].map(Number);
    part("next").addEventListener("click", onNext);
    this.draw();
  }

  // Show what the server says to an answer.
  tell({ is_right, relevant, explanation }, label) {
    const truth = relevant ? "relevant" : "not relevant";
    this.part("verdict").textContent = is_right ? `Right: ${truth}` : `Wrong: it is ${truth}`;
    this.part("given").textContent = is_right ? "" : `You said: ${this.textOf(label)}`;
    this.part("explanation").textContent = explanation;
    this.part("feedback").dataset.right = is_right;
    this.right.unshift(Number(is_right));
    const opened = this.draw();
    const texts = opened.map(({ name }) => `You are in: ${name} is open to you now.`);
    this.part("opened").textContent = texts.join(" ");
    this.offerJudging(opened[0]);
    return `${this.part("verdict").textContent}. ${explanation} ${texts.join(" ")}`.trim();
  }

  // Return the campaigns that have opened with the last answer.
  draw() {
    const opened = this.gates.filter((gate) => this.drawGate(gate)).map(({ dataset }) => dataset);
    const open = this.gates.find((gate) => gate.querySelector("[data-gate-open]")?.hidden === false);
    const link = this.part("judge-open");
    link.hidden = !open;
    if (open) link.href = open.dataset.url;
    return opened;
  }

  // Once a campaign is open, the main button leads to it.
  offerJudging(campaign) {
    const link = this.part("judge-now");
    const next = this.part("next");
    link.hidden = !campaign;
    if (campaign) link.href = campaign.url;
    next.classList.toggle("btn-primary", !campaign);
    next.classList.toggle("btn-outline-secondary", Boolean(campaign));
    (campaign ? link : next).focus({ preventScroll: true });
  }

  // Show how many of the last answers were right. Returns whether that opens a campaign now.
  drawGate(gate) {
    const last = Number(gate.dataset.last);
    const lately = this.right.slice(0, last);
    const count = lately.reduce((sum, right) => sum + right, 0);
    gate.querySelector("[data-gate-count]").textContent = `${count} of ${lately.length}`;
    const isPassed = lately.length === last && count >= Number(gate.dataset.needed || Infinity);
    const open = gate.querySelector("[data-gate-open]");
    if (!open?.hidden || !isPassed) return false;
    open.hidden = false;
    gate.querySelector("[data-gate-closed]").hidden = true;
    return true;
  }
}

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
    this.part("opened").textContent = opened.join(" ");
    this.part("next").focus({ preventScroll: true });
    return `${this.part("verdict").textContent}. ${explanation} ${opened.join(" ")}`.trim();
  }

  // Returns what to say of campaigns that have opened with the last answer.
  draw() {
    return this.gates.flatMap((gate) => this.drawGate(gate) ?? []);
  }

  // How many of the last answers were right, and whether that opens a campaign.
  drawGate(gate) {
    const last = Number(gate.dataset.last);
    const lately = this.right.slice(0, last);
    const count = lately.reduce((sum, right) => sum + right, 0);
    gate.querySelector("[data-gate-count]").textContent = `${count} of ${lately.length}`;
    const isPassed = lately.length === last && count >= Number(gate.dataset.needed || Infinity);
    const open = gate.querySelector("[data-gate-open]");
    if (!open?.hidden || !isPassed) return null;
    open.hidden = false;
    gate.querySelector("[data-gate-closed]").hidden = true;
    return `You are in: ${gate.dataset.name} is open to you now.`;
  }
}

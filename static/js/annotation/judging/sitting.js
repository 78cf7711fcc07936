// A sitting: answers with no half hour between them, in one tab, whatever is reloaded. It gives each
// answer its place, and tells when a break would do good.

const ENDS_AFTER_MS = 30 * 60 * 1000;
// So long without an answer was a break.
const BREAK_MS = 5 * 60 * 1000;
const KEY = "hearth-sitting";

export class Sitting {
  // `onBreak(minutes)` is called where somebody has answered for `breakMinutes` (0: never) without
  // a break, and again after as many more.
  constructor({ owner, breakMinutes, onBreak }) {
    Object.assign(this, { owner, breakMinutes, onBreak });
  }

  // An answer is given: returns its place in the sitting, from 1.
  count() {
    const now = Date.now();
    const last = this.load();
    const goesOn = last?.owner === this.owner && now - last.at < ENDS_AFTER_MS;
    const works = goesOn && now - last.at < BREAK_MS;
    const sitting = {
      owner: this.owner,
      place: goesOn ? last.place + 1 : 1,
      at: now,
      since: works ? last.since : now,
      told: works ? last.told : 0,
    };
    this.suggestBreak(sitting);
    this.save(sitting);
    return sitting.place;
  }

  suggestBreak(sitting) {
    const minutes = Math.floor((sitting.at - sitting.since) / 60_000);
    if (this.breakMinutes === 0 || minutes < sitting.told + this.breakMinutes) return;
    sitting.told = minutes;
    this.onBreak(minutes);
  }

  load() {
    try {
      return this.sitting ?? JSON.parse(sessionStorage.getItem(KEY));
    } catch {
      return null;
    }
  }

  save(sitting) {
    this.sitting = sitting;
    try {
      sessionStorage.setItem(KEY, JSON.stringify(sitting));
    } catch {
      // Without the store the sitting ends with the page.
    }
  }
}

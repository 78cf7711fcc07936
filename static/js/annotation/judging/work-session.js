// A work session: answers in one tab with less than half an hour from each answer to the next, even
// after reloads. It numbers the answers and suggests breaks.

const ENDS_AFTER_MS = 30 * 60 * 1000;
// A period without an answer is a break if it is at least this long.
const BREAK_MS = 5 * 60 * 1000;
const KEY = "hearth-sitting";

export class WorkSession {
  // `onBreak(minutes)` is called after every `breakMinutes` minutes of judging without a break. If
  // `breakMinutes` is 0, it is never called.
  constructor({ owner, breakMinutes, onBreak }) {
    Object.assign(this, { owner, breakMinutes, onBreak });
  }

  // Count an answer. Returns its number in the work session, from 1.
  count() {
    const now = Date.now();
    const last = this.load();
    const continues = last?.owner === this.owner && now - last.at < ENDS_AFTER_MS;
    const isWorking = continues && now - last.at < BREAK_MS;
    const workSession = {
      owner: this.owner,
      place: continues ? last.place + 1 : 1,
      at: now,
      since: isWorking ? last.since : now,
      suggestedAt: isWorking ? last.suggestedAt : 0,
    };
    this.suggestBreak(workSession);
    this.save(workSession);
    return workSession.place;
  }

  suggestBreak(workSession) {
    const minutes = Math.floor((workSession.at - workSession.since) / 60_000);
    if (this.breakMinutes === 0 || minutes < workSession.suggestedAt + this.breakMinutes) return;
    workSession.suggestedAt = minutes;
    this.onBreak(minutes);
  }

  load() {
    try {
      return this.workSession ?? JSON.parse(sessionStorage.getItem(KEY));
    } catch {
      return null;
    }
  }

  save(workSession) {
    this.workSession = workSession;
    try {
      sessionStorage.setItem(KEY, JSON.stringify(workSession));
    } catch {
      // Without session storage the work session ends with the page.
    }
  }
}

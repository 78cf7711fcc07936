// How many pairs the person has judged here: counted as they answer, in this tab and in others, and
// set right by what the server says whenever it hands out pairs.

export class Tally {
  // `waiting()` tells how many answers may not have reached the server, `tell(judged)` is told.
  constructor(judged, { waiting, tell }) {
    Object.assign(this, { judged, waiting, tell });
    this.added = 0;
  }

  add(count) {
    this.added += count;
    this.set(this.judged + count);
  }

  // The server is being asked: what it says goes to the function that this returns. Answers go out
  // at the same time, one by one; it may have counted those that did, or not yet.
  ask() {
    const known = this.waiting() - this.added;
    return (counted) => {
      const least = counted + Math.max(0, this.waiting() - 1);
      const most = counted + known + this.added;
      this.set(Math.min(Math.max(this.judged, least), most));
    };
  }

  set(judged) {
    this.judged = judged;
    this.tell(judged);
  }
}

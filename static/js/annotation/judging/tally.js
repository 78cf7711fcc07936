// The number of pairs that the annotator has judged here. Each answer counts immediately, in this tab
// and in others, and each claim corrects the number.

export class Tally {
  // `countUnsent()` returns how many answers may not have reached the server. `onChange(judged)` is
  // called with the new number.
  constructor(judged, { countUnsent, onChange }) {
    Object.assign(this, { judged, countUnsent, onChange });
    this.added = 0;
  }

  add(count) {
    this.added += count;
    this.set(this.judged + count);
  }

  // A claim starts. Returns a function that takes the server's number. Answers are sent at the same
  // time, one by one, so the server may have counted some of them already.
  startClaim() {
    const known = this.countUnsent() - this.added;
    return (counted) => {
      const least = counted + Math.max(0, this.countUnsent() - 1);
      const most = counted + known + this.added;
      this.set(Math.min(Math.max(this.judged, least), most));
    };
  }

  set(judged) {
    this.judged = judged;
    this.onChange(judged);
  }
}

// The number of pairs that the annotator has judged here. Each answer counts immediately, in this tab
// and in others, and each claim corrects the number.

export class Tally {
  // `countUnsent()` returns the number of answers that may not have reached the server.
  // `onChange(judged)` is called with the new number.
  constructor(judged, { countUnsent, onChange }) {
    Object.assign(this, { judged, countUnsent, onChange });
    this.added = 0;
  }

  add(count) {
    this.added += count;
    this.set(this.judged + count);
  }

  // Called when a claim starts. Returns a function that takes the number in the server's response.
  // Unsent answers are sent one by one during the claim, so the response may already count some of them.
  startClaim() {
    const unsentBefore = this.countUnsent() - this.added;
    return (counted) => {
      const least = counted + Math.max(0, this.countUnsent() - 1);
      const most = counted + unsentBefore + this.added;
      this.set(Math.min(Math.max(this.judged, least), most));
    };
  }

  set(judged) {
    this.judged = judged;
    this.onChange(judged);
  }
}

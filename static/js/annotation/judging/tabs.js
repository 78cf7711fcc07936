// Messages between tabs of this browser in which the same person judges.

export class Tabs {
  // `onAnswered({ assignment, countsIn })`: another tab has answered the pair, which counts in that
  // campaign, or in none. `onLeft()`: another tab was closed, which releases the person's pairs.
  constructor(owner, { onAnswered, onLeft }) {
    this.channel = new BroadcastChannel(`hearth-room-${owner}`);
    this.channel.addEventListener("message", ({ data }) => {
      if (data === null) onLeft();
      else onAnswered(data);
    });
  }

  sendAnswered(assignment, countsIn) {
    this.channel.postMessage({ assignment, countsIn });
  }

  sendLeft() {
    this.channel.postMessage(null);
  }
}

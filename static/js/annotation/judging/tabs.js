// Other tabs of the same browser, in which the same person judges too.

export class Tabs {
  // `onAnswered({ assignment, countsIn })`: another tab has answered the pair, which counts as one
  // more in that campaign, or in none. `onLeft()`: another tab was closed, and with it went what the
  // person held.
  constructor(owner, { onAnswered, onLeft }) {
    this.channel = new BroadcastChannel(`hearth-room-${owner}`);
    this.channel.addEventListener("message", ({ data }) => {
      if (data === null) onLeft();
      else onAnswered(data);
    });
  }

  tellAnswered(assignment, countsIn) {
    this.channel.postMessage({ assignment, countsIn });
  }

  tellLeft() {
    this.channel.postMessage(null);
  }
}

// Other tabs of the same browser, in which the same person judges too.

export class Tabs {
  // `onAnswered(assignment)`: another tab has answered the pair. `onLeft()`: another tab was closed,
  // and with it went what the person held.
  constructor(owner, { onAnswered, onLeft }) {
    this.channel = new BroadcastChannel(`hearth-room-${owner}`);
    this.channel.addEventListener("message", ({ data }) => {
      if (data === null) onLeft();
      else onAnswered(data);
    });
  }

  tellAnswered(assignment) {
    this.channel.postMessage(assignment);
  }

  tellLeft() {
    this.channel.postMessage(null);
  }
}

// Messages between tabs of this browser in which the same person judges.

export class Tabs {
  // `onAnswered({ assignment, countsIn })` is called when another tab has answered the pair. `countsIn`: the
  // campaign that counts the answer, or null. `onLeft()` is called when another tab was closed, because
  // closing it releases all pairs of the person.
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

// What this browser keeps of unsent answers, in IndexedDB: they outlast a reload, a crash and a
// day without a network. Some private windows have no such store; then nothing is kept.

export class Store {
  async open() {
    const request = indexedDB.open("hearth-outbox", 1);
    request.addEventListener("upgradeneeded", () => {
      request.result.createObjectStore("answers", { keyPath: "client_key" });
    });
    this.db = await asPromise(request);
    return asPromise(this.answers("readonly").getAll());
  }

  put(answer) {
    this.write((answers) => answers.put(answer));
  }

  delete(key) {
    this.write((answers) => answers.delete(key));
  }

  // A store that was cleared or is full must not keep an answer from being sent.
  write(change) {
    if (!this.db) return;
    try {
      change(this.answers("readwrite"));
    } catch {
      this.db = null;
    }
  }

  answers(mode) {
    return this.db.transaction("answers", mode, { durability: "strict" }).objectStore("answers");
  }
}

function asPromise(request) {
  return new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error));
  });
}

// Unsent answers in the browser's IndexedDB. They survive a reload, a crash and a day offline. In
// a private window without IndexedDB, answers are not stored.

export class AnswerStore {
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

  // Errors are ignored: answers are sent even if the store was cleared or is full.
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

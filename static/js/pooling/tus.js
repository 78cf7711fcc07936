// Sends one file in parts by the tus protocol 1.0. After a failed part, the script requests the number of
// bytes that the server has, and continues there.

const VERSION = { "Tus-Resumable": "1.0.0" };
const PART = "application/offset+octet-stream";
const WAITS = [1, 2, 4, 8, 15, 30];
// The statuses after which the same part is sent again: it was damaged, or the server is busy or
// unavailable.
const TEMPORARY = new Set([0, 409, 423, 429, 460, 500, 502, 503, 504]);

// The server refuses the file. Sending it again makes no sense before something has changed.
export class Refused extends Error {}

// Resolves when the whole file has been sent. `onProgress(bytes)` is called with the bytes that the
// server has stored, and `onWait(seconds)` before a repetition. Aborting `signal` pauses the upload: the
// promise rejects with an AbortError, and a later call continues.
export async function sendFile(file, { url, csrf, partBytes, signal, onProgress, onWait }) {
  const context = { file, url, csrf, signal };
  let upload = null;
  for (let failures = 0; ; ) {
    let answer = null;
    try {
      upload ??= await begin(context);
      onProgress(upload.offset);
      if (upload.offset >= file.size) return;
      answer = await sendPart(context, upload, partBytes);
      upload.offset = Number(answer.headers.get("Upload-Offset"));
      failures = 0;
    } catch (error) {
      if (error.name === "AbortError" || error instanceof Refused) throw error;
      const seconds = WAITS[Math.min(failures, WAITS.length - 1)];
      failures += 1;
      onWait(seconds);
      await wait(seconds, signal);
      upload = null;
    }
  }
}

// Creates the upload, or finds the one of the same file.
async function begin({ file, url, csrf, signal }) {
  const metadata = { filename: file.name, modified: String(file.lastModified) };
  const answer = await request(url, {
    method: "POST",
    signal,
    headers: {
      "X-CSRFToken": csrf,
      "Upload-Length": String(file.size),
      "Upload-Metadata": Object.entries(metadata)
        .map(([key, text]) => `${key} ${base64(new TextEncoder().encode(text))}`)
        .join(","),
    },
  });
  return {
    url: answer.headers.get("Location"),
    offset: Number(answer.headers.get("Upload-Offset")),
  };
}

async function sendPart({ file, csrf, signal }, upload, partBytes) {
  const part = await file.slice(upload.offset, upload.offset + partBytes).arrayBuffer();
  const headers = {
    "X-CSRFToken": csrf,
    "Content-Type": PART,
    "Upload-Offset": String(upload.offset),
  };
  // Browsers compute hashes only on pages that came over https, or from this machine.
  if (globalThis.crypto?.subtle) {
    const digest = await crypto.subtle.digest("SHA-256", part);
    headers["Upload-Checksum"] = `sha256 ${base64(new Uint8Array(digest))}`;
  }
  return request(upload.url, { method: "PATCH", signal, headers, body: part });
}

async function request(url, { headers, ...options }) {
  // A redirect leads to the sign-in page. The script does not follow it.
  const answer = await fetch(url, {
    ...options,
    headers: { ...VERSION, ...headers },
    redirect: "manual",
  });
  if (answer.ok) return answer;
  if (answer.type === "opaqueredirect") throw new Refused("You are signed out. Sign in again.");
  if (TEMPORARY.has(answer.status) && !isFinal(answer, options)) throw new Error("try again");
  throw new Refused(reasonIn(await answer.text(), answer.status));
}

// If the server refuses a new upload with a conflict, another file of the same video exists. Waiting
// does not change this.
function isFinal(answer, { method }) {
  return answer.status === 409 && method === "POST";
}

// Returns the reason on a page with an error.
function reasonIn(html, status) {
  const page = new DOMParser().parseFromString(html, "text/html");
  const reason = page.querySelector(".lonely-reason")?.textContent.trim();
  return reason || `The server responded with status ${status}.`;
}

function base64(bytes) {
  return btoa(String.fromCharCode(...bytes));
}

function wait(seconds, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new DOMException("paused", "AbortError"));
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    setTimeout(resolve, seconds * 1000);
  });
}

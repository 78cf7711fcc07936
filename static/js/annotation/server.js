// Calls of the server in the name of the person whose room this is: where somebody else has signed
// in meanwhile on the same machine, the server answers 401, as to somebody who is signed out.

const WAIT_MS = 20_000;

export class Server {
  // `onChange()` is called after each call; `isAway` and `isSignedOut` are what it has shown.
  constructor(owner, onChange) {
    this.owner = owner;
    this.onChange = onChange;
    this.isAway = false;
    this.isSignedOut = false;
  }

  // The answer, whatever it is: its status (0 where there was none), body, and what it says where
  // the server refuses.
  async post(url, body) {
    let outcome = { status: 0, body: {}, said: "", isSignedOut: false, retryAfter: 0 };
    try {
      outcome = await understand(await this.send(url, body));
    } catch {
      // No network, or a server that does not answer in time.
    }
    this.isAway = outcome.status === 0 || outcome.status >= 500;
    this.isSignedOut = outcome.isSignedOut;
    this.onChange();
    return outcome;
  }

  send(url, body) {
    return fetch(url, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "X-CSRFToken": csrfToken(),
        "X-Hearth-Person": this.owner,
      },
      body: JSON.stringify(body),
      credentials: "same-origin",
      keepalive: true,
      signal: AbortSignal.timeout(WAIT_MS),
    });
  }

  // The JSON at an address of ours, as it is now: on the way back to a page browsers would take an
  // old one. Raises where there is none.
  async get(url) {
    const headers = { "X-Hearth-Person": this.owner };
    const response = await fetch(url, {
      headers,
      cache: "no-store",
      signal: AbortSignal.timeout(WAIT_MS),
    });
    if (!response.ok) throw new Error(`${url} answers ${response.status}`);
    return response.json();
  }
}

async function understand(response) {
  const { status, headers } = response;
  const body = await response.json().catch(() => ({}));
  const said = typeof body.detail === "string" ? body.detail : "";
  // The token went with the cookies; signing in brings both back.
  const isSignedOut = status === 401 || (status === 403 && said.startsWith("CSRF"));
  return { status, body, said, isSignedOut, retryAfter: Number(headers.get("Retry-After")) || 0 };
}

// Read at each call: signing in in another tab changes it.
function csrfToken() {
  const cookie = document.cookie.split("; ").find((part) => part.startsWith("csrftoken="));
  return cookie ? decodeURIComponent(cookie.split("=")[1]) : "";
}

// Requests to the server for the person who opened the room. If another person signs in on the same
// computer later, the server responds with 401, as if no one was signed in.

const WAIT_MS = 20_000;
const GUIDELINE = "X-Hearth-Guideline";
const NO_RESPONSE = {
  status: 0,
  body: {},
  detail: "",
  isSignedOut: false,
  retryAfter: 0,
  guideline: null,
};

export class Server {
  // `post` sets `isAway` and `isSignedOut` after each request, and then calls `onChange()`.
  constructor(owner, onChange) {
    this.owner = owner;
    this.onChange = onChange;
    this.isAway = false;
    this.isSignedOut = false;
  }

  // Return the response: its status (0 if there was none), its body, the reason if the server
  // refuses, and the current version of the campaign's guidelines (or null).
  async post(url, body) {
    let outcome = NO_RESPONSE;
    try {
      outcome = await readResponse(await this.send(url, body));
    } catch {
      // Offline, or the server does not respond in time.
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

  // Return the JSON at an address of this site. Throws if there is none.
  async get(url) {
    return (await this.fetch(url)).json();
  }

  // Return the page at an address of this site, as a document.
  async getPage(url) {
    const text = await (await this.fetch(url)).text();
    return new DOMParser().parseFromString(text, "text/html");
  }

  // Fetch without the cache: when going back to a page, browsers would use an old response.
  async fetch(url) {
    const headers = { "X-Hearth-Person": this.owner };
    const response = await fetch(url, {
      headers,
      cache: "no-store",
      signal: AbortSignal.timeout(WAIT_MS),
    });
    if (!response.ok) throw new Error(`${url} answers ${response.status}`);
    return response;
  }
}

async function readResponse(response) {
  const { status, headers } = response;
  const body = await response.json().catch(() => ({}));
  const detail = typeof body.detail === "string" ? body.detail : "";
  // Without cookies, the CSRF token is missing too. Signing in restores both.
  const isSignedOut = status === 401 || (status === 403 && detail.startsWith("CSRF"));
  return {
    status,
    body,
    detail,
    isSignedOut,
    retryAfter: Number(headers.get("Retry-After")) || 0,
    guideline: headers.has(GUIDELINE) ? Number(headers.get(GUIDELINE)) : null,
  };
}

// Read the cookie at each request, because a sign-in in another tab changes it.
function csrfToken() {
  const name = document.querySelector("[name=csrf-cookie]")?.content ?? "csrftoken";
  const cookie = document.cookie.split("; ").find((part) => part.startsWith(`${name}=`));
  return cookie ? decodeURIComponent(cookie.slice(name.length + 1)) : "";
}

"""The security headers that each response of the site must have."""

from __future__ import annotations

from typing import Any

EXACT = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
HSTS = {"max-age=31536000", "includeSubDomains"}
POLICY = {"default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'", "script-src 'self'"}
STATIC = "/static/"
MEDIA = "/media/"
PROBES = ("/healthz", "/readyz", "/metrics")
# Responses that a browser may cache. A shared cache must not store them.
MAY_BE_KEPT = (MEDIA, *PROBES)
# The policies of files that people have uploaded, and of responses for monitors.
SANDBOXED = "default-src 'none'; sandbox"
PLAIN = "default-src 'none'; frame-ancestors 'none'"

# Arguments of a request over HTTPS that a page of another site sends.
FOREIGN: dict[str, Any] = {"secure": True, "headers": {"Origin": "https://evil"}}


def use_https(settings: Any) -> None:
    """Make the site set headers and flags of cookies as it does over HTTPS."""
    settings.SECURE_HSTS_SECONDS = 31_536_000
    settings.SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True


def problems_of(answer: Any, path: str, visitor: str) -> list[str]:
    """Return the wrong headers of a response over HTTPS, and the flags that its cookies lack."""
    is_static = path.startswith(STATIC) and answer.status_code == 200
    problems = [name for name, value in EXACT.items() if answer.get(name) != value]
    if not set(answer.get("Strict-Transport-Security", "").split("; ")) >= HSTS:
        problems.append("Strict-Transport-Security")
    # Style sheets and scripts are not pages, so they need no such header.
    if answer.get("X-Frame-Options") != "DENY" and not is_static:
        problems.append("X-Frame-Options")
    policy = answer.get("Content-Security-Policy", "")
    if not is_strict(policy, path, answer.status_code):
        problems.append(f"policy {policy}")
    if visitor != "anonymous" and answer.status_code == 200 and not is_static:
        cached = answer.get("Cache-Control", "")
        allowed = (
            ("private", "no-store", "no-cache") if path.startswith(MAY_BE_KEPT) else ("no-store",)
        )
        problems += [] if any(word in cached for word in allowed) else [f"cached: {cached}"]
    problems += [name for name in answer.headers if name.startswith("Access-Control")]
    return problems + unsafe_cookies(answer)


def is_strict(policy: str, path: str, status: int) -> bool:
    if path.startswith(PROBES):
        return policy == PLAIN
    if path.startswith(MEDIA) and status == 200:
        return policy == SANDBOXED
    return set(policy.split("; ")) >= POLICY


def unsafe_cookies(answer: Any) -> list[str]:
    """Return the flags that cookies of the response lack."""
    lacking = []
    for cookie in [cookie for cookie in answer.cookies.values() if cookie.value]:
        # Scripts read the token of forms, so the cookie of the token is not HttpOnly.
        flags = {"secure", "samesite"} | (set() if "csrf" in cookie.key else {"httponly"})
        lacking += [f"{cookie.key} {flag}" for flag in flags if not cookie[flag]]
    return lacking

"""Checks of headers, cookies and responses."""

from __future__ import annotations

import re
from typing import Any

from django.conf import settings
from django.http.response import HttpResponseBase

from hearth.security.registry import Probe, requirement

YEAR_SECONDS = 31_536_000
COOKIES = ("SESSION_COOKIE", "CSRF_COOKIE", "LANGUAGE_COOKIE")
HOST_PREFIX = "__Host-"
EXTERNAL = re.compile(
    rb"""<(?:script|link|img|iframe|video|source)[^>]+(?:src|href)=["']?(?:https?:)?//"""
)


def _cookies(part: str) -> dict[str, Any]:
    return {cookie: getattr(settings, f"{cookie}_{part}") for cookie in COOKIES}


def _named(names: list[str], what: str) -> str:
    return f"{what}: {', '.join(names)}." if names else ""


def _content(answer: HttpResponseBase) -> bytes:
    """Return the body of a response; empty if it is a stream."""
    content: bytes = getattr(answer, "content", b"")
    return content


def _lacks_encoding(content_type: str) -> bool:
    return content_type.startswith("text/") and "charset=utf-8" not in content_type.lower()


@requirement("3.3.1", "Cookies are sent only over HTTPS.")
def secure_cookies(probe: Probe) -> str:
    return _named([name for name, on in _cookies("SECURE").items() if not on], "Not Secure")


@requirement("3.3.2", "Cookies are not sent with requests of other sites.")
def same_site(probe: Probe) -> str:
    weak = [name for name, value in _cookies("SAMESITE").items() if value not in ("Lax", "Strict")]
    return _named(weak, "Not SameSite")


@requirement("3.3.3", "No other host can set the cookies.")
def host_cookies(probe: Probe) -> str:
    weak = [name for name, value in _cookies("NAME").items() if not value.startswith(HOST_PREFIX)]
    return _named(weak, f"Without the prefix {HOST_PREFIX}")


@requirement("3.3.4", "Scripts cannot read the cookie of the session.")
def http_only(probe: Probe) -> str:
    return "" if settings.SESSION_COOKIE_HTTPONLY else "SESSION_COOKIE_HTTPONLY is off."


@requirement("3.4.1", "Browsers use HTTPS for a year, for subdomains as well.")
def hsts(probe: Probe) -> str:
    problem = probe.without("Strict-Transport-Security", "includeSubDomains")
    if not problem and settings.SECURE_HSTS_SECONDS < YEAR_SECONDS:
        return f"HSTS lasts {settings.SECURE_HSTS_SECONDS:,} seconds, less than a year."
    return problem


@requirement("3.4.2", "Other sites cannot read responses.")
def no_cors(probe: Probe) -> str:
    for path in ("/accounts/login/", "/api/v1/benchmarks/"):
        answer = probe.ask("GET", path, Origin="https://evil.example")
        if "Access-Control-Allow-Origin" in answer.headers:
            return f"{path} allows other origins."
    return ""


@requirement("3.4.3", "Every response has a Content-Security-Policy that allows no inline code.")
def content_security_policy(probe: Probe) -> str:
    header = "Content-Security-Policy"
    problem = probe.without(header, "object-src 'none'", "base-uri 'none'")
    unsafe = probe.names(lambda answer: "unsafe-" in answer.headers.get(header, ""))
    return problem or _named(unsafe, "The policy allows inline code")


@requirement("3.4.4", "Browsers do not guess the type of a response.")
def nosniff(probe: Probe) -> str:
    return probe.without("X-Content-Type-Options", "nosniff")


@requirement("3.4.5", "Other sites do not see the address of a page.")
def referrer(probe: Probe) -> str:
    return probe.without("Referrer-Policy", "same-origin")


@requirement("3.4.6", "No other site can show a page in a frame.")
def frames(probe: Probe) -> str:
    return probe.without("Content-Security-Policy", "frame-ancestors 'none'")


@requirement("3.4.8", "Windows of other sites have no access to a page.")
def opener(probe: Probe) -> str:
    return probe.without("Cross-Origin-Opener-Policy", "same-origin")


@requirement("3.5.1", "A form of another site is refused.")
def csrf(probe: Probe) -> str:
    open_to = [
        name
        for name, answer in probe.answers.items()
        if name.startswith("POST") and answer.status_code not in (401, 403)
    ]
    return _named(open_to, "Accepted without a token")


@requirement("3.5.3", "Reading a page changes nothing.")
def no_change_by_get(probe: Probe) -> str:
    return "A GET signs people out." if settings.ACCOUNT_LOGOUT_ON_GET else ""


@requirement("3.6.1", "Pages load no script, style or font from other hosts.")
def own_assets(probe: Probe) -> str:
    loading = probe.names(lambda answer: bool(EXTERNAL.search(_content(answer))))
    return _named(loading, "Loads files of other hosts")


@requirement("4.1.1", "Every response with text states its type and encoding.")
def content_type(probe: Probe) -> str:
    wrong = probe.names(lambda answer: _lacks_encoding(answer.headers.get("Content-Type", "")))
    return probe.without("Content-Type") or _named(wrong, "No encoding")


@requirement("4.1.3", "Clients cannot set the headers that only proxies set.")
def proxy_headers(probe: Probe) -> str:
    if settings.USE_X_FORWARDED_HOST:
        return "X-Forwarded-Host is trusted."
    numbers = {settings.TRUSTED_PROXIES, settings.ALLAUTH_TRUSTED_PROXY_COUNT}
    numbers.add(settings.REST_FRAMEWORK["NUM_PROXIES"])
    return "" if len(numbers) == 1 else "The parts of Hearth trust different numbers of proxies."


@requirement("4.1.4", "Methods that no page needs are refused.")
def methods(probe: Probe) -> str:
    allowed = [
        f"{method} {path}"
        for method in ("TRACE", "CONNECT", "PUT")
        for path in ("/", "/api/v1/benchmarks/")
        if probe.ask(method, path).status_code not in (401, 403, 405)
    ]
    return _named(allowed, "Accepted")


@requirement("12.2.1", "Everything is sent over HTTPS.")
def https(probe: Probe) -> str:
    answer = probe.ask("GET", "/accounts/login/", secure=False)
    goes_to = answer.headers.get("Location", "")
    return "" if goes_to.startswith("https://") else "HTTP is not redirected to HTTPS."


@requirement("13.4.1", "Files of git and secret settings cannot be read.")
def no_git(probe: Probe) -> str:
    open_to = [
        path for path in ("/.git/config", "/.env") if probe.ask("GET", path).status_code != 404
    ]
    return _named(open_to, "Can be read")


@requirement("13.4.2", "The debug mode is off.")
def no_debug(probe: Probe) -> str:
    return "DEBUG is on." if settings.DEBUG else ""


@requirement("13.4.3", "No folder is listed.")
def no_folders(probe: Probe) -> str:
    paths = ("/static/", "/media/", "/static/js/", "/media/videos/")
    return _named([path for path in paths if probe.ask("GET", path).status_code != 404], "Listed")


@requirement("13.4.4", "TRACE is refused.")
def no_trace(probe: Probe) -> str:
    status = probe.ask("TRACE", "/accounts/login/").status_code
    return "" if status in (403, 405) else f"TRACE is answered with {status}."


@requirement("13.4.5", "The documentation of the API is not public, unless PUBLIC_SITE is set.")
def api_docs(probe: Probe) -> str:
    status = probe.ask("GET", "/api/v1/schema/").status_code
    return "" if settings.PUBLIC_SITE or status in (401, 403) else "The schema is open."


@requirement("13.4.6", "Responses do not name versions of the software.")
def no_versions(probe: Probe) -> str:
    headers = ("Server", "X-Powered-By", "X-Version")
    naming = probe.names(lambda answer: any(header in answer.headers for header in headers))
    return _named(naming, "Names its software")


@requirement("14.3.2", "Personal responses are stored in no cache.")
def no_store(probe: Probe) -> str:
    personal = ("GET /api/v1/benchmarks/", "POST /api/v1/judgments/", "GET /accounts/login/")
    stored = [
        name
        for name in personal
        if "no-store" not in probe.answers[name].headers.get("Cache-Control", "")
    ]
    return _named(stored, "May be stored")


@requirement("16.5.1", "Errors do not show internals.")
def plain_errors(probe: Probe) -> str:
    words = (b"Traceback", b"URLconf", b"django.core", b"settings.py")
    showing = probe.names(lambda answer: any(word in _content(answer) for word in words))
    return _named(showing, "Shows internals")

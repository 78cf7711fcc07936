"""Names of browsers and operating systems, from the header User-Agent."""

from __future__ import annotations

from django.utils.translation import gettext as _

# The first match counts, because a browser also sends the names of compatible browsers.
BROWSERS = [
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
]
SYSTEMS = [
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
]


def device_name(user_agent: str) -> str:
    """Return a name such as "Firefox on Linux"."""
    browser = _first(BROWSERS, user_agent) or _("Unknown browser")
    system = _first(SYSTEMS, user_agent)
    text = _("{browser} on {system}")
    return text.format(browser=browser, system=system) if system else browser


def _first(names: list[tuple[str, str]], text: str) -> str | None:
    return next((name for part, name in names if part in text), None)

"""The address and the token, from the environment or from a file that only its owner can read."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

from hearth_client.errors import ClientError, NotSignedIn

LOCAL_HOSTS = {"localhost", "127.0.0.1", "::1"}


@dataclass(frozen=True, slots=True)
class Credentials:
    """An address and a token. insecure: whether the token may be sent without encryption."""

    url: str
    token: str
    insecure: bool = False


def credentials_path() -> Path:
    folder = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(folder) / "hearth" / "credentials.json"


def checked_url(url: str, *, insecure: bool = False) -> str:
    """Return the address of a site without a final slash.

    Raises `ClientError` if the text is not an address. Unless `insecure` is true, it also raises
    this error if the token would be sent to another machine without encryption.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ClientError(f"{url!r} is not an address like https://hearth.example.")
    if parts.scheme == "http" and parts.hostname not in LOCAL_HOSTS and not insecure:
        raise ClientError(
            "The address must begin with https://, because the token is secret. On a network that "
            "you trust, --insecure (in Python: insecure=True) allows http://."
        )
    return url.rstrip("/")


def load() -> Credentials:
    """Return HEARTH_URL and HEARTH_TOKEN, or the stored credentials.

    Raises `NotSignedIn` if there are none, or if they cannot be read.
    """
    url, token = os.environ.get("HEARTH_URL", ""), os.environ.get("HEARTH_TOKEN", "")
    if url and token:
        return Credentials(url, token)
    if url or token:
        raise NotSignedIn("Set both HEARTH_URL and HEARTH_TOKEN, or neither.")
    try:
        stored = json.loads(credentials_path().read_text(encoding="utf-8"))
        return Credentials(stored["url"], stored["token"], bool(stored.get("insecure")))
    except FileNotFoundError:
        raise NotSignedIn("You are not signed in. Run: hearth login ADDRESS") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise NotSignedIn(f"{credentials_path()} is damaged. Run: hearth login ADDRESS") from None


def save(credentials: Credentials) -> Path:
    """Store the credentials in a file with the mode 600, and return its path."""
    path = credentials_path()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # mkstemp creates the file with the mode 600, so that the token is never readable by others.
    number, name = tempfile.mkstemp(dir=path.parent, prefix=".credentials")
    with os.fdopen(number, "w", encoding="utf-8") as out:
        json.dump(asdict(credentials), out)
    Path(name).replace(path)
    return path


def delete() -> bool:
    """Delete the stored credentials. Return whether there were any."""
    path = credentials_path()
    existed = path.exists()
    path.unlink(missing_ok=True)
    return existed

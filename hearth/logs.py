"""The log: one line per message, without secrets, with the request that a message belongs to.

A message can contain what a person typed. So control characters are escaped, and no text can begin
a new line. `LOG_FORMAT=json` writes one JSON object per line.
"""

from __future__ import annotations

import ipaddress
import json
import logging
import re
import traceback
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.http import HttpRequest

ACCESS = "hearth.access"
UNKNOWN_ADDRESS = "unknown"
# An IPv4 address, or an IPv6 address in brackets, with or without a port.
PORT = re.compile(r"^(?:\[([^]]*)\]|([0-9.]+))(?::[0-9]+)?$")
# Links that give access to anyone who has them. nginx masks them as well (deploy/nginx/).
SECRET_PATHS = re.compile(
    r"(/invitations/|/accounts/password/reset/key/|/accounts/confirm-email/)[^/\s\"']+"
)
# The parameters that an OpenID Connect provider adds to the address to which people return, and the
# signature of an address of a bucket.
SECRET_PARAMETERS = re.compile(r"([?&](?:code|state|X-Amz-Signature)=)[^&\s\"']+")
# Control characters, line ends of Unicode, and characters that change the direction of text.
UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
# Attributes that an access line has in addition to its message.
FIELDS = ("method", "path", "view", "status", "milliseconds", "bytes")


@dataclass(slots=True)
class RequestInfo:
    """The request that this thread answers.

    `user` is the primary key of the account, never its name.
    """

    id: str
    address: str
    user: int | None = None


current_request: ContextVar[RequestInfo | None] = ContextVar("current_request", default=None)


def escape(text: str) -> str:
    """Replace characters that are not visible by their escapes, such as `\\n` and `\\x1b`."""
    return UNPRINTABLE.sub(lambda found: ascii(found[0])[1:-1], text)


def mask(text: str) -> str:
    """Replace the secret part of links."""
    return SECRET_PARAMETERS.sub(r"\1***", SECRET_PATHS.sub(r"\1***", text))


def client_address(request: HttpRequest, proxies: int) -> str:
    """Return the address of the client, or `UNKNOWN_ADDRESS`.

    proxies: the number of proxies whose entries in X-Forwarded-For are trusted.
    """
    address = str(request.META.get("REMOTE_ADDR", ""))
    forwarded = str(request.META.get("HTTP_X_FORWARDED_FOR", "")).split(",")
    if proxies and len(forwarded) >= proxies:
        # Some proxies add the port of the client.
        address = PORT.sub(r"\1\2", forwarded[-proxies].strip())
    try:
        return str(ipaddress.ip_address(address))
    except ValueError:
        return UNKNOWN_ADDRESS  # a socket, or a proxy that sends no address


class _Formatter(logging.Formatter):
    """The parts that both formats write."""

    def request(self, record: logging.LogRecord) -> RequestInfo | None:
        """Return the request that a message belongs to.

        Django logs a status such as 404 after all middleware, and attaches the request.
        """
        observed = getattr(getattr(record, "request", None), "observed", None)
        return current_request.get() or observed

    def time(self, record: logging.LogRecord) -> str:
        return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")

    def error(self, record: logging.LogRecord) -> str:
        """Return the traceback, which has several lines, or an empty text."""
        if not record.exc_info or record.exc_info[0] is None:
            return ""
        return "".join(traceback.format_exception(*record.exc_info)).rstrip()


class LineFormatter(_Formatter):
    """Lines for people. Lines of a traceback are indented, so that none looks like a message."""

    def format(self, record: logging.LogRecord) -> str:
        about = self.request(record)
        request = f" [{about.id} user={about.user or '-'} {about.address}]" if about else ""
        message = escape(mask(record.getMessage()))
        line = f"{self.time(record)} {record.levelname} {record.name}{request}: {message}"
        lines = [escape(mask(part)) for part in self.error(record).split("\n") if part]
        return "\n    ".join([line, *lines])


class JsonFormatter(_Formatter):
    """One JSON object per line, in ASCII, for programs that collect logs."""

    def format(self, record: logging.LogRecord) -> str:
        about = self.request(record)
        values: dict[str, Any] = {
            "time": self.time(record),
            "level": record.levelname,
            "logger": record.name,
            "message": mask(record.getMessage()),
        }
        if about:
            values |= {"request": about.id, "user": about.user, "address": about.address}
        values |= {
            name: mask(value) if isinstance(value := getattr(record, name), str) else value
            for name in FIELDS
            if hasattr(record, name)
        }
        if error := self.error(record):
            values["error"] = mask(error)
        return json.dumps(values, default=str)


def logging_settings(log_format: str, level: str) -> dict[str, Any]:
    """Return Django's setting LOGGING. log_format: `line` or `json`."""
    formatter = JsonFormatter if log_format == "json" else LineFormatter
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"own": {"()": f"{formatter.__module__}.{formatter.__name__}"}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "own"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # At lower levels this logger warns that the filesystem broker has no host name.
            "kombu.connection": {"level": "ERROR"},
            # Django's own handlers would print a message a second time in debug mode.
            "django": {"handlers": [], "propagate": True},
            # The access log already has the status.
            "django.server": {"handlers": [], "propagate": True},
        },
    }

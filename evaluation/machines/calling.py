"""Call a machine judge over HTTP. Only the operator's settings name addresses and keys.

Redirects are not followed, because they would send the key to another host.
"""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from evaluation.machines.core.protocol import (
    Answer,
    Item,
    Label,
    Machine,
    payload,
    read_answers,
)
from hearth.shared.errors import HearthError, InvalidInput

SECONDS = 120.0
TRIES = 3
RESPONSE_BYTES = 4 << 20
# Statuses after which the same request can succeed.
_AGAIN = {408, 425, 429, 500, 502, 503, 504}


class MachineFailed(HearthError):
    """A machine judge does not answer, or answers something else."""


class _TryAgain(Exception):
    """The machine may answer the same batch later."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A judge in the operator's settings. budget: the maximum number of pairs of one request."""

    name: str
    url: str
    key: str = ""
    budget: int = 100_000
    seconds: float = SECONDS
    wait: float = 2.0

    def __repr__(self) -> str:
        return f"Endpoint({self.name!r}, {self.url!r})"  # never the key

    def card(self) -> Machine:
        """Return who answers at this address. Raises MachineFailed or InvalidInput."""
        return Machine.read(self._with_tries("GET", "/v1/card", None))

    def is_healthy(self) -> bool:
        try:
            return self._request("GET", "/healthz", None)[0] == http.client.OK
        except (_TryAgain, MachineFailed):
            return False

    def check(self, budget: int) -> None:
        """Raise InvalidInput if a budget is too large, and MachineFailed if it does not answer."""
        if budget > self.budget:
            raise InvalidInput(f"The budget of the judge {self.name} is {self.budget:,} pairs.")
        if not self.is_healthy():
            raise MachineFailed(f"The machine {self.name} is not ready: /healthz does not answer.")

    def judge(
        self, batch: str, guidelines: str, labels: Sequence[Label], items: Sequence[Item]
    ) -> tuple[Machine, list[Answer]]:
        """Return the answers for one batch. Raises MachineFailed or InvalidInput."""
        sent = payload(batch, guidelines, labels, items)
        content = self._with_tries("POST", "/v1/judge", sent)
        return read_answers(content, [item.item for item in items])

    def _with_tries(self, method: str, path: str, sent: Mapping[str, Any] | None) -> Any:
        for number in range(TRIES):
            if number:
                time.sleep(self.wait * 2 ** (number - 1))
            try:
                return self._content(method, path, sent)
            except _TryAgain as error:
                reason = str(error)
        raise MachineFailed(f"The machine {self.name} does not answer: {reason}.")

    def _content(self, method: str, path: str, sent: Mapping[str, Any] | None) -> Any:
        status, body = self._request(method, path, sent)
        if status in _AGAIN:
            raise _TryAgain(f"HTTP status {status}")
        if status != http.client.OK:
            raise MachineFailed(f"The machine {self.name} refused the request: status {status}.")
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            raise MachineFailed(f"The machine {self.name} did not answer with JSON.") from None

    def _request(self, method: str, path: str, sent: Mapping[str, Any] | None) -> tuple[int, bytes]:
        parts, ends_at = urlsplit(self.url), time.monotonic() + self.seconds
        is_https = parts.scheme == "https"
        kind = http.client.HTTPSConnection if is_https else http.client.HTTPConnection
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        body = None if sent is None else json.dumps(sent).encode()
        address = f"{parts.path.rstrip('/')}{path}"
        with closing(kind(parts.netloc, timeout=self.seconds)) as connection:
            try:
                connection.request(method, address, body, headers)
                response = connection.getresponse()
                return response.status, self._read(response, ends_at)
            except (OSError, http.client.HTTPException) as error:
                raise _TryAgain(type(error).__name__) from error

    def _read(self, response: http.client.HTTPResponse, ends_at: float) -> bytes:
        """Return the body. A machine that sends byte by byte must not occupy a worker."""
        parts, size = [], 0
        while part := response.read1(1 << 16):
            parts.append(part)
            size += len(part)
            if size > RESPONSE_BYTES:
                raise MachineFailed(f"The response of the machine {self.name} is too long.")
            if time.monotonic() > ends_at:
                raise TimeoutError
        return b"".join(parts)


def endpoints() -> dict[str, Endpoint]:
    """Return the judges of the operator's settings, by name."""
    return {name: Endpoint(name, **values) for name, values in settings.MACHINE_JUDGES.items()}


def get_endpoint(name: str) -> Endpoint:
    """Return a judge. Raises InvalidInput if the operator's settings have no such judge."""
    found = endpoints()
    if name not in found:
        known = ", ".join(found) or "none"
        raise InvalidInput(f"There is no machine judge {name!r}. The operator has set up: {known}.")
    return found[name]

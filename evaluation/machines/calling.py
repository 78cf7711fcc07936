"""Call a machine judge over HTTP. Only the operator's settings name addresses and keys.

Redirects are not followed, because they would send the key to another host.
"""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Mapping, Sequence
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
from hearth.webhooks.addresses import AddressRefused
from hearth.webhooks.sending import Answer as Response
from hearth.webhooks.sending import Network, send

SECONDS = 120.0
TRIES = 3
RESPONSE_LENGTH = 1 << 20  # characters
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
        return Machine.read(self._with_tries("/v1/card", None))

    def is_healthy(self) -> bool:
        try:
            return self._request("/healthz", None).status == http.client.OK
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
        content = self._with_tries("/v1/judge", sent)
        return read_answers(content, [item.item for item in items])

    def _with_tries(self, path: str, sent: Mapping[str, Any] | None) -> Any:
        for number in range(TRIES):
            if number:
                time.sleep(self.wait * 2 ** (number - 1))
            try:
                return self._content(path, sent)
            except _TryAgain as error:
                reason = str(error)
        raise MachineFailed(f"The machine {self.name} does not answer: {reason}.")

    def _content(self, path: str, sent: Mapping[str, Any] | None) -> Any:
        answer = self._request(path, sent)
        if answer.status in _AGAIN:
            raise _TryAgain(f"HTTP status {answer.status}")
        if answer.status != http.client.OK:
            raise MachineFailed(
                f"The machine {self.name} refused the request: status {answer.status}."
            )
        if len(answer.text) > RESPONSE_LENGTH:
            raise MachineFailed(f"The response of the machine {self.name} is too long.")
        try:
            return json.loads(answer.text)
        except (ValueError, RecursionError):
            raise MachineFailed(f"The machine {self.name} did not answer with JSON.") from None

    def _request(self, path: str, sent: Mapping[str, Any] | None) -> Response:
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        network = Network(
            total_seconds=self.seconds,
            answer_bytes=4 * RESPONSE_LENGTH,
            private_hosts=[urlsplit(self.url).hostname or ""],
        )
        body = None if sent is None else json.dumps(sent)
        try:
            answer = send(f"{self.url.rstrip('/')}{path}", body, headers, network)
        except AddressRefused as refused:
            raise MachineFailed(f"The machine {self.name} cannot be asked: {refused}") from None
        if answer.status is None:
            raise _TryAgain(answer.text.rstrip("."))
        return answer


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

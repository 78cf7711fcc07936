"""Requirements of OWASP ASVS 5, each with a check of this installation.

A check sends requests to the site if possible. Otherwise, it reads a setting or the code.
Requirements that a program cannot check are not listed, such as those about documents or other
machines.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypedDict

from django.conf import settings
from django.http.response import HttpResponseBase
from django.test import Client

# Takes the probe, and returns the problem in one sentence, or an empty text.
Check = Callable[["Probe"], str]


@dataclass(frozen=True, slots=True)
class Requirement:
    """One requirement: its number in ASVS 5, what it requires, and the check."""

    number: str
    text: str
    check: Check


class Verdict(TypedDict):
    number: str
    requirement: str
    passed: bool
    problem: str


_requirements: dict[str, Requirement] = {}


def requirement(number: str, text: str) -> Callable[[Check], Check]:
    """Register the decorated function as the check of a requirement."""

    def register(check: Check) -> Check:
        if number in _requirements:
            raise ValueError(f"requirement {number} is registered twice")
        _requirements[number] = Requirement(number, text, check)
        return check

    return register


def numbers() -> list[str]:
    """Return the numbers of all requirements in order."""
    return sorted(_requirements, key=lambda number: tuple(map(int, number.split("."))))


def run_checks(*chosen: str) -> list[Verdict]:
    """Check the requirements with these numbers, or all. Requests of the checks are not logged."""
    probe = Probe()
    logging.disable(logging.CRITICAL)
    try:
        return [_verdict(_requirements[number], probe) for number in chosen or numbers()]
    finally:
        logging.disable(logging.NOTSET)


def _verdict(required: Requirement, probe: Probe) -> Verdict:
    problem = required.check(probe)
    return Verdict(
        number=required.number, requirement=required.text, passed=not problem, problem=problem
    )


class Probe:
    """The responses of this site to some requests.

    The requests are sent without a network and without an account.
    """

    ADDRESSES = (
        ("GET", "/"),
        ("GET", "/accounts/login/"),
        ("GET", "/no/such/page/"),
        ("GET", "/api/v1/benchmarks/"),
        ("GET", "/api/v1/nothing/"),
        ("POST", "/accounts/login/"),
        ("POST", "/api/v1/judgments/"),
    )

    def __init__(self) -> None:
        self.host = next((host for host in settings.ALLOWED_HOSTS if host != "*"), "localhost")
        self.client = Client(enforce_csrf_checks=True, raise_request_exception=False)

    @cached_property
    def answers(self) -> dict[str, HttpResponseBase]:
        """The responses by method and address. They include errors."""
        return {f"{how} {path}": self.ask(how, path) for how, path in self.ADDRESSES}

    def ask(
        self, method: str, path: str, *, secure: bool = True, **headers: str
    ) -> HttpResponseBase:
        host = self.host.removeprefix(".")
        response: HttpResponseBase = self.client.generic(
            method, path, secure=secure, headers={"Host": host, **headers}
        )
        return response

    def names(self, condition: Callable[[HttpResponseBase], bool]) -> list[str]:
        """Return the names of the responses for which the condition is true."""
        return [name for name, response in self.answers.items() if condition(response)]

    def without(self, header: str, *words: str) -> str:
        """Return a sentence about the responses that lack the header or one of the words in it.

        Return an empty text if there are none.
        """
        missing = self.names(
            lambda response: (
                header not in response.headers
                or any(word not in response.headers[header] for word in words)
            )
        )
        wanted = f" with {' and '.join(words)}" if words else ""
        return f"No {header}{wanted}: {', '.join(missing)}." if missing else ""

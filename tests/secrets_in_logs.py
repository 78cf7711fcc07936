"""Find secrets in the log of the tests: passwords, session keys, tokens, links.

While a test runs, its new secrets are recorded where they are made. Each log record is formatted as
on a server and searched for these secrets. So every test of the suite also checks the log.
"""

from __future__ import annotations

import functools
import logging
import secrets
from collections.abc import Callable
from typing import Any

import pytest

# A shorter text, such as the password "wrong", can be part of a harmless message.
SHORTEST = 12


class SecretsInLogs(logging.Handler):
    """A handler that collects the log records that contain a secret of the running test."""

    def __init__(self) -> None:
        super().__init__()
        self.known: set[str] = set()
        self.leaks: list[str] = []

    def add(self, secret: object) -> None:
        if isinstance(secret, str) and len(secret) >= SHORTEST:
            self.known.add(secret)

    def emit(self, record: logging.LogRecord) -> None:
        # The formatter of the server masks links, so the text is written with it.
        text = self.format(record)
        if any(secret in text for secret in tuple(self.known)):
            self.leaks.append(f"{record.name} ({record.pathname}:{record.lineno})")

    def take_leaks(self) -> list[str]:
        """Return the leaks since the last call, and delete the secrets."""
        leaks, self.leaks = self.leaks, []
        self.known.clear()
        return leaks

    def watch(self, patch: pytest.MonkeyPatch) -> None:
        """Record each new password, session key, token, link and secret of a second factor."""
        from django.contrib.auth.hashers import get_hasher
        from django.contrib.auth.tokens import PasswordResetTokenGenerator
        from django.contrib.sessions.backends.base import SessionBase

        from hearth.accounts.adapter import SecondFactorAdapter

        self._record_results(patch, secrets, "token_urlsafe")
        self._record_results(patch, SessionBase, "_get_new_session_key")
        self._record_results(patch, PasswordResetTokenGenerator, "make_token")
        self._record_results(patch, SecondFactorAdapter, "decrypt")
        self._record_arguments(patch, SecondFactorAdapter, "encrypt")
        # Each new or typed password is hashed, so this call receives it.
        self._record_arguments(patch, type(get_hasher()), "encode")

    def _record_results(self, patch: pytest.MonkeyPatch, owner: Any, name: str) -> None:
        def record(result: object, _: tuple[Any, ...]) -> None:
            self.add(result)

        patch.setattr(owner, name, wrapped(getattr(owner, name), record))

    def _record_arguments(self, patch: pytest.MonkeyPatch, owner: Any, name: str) -> None:
        def record(_: object, arguments: tuple[Any, ...]) -> None:
            for argument in arguments:
                self.add(argument)

        patch.setattr(owner, name, wrapped(getattr(owner, name), record))


def wrapped(
    function: Callable[..., Any], record: Callable[[object, tuple[Any, ...]], None]
) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        result = function(*arguments, **options)
        record(result, (*arguments, *options.values()))
        return result

    return call

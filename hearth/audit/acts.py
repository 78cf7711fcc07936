"""The acts of the audit log. Each app defines its own in an enum marked with `register_acts`.

A value is stored in the log, so it must never change and must be unique among all apps. The enums
are loaded when a process starts: those in a module `acts` by the app `audit`, all others by the
models of their app or by its `ready`.
"""

from __future__ import annotations

from typing import TypeVar

from django.db import models

VALUE_LENGTH = 40

Acts = TypeVar("Acts", bound=models.TextChoices)

_registered: dict[str, str] = {}


def register_acts(acts: type[Acts]) -> type[Acts]:
    """Add the acts of an enum to the log's filter. Raises `ValueError` for a repeated value."""
    for act in acts:
        value, label = act.value, act.label
        if value in _registered:
            raise ValueError(f"the act {value!r} is registered twice")
        if len(value) > VALUE_LENGTH:
            raise ValueError(f"the act {value!r} has more than {VALUE_LENGTH} characters")
        _registered[value] = label
    return acts


def registered_acts() -> dict[str, str]:
    """Return the labels of all acts by value, in the order of their labels."""
    return dict(sorted(_registered.items(), key=lambda item: item[1]))


def label_of_act(value: str) -> str:
    """Return the label of an act. If the act no longer exists, return its value."""
    return _registered.get(value, value)


@register_acts
class AuditAct(models.TextChoices):
    """The acts on the log itself."""

    LOG_DOWNLOADED = "log_downloaded", "Audit log downloaded"

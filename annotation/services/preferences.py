"""How a person likes to work: their keys, and when they want to be reminded of a break."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from annotation.core.keys import ACTIONS, keys_problems
from annotation.models import Annotator
from config.shared.bulk import lock_row
from config.shared.errors import InvalidInput

BREAK_MINUTES = 50
BREAK_MINUTES_MAX = 600


def set_keys(*, annotator: Annotator, keys: Mapping[str, Sequence[str]]) -> None:
    """The keys of all actions, one list each. Raises `InvalidInput` for keys that cannot be."""
    problems = keys_problems(keys)
    if set(keys) != {action.name for action in ACTIONS} or problems:
        raise InvalidInput(next(iter(problems.values()), "Every action has a list of keys."))
    _set(annotator, keys={name: list(chosen) for name, chosen in keys.items()})


def reset_keys(*, annotator: Annotator) -> None:
    """The keys that everybody begins with."""
    _set(annotator, keys=None)


def set_working_habits(*, annotator: Annotator, break_minutes: int, character_keys: bool) -> None:
    """After how many minutes a break is suggested (0: never), and whether letters are keys."""
    if not 0 <= break_minutes <= BREAK_MINUTES_MAX:
        raise InvalidInput(f"a break is suggested after 0 to {BREAK_MINUTES_MAX} minutes")
    _set(annotator, break_minutes=break_minutes, character_keys=character_keys)


@transaction.atomic
def _set(annotator: Annotator, **values: Any) -> None:
    lock_row(annotator)
    # Read again under the lock: what another form has changed meanwhile stays.
    annotator.refresh_from_db(fields=["preferences"])
    annotator.preferences = {**annotator.preferences, **values}
    annotator.save(update_fields=["preferences"])

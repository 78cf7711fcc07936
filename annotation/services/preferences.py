"""An annotator's preferences: keys, and when to suggest a break."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.core.keys import keys_problems
from annotation.models import Annotator
from annotation.questions.rooms import all_actions, key_rooms
from hearth.shared.bulk import lock_row
from hearth.shared.errors import InvalidInput

BREAK_MINUTES = 50
BREAK_MINUTES_MAX = 600


def set_keys(*, annotator: Annotator, keys: Mapping[str, Sequence[str]]) -> None:
    """Set the list of keys of each action. Raises `InvalidInput` for keys that are not allowed."""
    problems = keys_problems(keys, key_rooms())
    if set(keys) != {action.name for action in all_actions()} or problems:
        problem = next(iter(problems.values()), "Every action must have a list of keys.")
        raise InvalidInput(str(problem))
    _set(annotator, keys={name: list(own) for name, own in keys.items()})


def reset_keys(*, annotator: Annotator) -> None:
    """Set the default keys."""
    _set(annotator, keys=None)


def set_preferences(*, annotator: Annotator, break_minutes: int, character_keys: bool) -> None:
    """Set two preferences of the judging room.

    break_minutes: the minutes until a break is suggested, 0 for never. character_keys: whether keys
    that produce a character, such as letters, are active.
    """
    if not 0 <= break_minutes <= BREAK_MINUTES_MAX:
        raise InvalidInput(_("Enter 0 to {maximum} minutes.").format(maximum=BREAK_MINUTES_MAX))
    _set(annotator, break_minutes=break_minutes, character_keys=character_keys)


@transaction.atomic
def _set(annotator: Annotator, **values: Any) -> None:
    lock_row(annotator)
    # Read the row again under the lock, so that changes by another form are not lost.
    annotator.refresh_from_db(fields=["preferences"])
    annotator.preferences = {**annotator.preferences, **values}
    annotator.save(update_fields=["preferences"])

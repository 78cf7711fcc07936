"""The rooms of all kinds of questions, and the keys that a person has in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from annotation.core.keys import OTHERS, TWO_STEPS, Action, Keys, keys_of
from annotation.questions.kind import kinds

if TYPE_CHECKING:
    from annotation.models import Annotator
    from annotation.questions.room import Room


def rooms() -> list[Room]:
    return [kind.room for kind in kinds().values()]


def key_tables() -> list[tuple[str, tuple[Action, ...]]]:
    """Return the actions whose keys a person can choose, in tables with titles."""
    return [table for room in rooms() for table in room.actions.items()]


def all_actions() -> list[Action]:
    return [action for _, actions in key_tables() for action in actions]


def key_rooms() -> dict[str, int]:
    """Return the only room of each action that not all rooms have, as a number."""
    shared = {action.name for action in (*TWO_STEPS, *OTHERS)}
    return {
        action.name: number
        for number, room in enumerate(rooms())
        for actions in room.actions.values()
        for action in actions
        if action.name not in shared
    }


def own_keys(annotator: Annotator | None) -> Keys:
    """Return the person's keys for every action, or the default keys."""
    stored = annotator.preferences.get("keys") if annotator else None
    return keys_of(stored, all_actions(), key_rooms())

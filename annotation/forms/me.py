"""The shape of what people set for themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django import forms

from annotation.core.keys import (
    ACTIONS,
    KEYS_EACH,
    OTHERS,
    STEPS,
    TWO_STEPS,
    Action,
    Keys,
    keys_problems,
    normal_key,
    shown_key,
)
from annotation.services.preferences import BREAK_MINUTES_MAX


class KeysForm(forms.Form):
    """The keys of one person: for each action two fields, of which either may stay empty."""

    def __init__(self, *args: Any, keys: Keys, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for action in ACTIONS:
            given = [*map(shown_key, keys[action.name]), *[""] * KEYS_EACH]
            for place in range(KEYS_EACH):
                self.fields[f"{action.name}_{place}"] = forms.CharField(
                    label=f"{action.text}, {'second ' if place else ''}key",
                    max_length=20,
                    required=False,
                    strip=False,  # a space is the space bar
                    initial=given[place],
                    widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
                )

    @property
    def tables(self) -> list[tuple[str, list[tuple[str, list[forms.BoundField]]]]]:
        """Title and rows of each table; a row is what its keys do, and their fields."""
        parts = {"Judging": TWO_STEPS + OTHERS, "On scales of more than two steps": STEPS}
        return [
            (title, [(action.text, [*self._fields_of(action)]) for action in actions])
            for title, actions in parts.items()
        ]

    def _fields_of(self, action: Action) -> Iterator[forms.BoundField]:
        return (self[f"{action.name}_{place}"] for place in range(KEYS_EACH))

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        typed = {
            action.name: [given.get(f"{action.name}_{n}", "") for n in range(KEYS_EACH)]
            for action in ACTIONS
        }
        keys = {name: [key for key in map(normal_key, two) if key] for name, two in typed.items()}
        for name, problem in keys_problems(keys).items():
            self.add_error(f"{name}_0", problem)
        if not any(keys.values()):
            raise forms.ValidationError("No key is left that does anything.")
        return {**given, "keys": keys}


class HabitsForm(forms.Form):
    """How a person likes to work."""

    break_minutes = forms.IntegerField(
        label="Remind me of a break after so many minutes",
        min_value=0,
        max_value=BREAK_MINUTES_MAX,
        help_text="0: never. The reminder stands beside the pair and stops nothing.",
    )
    character_keys = forms.BooleanField(
        label="Letters, digits and signs work as keys",
        required=False,
        help_text="Without it only arrows, Space, Backspace and their like do: for those who speak "
        "to their computer, or hit keys by accident.",
    )

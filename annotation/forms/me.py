"""Forms for annotators' preferences."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.core.keys import KEYS_EACH, NAMED, Action, Keys, keys_problems
from annotation.questions.rooms import all_actions, key_rooms, key_tables, rooms
from annotation.services.preferences import BREAK_MINUTES_MAX
from annotation.texts import action_text, key_text, problem_text, typed_key

# The labels of the two fields of an action.
LABELS = (_("{action}, key"), _("{action}, second key"))


class KeysForm(forms.Form):
    """The keys of one annotator: two optional fields for each action."""

    def __init__(self, *args: Any, keys: Keys, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for action in all_actions():
            initial = [*map(key_text, keys[action.name]), *[""] * KEYS_EACH]
            for place in range(KEYS_EACH):
                self.fields[f"{action.name}_{place}"] = forms.CharField(
                    label=LABELS[place].format(action=action_text(action)),
                    max_length=20,
                    required=False,
                    strip=False,  # a space is the space bar
                    initial=initial[place],
                    widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
                )

    @property
    def key_names(self) -> str:
        """The displayed names of the keys that type no visible character, as JSON."""
        return json.dumps({key: key_text(key) for key in NAMED})

    @property
    def about_digits(self) -> list[str]:
        """What the digits do in the rooms of different kinds, each text once, not translated."""
        return [*dict.fromkeys(room.texts.digits for room in rooms() if room.texts.digits)]

    @property
    def tables(self) -> list[tuple[str, list[tuple[str, list[forms.BoundField]]]]]:
        """The title and the rows of each table. A row has an action's text and fields."""
        return [
            (
                gettext(title),
                [(action_text(action), [*self._fields_of(action)]) for action in actions],
            )
            for title, actions in key_tables()
        ]

    def _fields_of(self, action: Action) -> Iterator[forms.BoundField]:
        return (self[f"{action.name}_{place}"] for place in range(KEYS_EACH))

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        typed = {
            action.name: [data.get(f"{action.name}_{n}", "") for n in range(KEYS_EACH)]
            for action in all_actions()
        }
        fields = {
            name: [(n, key) for n, key in enumerate(map(typed_key, own)) if key]
            for name, own in typed.items()
        }
        keys = {name: [key for _, key in own] for name, own in fields.items()}
        for (name, place), problem in keys_problems(keys, key_rooms()).items():
            n, _ = fields[name][place]
            self.add_error(f"{name}_{n}", problem_text(problem))
        if not any(keys.values()):
            raise forms.ValidationError(gettext("At least one action needs a key."))
        return {**data, "keys": keys}


class PreferencesForm(forms.Form):
    """When a break is suggested, and which keys work."""

    break_minutes = forms.IntegerField(
        label=_("Time until a break is suggested (minutes)"),
        min_value=0,
        max_value=BREAK_MINUTES_MAX,
        help_text=_("0 means never. You can continue without a break."),
    )
    character_keys = forms.BooleanField(
        label=_("Use letters, digits and punctuation as keys"),
        required=False,
        help_text=_(
            "Turn this off if you use voice input or press keys by accident. Then only keys such "
            "as arrows, Space and Backspace work."
        ),
    )

"""Forms of the desk: decide about one task, undo a ruling, and filter the list of rulings."""

from __future__ import annotations

from typing import Any

from django import forms

from annotation.forms.fields import KEY_MAX
from annotation.models import AT_DESK

REASON_LENGTH = 2000
REOPEN, EXCLUDE = "reopen", "leave-out"


class DeskForm(forms.Form):
    """A decision about one task: a label of the campaign's scale, `reopen` or `leave-out`."""

    task = forms.IntegerField(min_value=1, max_value=KEY_MAX)
    kind = forms.ChoiceField(choices=[(state, state.label) for state in AT_DESK], required=False)
    reason = forms.CharField(max_length=REASON_LENGTH, required=False)
    answer = forms.CharField(max_length=REASON_LENGTH, required=False)

    def __init__(self, *args: Any, labels: dict[int, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        steps = ((str(value), text) for value, text in labels.items())
        others = ((other, other) for other in (REOPEN, EXCLUDE))
        self.fields["ruling"] = forms.ChoiceField(choices=[*steps, *others])


class UndoForm(forms.Form):
    """The ruling to undo, by primary key. is_list: show the list of rulings afterwards."""

    ruling = forms.IntegerField(min_value=1, max_value=KEY_MAX)
    is_list = forms.BooleanField(required=False)


class RulingsFilter(forms.Form):
    """The lead whose rulings a list shows, by primary key; empty for all leads."""

    lead = forms.IntegerField(min_value=1, max_value=KEY_MAX, required=False)

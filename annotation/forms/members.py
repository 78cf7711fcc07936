"""Forms for the members of a campaign."""

from __future__ import annotations

from typing import Any

from django import forms

from annotation.services.members import REASON_LENGTH as MEMBER_REASON_LENGTH


class MembersForm(forms.Form):
    """The annotators that a lead adds to a campaign, by the primary keys of their accounts."""

    people = forms.TypedMultipleChoiceField(
        label="Annotators of this benchmark", coerce=int, widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, *args: Any, people: list[tuple[int, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["people"].choices = people  # type: ignore[attr-defined] # of this kind of field


class MemberForm(forms.Form):
    """A change to one member: admit, pause with a reason, or resume."""

    ADMIT, PAUSE, RESUME = "let-in", "pause", "resume"

    action = forms.ChoiceField(choices=[(name, name) for name in (ADMIT, PAUSE, RESUME)])
    reason = forms.CharField(required=False, max_length=MEMBER_REASON_LENGTH)

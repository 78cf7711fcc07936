"""Forms for the members of a campaign."""

from __future__ import annotations

from typing import Any

from django import forms

from annotation.core.names import read_names
from annotation.services.members import REASON_LENGTH as MEMBER_REASON_LENGTH
from hearth.shared.text_file import TextFileField

FILE_BYTES = 200_000


class MembersForm(forms.Form):
    """The annotators that a lead adds to a campaign.

    people: the primary keys of accounts. names, file: user names, e-mail addresses or pseudonyms.
    """

    people = forms.TypedMultipleChoiceField(
        label="Annotators of this benchmark",
        coerce=int,
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    names = forms.CharField(
        label="Names",
        required=False,
        max_length=100_000,
        widget=forms.Textarea(attrs={"rows": 4, "dir": "auto", "spellcheck": "false"}),
        help_text="More annotators, one per line: user name, e-mail address or pseudonym.",
    )

    file = TextFileField(
        label="File",
        required=False,
        bytes_max=FILE_BYTES,
        help_text="A CSV file in UTF-8 with more names. If it has a header, only the first column "
        "is read.",
    )

    def __init__(self, *args: Any, people: list[tuple[int, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["people"].choices = people  # type: ignore[attr-defined]

    def clean_names(self) -> list[str]:
        return read_names(self.cleaned_data["names"])

    def clean_file(self) -> list[str]:
        return read_names(self.cleaned_data["file"])

    def clean(self) -> dict[str, Any]:
        data = self.cleaned_data
        if not self.errors and not (data["people"] or data["names"] or data["file"]):
            self.add_error("people", "Select an annotator, or enter or upload at least one name.")
        return data


class MemberForm(forms.Form):
    """A change to one member: admit, pause with a reason, or resume."""

    ADMIT, PAUSE, RESUME = "let-in", "pause", "resume"

    action = forms.ChoiceField(choices=[(name, name) for name in (ADMIT, PAUSE, RESUME)])
    reason = forms.CharField(required=False, max_length=MEMBER_REASON_LENGTH)

"""The form that invites several people."""

from __future__ import annotations

from typing import Any

from django import forms

from config.accounts.forms import InvitationForm
from config.accounts.invitation_lists import PEOPLE_MAX, ListedPerson, read_people
from config.shared.errors import InvalidInput

FILE_BYTES = 200_000


class PeopleListForm(InvitationForm):
    """A pasted list or a CSV file, with the role and the scope of lines that name none."""

    people = forms.CharField(
        label="People",
        max_length=FILE_BYTES,
        widget=forms.Textarea(attrs={"rows": 8, "dir": "auto", "spellcheck": "false"}),
        help_text=f"One line per person, at most {PEOPLE_MAX}: e-mail, name, role, scope. "
        "Only the e-mail address is needed.",
    )
    field_order = ["people", "role", "scope", "days"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["note"]
        self.listed: list[ListedPerson] = []

    def clean_people(self) -> str:
        text: str = self.cleaned_data["people"]
        try:
            self.listed = read_people(text)
        except InvalidInput as error:
            raise forms.ValidationError(str(error)) from None
        return text

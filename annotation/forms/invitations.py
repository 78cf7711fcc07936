"""The form that invites several people."""

from __future__ import annotations

from typing import Any

from django import forms

from hearth.accounts.forms import InvitationForm
from hearth.accounts.invitation_lists import PEOPLE_MAX, ListedPerson, read_people
from hearth.shared.errors import InvalidInput
from hearth.shared.text_file import TextFileField

FILE_BYTES = 200_000


class PeopleListForm(InvitationForm):
    """A pasted list or a CSV file, with the role and the scope for lines that have none."""

    people = forms.CharField(
        label="People",
        required=False,
        max_length=FILE_BYTES,
        widget=forms.Textarea(attrs={"rows": 8, "dir": "auto", "spellcheck": "false"}),
        help_text=f"One line per person, at most {PEOPLE_MAX}: e-mail, name, role, scope. "
        "Only the e-mail address is needed.",
    )
    file = TextFileField(
        label="File",
        required=False,
        bytes_max=FILE_BYTES,
        help_text="The same list as a CSV file in UTF-8, instead of the text above.",
    )
    field_order = ["people", "file", "role", "scope", "days"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["note"]
        self.listed: list[ListedPerson] = []
        self.people_text = ""

    def clean(self) -> dict[str, Any]:
        data = self.cleaned_data
        texts = [name for name in ("people", "file") if data.get(name)]
        if len(texts) == 1:
            self.people_text = data[texts[0]]
            try:
                self.listed = read_people(self.people_text)
            except InvalidInput as error:
                self.add_error(texts[0], str(error))
        elif not self.errors:
            self.add_error("people", "Either enter the people here or choose a file.")
        return data

    def sent_values(self) -> list[tuple[str, str]]:
        """Return the values of a valid form, for a form that sends the same values again."""
        values = [(name, self[name].data or "") for name in ("role", "scope", "days")]
        return [("people", self.people_text), *values]

"""The filter of the audit log."""

from __future__ import annotations

import re
from typing import Any

from django import forms

from hearth.audit.acts import registered_acts

# For example "campaign", "campaign 3" or "annotation.campaign 3".
OBJECT = re.compile(r"([a-z.]+)(?: +([\w-]+))?", re.ASCII | re.IGNORECASE)


class LogFilter(forms.Form):
    """The filter of the log. An empty field does not limit the entries."""

    person = forms.CharField(required=False, max_length=150, label="Person")
    act = forms.ChoiceField(required=False, label="Act")
    object = forms.CharField(required=False, max_length=100, label="Object")
    since = forms.DateField(required=False, label="From")
    until = forms.DateField(required=False, label="To")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        act = self.fields["act"]
        act.choices = [("", "All acts"), *registered_acts().items()]  # type: ignore[attr-defined]
        for name in ("since", "until"):
            self.fields[name].widget = forms.DateInput(attrs={"type": "date"})
        self.fields["person"].widget.attrs |= {"placeholder": "User name", "dir": "auto"}
        self.fields["object"].widget.attrs["placeholder"] = "campaign 3"

    def clean_object(self) -> tuple[str, str]:
        """Return the type and the primary key of the object. A missing part is an empty text."""
        text = self.cleaned_data["object"].strip()
        if not text:
            return "", ""
        found = OBJECT.fullmatch(text)
        if found is None:
            raise forms.ValidationError(
                "Enter a type of object, or a type and an id, such as campaign 3."
            )
        return found[1].lower(), found[2] or ""

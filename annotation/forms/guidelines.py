"""Forms for guidelines and their pictures."""

from __future__ import annotations

from typing import Any

from django import forms

from annotation.forms.fields import KEY_MAX
from annotation.services import GUIDELINE_LENGTH, PICTURE_TEXT_LENGTH, PICTURES_MAX


class GuidelineForm(forms.Form):
    after = forms.IntegerField(min_value=0, max_value=KEY_MAX, widget=forms.HiddenInput)
    text = forms.CharField(
        label="Guidelines",
        max_length=GUIDELINE_LENGTH,
        help_text="Plain text. An empty line starts a paragraph.",
        widget=forms.Textarea(attrs={"rows": 16, "dir": "auto"}),
    )


class PictureForm(forms.Form):
    """A picture as an example: a new file, or a picture of the earlier version."""

    MATCH, NO_MATCH = "match", "no-match"

    kept = forms.UUIDField(required=False, widget=forms.HiddenInput)
    file = forms.FileField(
        label="Picture",
        required=False,
        widget=forms.FileInput(attrs={"accept": "image/jpeg,image/png,image/webp"}),
    )
    text = forms.CharField(
        label="Description",
        required=False,
        max_length=PICTURE_TEXT_LENGTH,
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto", "autocomplete": "off"}),
    )
    shows = forms.ChoiceField(
        label="Example of",
        required=False,
        choices=[("", "neither"), (MATCH, "relevant"), (NO_MATCH, "not relevant")],
    )
    place = forms.IntegerField(label="Place", required=False, min_value=1, max_value=999)
    remove = forms.BooleanField(label="Remove", required=False)

    def clean_text(self) -> str:
        """Return the description in one line, because screen readers read it as one text."""
        return " ".join(self.cleaned_data["text"].split())

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        has_picture = bool(data.get("kept") or data.get("file"))
        if data.get("remove"):
            return data
        if has_picture and not data.get("text") and "text" not in self.errors:
            self.add_error("text", "Describe the picture for screen readers.")
        if data.get("text") and not has_picture:
            self.add_error("file", "Choose the file again, or delete the description.")
        return data

    @property
    def is_in_next_version(self) -> bool:
        data = self.cleaned_data
        return bool((data.get("kept") or data.get("file")) and not data.get("remove"))

    @property
    def is_match(self) -> bool | None:
        shows = self.cleaned_data.get("shows")
        return shows == self.MATCH if shows else None


PictureFormSet = forms.formset_factory(
    PictureForm, max_num=PICTURES_MAX, absolute_max=PICTURES_MAX, validate_max=True, extra=0
)

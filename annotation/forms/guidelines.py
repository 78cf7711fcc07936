"""The shape of guidelines and their pictures."""

from __future__ import annotations

from typing import Any

from django import forms

from annotation.forms.fields import KEY_MAX
from annotation.services import GUIDELINE_LENGTH, PICTURE_TEXT_LENGTH, PICTURES_MAX


class GuidelineForm(forms.Form):
    after = forms.IntegerField(min_value=0, max_value=KEY_MAX, widget=forms.HiddenInput)
    text = forms.CharField(
        label="Guideline",
        max_length=GUIDELINE_LENGTH,
        help_text="Plain text; an empty line begins a paragraph.",
        widget=forms.Textarea(attrs={"rows": 16, "dir": "auto"}),
    )


class PictureForm(forms.Form):
    """One example of a guideline: a new file, or a picture of the version before."""

    MATCH, NO_MATCH = "match", "no-match"

    kept = forms.UUIDField(required=False, widget=forms.HiddenInput)
    file = forms.FileField(
        label="Picture",
        required=False,
        widget=forms.FileInput(attrs={"accept": "image/jpeg,image/png,image/webp"}),
    )
    text = forms.CharField(
        label="What it shows",
        required=False,
        max_length=PICTURE_TEXT_LENGTH,
        widget=forms.TextInput(attrs={"dir": "auto", "autocomplete": "off"}),
    )
    shows = forms.ChoiceField(
        label="As an example of",
        required=False,
        choices=[("", "neither"), (MATCH, "relevant"), (NO_MATCH, "not relevant")],
    )
    place = forms.IntegerField(label="Place", required=False, min_value=1, max_value=999)
    remove = forms.BooleanField(label="Leave out", required=False)

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        has_picture = bool(given.get("kept") or given.get("file"))
        if given.get("remove"):
            return given
        if has_picture and not given.get("text") and "text" not in self.errors:
            self.add_error("text", "Say what the picture shows: screen readers read it out.")
        if given.get("text") and not has_picture:
            self.add_error("file", "Choose the picture again, or empty the text.")
        return given

    @property
    def is_wanted(self) -> bool:
        given = self.cleaned_data
        return bool((given.get("kept") or given.get("file")) and not given.get("remove"))

    @property
    def is_match(self) -> bool | None:
        shows = self.cleaned_data.get("shows")
        return shows == self.MATCH if shows else None


PictureFormSet = forms.formset_factory(
    PictureForm, max_num=PICTURES_MAX, absolute_max=PICTURES_MAX, validate_max=True, extra=0
)

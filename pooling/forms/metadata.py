"""Forms that import train captions and tags."""

from __future__ import annotations

from django import forms

from hearth.shared.options import NAME_LENGTH
from pooling.forms.fields import check_printable
from pooling.services.metadata import TRAIN

CSV_HELP = "A CSV file, which can be compressed with gzip."


class TrainCaptionsForm(forms.Form):
    file = forms.FileField(label="File", help_text=CSV_HELP)
    name = forms.CharField(
        label="Name of the split",
        max_length=NAME_LENGTH,
        required=False,
        help_text="Needed only if there are several splits, such as 9k and 7k. The default is "
        f"“{TRAIN}”.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def clean_name(self) -> str:
        return check_printable(self.cleaned_data["name"])


class TagsForm(forms.Form):
    file = forms.FileField(label="File", help_text=CSV_HELP)

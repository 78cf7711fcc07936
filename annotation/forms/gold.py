"""Forms for gold items."""

from __future__ import annotations

from django import forms

from annotation.core.gold_file import EXPLANATION_LENGTH
from annotation.enums import GoldUse


class GoldUploadForm(forms.Form):
    """A file of gold items, and their use."""

    use = forms.ChoiceField(
        label="Use",
        choices=GoldUse.choices,
        initial=GoldUse.TRAINING,
        widget=forms.RadioSelect,
    )
    file = forms.FileField(label="File", help_text="CSV in UTF-8, optionally gzipped.")


class GoldItemForm(forms.Form):
    """A change to an item: a new explanation, or retiring or restoring the item."""

    EXPLAIN, RETIRE, RESTORE = "explain", "retire", "restore"

    action = forms.ChoiceField(choices=[(name, name) for name in (EXPLAIN, RETIRE, RESTORE)])
    explanation = forms.CharField(
        label="Explanation",
        required=False,
        max_length=EXPLANATION_LENGTH,
        help_text="Annotators see this after they answer the item in training.",
        widget=forms.Textarea(attrs={"rows": 4, "dir": "auto"}),
    )

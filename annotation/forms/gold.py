"""The shape of gold."""

from __future__ import annotations

from django import forms

from annotation.core.gold_file import EXPLANATION_LENGTH
from annotation.enums import GoldUse


class GoldUploadForm(forms.Form):
    use = forms.ChoiceField(
        label="What it is for",
        choices=GoldUse.choices,
        initial=GoldUse.TRAINING,
        widget=forms.RadioSelect,
    )
    file = forms.FileField(label="File", help_text="CSV in UTF-8; may be gzipped.")


class GoldItemForm(forms.Form):
    """What a lead does with an item: explain it anew, retire it, or hand it out again."""

    EXPLAIN, RETIRE, RESTORE = "explain", "retire", "restore"

    action = forms.ChoiceField(choices=[(one, one) for one in (EXPLAIN, RETIRE, RESTORE)])
    explanation = forms.CharField(
        label="Explanation",
        required=False,
        max_length=EXPLANATION_LENGTH,
        help_text="Who answers it in training is told this.",
        widget=forms.Textarea(attrs={"rows": 4, "dir": "auto"}),
    )

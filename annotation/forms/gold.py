"""Forms for gold items."""

from __future__ import annotations

from django import forms

from annotation.core.readers.gold import EXPLANATION_LENGTH
from annotation.enums import GoldUse
from annotation.services.gold import ImportGold
from hearth.shared.option_fields import OptionsForm


class GoldUploadForm(OptionsForm[ImportGold]):
    action = ImportGold


class GoldPairForm(forms.Form):
    """A gold item made from a pair."""

    use = forms.ChoiceField(
        label="Use",
        choices=GoldUse.choices,
        initial=GoldUse.TRAINING,
        widget=forms.RadioSelect,
        help_text="Annotators who have judged the pair can recognise it as a control pair.",
    )
    answer = forms.TypedChoiceField(
        label="Correct answer",
        choices=[("1", "Relevant"), ("0", "Not relevant")],
        coerce=lambda answer: answer == "1",
        widget=forms.RadioSelect,
    )
    explanation = forms.CharField(
        label="Explanation",
        required=False,
        max_length=EXPLANATION_LENGTH,
        help_text="Annotators see this after they answer the item in training.",
        widget=forms.Textarea(attrs={"rows": 4, "dir": "auto"}),
    )


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

"""The form for the rule of equal captions."""

from __future__ import annotations

from django import forms

from pooling.enums import EqualTexts


class EqualTextsForm(forms.Form):
    rule = forms.ChoiceField(
        label="Rule for equal texts",
        choices=EqualTexts.choices,
        widget=forms.RadioSelect,
    )

"""Forms to publish labels and to confirm positives."""

from __future__ import annotations

from django import forms

from evaluation.release.selectors import CUTOFFS


class PublishForm(forms.Form):
    allow_pending = forms.BooleanField(
        label="Publish pairs that are pending or in conflict without a label", required=False
    )


class ConfirmForm(forms.Form):
    cutoff = forms.TypedChoiceField(
        choices=[(cutoff, f"C@{cutoff}") for cutoff in CUTOFFS], coerce=int
    )

"""The shape of what comes in for campaigns. What it means is checked by the services."""

from __future__ import annotations

from typing import Any

from django import forms

from annotation.enums import LABELS, CampaignState, Scale
from annotation.models import AT_DESK
from config.shared.limits import SEED_MAX

GUIDELINE_LENGTH = 50_000
REASON_LENGTH = 2000
KEY_MAX = 2**63 - 1
REOPEN, LEAVE_OUT = "reopen", "leave-out"


class CampaignForm(forms.Form):
    name = forms.CharField(
        label="Name",
        max_length=150,
        required=False,
        help_text="Annotators read it. Empty: the benchmark's key and a number.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    double_percent = forms.DecimalField(
        label="Judged twice, in per cent",
        min_value=0,
        max_value=100,
        max_digits=5,
        decimal_places=2,
        initial=10,
        help_text="This share of the pairs gets two labels, and a third on disagreement.",
    )
    seed = forms.IntegerField(
        label="Seed",
        initial=0,
        min_value=0,
        max_value=SEED_MAX,
        help_text="It draws the pairs judged twice and shuffles the order of all.",
    )
    scale = forms.ChoiceField(
        label="Scale", choices=Scale.choices, initial=Scale.BINARY, widget=forms.RadioSelect
    )


class JudgmentsUploadForm(forms.Form):
    file = forms.FileField(label="File", help_text="CSV in UTF-8; may be gzipped.")


class CampaignStateForm(forms.Form):
    state = forms.ChoiceField(choices=CampaignState.choices)


class GuidelineForm(forms.Form):
    text = forms.CharField(
        label="Guideline",
        max_length=GUIDELINE_LENGTH,
        help_text="Plain text; an empty line begins a paragraph.",
        widget=forms.Textarea(attrs={"rows": 16, "dir": "auto"}),
    )


class DeskForm(forms.Form):
    """A lead's word on one task: a label of the campaign's scale, `reopen` or `leave-out`."""

    task = forms.IntegerField(min_value=1, max_value=KEY_MAX)
    kind = forms.ChoiceField(choices=[(state, state.label) for state in AT_DESK], required=False)
    reason = forms.CharField(max_length=REASON_LENGTH, required=False)

    def __init__(self, *args: Any, scale: Scale, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        labels = ((str(value), text) for value, text in LABELS[scale].items())
        others = ((other, other) for other in (REOPEN, LEAVE_OUT))
        self.fields["ruling"] = forms.ChoiceField(choices=[*labels, *others])

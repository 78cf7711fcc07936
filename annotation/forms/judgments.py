"""Forms that import and withdraw judgments."""

from __future__ import annotations

from django import forms

from annotation.enums import PauseCause
from annotation.models.people import PAUSE_MESSAGES
from annotation.services.import_plans import ImportJudgments
from annotation.services.members import REASON_LENGTH as MEMBER_REASON_LENGTH
from hearth.shared.option_fields import OptionsForm


class WithdrawForm(forms.Form):
    """The answers to withdraw, and the reason."""

    since = forms.DateTimeField(
        label="Answers since (UTC)",
        required=False,
        help_text="If empty, all answers are withdrawn.",
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
    )
    reason = forms.CharField(
        label="Reason",
        max_length=MEMBER_REASON_LENGTH,
        help_text="Only leads see the reason.",
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
    )
    pause = forms.BooleanField(
        label="Also pause the annotator in this campaign",
        required=False,
        initial=True,
        help_text=f"The annotator reads: “{PAUSE_MESSAGES[PauseCause.WITHDRAWAL]}”",
    )


class JudgmentsUploadForm(OptionsForm[ImportJudgments]):
    action = ImportJudgments

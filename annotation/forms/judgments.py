"""Forms that import and withdraw judgments."""

from __future__ import annotations

from django import forms

from annotation.enums import PauseCause
from annotation.models.people import PAUSE_MESSAGES
from annotation.services.members import REASON_LENGTH as MEMBER_REASON_LENGTH


class WithdrawForm(forms.Form):
    """The judgments to withdraw, and the reason."""

    since = forms.DateTimeField(
        label="Judgments since (UTC)",
        required=False,
        help_text="Empty: all judgments.",
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


class JudgmentsUploadForm(forms.Form):
    """A file of judgments."""

    file = forms.FileField(label="File", help_text="CSV in UTF-8, optionally gzipped.")
    pool_equal = forms.BooleanField(
        label="Share labels among captions with equal texts",
        required=False,
        help_text="If not selected, each label applies only to its own caption.",
    )

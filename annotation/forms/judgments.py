"""The shape of judgments that are imported, and of those that are taken back."""

from __future__ import annotations

from django import forms

from annotation.enums import PauseCause
from annotation.models.people import PAUSE_MESSAGES
from annotation.services.members import REASON_LENGTH as MEMBER_REASON_LENGTH


class ReopenForm(forms.Form):
    """Which of a person's judgments are taken back, and why."""

    since = forms.DateTimeField(
        label="Only from this moment on (UTC)",
        required=False,
        help_text="Empty: all of them.",
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
    )
    reason = forms.CharField(
        label="Why",
        max_length=MEMBER_REASON_LENGTH,
        help_text="For leads who ask later. The person is not shown it.",
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
    )
    pause = forms.BooleanField(
        label="Pause them in this campaign, too",
        required=False,
        initial=True,
        help_text=f"They read: “{PAUSE_MESSAGES[PauseCause.WITHDRAWAL]}”",
    )


class JudgmentsUploadForm(forms.Form):
    file = forms.FileField(label="File", help_text="CSV in UTF-8; may be gzipped.")
    pool_equal = forms.BooleanField(
        label="Share labels among captions with equal texts",
        required=False,
        help_text="If not selected, each label holds only for its own caption.",
    )

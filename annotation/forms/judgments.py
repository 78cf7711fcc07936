"""Forms that import and withdraw judgments."""

from __future__ import annotations

from django import forms

from annotation.core.readers.judgments import JUDGMENTS
from annotation.enums import PauseCause, Scale
from annotation.models.people import PAUSE_MESSAGES
from annotation.services.members import REASON_LENGTH as MEMBER_REASON_LENGTH
from pooling.core.readers.registry import AUTO

LICENCE_LENGTH = 300


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


class JudgmentsUploadForm(forms.Form):
    """A file of judgments made elsewhere."""

    file = forms.FileField(
        label="File", help_text=f"{JUDGMENTS.listed()}, in UTF-8, optionally gzipped."
    )
    format = forms.ChoiceField(
        label="Format", choices=JUDGMENTS.choices, initial=AUTO, required=False
    )
    scale = forms.ChoiceField(
        label="Scale", choices=Scale.choices, initial=Scale.BINARY, required=False
    )
    pool_equal = forms.BooleanField(
        label="Share labels among captions with equal texts",
        required=False,
        help_text="If not selected, each label applies only to its own caption. Labels of FIRE "
        "JSON are always shared, because FIRE JSON contains texts instead of keys.",
    )
    data_set = forms.CharField(
        label="Data set",
        required=False,
        max_length=100,
        help_text="Only for a FIRE file with several data sets: the name of one, such as MSVD.",
    )
    licence = forms.CharField(
        label="Licence stated elsewhere",
        required=False,
        max_length=LICENCE_LENGTH,
        help_text="For example, the licence of the repository that contains the file. A licence in "
        "the file is stored, too, even if the two contradict each other.",
    )

    def clean_format(self) -> str:
        return self.cleaned_data["format"] or AUTO

    def clean_scale(self) -> str:
        return self.cleaned_data["scale"] or Scale.BINARY.value

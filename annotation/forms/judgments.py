"""Forms that import and withdraw judgments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms

from annotation.core.readers.judgments import column_of
from annotation.enums import PauseCause
from annotation.models.people import PAUSE_MESSAGES
from annotation.services.import_plans import ImportJudgments
from annotation.services.members import REASON_LENGTH as MEMBER_REASON_LENGTH
from hearth.shared.option_fields import OptionsForm
from pooling.core.readers.layouts import JUDGMENT_COLUMNS


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


class ColumnsForm(forms.Form):
    """The columns of a table of judgments, and the labels of its texts."""

    caption_id = forms.ChoiceField(label="Caption id")
    video_id = forms.ChoiceField(label="Video id")
    annotator = forms.ChoiceField(label="Annotator")
    label = forms.ChoiceField(label="Label")
    judged_at = forms.ChoiceField(label="Time", required=False)
    values = forms.CharField(
        label="Labels of texts",
        required=False,
        help_text="One per line, such as yes=1, if the column of labels has other texts.",
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
    )

    def __init__(
        self,
        data: Any = None,
        *,
        names: Sequence[str],
        columns: Sequence[str] = (),
        values: Sequence[str] = (),
    ) -> None:
        """Offer the columns of the file. columns, values: those that are selected, as texts."""
        chosen = dict(text.split("=", 1) for text in columns)
        found = {role: column_of(role, names, chosen) for role in JUDGMENT_COLUMNS}
        initial = {role: name for role, name in found.items() if name in names}
        super().__init__(data, initial={**initial, "values": "\n".join(values)})
        for role in JUDGMENT_COLUMNS:
            field: forms.ChoiceField = self.fields[role]  # type: ignore[assignment]
            empty = "Select" if field.required else "No column"
            field.choices = [("", empty), *((name, name) for name in names if name)]

    def mapping(self) -> dict[str, list[str]]:
        """Return the selection as the options `columns` and `values` of `ImportJudgments`."""
        data = self.cleaned_data
        lines = (line.strip() for line in data["values"].splitlines())
        return {
            "columns": [f"{role}={data[role]}" for role in JUDGMENT_COLUMNS if data[role]],
            "values": [line for line in lines if line],
        }


class JudgmentsUploadForm(OptionsForm[ImportJudgments]):
    action = ImportJudgments

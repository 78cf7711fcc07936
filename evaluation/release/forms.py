"""Forms to publish labels and to confirm positives."""

from __future__ import annotations

from typing import Any

from django import forms

from annotation.core.consensus import OutcomeCounts
from evaluation.core.files.versions import full_version
from evaluation.release.enums import Change
from evaluation.release.exports.training import TrainingMoments
from evaluation.release.selectors import CUTOFFS
from evaluation.release.selectors.proposals import Proposal
from evaluation.release.services import PublishOptions
from hearth.shared.option_fields import OptionsForm
from hearth.shared.words import counted


class TrainingMomentsForm(OptionsForm[TrainingMoments]):
    action = TrainingMoments


class LabelsField(forms.ChoiceField):
    """A choice of labels by version. A shorter number such as 2 means 2.0.0."""

    def to_python(self, value: Any) -> str:
        return full_version(super().to_python(value))

    def prepare_value(self, value: Any) -> Any:
        return full_version(value) if isinstance(value, str) else value


class PublishForm(OptionsForm[PublishOptions]):
    """The next version, its notes, and the confirmation that unsettled pairs get no label."""

    action = PublishOptions

    def __init__(
        self, *args: Any, counts: OutcomeCounts, proposal: Proposal | None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.unsettled = counts.unsettled
        self.fields["change"].help_text = self.fields["allow_pending"].help_text = ""
        if not self.unsettled:
            del self.fields["allow_pending"]
        else:
            self.fields["allow_pending"].label = (
                f"Publish although {counted(counts.unsettled, 'unsettled pair')} will have no "
                f"label in the set ({counts.pending:,} pending, {counts.conflicted:,} in conflict)"
            )
        self._name_versions(proposal)

    def _name_versions(self, proposal: Proposal | None) -> None:
        """Show the version that each choice results in. The first label set offers no choice."""
        field: forms.ChoiceField = self.fields["change"]  # type: ignore[assignment]
        field.choices = [("", "By rule"), *Change.choices]
        if proposal is None:
            return
        if proposal.previous is None:
            del self.fields["change"]
            return
        previous = proposal.previous
        field.choices = [
            ("", f"By rule: {proposal.version}"),
            *((value, f"{label} ({previous.next(value)})") for value, label in Change.choices),
        ]

    def clean_allow_pending(self) -> bool:
        allowed = bool(self.cleaned_data["allow_pending"])
        if not allowed:
            raise forms.ValidationError(
                "Some pairs are not settled. Settle them first, or confirm that they have no label "
                "in the label set. Scores count them as unjudged."
            )
        return allowed


ALL_POSITIVES = "all"


class ConfirmForm(forms.Form):
    """The positives to confirm: the sole positives of C@k, or all positives."""

    cutoff = forms.ChoiceField(
        choices=[*((str(cutoff), f"C@{cutoff}") for cutoff in CUTOFFS), (ALL_POSITIVES, "All")]
    )

    @property
    def cutoff_or_all(self) -> int | None:
        """The cutoff, or None for all positives."""
        chosen: str = self.cleaned_data["cutoff"]
        return None if chosen == ALL_POSITIVES else int(chosen)

"""Forms of the results page."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from django import forms

from evaluation.core.files.versions import full_version
from evaluation.models import LabelSet
from evaluation.release.forms import LabelsField
from evaluation.release.selectors import LATEST, ORIGINAL
from pooling.core.direction import Direction

# Columns of the results table.
TABLE_MEASURES = ("C@1", "C@5", "C@10", "AP", "AP(found)")
JUDGED = "Judged@10"
RUN = "run"
VIDEOS, MOMENTS = "videos", "moments"


class ResultsForm(forms.Form):
    """The labels and the direction of the results table.

    `labels`: a version or `original`. `only`: whether the original positives are left out.
    `direction`: the direction of the runs, because scores of different directions cannot be
    compared. `of`: whether columns are measures of videos or of moments.
    """

    labels = LabelsField(label="Labels", required=False)
    only = forms.BooleanField(label="Labels only, without the original positives", required=False)
    direction = forms.ChoiceField(
        required=False,
        choices=[("", ""), *((direction.value, direction.value) for direction in Direction)],
    )
    of = forms.ChoiceField(required=False, choices=[("", ""), (VIDEOS, VIDEOS), (MOMENTS, MOMENTS)])
    sort = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(
        self,
        *args: Any,
        label_sets: Sequence[LabelSet],
        directions: Collection[str] = (),
        moments: Sequence[str] = (),
        **kwargs: Any,
    ) -> None:
        """Offer the label sets. directions: those of the runs. moments: measures of moments."""
        super().__init__(*args, **kwargs)
        self.moments = tuple(moments)
        self.directions = [found.value for found in Direction if found in directions]
        versions = [
            (found.version, f"Label set {found.version}, {found.created_at:%d %b %Y}")
            for found in label_sets
        ]
        if not versions:
            del self.fields["only"]
        field: forms.ChoiceField = self.fields["labels"]  # type: ignore[assignment]
        field.choices = [*versions, (ORIGINAL, "Original positives")]
        self.label_sets = {found.version: found for found in label_sets}

    def clean_labels(self) -> str:
        return self.cleaned_data["labels"] or self.latest

    def clean_direction(self) -> str:
        """The default is text-to-video, unless all runs have the other direction."""
        first = next(iter(self.directions), Direction.TEXT_TO_VIDEO.value)
        return self.cleaned_data["direction"] or first

    def clean_of(self) -> str:
        """The default is moments, if there are any."""
        found: str = self.cleaned_data["of"] or (MOMENTS if self.moments else VIDEOS)
        return found if self.moments else VIDEOS

    def clean(self) -> dict[str, Any]:
        """Forget the order by a column of the other measures."""
        cleaned: dict[str, Any] = super().clean() or {}
        key = str(cleaned.get("sort", "")).removeprefix("-")
        if "of" in cleaned and key in {*TABLE_MEASURES, *self.moments} - {*self.measures}:
            cleaned["sort"] = ""
        return cleaned

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures that are columns."""
        return self.moments if self.cleaned_data["of"] == MOMENTS else TABLE_MEASURES

    @property
    def latest(self) -> str:
        return next(iter(self.label_sets), ORIGINAL)

    @property
    def label_set(self) -> LabelSet | None:
        return self.label_sets.get(self.cleaned_data["labels"])

    @property
    def labels_only(self) -> bool:
        return bool(self.cleaned_data.get("only")) and self.label_set is not None


class EvaluateForm(forms.Form):
    labels = forms.CharField(required=False, max_length=20)
    only = forms.BooleanField(required=False)

    def __init__(self, *args: Any, label_sets: Sequence[LabelSet], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.known = {found.version for found in label_sets}

    def clean_labels(self) -> str:
        named = full_version(self.cleaned_data["labels"])
        labels = named or (LATEST if self.known else ORIGINAL)
        if labels not in self.known | {ORIGINAL, LATEST}:
            raise forms.ValidationError("There is no such label set.")
        return labels

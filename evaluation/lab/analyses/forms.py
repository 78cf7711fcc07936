"""The form that all analyses have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from evaluation.lab.analyses.fields import (
    SPLIT,
)
from evaluation.models import DRAFT, Draft
from evaluation.release.selectors import LATEST, ORIGINAL

# Fields of the forms that are not folded: they decide what the page is about.
MAIN_FIELDS = ("labels", "measure", "measures", "by")


class AnalysisForm(forms.Form):
    """What may be chosen of any analysis; subclasses add what is theirs.

    What is not given takes the field's initial value, so that nothing must be chosen. Fields that
    are ticked begin unticked: an address tells "no" by leaving them out.
    """

    labels = forms.ChoiceField(label="Labels")
    only = forms.BooleanField(
        label="Labels alone, without the original positives", required=False, initial=False
    )
    runs = forms.MultipleChoiceField(
        label="Runs",
        required=False,
        help_text="None ticked: all of them.",
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(
        self,
        data: Mapping[str, Any],
        *,
        versions: Sequence[int],
        runs: Sequence[str],
        splits: Sequence[str] = (),
        draft: Draft | None = None,
    ) -> None:
        """given: texts, or lists of texts, by the names of fields. versions, splits: newest
        first."""
        super().__init__()
        offered = [(str(version), f"Label set {version}") for version in versions]
        if draft is not None:
            offered.append((DRAFT, f"{draft.title}, not published"))
        offered.append((ORIGINAL, "Original positives"))
        self._offer("labels", offered)
        self._offer("runs", [(name, name) for name in runs])
        if SPLIT in self.fields:
            self._offer(SPLIT, [(name, name) for name in splits])
            self.fields[SPLIT].initial = next(iter(splits), None)
            # Without any, the analysis itself says what is missing.
            self.fields[SPLIT].required = bool(splits)
        newest = offered[0][0]
        self.data = {name: field.initial for name, field in self.fields.items()} | dict(data)
        if self.data["labels"] in (None, "", LATEST):
            self.data["labels"] = newest
        self.is_bound = True

    def _offer(self, name: str, choices: list[tuple[str, str]]) -> None:
        field: forms.ChoiceField = self.fields[name]  # type: ignore[assignment]
        field.choices = choices

    @property
    def main_fields(self) -> list[forms.BoundField]:
        """Return the fields that stand above the result at all times."""
        return [self[name] for name in self.fields if name in MAIN_FIELDS]

    @property
    def settings_fields(self) -> list[forms.BoundField]:
        """Return the settings that are folded away, those of the analysis first."""
        hidden = {*MAIN_FIELDS, *AnalysisForm.base_fields}
        own = [self[name] for name in self.fields if name not in hidden]
        return [*own, self["only"], self["runs"]]

    @property
    def is_open(self) -> bool:
        """Whether a folded field has an error or a value that is not its usual one."""
        return any(field.errors or has_changed_value(field) for field in self.settings_fields)


def has_changed_value(field: forms.BoundField) -> bool:
    """Return whether a field has a value that is not its initial one."""
    usual = field.field.initial
    return bool(field.data) and field.data != usual and str(field.data) != str(usual)

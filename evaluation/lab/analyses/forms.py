"""The form that all analyses have in common."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django import forms

from evaluation.lab.analyses.inputs import AUTO
from evaluation.lab.analyses.options import DIRECTION, PROXIES, SPLIT, STUDIES, Options, form_fields
from evaluation.lab.analyses.rows import from_json
from evaluation.models import DRAFT, Draft
from evaluation.release.forms import LabelsField
from evaluation.release.selectors import LATEST, ORIGINAL
from hearth.shared.options import OptionFault
from pooling.core.direction import Direction

COMMON_FIELDS = ("labels", "only", "runs")

# The fields that determine the subject of a page.
MAIN_FIELDS = ("labels", "measure", "measures", "by", DIRECTION)


class AnalysisForm(forms.Form):
    """The form fields that all analyses have. Subclasses add an analysis's own fields.

    A field without a value has its initial value, so an empty form is valid. Checkboxes are
    initially unchecked, because an address represents an unchecked box by leaving it out. An
    analysis that reads no labels sets `labels` and `only` to None. An analysis that reads no runs
    sets `runs` to None.
    """

    # Names of fields that the page shows outside of the settings, or not at all.
    elsewhere: tuple[str, ...] = ()
    # Whether runs of both directions can be selected. Each run is then scored in its own direction.
    mixes_directions = False
    # The declaration of the options of the analysis.
    options: type[Options] = Options

    labels: forms.Field | None = LabelsField(label="Labels")
    only: forms.Field | None = forms.BooleanField(
        label="Labels only, without the original positives", required=False, initial=False
    )
    runs: forms.Field | None = forms.MultipleChoiceField(
        label="Runs",
        required=False,
        help_text="If none is selected, all runs that the analysis can use are used.",
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(
        self,
        data: Mapping[str, Any],
        *,
        versions: Sequence[str],
        runs: Sequence[str],
        splits: Sequence[str] = (),
        proxies: Sequence[str] = (),
        studies: Sequence[tuple[str, str]] = (),
        directions: Collection[str] = (),
        draft: Draft | None = None,
    ) -> None:
        """Fill the form.

        data: texts, or lists of texts, by the names of fields. versions, splits: the versions of
        the label sets and the names of the splits, newest first. studies: the primary keys and
        names of the studies. directions: the directions of the runs. If there is only one
        direction, the page has no field for the direction.
        """
        super().__init__()
        if DIRECTION in self.fields and len(directions) < 2 and not data.get(DIRECTION):
            self.elsewhere = (*self.elsewhere, DIRECTION)
        offered = [(version, f"Label set {version}") for version in versions]
        if draft is not None:
            offered.append((DRAFT, f"{draft.title}, not published"))
        offered.append((ORIGINAL, "Original positives"))
        self._offer("labels", offered)
        self._offer("runs", [(name, name) for name in runs])
        self._offer(PROXIES, [(name, name) for name in proxies])
        self._offer(STUDIES, list(studies))
        if SPLIT in self.fields:
            self._offer(SPLIT, [(name, name) for name in splits])
            self.fields[SPLIT].initial = next(iter(splits), None)
            # Without a split, the analysis reports what is missing.
            self.fields[SPLIT].required = bool(splits)
        newest = offered[0][0]
        self.data = {name: field.initial for name, field in self.fields.items()} | dict(data)
        if self.data.get("labels") in (None, "", LATEST):
            self.data["labels"] = newest
        self.is_bound = True

    def _offer(self, name: str, choices: list[tuple[str, str]]) -> None:
        """Set the choices of a field, if the form has it."""
        if name in self.fields:
            field: forms.ChoiceField = self.fields[name]  # type: ignore[assignment]
            field.choices = choices

    def clean(self) -> dict[str, Any]:
        if not self.errors:
            try:
                from_json(self.options, self.cleaned_data).check()
            except OptionFault as fault:
                self.add_error(fault.field, fault.reason)
        return self.cleaned_data

    @property
    def main_fields(self) -> list[forms.BoundField]:
        """Return the fields that determine the subject of the page."""
        names = [name for name in self.fields if name in MAIN_FIELDS]
        return [self[name] for name in names if name not in self.elsewhere]

    @property
    def settings_fields(self) -> list[forms.BoundField]:
        """Return the other fields, those of the analysis first."""
        hidden = {*MAIN_FIELDS, *AnalysisForm.base_fields, *self.elsewhere}
        own = [self[name] for name in self.fields if name not in hidden]
        return [*own, *(self[name] for name in ("only", "runs") if name in self.fields)]

    @property
    def summary(self) -> list[tuple[str, str]]:
        """Return the label and value of each main field and of each setting that was changed."""
        changed = [field for field in self.settings_fields if has_changed_value(field)]
        return [(str(field.label), _value_text(field)) for field in (*self.main_fields, *changed)]

    @property
    def is_open(self) -> bool:
        """Whether the page shows the fields without a click, because one of them has an error."""
        return bool(self.errors)


def _value_text(field: forms.BoundField) -> str:
    """Return the value of a field as its widget shows it."""
    data = field.data
    if isinstance(field.field, forms.BooleanField):
        return "yes"
    if isinstance(data, list):
        return ", ".join(map(str, data))
    choices = dict(getattr(field.field, "choices", []))
    return str(choices.get(str(data), data))


def has_changed_value(field: forms.BoundField) -> bool:
    """Return whether a field has a value that is not its initial one."""
    initial = field.field.initial
    return bool(field.data) and field.data != initial and str(field.data) != str(initial)


def direction_field() -> forms.ChoiceField:
    """Return the field for the direction of the runs. `question_from_form` replaces `AUTO`."""
    return forms.ChoiceField(
        label="Direction",
        initial=AUTO,
        choices=[
            (AUTO, "automatic"),
            *((direction.value, direction.value) for direction in Direction),
        ],
        help_text="Automatic: the direction of the selected runs. Without a selection, "
        "text-to-video runs are used, or video-to-text runs if there are no others.",
    )


def form_of(
    options: type[Options], *, selects: Collection[str], is_directed: bool, mixes_directions: bool
) -> type[AnalysisForm]:
    """Return the form of an analysis with these options. selects: its common fields."""
    return type(
        "DeclaredForm",
        (AnalysisForm,),
        {
            "options": options,
            "mixes_directions": mixes_directions,
            **{name: None for name in COMMON_FIELDS if name not in selects},
            **({DIRECTION: direction_field()} if is_directed else {}),
            **form_fields(options),
        },
    )

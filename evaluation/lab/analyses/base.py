"""What every analysis has in common: what may be chosen, what it reads, what it shows.

An analysis is a value of `Kind`. Its form is the one place that says what may be chosen; page,
command and API all fill it in. `compute` turns `Inputs` into a JSON object, which is stored;
`tables` and `charts` lay such an object out, and read nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

import numpy as np
from django import forms

from annotation.selectors.judgments import JudgmentArrays, Rulings, judgment_arrays
from annotation.selectors.labels import labels_fingerprint
from config.shared.bulk import snapshot
from config.shared.errors import InvalidInput
from config.shared.progress import Progress
from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.people.alpha import Interval
from evaluation.core.relevance.judged import Judged, with_positives
from evaluation.core.relevance.measures import Measure, parse_measure
from evaluation.core.relevance.scoring import score_run
from evaluation.core.statistics.resampling import undefined_reason
from evaluation.models import DRAFT, Draft, LabelSource
from evaluation.release.selectors import LATEST, ORIGINAL, label_set_judged, original_judged
from evaluation.release.selectors.labels import for_equal_captions
from pooling.models import Benchmark, Run
from pooling.selectors import (
    first_equal_captions,
    query_keys,
    query_texts,
    ranked_matrix,
    video_keys,
)

Result = dict[str, Any]

MEASURES_MAX = 20
NUMBERS_MAX = 12
CAPTIONS, VIDEOS, AUTO = "captions", "videos", "auto"
SPLIT, UNIT = "split", "unit"
# Fields of the forms that are not folded: they decide what the page is about.
IN_FRONT = ("labels", "measure", "measures", "by")
SEED_MAX = 2**31 - 1
# Of analyses of pooled lists, beside those that read whole lists.
CUT = (
    "Lists are cut at the depth: AP divides by all known positives of a caption, and is lower here "
    "than by whole lists, as the results and the analysis scores have it."
)
MEASURES_SAID = "C@5: is a positive in the top 5? Also R@5, P@5, AP, RR, nDCG@10."
RANK_MEASURES = ("MedR", "MeanR")
# More rows than that make a page slow and nobody wiser.
ROWS_SHOWN = 500


@dataclass(frozen=True)
class Inputs:
    """What an analysis may read, loaded when it is asked for."""

    benchmark: Benchmark
    runs: Sequence[Run]
    label_set: LabelSource | None
    labels_only: bool = False

    @cached_property
    def moment(self) -> list[int]:
        """Of the judgments: when they were read, or before that when it was first asked for."""
        return labels_fingerprint(self.benchmark).as_list()

    @cached_property
    def judgments(self) -> JudgmentArrays:
        """All that count by now, for the kinds that read the judgments themselves."""
        with snapshot():
            vars(self).pop("moment", None)  # more may have come since
            _ = self.moment
            return judgment_arrays(self.benchmark)

    @cached_property
    def judgments_by_caption(self) -> JudgmentArrays:
        """The same, repeated for each caption for which a judgment of an equal text holds."""
        none = np.empty(0, np.int64)
        equal = first_equal_captions(self.benchmark)
        rulings = Rulings(none, none, none)
        return for_equal_captions(self.judgments, rulings, equal, self.benchmark.n_videos)[0]

    @cached_property
    def ranked(self) -> dict[str, np.ndarray[Any, Any]]:
        """Ranked lists by the name of the run, int32 [n_queries, depth], padded with -1."""
        return {run.name: ranked_matrix(run) for run in self.runs}

    @cached_property
    def original(self) -> Judged:
        """The original positives alone."""
        return original_judged(self.benchmark)

    @cached_property
    def graded_original(self) -> Judged:
        """The original positives with the grade that they have beside the chosen labels."""
        return original_judged(self.benchmark, self.label_set)

    @cached_property
    def standing(self) -> Judged:
        """The original positives as far as they count: none where the labels stand alone."""
        return self.original.nothing() if self.labels_only else self.original

    @cached_property
    def judged(self) -> Judged:
        """The labels that were asked for, with the original positives unless without them."""
        return self.original if self.label_set is None else self.judged_by(self.label_set)

    def judged_by(self, source: LabelSource) -> Judged:
        """Labels, with the original positives unless they were to be left out."""
        labels = label_set_judged(source)
        if self.labels_only:
            return labels
        return with_positives(labels, original_judged(self.benchmark, source))

    def values(self, judged: Judged, measure: str) -> dict[str, FloatArray]:
        """Per-query values by the name of the run, float64 [n_queries]."""
        return self.values_of(judged, [measure])[measure]

    def values_of(
        self, judged: Judged, measures: Sequence[str]
    ) -> dict[str, dict[str, FloatArray]]:
        """The same of several measures, by measure: each run is looked up once for all of them."""
        wanted = {measure: parse_measure(measure) for measure in measures}
        scores = {
            name: score_run(ranked, judged, wanted.values()) for name, ranked in self.ranked.items()
        }
        return {
            text: {name: score.per_query(measure) for name, score in scores.items()}
            for text, measure in wanted.items()
        }

    @cached_property
    def first_videos(self) -> IntArray:
        """The number of the first original positive of each query, int64 [n_queries]; a query
        without one has a number of its own. Captions of one video stand or fall together."""
        codes, _ = self.original.positives()
        queries, places = np.unique(codes // self.benchmark.n_videos, return_index=True)
        found = self.benchmark.n_videos + np.arange(self.benchmark.n_queries, dtype=np.int64)
        found[queries] = codes[places] % self.benchmark.n_videos
        return found

    def unit(self, chosen: str) -> str:
        """Return the unit of resampling for a choice.

        `AUTO` becomes `VIDEOS` if one video is the first positive of several queries, else
        `CAPTIONS`.
        """
        if chosen != AUTO:
            return chosen
        several = len(np.unique(self.first_videos)) < self.benchmark.n_queries
        return VIDEOS if several else CAPTIONS

    def clusters(self, unit: str) -> IntArray | None:
        """Return the cluster of each query, int64 [n_queries], or None for single captions.

        Queries of one cluster are resampled together, and their signs change together.
        """
        return self.first_videos if self.unit(unit) == VIDEOS else None

    def varied_clusters(self, unit: str) -> IntArray | None:
        """Return the clusters as `clusters` does.

        Raises `InvalidInput` if there are fewer than two clusters or queries to resample.
        """
        clusters = self.clusters(unit)
        if unable := undefined_reason(self.benchmark.n_queries, clusters):
            raise InvalidInput(unable)
        return clusters

    @cached_property
    def query_keys(self) -> list[str]:
        return query_keys(self.benchmark)

    @cached_property
    def video_keys(self) -> list[str]:
        return video_keys(self.benchmark)

    @cached_property
    def captions(self) -> list[str]:
        return query_texts(self.benchmark)

    @cached_property
    def caption_lengths(self) -> IntArray:
        """Words of each caption, int64 [n_queries]."""
        return np.array([len(text.split()) for text in self.captions], np.int64)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: the key of its cells, its head, and how a value is written there.

    kind: text, count, number, percent (of a share), points (a difference of shares, signed), asked
    (such a difference as somebody chose it, with all its digits), p.
    compared: of a row, what its cell chooses where ranked lists are compared, by the names of that
    form's fields; nothing where there is nothing to look at.
    """

    key: str
    title: str
    kind: str = "text"
    compared: Callable[[dict[str, Any]], dict[str, Any]] | None = None

    @property
    def is_number(self) -> bool:
        return self.kind != "text"

    def written(self, value: Any) -> str:
        """As it stands on pages and in terminals; files hold the value itself."""
        if value is None:
            return UNDEFINED
        if isinstance(value, list):  # an interval
            return f"{self.written(value[0])} to {self.written(value[1])}"
        return WRITTEN[self.kind](value)


def _cell(column: Column, row: dict[str, Any]) -> tuple[Column, Any, str, str]:
    """An interval is sorted by its lower end."""
    value = row[column.key]
    compared = urlencode(column.compared(row), doseq=True) if column.compared else ""
    sorted_by = value[0] if isinstance(value, list) else value
    return column, sorted_by, column.written(value), compared


def _number(value: float) -> str:
    value = float(f"{value:.12g}")  # 1 - 1e-16 is 1
    size = abs(value)
    if size >= 1000 or value == int(value):
        text = f"{value:,.0f}"
    else:  # decimals stand below each other, but where there would be none left
        text = f"{value:.4f}" if 0.001 <= size < 1 else f"{value:.4g}"
    return text.replace("-", "−")


def _asked(share: float) -> str:
    return f"{100 * share:.4g}"


def _points(value: float) -> str:
    return f"{'−' if value < 0 else '+'} {abs(100 * value):.1f}"


UNDEFINED = "–"
WRITTEN: dict[str, Callable[[Any], str]] = {
    "text": str,
    "count": "{:,}".format,
    "number": _number,
    "percent": lambda share: f"{100 * share:.1f}",
    "points": _points,
    "asked": _asked,
    "p": lambda p: f"{p:.3f}" if p >= 0.001 else "< 0.001",
}


@dataclass(frozen=True, slots=True)
class Table:
    """Rows are JSON objects by the keys of the columns; a cell that is undefined is null."""

    name: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[dict[str, Any]]
    note: str = ""

    @property
    def written_rows(self) -> list[list[tuple[Column, Any, str, str]]]:
        """Column, value to sort by, text of each cell, and where its captions are compared."""
        return [[_cell(column, row) for column in self.columns] for row in self.shown]

    @property
    def shown(self) -> Sequence[dict[str, Any]]:
        return self.rows[:ROWS_SHOWN]

    @property
    def left_out(self) -> int:
        """Rows that a page does not show; files have all."""
        return max(0, len(self.rows) - ROWS_SHOWN)


@dataclass(frozen=True, slots=True)
class Chart:
    """A Vega-Lite specification with its data, without colours and fonts: the page sets those.

    text: what can be seen in it, for those who cannot see it.
    """

    name: str
    title: str
    text: str
    spec: dict[str, Any] = field(repr=False)


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
        given: Mapping[str, Any],
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
        self.data = {name: field.initial for name, field in self.fields.items()} | dict(given)
        if self.data["labels"] in (None, "", LATEST):
            self.data["labels"] = newest
        self.is_bound = True

    def _offer(self, name: str, choices: list[tuple[str, str]]) -> None:
        field: forms.ChoiceField = self.fields[name]  # type: ignore[assignment]
        field.choices = choices

    @property
    def front_fields(self) -> list[forms.BoundField]:
        """Return the fields that stand above the result at all times."""
        return [self[name] for name in self.fields if name in IN_FRONT]

    @property
    def folded_fields(self) -> list[forms.BoundField]:
        """Return the settings that are folded away, those of the analysis first."""
        hidden = {*IN_FRONT, *AnalysisForm.base_fields}
        own = [self[name] for name in self.fields if name not in hidden]
        return [*own, self["only"], self["runs"]]

    @property
    def is_unfolded(self) -> bool:
        """Whether a folded field has an error or a value that is not its usual one."""
        return any(field.errors or is_chosen(field) for field in self.folded_fields)


def is_chosen(field: forms.BoundField) -> bool:
    """Return whether a field has a value that is not its initial one."""
    usual = field.field.initial
    return bool(field.data) and field.data != usual and str(field.data) != str(usual)


class MeasureField(forms.CharField):
    """One measure by its name."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            **{
                "label": "Measure",
                "initial": "C@5",
                "max_length": 30,
                "help_text": MEASURES_SAID,
                **options,
            }
        )

    def clean(self, value: Any) -> str:
        text = super().clean(value)
        return str(_checked(text)) if text else text


def _in_one_line(value: Any) -> Any:
    """A list, as the API may send one, as it would be typed."""
    return " ".join(map(str, value)) if isinstance(value, list) else value


class MeasuresField(forms.CharField):
    """Measures by their names, separated by blanks; `shares`: without those that are ranks."""

    def __init__(self, *, shares: bool = False, **options: Any) -> None:
        self.shares = shares
        super().__init__(
            **{
                "label": "Measures",
                "initial": "C@1 C@5 C@10 AP",
                "max_length": 300,
                "help_text": f"Separated by blanks. {MEASURES_SAID}",
                **options,
            }
        )

    def clean(self, value: Any) -> list[str]:
        names = super().clean(_in_one_line(value)).split()
        if len(names) > MEASURES_MAX:
            raise forms.ValidationError(f"At most {MEASURES_MAX} measures.")
        found = [str(_checked(name)) for name in dict.fromkeys(names)]
        return [_share(name) for name in found] if self.shares else found


class NumbersField(forms.CharField):
    """Whole numbers from 1 on, separated by blanks."""

    def __init__(self, *, highest: int, **options: Any) -> None:
        super().__init__(**{"max_length": 100, "help_text": "Separated by blanks.", **options})
        self.highest = highest

    def clean(self, value: Any) -> list[int]:
        words = super().clean(_in_one_line(value)).split()
        if not all(word.isascii() and word.isdigit() for word in words):
            raise forms.ValidationError("Whole numbers, separated by blanks.")
        numbers = sorted({int(word) for word in words})
        if len(numbers) > NUMBERS_MAX or not 1 <= numbers[0] <= numbers[-1] <= self.highest:
            raise forms.ValidationError(
                f"At most {NUMBERS_MAX} numbers from 1 to {self.highest:,}."
            )
        return numbers


def _checked(name: str) -> Measure:
    try:
        return parse_measure(name)
    except InvalidInput as error:
        raise forms.ValidationError(error.reason) from None


class ShareMeasureField(MeasureField):
    """One measure whose values are shares, from 0 to 1."""

    def clean(self, value: Any) -> str:
        return _share(super().clean(value))


def _share(name: str) -> str:
    if name in RANK_MEASURES:
        raise forms.ValidationError(f"{name} is a rank and no share.")
    return name


def split_field() -> forms.ChoiceField:
    """To be called `SPLIT` in a form, which then offers the benchmark's train splits."""
    return forms.ChoiceField(label="Train split")


def unit_field() -> forms.ChoiceField:
    """Return the field for the unit of resampling.

    Name it `UNIT` in a form: `asked_by` then replaces `AUTO` by the unit that it selects.
    """
    return forms.ChoiceField(
        label="Resample by",
        initial=AUTO,
        choices=[
            (AUTO, "automatic"),
            (VIDEOS, "video"),
            (CAPTIONS, "caption"),
        ],
        help_text="Automatic: by video if a video has several captions, which are dependent.",
    )


def resamples_field(initial: int = 10_000) -> forms.IntegerField:
    return forms.IntegerField(label="Resamples", initial=initial, min_value=100, max_value=100_000)


def confidence_field() -> forms.FloatField:
    return forms.FloatField(label="Confidence", initial=0.95, min_value=0.5, max_value=0.999)


def depth_field(initial: int = 10) -> forms.IntegerField:
    return forms.IntegerField(
        label="Depth",
        initial=initial,
        min_value=1,
        max_value=1000,
        help_text="So many of the top of each list are looked at.",
    )


def seed_field() -> forms.IntegerField:
    return forms.IntegerField(
        label="Seed",
        initial=0,
        min_value=0,
        max_value=SEED_MAX,
        help_text="The same seed draws the same samples.",
    )


def mean_of(values: FloatArray) -> float | None:
    """A mean as JSON; null where there are no values."""
    return float(values.mean()) if len(values) else None


def ends(interval: Interval) -> list[float] | None:
    """An interval as JSON; null where it is undefined."""
    if interval.low is None or interval.high is None:
        return None
    return [interval.low, interval.high]


Compute = Callable[[Inputs, dict[str, Any], Progress], Result]
Fill = Callable[[Inputs, dict[str, Any]], dict[str, Any]]


def _as_it_is(_inputs: Inputs, chosen: dict[str, Any]) -> dict[str, Any]:
    return chosen


@dataclass(frozen=True, slots=True)
class Kind:
    """One analysis. `source` names what it stands for in the FIRE study; `fill` puts numbers where
    none were chosen, so that a result names all that it was computed from."""

    name: str
    title: str
    question: str
    form: type[AnalysisForm]
    compute: Compute
    tables: Callable[[Result], list[Table]]
    charts: Callable[[Result], list[Chart]] = lambda _: []
    # What nobody is to overlook, a sentence each.
    warnings: Callable[[Result], list[str]] = lambda _: []
    fill: Fill = _as_it_is
    source: str = ""
    # How the numbers are to be read, one paragraph each.
    notes: tuple[str, ...] = ()
    runs_needed: int = 1
    needs_labels: bool = False
    # It begins with the original positives, beside which the labels cannot stand alone.
    needs_originals: bool = False
    # It reads the judgments themselves, besides the labels that were chosen.
    reads_judgments: bool = False

    def check(self, inputs: Inputs) -> None:
        """Raises `InvalidInput` where the analysis says nothing about these inputs."""
        if len(inputs.runs) < self.runs_needed:
            runs = "a run" if self.runs_needed == 1 else f"{self.runs_needed} runs"
            raise InvalidInput(f"it needs {runs} or more")
        if self.needs_labels and inputs.label_set is None:
            raise InvalidInput("it needs labels, not the original positives alone")
        if self.needs_originals and inputs.labels_only:
            raise InvalidInput("it begins with the original positives: they cannot be left out")

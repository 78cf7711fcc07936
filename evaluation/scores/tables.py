"""What the tables of the results hold, row by row, and the same as CSV and JSON.

A cell is "A (B + C)": A by the labels, B by the original positives alone, C what the labels add.
Stored scores are shares; pages show them in per cent, files exactly as they are.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evaluation.core.relevance.measures import DEFAULT_MEASURES, parse_measure
from evaluation.models import Evaluation, LabelSet
from evaluation.scores.forms import JUDGED, RUN, TABLE_MEASURES
from pooling.models import Benchmark, Run

RANKS = ("MedR", "MeanR")
# The cutoffs of the measures that every run is scored with.
CUTOFFS = sorted({measure.cutoff for measure in DEFAULT_MEASURES if measure.cutoff})
NOT_COMPUTED = "not computed"
NOT_SCORED = "not scored yet"
UNDEFINED = "undefined"
NO_SHARE = "–"
MINUS = "−"
# A spreadsheet takes a text that begins so for a formula.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class Value:
    """A score, or the reason why there is none."""

    number: float | None
    reason: str = ""

    def percent(self) -> str:
        return self.reason if self.number is None else f"{100 * self.number:.1f}"

    def exact(self, digits: int) -> str:
        return self.reason if self.number is None else f"{self.number:.{digits}f}"


def value_of(evaluation: Evaluation | None, measure: str) -> Value:
    if evaluation is None:
        return Value(None, NOT_SCORED)
    if measure not in evaluation.scores:
        return Value(None, NOT_COMPUTED)
    stored = evaluation.scores[measure]
    if isinstance(stored, Mapping):
        return Value(None, f"{UNDEFINED}: {stored[UNDEFINED]}")
    return Value(None, UNDEFINED) if stored is None else Value(float(stored))


def judged_share(evaluation: Evaluation | None, depth: int) -> Value:
    """Return the judged share of the top `depth`; older evaluations lack some depths."""
    if evaluation is None:
        return Value(None, NOT_SCORED)
    share = evaluation.judged.get(str(depth))
    return Value(None, NOT_COMPUTED) if share is None else Value(float(share))


@dataclass(slots=True)
class Cell:
    """One measure of one run; `labelled` is None if no label set is selected.

    read: the number of ranks of the run that the measure reads. judged: their judged share.
    """

    measure: str
    original: Value
    labelled: Value | None
    read: int
    judged: Value
    best: bool = False

    @property
    def main(self) -> Value:
        """A, or B alone."""
        return self.original if self.labelled is None else self.labelled

    @property
    def difference(self) -> float | None:
        if self.labelled is None or self.labelled.number is None or self.original.number is None:
            return None
        return self.labelled.number - self.original.number

    @property
    def difference_percent(self) -> str:
        return _signed(self.difference, 100, 1)

    @property
    def exact(self) -> tuple[str, str, str]:
        """A, B and C as they are stored, ranks to two places."""
        digits = 2 if self.measure in RANKS else 6
        labelled = "" if self.labelled is None else self.labelled.exact(digits)
        return labelled, self.original.exact(digits), _signed(self.difference, 1, digits)

    @property
    def judged_percent(self) -> str:
        return NO_SHARE if self.judged.number is None else self.judged.percent()

    @property
    def judged_exact(self) -> str:
        return NO_SHARE if self.judged.number is None else self.judged.exact(6)

    # For the chart: attributes of SVG, which take no other than the dot and a number.
    @property
    def original_width(self) -> str:
        return f"{100 * (self.original.number or 0):.2f}%"

    @property
    def labelled_width(self) -> str:
        return f"{100 * ((self.labelled and self.labelled.number) or 0):.2f}%"


@dataclass(slots=True)
class ResultRow:
    run: Run
    original: Evaluation | None
    labelled: Evaluation | None
    by_labels: bool
    cells: list[Cell] = field(default_factory=list)
    # By the original positives alone, and by the labels; None where it has no score.
    rank_before: int | None = None
    rank: int | None = None
    # The number of runs among which `rank` is.
    n_ranked: int = 0

    def __post_init__(self) -> None:
        self.cells = [self.cell(measure) for measure in TABLE_MEASURES]

    def cell(self, measure: str) -> Cell:
        labelled = value_of(self.labelled, measure) if self.by_labels else None
        read = parse_measure(measure).reads(self.run.depth)
        judged = judged_share(self.evaluation, read)
        return Cell(measure, value_of(self.original, measure), labelled, read, judged)

    @property
    def evaluation(self) -> Evaluation | None:
        return self.labelled if self.by_labels else self.original

    @property
    def is_scored(self) -> bool:
        return self.evaluation is not None

    @property
    def judged(self) -> Value:
        return value_of(self.evaluation, JUDGED)

    @property
    def first_cell(self) -> Cell:
        return self.cells[0]

    @property
    def all_cells(self) -> list[Cell]:
        return [self.cell(str(measure)) for measure in DEFAULT_MEASURES]

    @property
    def code_versions(self) -> set[str]:
        return {found.code_version for found in (self.original, self.labelled) if found}


@dataclass(frozen=True, slots=True)
class Column:
    key: str
    title: str
    next_sort: str
    order: str


def result_rows(
    runs: Iterable[Run],
    original: Mapping[int, Evaluation],
    labelled: Mapping[int, Evaluation],
    *,
    by_labels: bool,
) -> list[ResultRow]:
    return [ResultRow(run, original.get(run.pk), labelled.get(run.pk), by_labels) for run in runs]


def mark_best(rows: Sequence[ResultRow]) -> None:
    """Mark the highest of each column, all of them where several share it; one run is no race."""
    if sum(row.is_scored for row in rows) < 2:
        return
    for cells in zip(*(row.cells for row in rows), strict=True):
        numbers = [cell.main.number for cell in cells if cell.main.number is not None]
        for cell in cells:
            cell.best = bool(numbers) and cell.main.number == max(numbers)


def mark_ranks(rows: Sequence[ResultRow], measure: str) -> None:
    """Rank the scored runs by a measure, 1 is highest; equal scores share the better rank.

    Both ranks are among the runs that these labels score, so that only the labels differ between
    them. A run without a score has no rank.
    """
    cells = [row.cell(measure) if row.is_scored else None for row in rows]
    before = [cell.original.number if cell else None for cell in cells]
    after = [cell.main.number if cell else None for cell in cells]
    n_ranked = sum(score is not None for score in after)
    for row, old, new in zip(rows, before, after, strict=True):
        row.rank_before, row.rank = _rank(old, before), _rank(new, after)
        row.n_ranked = n_ranked


def _rank(score: float | None, all_scores: Sequence[float | None]) -> int | None:
    if score is None:
        return None
    return 1 + sum(other is not None and other > score for other in all_scores)


def sorted_rows(rows: Sequence[ResultRow], sort: str) -> list[ResultRow]:
    """By a column, ties by name; runs that have no value in it come last in either direction."""
    key, descending = sort.removeprefix("-"), sort.startswith("-")
    by_name = sorted(rows, key=lambda row: row.run.name)
    if key == RUN:
        return by_name[::-1] if descending else by_name
    numbers = {
        row.run.pk: (row.judged if key == JUDGED else row.cell(key).main).number for row in rows
    }
    known = [row for row in by_name if numbers[row.run.pk] is not None]
    sign = -1 if descending else 1
    known.sort(key=lambda row: sign * (numbers[row.run.pk] or 0))
    return known + [row for row in by_name if numbers[row.run.pk] is None]


def results_csv(rows: Sequence[ResultRow], label_set: LabelSet | None, labels_only: bool) -> str:
    """For spreadsheets: a row per run, a column per measure and kind of positives."""
    measures = [str(measure) for measure in DEFAULT_MEASURES]
    kinds = ("original",) if label_set is None else ("labelled", "original")
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        ["run", "system", "run_sha256", "depth", "labels", "labels_sha256", "labels_only", "code"]
        + [f"{measure} {kind}" for measure in measures for kind in kinds]
        + [*(f"judged@{cutoff}" for cutoff in CUTOFFS), "judged of the whole list"]
    )
    for row in rows:
        cells = [row.cell(measure) for measure in measures]
        writer.writerow(
            [
                as_text(row.run.name),
                as_text(row.run.system.key),
                row.run.sha256,
                row.run.depth,
                label_set.version if label_set else "original",
                label_set.sha256 if label_set else "",
                int(labels_only),
                " ".join(sorted(row.code_versions)),
            ]
            + [_number(cell, kind) for cell in cells for kind in kinds]
            + [_exactly(judged_share(row.evaluation, depth)) for depth in _depths(row)]
        )
    return out.getvalue()


def results_json(
    benchmark: Benchmark,
    rows: Sequence[ResultRow],
    label_set: LabelSet | None,
    labels_only: bool,
) -> dict[str, Any]:
    """The same shape as `manage.py evaluate --json`; a score that is undefined is null."""
    return {
        "benchmark": benchmark.key,
        "labels": label_set.version if label_set else "original",
        "labels_sha256": label_set.sha256 if label_set else None,
        "labels_only": labels_only,
        "runs": {
            row.run.name: {
                "system": row.run.system.key,
                "sha256": row.run.sha256,
                "depth": row.run.depth,
                "code_versions": sorted(row.code_versions),
                "original": _numbers(row.original),
                "labelled": _numbers(row.labelled),
                "judged": _judged(row),
                "reads": {cell.measure: cell.read for cell in row.all_cells},
            }
            for row in rows
        },
    }


def _depths(row: ResultRow) -> list[int]:
    """Return the ranks that measures with the usual cutoffs read, and those without a cutoff."""
    return [*(min(cutoff, row.run.depth) for cutoff in CUTOFFS), row.run.depth]


def _judged(row: ResultRow) -> dict[str, float | None]:
    """Return the judged share by depth; "10" also stands for the top ten of shallower runs."""
    shares = {str(depth): judged_share(row.evaluation, depth).number for depth in _depths(row)}
    return shares | {"10": row.judged.number}


def _numbers(evaluation: Evaluation | None) -> dict[str, float | None] | None:
    if evaluation is None:
        return None
    return {str(measure): value_of(evaluation, str(measure)).number for measure in DEFAULT_MEASURES}


def _number(cell: Cell, kind: str) -> str:
    value = cell.labelled if kind == "labelled" else cell.original
    return "" if value is None else _exactly(value)


def _exactly(value: Value) -> str:
    return "" if value.number is None else repr(value.number)


def as_text(name: str) -> str:
    return f"'{name}" if name.startswith(FORMULA_STARTS) else name


def _signed(number: float | None, factor: int, digits: int) -> str:
    """With a space after the sign, as it stands between two numbers: `+ 14.2`."""
    if number is None:
        return ""
    return f"{'+' if number >= 0 else MINUS} {abs(factor * number):.{digits}f}"

"""Rows of the results tables, on pages, as CSV and as JSON.

A cell is "A (B + C)": A is the score by the labels, B the score by the original positives only, and
C is A - B. Stored scores are shares. Pages show them in %, files contain them unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from evaluation.core.moments.kinds import NEEDS
from evaluation.core.pools.bounds import is_complete
from evaluation.core.relevance.measure import Parameter
from evaluation.core.relevance.measures import DEFAULT_MEASURES, Measure, parse_measure
from evaluation.models import Evaluation, LabelSet
from evaluation.scores.forms import JUDGED, RUN, TABLE_MEASURES
from evaluation.scores.selectors import Correction, Corrections
from hearth.shared.numbers import UNDEFINED, Figure, signed, undefined
from hearth.shared.tables import Column, Order, csv_text
from pooling.core.direction import Direction
from pooling.models import Benchmark, Run

# The cutoffs of the measures that every run is scored with.
CUTOFFS = sorted({measure.cutoff for measure in DEFAULT_MEASURES if measure.cutoff})
UNJUDGED_DEPTH = 10
NOT_COMPUTED = "not computed"
NOT_SCORED = "not scored yet"
# The key of the reason in an undefined stored score. Pages show this word before the reason.
NO_SCORE = "undefined"
RANK = "rank"
OF_MOMENTS = (Parameter("of", "=", "moments"),)


def value_of(evaluation: Evaluation | None, measure: str) -> Figure:
    """Return a stored score."""
    if evaluation is None:
        return undefined(NOT_SCORED)
    if measure not in evaluation.scores:
        return undefined(NOT_COMPUTED)
    stored = evaluation.scores[measure]
    if isinstance(stored, Mapping):
        return undefined(f"{NO_SCORE}: {stored[NO_SCORE]}")
    kind = "number" if parse_measure(measure).kind.is_rank else "percent"
    return undefined(NO_SCORE) if stored is None else Figure(float(stored), kind)


def moment_measures(evaluations: Iterable[Evaluation | None]) -> tuple[str, ...]:
    """Return the measures of moments among stored scores, in the order in which they are stored."""
    stored = dict.fromkeys(name for found in evaluations if found for name in found.scores)
    return tuple(name for name in stored if parse_measure(name).needs)


def judged_by(evaluation: Evaluation | None, measure: Measure, read: int) -> Figure:
    """Return the judged share of the ranks that a measure reads: of videos, or of moments."""
    if not measure.needs:
        return judged_share(evaluation, read)
    return value_of(evaluation, str(Measure("Judged", measure.cutoff or 1, OF_MOMENTS)))


def judged_share(evaluation: Evaluation | None, depth: int) -> Figure:
    """Return the judged share of the top `depth` ranks. Older evaluations lack some depths."""
    if evaluation is None:
        return undefined(NOT_SCORED)
    share = evaluation.judged.get(str(depth))
    return undefined(NOT_COMPUTED) if share is None else Figure(float(share), "percent")


@dataclass(slots=True)
class Cell:
    """One measure of one run. `labelled` is None if no label set is selected.

    read: the number of ranks of the run that the measure reads. judged: their judged share.
    correction: the interval and the correction of the score by the labels, if they are computed.
    bounds: the lowest and highest score that the unjudged pairs allow, if they are stored.
    """

    measure: str
    original: Figure
    labelled: Figure | None
    read: int
    judged: Figure
    best: bool = False
    correction: Correction | None = None
    bounds: Sequence[float | None] | None = None

    @property
    def main(self) -> Figure:
        """A, or B if no label set is selected."""
        return self.original if self.labelled is None else self.labelled

    @property
    def is_complete(self) -> bool:
        """Whether no unjudged pair of the ranks that the measure reads can change the score."""
        return is_complete(self.judged.number, self.bounds)

    @property
    def difference(self) -> float | None:
        """C, or None if A or B is undefined."""
        if self.labelled is None or self.labelled.number is None or self.original.number is None:
            return None
        return self.labelled.number - self.original.number

    @property
    def before_after(self) -> str:
        """B and A in one text, such as "27.5 → 83.3", or the only one that is defined."""
        if self.difference is None:
            return self.main.text
        return f"{self.original.text} → {self.main.text}"

    @property
    def interval(self) -> str:
        """The interval of A for other captions, in %; empty if unknown."""
        return _ends_text(self.correction.interval if self.correction else None)

    @property
    def corrected(self) -> str:
        """A corrected for wrong labels, in %; empty if unknown."""
        value = self.correction.corrected if self.correction else None
        return "" if value is None else Figure(value, "percent").text

    @property
    def fixed_interval(self) -> str:
        """The interval of the corrected score for these captions, in %; empty if unknown."""
        return _ends_text(self.correction.fixed_interval if self.correction else None)

    @property
    def corrected_bounds(self) -> str:
        """The bounds that allow for wrong labels, in %; empty if unknown."""
        return _ends_text(self.correction.bounds if self.correction else None)

    @property
    def difference_percent(self) -> str:
        return "" if self.difference is None else signed(100 * self.difference)

    @property
    def exact(self) -> tuple[str, str, str]:
        """A, B and C with six decimals, or with two if the measure is a rank."""
        digits = 2 if parse_measure(self.measure).kind.is_rank else 6
        labelled = "" if self.labelled is None else _exact_text(self.labelled, digits)
        difference = "" if self.difference is None else signed(self.difference, digits)
        return labelled, _exact_text(self.original, digits), difference

    @property
    def judged_exact(self) -> str:
        return UNDEFINED if self.judged.is_undefined else _exact_text(self.judged, 6)

    # The attributes of an SVG chart need a decimal point, whatever the language of the page is.
    @property
    def original_width(self) -> str:
        return _width(self.original)

    @property
    def labelled_width(self) -> str:
        return _width(self.main)


def _ends_text(ends: Sequence[float] | None) -> str:
    return "" if ends is None else Figure(list(ends), "percent").text


def _exact_text(figure: Figure, digits: int) -> str:
    return figure.reason if figure.number is None else f"{figure.number:.{digits}f}"


def _width(figure: Figure) -> str:
    return f"{100 * (figure.number or 0):.2f}%"


@dataclass(slots=True)
class ResultRow:
    """One run with its evaluations.

    by_labels: whether a label set is selected.
    """

    run: Run
    original: Evaluation | None
    labelled: Evaluation | None
    by_labels: bool
    corrections: Corrections | None = None
    cells: list[Cell] = field(default_factory=list)
    # Ranks by the original positives and by the labels; None if there is no score.
    rank_before: int | None = None
    rank: int | None = None
    # The number of ranked runs.
    n_ranked: int = 0
    measures: Sequence[str] = TABLE_MEASURES

    def __post_init__(self) -> None:
        self.cells = [self.cell(measure) for measure in self.measures]

    def cell(self, measure: str) -> Cell:
        labelled = value_of(self.labelled, measure) if self.by_labels else None
        parsed = parse_measure(measure)
        read = (parsed.cutoff or 1) if parsed.needs else parsed.reads(self.run.depth)
        judged = judged_by(self.evaluation, parsed, read)
        of_scores = self.corrections.of_scores if self.corrections and self.labelled else {}
        interval = ((self.evaluation and self.evaluation.intervals) or {}).get(measure)
        by_video = Correction(interval, None, None) if interval else None
        return Cell(
            measure,
            value_of(self.original, measure),
            labelled,
            read,
            judged,
            correction=of_scores.get((self.run.name, measure), by_video),
            bounds=self.evaluation.bounds.get(measure) if self.evaluation else None,
        )

    @property
    def evaluation(self) -> Evaluation | None:
        return self.labelled if self.by_labels else self.original

    @property
    def is_scored(self) -> bool:
        return self.evaluation is not None

    @property
    def judged(self) -> Figure:
        return value_of(self.evaluation, JUDGED)

    @property
    def bounds(self) -> Figure:
        """The lowest and highest score that the unjudged pairs allow, for the first measure."""
        stored = self.evaluation.bounds.get(self.measures[0]) if self.evaluation else None
        return Figure(list(stored), "percent") if stored else undefined(NOT_COMPUTED)

    @property
    def unjudged(self) -> Figure:
        """The unjudged share of the top ten, written with the sign %."""
        share = judged_share(self.evaluation, min(UNJUDGED_DEPTH, self.run.depth)).number
        return undefined(NOT_COMPUTED) if share is None else Figure(1 - share, "percent sign")

    @property
    def ranks_moments(self) -> bool:
        """Whether the columns are measures of moments."""
        return parse_measure(self.measures[0]).needs == NEEDS

    @property
    def first_cell(self) -> Cell:
        return self.cells[0]

    @property
    def all_cells(self) -> list[Cell]:
        return [self.cell(measure) for measure in all_measures([self])]

    @property
    def code_versions(self) -> set[str]:
        evaluations = (self.original, self.labelled)
        return {evaluation.code_version for evaluation in evaluations if evaluation}


def all_measures(rows: Iterable[ResultRow]) -> list[str]:
    """Return the measures that every run is scored with, and the stored ones of moments."""
    stored = [found for row in rows for found in (row.labelled, row.original)]
    return [*map(str, DEFAULT_MEASURES), *moment_measures(stored)]


def result_order(sort: str, measures: Sequence[str] = TABLE_MEASURES) -> Order:
    """Return the requested order of the results table.

    Raises `InvalidInput` if the table does not have the column.
    """
    ranked_by = ranking_measure(sort, measures)
    columns = [
        Column(RUN, "Run"),
        *(Column(measure, measure, "percent") for measure in (*measures, JUDGED)),
        Column(RANK, f"Rank by {ranked_by}", "count", is_sortable=False),
    ]
    return Order.requested(sort, columns, f"-{measures[0]}")


def ranking_measure(sort: str, measures: Sequence[str] = TABLE_MEASURES) -> str:
    """Return the measure by which the table is sorted.

    If the table is sorted by another column, return the first measure.
    """
    key = sort.removeprefix("-")
    return key if key in measures else measures[0]


def result_rows(
    runs: Iterable[Run],
    original: Mapping[int, Evaluation],
    labelled: Mapping[int, Evaluation],
    *,
    by_labels: bool,
    corrections: Corrections | None = None,
    measures: Sequence[str] = TABLE_MEASURES,
) -> list[ResultRow]:
    return [
        ResultRow(
            run,
            original.get(run.pk),
            labelled.get(run.pk),
            by_labels,
            corrections,
            measures=measures,
        )
        for run in runs
    ]


def mark_best(rows: Sequence[ResultRow]) -> None:
    """Mark the highest score of each column and direction, and all scores equal to it.

    Nothing is marked in a direction with fewer than two scored runs.
    """
    for own in by_direction(rows):
        _mark_best(own)


def by_direction(rows: Sequence[ResultRow]) -> list[list[ResultRow]]:
    """Group the rows by direction, because scores of different directions cannot be compared."""
    return [[row for row in rows if row.run.facing is direction] for direction in Direction]


def _mark_best(rows: Sequence[ResultRow]) -> None:
    if sum(row.is_scored for row in rows) < 2:
        return
    for cells in zip(*(row.cells for row in rows), strict=True):
        numbers = [cell.main.number for cell in cells if cell.main.number is not None]
        for cell in cells:
            cell.best = bool(numbers) and cell.main.number == max(numbers)


def mark_ranks(rows: Sequence[ResultRow], measure: str) -> None:
    """Rank the scored runs by a measure. Rank 1 is the highest; equal scores share the better rank.

    A row has a rank by the original positives and a rank by the selected labels. Both compare the
    same runs of one direction: those with scores by the selected labels. A run without a score has
    no rank.
    """
    for own in by_direction(rows):
        _mark_ranks(own, measure)


def _mark_ranks(rows: Sequence[ResultRow], measure: str) -> None:
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


def sort_rows(rows: Sequence[ResultRow], order: Order) -> list[ResultRow]:
    """Sort by a column, ties by name. Runs without a value are always last."""
    return order.sort(sorted(rows, key=lambda row: row.run.name), _sort_value)


def _sort_value(row: ResultRow, key: str) -> Any:
    if key == RUN:
        return row.run.name
    return row.judged.number if key == JUDGED else row.cell(key).main.number


def results_csv(rows: Sequence[ResultRow], label_set: LabelSet | None, labels_only: bool) -> str:
    """Return a CSV file with a row per run and a column per measure and kind of positives."""
    kinds = ("original",) if label_set is None else ("labelled", "original")
    measures = all_measures(rows)
    heads = [
        *("run", "system", "direction", "run_sha256", "depth"),
        *("labels", "labels_sha256", "labels_only", "code"),
        *(f"{measure} {kind}" for measure in measures for kind in kinds),
        *(f"judged@{cutoff}" for cutoff in CUTOFFS),
        "judged of the whole list",
    ]
    return csv_text(heads, [_csv_row(row, label_set, labels_only, measures) for row in rows])


def _csv_row(
    row: ResultRow, label_set: LabelSet | None, labels_only: bool, measures: Sequence[str]
) -> list[Any]:
    scores: list[Figure] = []
    for cell in map(row.cell, measures):
        scores += [cell.original] if cell.labelled is None else [cell.labelled, cell.original]
    return [
        row.run.name,
        row.run.system.key,
        row.run.direction,
        row.run.sha256,
        row.run.depth,
        label_set.version if label_set else "original",
        label_set.sha256 if label_set else "",
        int(labels_only),
        " ".join(sorted(row.code_versions)),
        *(score.number for score in scores),
        *(judged_share(row.evaluation, depth).number for depth in _depths(row)),
    ]


class CorrectedScore(TypedDict):
    """The correction of one score, as in `Correction`. score: null if the rates are unknown."""

    score: float | None
    fixed_interval: list[float] | None
    raw_interval: list[float] | None
    bounds: list[float] | None


class RunResults(TypedDict):
    """The scores of one run in the JSON file. Undefined scores are null.

    corrected: the corrections of the scores by the labels; null if none is computed.
    """

    system: str
    direction: str
    sha256: str
    depth: int
    code_versions: list[str]
    original: dict[str, float | None] | None
    labelled: dict[str, float | None] | None
    judged: dict[str, float | None]
    reads: dict[str, int]
    corrected: dict[str, CorrectedScore] | None


class Results(TypedDict):
    """The results table as a JSON file. The keys of `runs` are the names of the runs."""

    benchmark: str
    labels: str
    labels_sha256: str | None
    labels_only: bool
    runs: dict[str, RunResults]


def results_json(
    benchmark: Benchmark,
    rows: Sequence[ResultRow],
    label_set: LabelSet | None,
    labels_only: bool,
) -> Results:
    """Return the results with their sources, as an object for JSON."""
    return {
        "benchmark": benchmark.key,
        "labels": label_set.version if label_set else "original",
        "labels_sha256": label_set.sha256 if label_set else None,
        "labels_only": labels_only,
        "runs": {
            row.run.name: {
                "system": row.run.system.key,
                "direction": row.run.direction,
                "sha256": row.run.sha256,
                "depth": row.run.depth,
                "code_versions": sorted(row.code_versions),
                "original": _numbers(row.original),
                "labelled": _numbers(row.labelled),
                "judged": _judged(row),
                "reads": {cell.measure: cell.read for cell in row.all_cells},
                "corrected": _corrected(row),
            }
            for row in rows
        },
    }


def _depths(row: ResultRow) -> list[int]:
    """Return the depth that each usual cutoff reads, and the depth of the whole list."""
    return [*(min(cutoff, row.run.depth) for cutoff in CUTOFFS), row.run.depth]


def _judged(row: ResultRow) -> dict[str, float | None]:
    """Return the judged share by depth, with a key "10" even for runs with fewer ranks."""
    shares = {str(depth): judged_share(row.evaluation, depth).number for depth in _depths(row)}
    return shares | {"10": row.judged.number}


def _corrected(row: ResultRow) -> dict[str, CorrectedScore] | None:
    """Return the corrections of the scores by measure, or None if none is computed."""
    found: dict[str, CorrectedScore] = {
        cell.measure: {
            "score": cell.correction.corrected,
            "fixed_interval": cell.correction.fixed_interval,
            "raw_interval": cell.correction.interval,
            "bounds": cell.correction.bounds,
        }
        for cell in row.all_cells
        if cell.correction is not None
    }
    return found or None


def _numbers(evaluation: Evaluation | None) -> dict[str, float | None] | None:
    if evaluation is None:
        return None
    names = [*map(str, DEFAULT_MEASURES), *moment_measures([evaluation])]
    return {name: value_of(evaluation, name).number for name in names}

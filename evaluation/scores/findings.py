"""The finding of a benchmark: how a label set changes the scores and the order of its runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.models import LabelSet
from evaluation.scores.forms import TABLE_MEASURES
from evaluation.scores.selectors import stored_scores
from evaluation.scores.tables import ResultRow, mark_best, mark_ranks, result_rows
from hearth.shared.numbers import MINUS, STATED_FROM
from pooling.core.direction import Direction
from pooling.models import Benchmark
from pooling.selectors.runs import find_runs

MEASURE = TABLE_MEASURES[0]
BARS_MAX = 8
# Differences are written without decimals if all of them are at least this large, in points.
WHOLE_FROM = 10


@dataclass(frozen=True, slots=True)
class Finding:
    """The scored runs of one direction, best first, with their scores by both kinds of positives.

    n_runs: number of all runs of the direction, scored or not.
    """

    label_set: LabelSet
    rows: list[ResultRow]
    n_runs: int

    @property
    def sentence(self) -> str:
        """The smallest and largest change of `MEASURE` by the labels, and the change of order."""
        change = change_text([row.cell(MEASURE).difference or 0 for row in self.rows])
        if len(self.rows) == 1:
            return f"By people’s labels, {MEASURE} {change}."
        return f"By people’s labels, {MEASURE} {change}, and {self._order()}."

    def _order(self) -> str:
        moved = sum(row.rank_before != row.rank for row in self.rows)
        if not moved:
            return f"the order of the {len(self.rows)} runs is unchanged"
        return f"{moved} of the {len(self.rows)} runs {'changes' if moved == 1 else 'change'} rank"

    @property
    def noun(self) -> str:
        """What has a ranked list in these runs, in the plural."""
        return f"{self.rows[0].run.facing.row}s"

    @property
    def bars(self) -> list[ResultRow]:
        return self.rows[:BARS_MAX]

    @property
    def n_unscored(self) -> int:
        return self.n_runs - len(self.rows)


def change_text(differences: Sequence[float]) -> str:
    """Return the range of differences of shares, such as "is 50 to 56 points higher than …"."""
    points = [100 * difference for difference in differences]
    digits = 0 if min(map(abs, points)) >= WHOLE_FROM else 1
    low, high = round(min(points), digits), round(max(points), digits)
    if low == high == 0:
        return "is the same as by the original positives"
    if low < 0 < high:
        size = f"{MINUS}{-low:.{digits}f} to +{high:.{digits}f}"
        return f"differs by {size} points from that by the original positives"
    ends = dict.fromkeys(f"{end:.{digits}f}" for end in sorted((abs(low), abs(high))))
    way = "higher" if high > 0 else "lower"
    return f"is {' to '.join(ends)} points {way} than by the original positives"


def find_finding(benchmark: Benchmark, label_set: LabelSet | None) -> Finding | None:
    """Return the finding by a label set, or None if it cannot be stated. Nothing is computed."""
    if label_set is None:
        return None
    rows = result_rows(
        find_runs(benchmark),
        stored_scores(benchmark, None),
        stored_scores(benchmark, label_set),
        by_labels=True,
    )
    mark_best(rows)
    mark_ranks(rows, MEASURE)
    return finding_of(rows, label_set)


def finding_of(rows: Sequence[ResultRow], label_set: LabelSet | None) -> Finding | None:
    """Return the finding of rows with ranks by `MEASURE`.

    It is about the text-to-video runs, or about the video-to-text runs if no text-to-video run is
    scored. It is None without a scored run, and for fewer captions or videos than a page states
    shares of.
    """
    if label_set is None:
        return None
    for direction in Direction:
        own = [row for row in rows if row.run.facing is direction]
        scored = [row for row in own if row.cell(MEASURE).difference is not None]
        if scored:
            if scored[0].run.pair_space.n_queries < STATED_FROM:
                return None
            scored.sort(key=lambda row: (row.rank or 0, row.run.name))
            return Finding(label_set, scored, len(own))
    return None

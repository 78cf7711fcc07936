"""Differences between systems, and the effect of labels on their ranking."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import numpy as np

from evaluation.core.arrays import FloatArray
from evaluation.core.relevance.compare import FIRST, SECOND
from evaluation.core.statistics.rank_stability import SystemRank, rank_stability
from evaluation.core.statistics.saturation import check_saturation
from evaluation.core.statistics.significance import Comparison, adjust_together, compare_systems
from evaluation.lab.analyses import charts, intervals, options, results, saturation
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.options import Drawing
from evaluation.lab.analyses.results import Tabled
from evaluation.lab.analyses.rows import (
    Ends,
    Interval,
    MeasureName,
    PointsInterval,
    Run,
    Score,
    Shown,
    row_of,
)
from evaluation.lab.analyses.tables import Row, Table
from hearth.shared.options import Option
from hearth.shared.progress import Progress
from hearth.shared.words import counted

# More resamples barely change an interval of ranks, and they take long with many runs.
RANK_RESAMPLES_MAX = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Resampling):
    """Options of the analysis.

    further: These measures are compared in the same table. Holm’s correction covers the whole
        table.
    """

    measure: options.ShareMeasure = "C@5"
    further: Annotated[options.ShareMeasures, Option("Further measures")] = ()


def _captions(key: str, show: str, row: Row) -> Row:
    """Return the options of the comparison to which a cell links.

    Only C@k has links: a win in C@k means that one system is correct and the other is not.
    """
    name, _, cutoff = row["measure"].partition("@")
    if name != "C" or not row[key]:
        return {}
    return {"first": row["first"], "second": row["second"], "show": show, "cutoff": cutoff}


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """The difference of two runs, as in `core.statistics.significance.Difference`."""

    measure: MeasureName
    first: Run
    second: Annotated[str, Shown("Minus run")]
    difference: Annotated[float, Shown("Difference, points", "points")]
    interval: PointsInterval
    p_holm: Annotated[float, Shown("p (Holm, whole table)", "p")]
    p_randomisation: Annotated[float, Shown("p, randomisation", "p")]
    p_bootstrap: Annotated[float, Shown("p, bootstrap", "p")]
    effect: Annotated[Score, Shown("Effect size d", "number")]
    wins: Annotated[int, Shown("Wins", "count")]
    ties: Annotated[int, Shown("Ties", "count")]
    losses: Annotated[int, Shown("Losses", "count")]
    method: Annotated[str | None, Shown("Interval", write=intervals.method_title)]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankRow(saturation.Saturated):
    """The ranks of a run by the original positives and by the labels, and its score.

    mean: by the labels
    """

    original: Annotated[int, Shown("Rank by the original positives", "count")]
    original_interval: Annotated[list[int], Shown("{interval}", "count")]
    labelled: Annotated[int, Shown("Rank by the labels", "count")]
    labelled_interval: Annotated[list[int], Shown("{interval}", "count")]
    mean: Annotated[float, Shown("Score, %", "percent")]
    interval: Interval


@dataclass(frozen=True, slots=True)
class Ranking:
    """The similarity of the rankings of runs by the original positives and by the labels.

    tau: Kendall's tau of the two rankings
    same_order: share of the resamples in which the two rankings are equal
    """

    resamples: int
    tau: Score
    interval: Ends | None
    same_order: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(results.WithIntervals):
    """The differences between runs, with their tests.

    holm: number of tests that Holm's correction covers
    disagreement: share of the pairs with several labels whose labels differ
    """

    measure: str
    measures: list[str]
    comparisons: list[DifferenceRow]
    holm: int
    ranking: Ranking
    ranks: Annotated[
        list[RankRow],
        Tabled(
            "ranks",
            "Ranks before and after the labels",
            "{ranking_note}",
            columns="run original original_interval labelled labelled_interval mean gap noise "
            "saturated_by",
        ),
    ]
    disagreement: Score

    def tables(self) -> list[Table]:
        shown = {"wins": FIRST, "losses": SECOND}
        has_links = any(row.measure.startswith("C@") for row in self.comparisons)
        comparisons = self.table(
            "comparisons",
            "Differences between every two systems, by the labels",
            DifferenceRow,
            self.comparisons,
            note=self._covered(),
            compared={key: partial(_captions, key, shown[key]) for key in shown if has_links},
        )
        return [comparisons, *super(Result, self).tables()]

    def _covered(self) -> str:
        """Return the scope of Holm's correction."""
        if not self.comparisons:
            return ""
        measures = dict.fromkeys(row.measure for row in self.comparisons)
        pairs = len(self.comparisons) // len(measures)
        return (
            f"Holm’s correction covers the {counted(len(self.comparisons), 'test')} of this table: "
            f"{counted(pairs, 'pair')} of systems by {counted(len(measures), 'measure')} "
            f"({', '.join(measures)})."
        )

    @property
    def ranking_note(self) -> str:
        found = self.ranking
        if found.tau is None:
            return "There is no ranking: only one system is compared, or all scores are equal."
        between = found.interval
        spread = f" ({between[0]:.2f} to {between[1]:.2f})" if between else ""
        tau = intervals.tau_note(len(self.ranks)) or (
            f"Kendall’s tau of both rankings is {found.tau:.2f}{spread}."
        )
        return (
            f"{tau} In {100 * found.same_order:.0f} % of the resamples all systems keep their "
            f"ranks. The intervals of ranks are computed from {found.resamples:,} resamples. The "
            f"maximum for them is {RANK_RESAMPLES_MAX:,}."
        )

    def charts(self) -> list[charts.Chart]:
        if not self.comparisons:
            return []
        by = {"original": charts.ORIGINAL_POSITIVES, "labelled": charts.BY_LABELS}
        downwards = {"scale": {"reverse": True, "zero": False}, "axis": {"tickMinStep": 1}}
        return [
            charts.Chart(
                "differences",
                f"Differences in {self.measure} with their intervals",
                "Every two runs have a dot at their difference, on a line that shows its interval. "
                "If the line crosses zero, the difference can be chance.",
                self._differences(),
            ),
            charts.Chart(
                "ranks",
                f"Rank by {self.measure} before and after the labels",
                "A line for each run from its rank by the original positives to its rank by the "
                "labels.",
                charts.spec(
                    charts.melt(self.ranks, "run", by, "rank", "positives"),
                    charts.PATHS,
                    x=charts.step("positives", "", sort=None),
                    y=charts.quantity("rank", "Rank", **downwards),
                    color=charts.name_of("run"),
                ),
            ),
        ]

    def _differences(self) -> dict[str, Any]:
        rows = [
            {
                "pair": f"{row.first} − {row.second}",
                "difference": row.difference,
                **charts.low_high(row.interval),
            }
            for row in self.comparisons
            if row.measure == self.measure
        ]
        points = charts.quantity("difference", "Difference", axis={"format": "+.1%"})
        pair = charts.name_of("pair")
        ends = {"x": {**points, "field": "low"}, "x2": {"field": "high"}}
        return {
            "data": {"values": rows},
            "height": {"step": 26},
            "layer": [
                # The rule has no position on the other axis. With a position it would have no
                # length.
                {"mark": {"type": "rule", "aria": False}, "encoding": {"x": {"datum": 0}}},
                {"mark": charts.RULES, "encoding": {"y": pair, **ends}},
                {"mark": charts.DOTS, "encoding": {"y": pair, "x": points}},
            ],
        }

    def warnings(self) -> list[str]:
        return self.few_units_warnings() + saturation.saturation_warnings(self.ranks)


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    names = list(inputs.ranked)
    measures = list(dict.fromkeys([options.measure, *options.further]))
    by_measure = {
        measure: np.stack(list(values.values()))
        for measure, values in inputs.values_of(inputs.judged, measures).items()
    }
    labelled = by_measure[options.measure]
    original = np.stack(list(inputs.values(inputs.original, options.measure).values()))
    drawn = options.drawing(inputs)
    drawn["clusters"] = inputs.varied_clusters(options.unit)
    progress(0, 3, "comparing systems")
    compared = [compare_systems(by_measure[measure], **drawn) for measure in measures]
    adjusted = adjust_together(row for rows in compared for row in rows)
    progress(1, 3, "ranking systems")
    rank_resamples = min(options.resamples, RANK_RESAMPLES_MAX)
    fewer: Drawing = {**drawn, "resamples": rank_resamples}
    stability = rank_stability(original, labelled, **fewer)
    noise = saturation.changes_by_noise(
        inputs, [options.measure], inputs.judged, inputs.counted_originals
    )
    progress(2, 3, "checking saturation")
    return Result(
        measure=options.measure,
        confidence=options.confidence,
        measures=measures,
        **intervals.resampled_by(inputs, options.unit),
        comparisons=[
            _comparison(measure, comparison, names)
            for measure, comparison in zip(
                np.repeat(measures, len(compared[0])).tolist(), adjusted, strict=True
            )
        ],
        holm=len(adjusted),
        ranking=Ranking(
            rank_resamples, stability.tau.value, stability.interval.ends, stability.same_order
        ),
        ranks=[
            _rank_row(name, rank, values, options, drawn, noise.get((name, options.measure)))
            for name, rank, values in zip(names, stability.ranks, labelled, strict=True)
        ],
        disagreement=saturation.disagreement_of(inputs),
    )


def _comparison(measure: str, comparison: Comparison, names: list[str]) -> DifferenceRow:
    found = comparison.difference
    return row_of(
        DifferenceRow,
        found,
        measure=measure,
        first=names[comparison.system],
        second=names[comparison.other],
        difference=found.mean,
        interval=found.interval.ends,
        method=intervals.method_of(found.interval),
        p_randomisation=found.randomisation.p,
        p_bootstrap=found.bootstrap.p,
        p_holm=comparison.adjusted,
    )


def _rank_row(
    run: str,
    rank: SystemRank,
    values: FloatArray,
    options: Options,
    drawn: Drawing,
    noise: float | None,
) -> RankRow:
    found = check_saturation(values, noise=noise, **drawn)
    return row_of(
        RankRow,
        rank,
        run=run,
        measure=options.measure,
        mean=found.mean,
        interval=found.interval.ends,
        gap=found.gap,
        noise=noise,
        saturated_by=found.by,
    )


SIGNIFICANCE = Analysis(
    name="significance",
    title="Significance and ranking",
    question="Which differences are larger than chance, and do the labels change the ranking?",
    options=Options,
    result=Result,
    compute=_compute,
    is_directed=True,
    notes=(
        "Fisher’s randomisation test changes the signs of the differences. If videos are "
        "resampled, all captions of a video change their sign together. The test is exact for "
        "C@k. Use the p-values with Holm’s correction if you look at all tests of the table. With "
        "thousands of captions nearly every difference is significant, so consider its size, too. "
        "Scores that differ only by rounding are ties.",
        intervals.INTERVALS_NOTE,
        saturation.SATURATION_NOTE,
    ),
)

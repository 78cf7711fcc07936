"""Share of rejected original positives, and scores with and without them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from annotation.core.consensus import NO_LABEL
from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.files.label_file import Labels
from evaluation.core.people.label_rates import ErrorRates
from evaluation.core.relevance.corrected_shares import correct_share, without_relevant
from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.originals import drop_rejected
from evaluation.core.statistics.resampling import difference_interval, mean_interval
from evaluation.lab.analyses import charts, options, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.error_rates import ends_of
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.intervals import resampled_by
from evaluation.lab.analyses.noise import EQUAL_RATES, noise_of_labels
from evaluation.lab.analyses.results import Tabled
from evaluation.lab.analyses.rows import (
    Caption,
    CaptionKey,
    Ends,
    Interval,
    MeasureName,
    PointsInterval,
    Run,
    Score,
    Shown,
    VideoKey,
    mean_of,
)
from evaluation.lab.analyses.tables import Table
from evaluation.lab.selectors import labels_of_set
from evaluation.release.selectors import label_set_judged, label_set_labels
from hearth.shared.options import Option
from hearth.shared.progress import Progress

BY = {"kept": "With rejected", "dropped": "Without rejected"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Resampling):
    """Options of the analysis.

    examples: Maximum number of rejected original positives in the table. Those with the most
        judgments are listed first.
    """

    measures: options.ShareMeasures = ("C@1", "C@5", "C@10", "AP")
    examples: Annotated[int, Option("Examples", low=0, high=10_000)] = 50


@dataclass(frozen=True, slots=True)
class OriginalsRow:
    """The score of a run with the rejected original positives (kept), and without (dropped)."""

    run: Run
    measure: MeasureName
    kept: Annotated[Score, Shown(BY["kept"], "percent")]
    dropped: Annotated[Score, Shown(BY["dropped"], "percent")]
    difference: Annotated[Score, Shown("Without minus with", "points")]
    difference_interval: PointsInterval


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A rejected original positive with its numbers of judgments."""

    caption: Caption
    caption_id: CaptionKey
    video_id: VideoKey
    judgments: Annotated[int, Shown("Judgments", "count")]
    relevant: Annotated[int, Shown("Relevant judgments", "count")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(results.WithIntervals):
    """The judged original positives, and the scores with and without the rejected ones.

    The share is null if no original positive is settled. Numbers corrected for wrong labels are
    null if the error rates are unknown.

    known: number of all of them
    judged: number of those that are judged
    settled: number of those with a label
    share_units: number of resampling units that the settled ones belong to
    """

    known: Annotated[int, Shown("Original positives", "count")]
    judged: Annotated[int, Shown("Judged", "count")]
    settled: Annotated[int, Shown("Settled", "count")]
    relevant: Annotated[int, Shown("Relevant", "count")]
    irrelevant: Annotated[int, Shown("Rejected", "count")]
    share: Annotated[Score, Shown("Rejected, % of settled", "percent")]
    interval: Interval
    share_units: int
    share_corrected: Annotated[
        Score, Shown("Not relevant, corrected for wrong labels, %", "percent")
    ]
    share_corrected_interval: Interval
    without: Annotated[int, Shown("Captions that lose their only positive", "count")]
    without_corrected: Annotated[Score, Shown("Corrected for wrong labels", "number")]
    without_corrected_interval: Annotated[Ends | None, Shown("{interval}", "number")]
    rows: Annotated[
        list[OriginalsRow],
        Tabled("scores", "Scores by the labels, with and without the rejected positives, %"),
    ]
    examples: Annotated[list[RejectedRow], Tabled("examples", "Rejected original positives")]

    def tables(self) -> list[Table]:
        counts = "known judged settled relevant irrelevant share interval share_corrected"
        without = "share_corrected_interval without without_corrected without_corrected_interval"
        title, columns = "Judged original positives", f"{counts} {without}"
        summary = self.table("originals", title, Result, [self], columns=columns)
        return [summary, *super(Result, self).tables()]

    def charts(self) -> list[charts.Chart]:
        if not self.rows:
            return []
        return [
            charts.Chart(
                "scores",
                "Scores with and without the rejected original positives",
                "Each measure has two dots for each run: the score with the rejected original "
                "positives, and the score without them.",
                charts.dots_by_measure(
                    charts.melt(self.rows, "run measure", BY, "score", "positives"),
                    charts.score_axis(),
                    color=charts.name_of("positives", order=list(BY.values())),
                ),
            )
        ]

    def warnings(self) -> list[str]:
        return self.few_units_warnings() or self.few_in_part_warnings(
            self.share_units, "The settled original positives", "the rejected share"
        )


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    assert inputs.label_set is not None  # noqa: S101 - checked by the analysis
    progress(0, 2, "comparing labels")
    labels, original = label_set_judged(inputs.label_set), inputs.graded_original
    found = label_set_labels(inputs.label_set)
    judged = np.flatnonzero(np.isin(found.codes, original.codes, assume_unique=True))
    dropped = drop_rejected(labels, original)
    progress(1, 2, "scoring")
    of_judged = found.labels[judged]
    relevant, irrelevant = int((of_judged >= 1).sum()), int((of_judged == 0).sum())
    return Result(
        known=len(original.codes),
        judged=len(judged),
        settled=relevant + irrelevant,
        relevant=relevant,
        irrelevant=irrelevant,
        **_rejected_share(found, judged, inputs, options),
        **_corrected(found, judged, inputs, options),
        confidence=options.confidence,
        **resampled_by(inputs, options.unit),
        without=_count_without_positive(dropped) - _count_without_positive(inputs.judged),
        rows=_rows(inputs, dropped, options),
        examples=_examples(found, judged, inputs, options.examples),
    )


def _rejected_share(
    found: Labels, judged: IntArray, inputs: Inputs, options: Options
) -> dict[str, Any]:
    """Return the share of rejected pairs among those that are settled, with its interval."""
    settled = judged[found.labels[judged] != NO_LABEL]
    is_rejected = found.labels[settled] == 0
    captions = inputs.benchmark.pair_space.queries(found.codes[settled])
    by_caption = inputs.clusters(options.unit)
    clusters = captions if by_caption is None else by_caption[captions]
    interval = mean_interval(is_rejected, **{**options.drawing(inputs), "clusters": clusters})
    return {
        "share": float(is_rejected.mean()) if len(is_rejected) else None,
        "interval": interval.ends,
        "share_units": len(np.unique(clusters)),
    }


def _corrected(found: Labels, judged: IntArray, inputs: Inputs, options: Options) -> dict[str, Any]:
    """Return the rejected share and the captions without a positive, corrected for wrong labels.

    All are None if the error rates are unknown. Original positives are corrected like other pairs.
    """
    noise = noise_of_labels(
        inputs,
        inputs.counted_originals,
        unit=options.unit,
        number=options.resamples,
        seed=options.seed,
    )
    settled = found.codes[judged[found.labels[judged] != NO_LABEL]]
    if noise is None or inputs.label_set is None or not len(settled):
        names = ("share_corrected", "without_corrected")
        return dict.fromkeys([*names, *(f"{name}_interval" for name in names)])
    labels, space = labels_of_set(inputs.label_set, inputs.original.empty()), inputs.space
    place = np.searchsorted(labels.codes, settled)
    queries, n_queries = space.queries(settled), space.n_queries
    original = space.queries(inputs.graded_original.codes)
    # A caption keeps a positive if one of its original positives is not settled.
    can_lose = np.bincount(queries, minlength=n_queries) == np.bincount(
        original, minlength=n_queries
    )
    can_lose &= np.bincount(original, minlength=n_queries) > 0

    def rejected_at(rates: ErrorRates) -> FloatArray:
        t = labels.relevance(rates)[place]
        return np.bincount(queries, weights=1 - t, minlength=n_queries).astype(np.float64)

    def lost_at(rates: ErrorRates) -> FloatArray:
        t = labels.relevance(rates)
        without = without_relevant(labels.codes, n_queries, space.n_videos, t)
        return np.where(can_lose, without, 0.0)

    settled_of_query = np.bincount(queries, minlength=n_queries).astype(np.float64)
    share, without = (
        correct_share(
            values_at, sizes, noise.estimate, noise.resamples, confidence=options.confidence
        )
        for values_at, sizes in ((rejected_at, settled_of_query), (lost_at, np.ones(n_queries)))
    )
    of_captions = (
        None if without.interval is None else [n_queries * end for end in without.interval]
    )
    return {
        "share_corrected": share.value,
        "share_corrected_interval": ends_of(share.interval),
        "without_corrected": n_queries * without.value,
        "without_corrected_interval": of_captions,
    }


def _count_without_positive(judged: Judged) -> int:
    """Return the number of captions without a positive."""
    codes, _ = judged.positives()
    return judged.n_queries - len(np.unique(judged.space.queries(codes)))


def _rows(inputs: Inputs, dropped: Judged, options: Options) -> list[OriginalsRow]:
    kept = inputs.values_of(inputs.judged, options.measures)
    without_rejected = inputs.values_of(dropped, options.measures)
    drawn = options.drawing(inputs)
    rows: list[OriginalsRow] = []
    for measure in options.measures:
        for run, values in kept[measure].items():
            others = without_rejected[measure][run]
            interval = difference_interval(others, values, **drawn)
            means = mean_of(values), mean_of(others), mean_of(others - values)
            rows.append(OriginalsRow(run, measure, *means, interval.ends))
    return rows


def _examples(found: Labels, judged: IntArray, inputs: Inputs, count: int) -> list[RejectedRow]:
    places = judged[found.labels[judged] == 0]
    order = np.lexsort((found.relevant[places], -found.judgments[places]))[:count]
    query, video = inputs.benchmark.pair_space.decode(found.codes[places[order]])
    return [
        RejectedRow(
            inputs.captions[q],
            inputs.query_keys[q],
            inputs.video_keys[v],
            int(found.judgments[place]),
            int(found.relevant[place]),
        )
        for q, v, place in zip(query.tolist(), video.tolist(), places[order].tolist(), strict=True)
    ]


ORIGINALS = Analysis(
    name="originals",
    title="Rejected original positives",
    question="How many original positives do annotators reject, and does this change scores?",
    options=Options,
    result=Result,
    compute=_compute,
    runs_needed=0,
    needs_labels=True,
    needs_originals=True,
    notes=(
        "An original positive is rejected if it was judged and its outcome is not relevant. "
        "Pairs that are in conflict or pending are not settled, and the share leaves them out. "
        "Usually, only original positives that a run ranked high are judged. The share then does "
        "not apply to the others. In the published labels of the FIRE study (Rodriguez et al. "
        "2022), 219 of 927 original positives of MSR-VTT are rejected (23.6 %).",
        "Labels can be wrong. Some rejected original positives are relevant, and their labels are "
        "misses. The corrected numbers remove the labels that are wrong on average. If most "
        "original positives are relevant, few misses make a large part of the rejected ones. "
        f"{EQUAL_RATES}",
        "With the rejected positives, all original positives count as positive, as in the FIRE "
        "study and on the page “Results”. Without them, the label of a judged original positive "
        "counts instead. Captions that lose their only positive stay in the average and score 0.",
        "The interval of the share is Wilson’s with the effective number of independent pairs, "
        "because pairs of one video resemble each other.",
    ),
)

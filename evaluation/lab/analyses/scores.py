"""Scores by labels (A) and by original positives (B), and the difference C, written A (B + C)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from evaluation.core.arrays import FloatArray
from evaluation.core.statistics.resampling import difference_interval, mean_interval
from evaluation.core.statistics.saturation import judge_saturation
from evaluation.lab.analyses import charts, options, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.equal_captions import EqualCaptions, add_equal_captions
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.intervals import (
    INTERVALS_NOTE,
    method_of,
    method_title,
    resampled_by,
)
from evaluation.lab.analyses.noise import ALL_POSITIVES
from evaluation.lab.analyses.results import Tabled
from evaluation.lab.analyses.rows import Interval, PointsInterval, Score, Shown, mean_of
from evaluation.lab.analyses.saturation import (
    SATURATION_NOTE,
    Saturated,
    changes_by_noise,
    disagreement_of,
    saturation_warnings,
)
from hearth.shared.progress import Progress
from pooling.enums import EqualTexts

BY = {"labelled": charts.BY_LABELS, "original": charts.ORIGINAL_POSITIVES}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Resampling):
    measures: options.ShareMeasures = ("C@1", "C@5", "C@10", "AP", "AP(found)")
    twins: EqualCaptions = EqualTexts.OFF.value


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRow(Saturated):
    """The scores of a run by the labels and by the original positives, and their difference."""

    labelled: Annotated[Score, Shown("A: by the labels", "percent")]
    labelled_interval: Interval
    labelled_method: Annotated[
        str | None, Shown("Intervals of A and B", write=method_title, key="method")
    ]
    original: Annotated[Score, Shown("B: original positives", "percent")]
    original_interval: Interval
    original_method: str | None
    difference: Annotated[Score, Shown("C: difference", "points")]
    difference_interval: PointsInterval
    difference_method: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(results.WithIntervals):
    """The scores of all runs.

    twins: the rule for equal captions
    disagreement: share of the pairs with several labels whose labels differ
    """

    twins: str
    rows: Annotated[
        list[ScoreRow],
        Tabled(
            "scores",
            "Scores A (B + C), in %",
            columns="run measure labelled labelled_interval original original_interval difference "
            "difference_interval labelled_method",
        ),
    ]
    disagreement: Score

    def charts(self) -> list[charts.Chart]:
        intervals = {name: f"{name}_interval" for name in BY}
        return [
            charts.Chart(
                "scores",
                "Scores with their intervals",
                "Each measure has two dots for each run: the score by the labels and by the "
                "original positives. Each dot is on a line that shows its interval.",
                charts.dots_by_measure(
                    charts.melt(self.rows, "run measure", BY, "score", "positives", intervals),
                    charts.score_axis(),
                    color=charts.name_of("positives", order=list(BY.values())[::-1]),
                ),
            )
        ]

    def warnings(self) -> list[str]:
        with_twins = self.twins != EqualTexts.OFF
        twins = ["A and B also count the positives of equal captions."] if with_twins else []
        return twins + self.few_units_warnings() + saturation_warnings(self.rows)


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    rows: list[ScoreRow] = []
    by_original, by_labels = add_equal_captions(inputs, options.twins)
    labelled = inputs.values_of(by_labels, options.measures)
    original = inputs.values_of(by_original, options.measures)
    known = inputs.counted_originals if inputs.labels_only else by_original
    noise = changes_by_noise(inputs, options.measures, by_labels, known)
    for number, measure in enumerate(options.measures):
        progress(number, len(options.measures), f"resampling {options.unit}")
        rows += [
            _row(name, measure, values, others, inputs, options, noise.get((name, measure)))
            for (name, values), others in zip(
                labelled[measure].items(), original[measure].values(), strict=True
            )
        ]
    return Result(
        confidence=options.confidence,
        **resampled_by(inputs, options.unit),
        twins=options.twins,
        rows=rows,
        disagreement=disagreement_of(inputs),
    )


def _row(
    run: str,
    measure: str,
    labelled: FloatArray,
    original: FloatArray,
    inputs: Inputs,
    options: Options,
    noise: float | None,
) -> ScoreRow:
    """Return the mean scores of one run by one measure, with their intervals.

    The interval of the difference is paired, because both scores are computed on the same captions.
    If only the original positives are used, there is no difference to estimate.
    """
    drawn = options.drawing(inputs)
    mean, interval = mean_of(labelled), mean_interval(labelled, **drawn)
    by_original = mean_interval(original, **drawn)
    change = None if inputs.label_set is None else difference_interval(labelled, original, **drawn)
    saturation = None if mean is None else judge_saturation(mean, interval, noise)
    return ScoreRow(
        run=run,
        measure=measure,
        labelled=mean,
        labelled_interval=interval.ends,
        labelled_method=method_of(interval),
        noise=noise,
        gap=None if saturation is None else saturation.gap,
        saturated_by=None if saturation is None else saturation.by,
        original=mean_of(original),
        original_interval=by_original.ends,
        original_method=method_of(by_original),
        difference=mean_of(labelled - original),
        difference_interval=None if change is None else change.ends,
        difference_method=None if change is None else method_of(change),
    )


SCORES = Analysis(
    name="scores",
    title="Scores before and after judging",
    question="How good is each system, by the labels and by the original positives?",
    source="FIRE study, table 1",
    options=Options,
    result=Result,
    compute=_compute,
    is_directed=True,
    notes=(
        "A is the score by the labels, B the score by the original positives, and C their "
        "difference. AP divides by the number of all known positives of a caption. AP(found) "
        "divides by the number of positives in the list, as the published code of the FIRE study "
        "(Rodriguez et al. 2022) does.",
        INTERVALS_NOTE,
        ALL_POSITIVES,
        SATURATION_NOTE,
    ),
)

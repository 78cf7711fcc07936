"""Differences between systems, and the effect of labels on their ranking."""

from __future__ import annotations

import numpy as np

from evaluation.core.arrays import FloatArray
from evaluation.core.statistics.rank_stability import rank_stability
from evaluation.core.statistics.saturation import check_saturation
from evaluation.core.statistics.significance import Comparison, adjust_together, compare_systems
from evaluation.lab.analyses.fields import (
    MeasuresField,
    ResamplingOptions,
    ShareMeasureField,
    confidence_field,
    resamples_field,
    resampling_unit_field,
    seed_field,
)
from evaluation.lab.analyses.forms import DirectedForm
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.intervals import (
    INTERVALS_NOTE,
    Drawing,
    method_of,
    resampled_by,
)
from evaluation.lab.analyses.layouts import significance as layout
from evaluation.lab.analyses.layouts.significance import (
    RANK_RESAMPLES_MAX,
    DifferenceFigures,
    ScoreFigures,
    SignificanceResult,
)
from evaluation.lab.analyses.old_analysis import Analysis
from evaluation.lab.analyses.saturation import (
    SATURATION_NOTE,
    changes_by_noise,
    disagreement_of,
)
from hearth.shared.progress import Progress


class SignificanceForm(DirectedForm):
    measure = ShareMeasureField()
    further = MeasuresField(
        shares=True,
        required=False,
        initial="",
        label="Further measures",
        help_text="These measures are compared in the same table. Holm’s correction covers the "
        "whole table.",
    )
    unit = resampling_unit_field()
    confidence = confidence_field()
    resamples = resamples_field()
    seed = seed_field()


class SignificanceOptions(ResamplingOptions):
    measure: str
    further: list[str]


def _compute(
    inputs: Inputs, options: SignificanceOptions, progress: Progress
) -> SignificanceResult:
    names = list(inputs.ranked)
    measures = list(dict.fromkeys([options["measure"], *options["further"]]))
    by_measure = {
        measure: np.stack(list(values.values()))
        for measure, values in inputs.values_of(inputs.judged, measures).items()
    }
    labelled = by_measure[options["measure"]]
    original = np.stack(list(inputs.values(inputs.original, options["measure"]).values()))
    drawn: Drawing = {
        "confidence": options["confidence"],
        "clusters": inputs.varied_clusters(options["unit"]),
        "rng": np.random.default_rng(options["seed"]),
    }
    progress(0, 3, "comparing systems")
    compared = [
        compare_systems(by_measure[measure], options["resamples"], **drawn) for measure in measures
    ]
    adjusted = adjust_together(row for rows in compared for row in rows)
    progress(1, 3, "ranking systems")
    rank_resamples = min(options["resamples"], RANK_RESAMPLES_MAX)
    stability = rank_stability(original, labelled, rank_resamples, **drawn)
    noise = changes_by_noise(inputs, [options["measure"]], inputs.judged, inputs.counted_originals)
    progress(2, 3, "checking saturation")
    return {
        "measure": options["measure"],
        "confidence": options["confidence"],
        "measures": measures,
        **resampled_by(inputs, options["unit"]),
        "comparisons": [
            {"measure": measure, **_comparison(comparison, names)}
            for measure, comparison in zip(
                np.repeat(measures, len(compared[0])), adjusted, strict=True
            )
        ],
        "holm": len(adjusted),
        "ranking": {
            "resamples": rank_resamples,
            "tau": stability.tau.value,
            "interval": stability.interval.ends,
            "same_order": stability.same_order,
        },
        "ranks": [
            {
                "run": name,
                "original": rank.original,
                "original_interval": list(rank.original_interval),
                "labelled": rank.labelled,
                "labelled_interval": list(rank.labelled_interval),
                "measure": options["measure"],
                **_saturation(values, options, drawn, noise.get((name, options["measure"]))),
            }
            for name, rank, values in zip(names, stability.ranks, labelled, strict=True)
        ],
        "disagreement": disagreement_of(inputs),
    }


def _comparison(comparison: Comparison, names: list[str]) -> DifferenceFigures:
    found = comparison.difference
    return {
        "first": names[comparison.system],
        "second": names[comparison.other],
        "difference": found.mean,
        "interval": found.interval.ends,
        "method": method_of(found.interval),
        "effect": found.effect.value,
        "wins": found.wins,
        "ties": found.ties,
        "losses": found.losses,
        "p_randomisation": found.randomisation.p,
        "p_bootstrap": found.bootstrap.p,
        "p_holm": comparison.adjusted,
    }


def _saturation(
    values: FloatArray, options: SignificanceOptions, drawn: Drawing, noise: float | None
) -> ScoreFigures:
    found = check_saturation(values, options["resamples"], noise=noise, **drawn)
    return {
        "mean": found.mean,
        "interval": found.interval.ends,
        "gap": found.gap,
        "noise": noise,
        "saturated_by": found.by,
    }


SIGNIFICANCE = Analysis(
    name="significance",
    title="Significance and ranking",
    question="Which differences are larger than chance, and do the labels change the ranking?",
    form=SignificanceForm,
    is_directed=True,
    compute=_compute,
    tables=layout.tables,
    charts=layout.charts,
    warnings=layout.warnings,
    notes=(
        "Fisher’s randomisation test changes the signs of the differences. If videos are "
        "resampled, all captions of a video change their sign together. The test is exact for "
        "C@k. Use the p-values with Holm’s correction if you look at all tests of the table. With "
        "thousands of captions nearly every difference is significant, so consider its size, too. "
        "Scores that differ only by rounding are ties.",
        INTERVALS_NOTE,
        SATURATION_NOTE,
    ),
)

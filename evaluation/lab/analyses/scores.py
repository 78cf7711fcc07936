"""Scores by labels (A) and by original positives (B), and the difference C, written A (B + C)."""

from __future__ import annotations

import numpy as np

from evaluation.core.arrays import FloatArray
from evaluation.core.statistics.resampling import difference_interval, mean_interval
from evaluation.core.statistics.saturation import judge_saturation
from evaluation.lab.analyses.equal_captions import (
    add_equal_captions,
    equal_captions_field,
)
from evaluation.lab.analyses.fields import (
    MeasuresField,
    ResamplingOptions,
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
from evaluation.lab.analyses.layouts import scores as layout
from evaluation.lab.analyses.layouts.scores import ScoreFigures, ScoreRow, ScoresResult
from evaluation.lab.analyses.noise import ALL_POSITIVES
from evaluation.lab.analyses.old_analysis import Analysis
from evaluation.lab.analyses.old_results import mean_of
from evaluation.lab.analyses.saturation import (
    SATURATION_NOTE,
    changes_by_noise,
    disagreement_of,
)
from hearth.shared.progress import Progress


class ScoresForm(DirectedForm):
    measures = MeasuresField(initial="C@1 C@5 C@10 AP AP(found)", shares=True)
    twins = equal_captions_field()
    unit = resampling_unit_field()
    confidence = confidence_field()
    resamples = resamples_field()
    seed = seed_field()


class ScoresOptions(ResamplingOptions):
    measures: list[str]
    twins: str


def _compute(inputs: Inputs, options: ScoresOptions, progress: Progress) -> ScoresResult:
    rows: list[ScoreRow] = []
    by_original, by_labels = add_equal_captions(inputs, options["twins"])
    labelled = inputs.values_of(by_labels, options["measures"])
    original = inputs.values_of(by_original, options["measures"])
    known = inputs.counted_originals if inputs.labels_only else by_original
    noise = changes_by_noise(inputs, options["measures"], by_labels, known)
    for number, measure in enumerate(options["measures"]):
        progress(number, len(options["measures"]), f"resampling {options['unit']}")
        rows += [
            {
                "run": name,
                "measure": measure,
                **_row(values, others, inputs, options, noise.get((name, measure))),
            }
            for (name, values), others in zip(
                labelled[measure].items(), original[measure].values(), strict=True
            )
        ]
    return {
        "confidence": options["confidence"],
        **resampled_by(inputs, options["unit"]),
        "twins": options["twins"],
        "rows": rows,
        "disagreement": disagreement_of(inputs),
    }


def _row(
    labelled: FloatArray,
    original: FloatArray,
    inputs: Inputs,
    options: ScoresOptions,
    noise: float | None,
) -> ScoreFigures:
    """Return the mean scores of one run by one measure, with their intervals.

    The interval of the difference is paired, because both scores are computed on the same captions.
    If only the original positives are used, there is no difference to estimate.
    """
    resamples = options["resamples"]
    drawn: Drawing = {
        "confidence": options["confidence"],
        "clusters": inputs.clusters(options["unit"]),
        "rng": np.random.default_rng(options["seed"]),
    }
    mean, interval = mean_of(labelled), mean_interval(labelled, resamples, **drawn)
    by_original = mean_interval(original, resamples, **drawn)
    change = (
        None
        if inputs.label_set is None
        else difference_interval(labelled, original, resamples, **drawn)
    )
    saturation = None if mean is None else judge_saturation(mean, interval, noise)
    return {
        "labelled": mean,
        "labelled_interval": interval.ends,
        "labelled_method": method_of(interval),
        "noise": noise,
        "gap": None if saturation is None else saturation.gap,
        "saturated_by": None if saturation is None else saturation.by,
        "original": mean_of(original),
        "original_interval": by_original.ends,
        "original_method": method_of(by_original),
        "difference": mean_of(labelled - original),
        "difference_interval": None if change is None else change.ends,
        "difference_method": None if change is None else method_of(change),
    }


SCORES = Analysis(
    name="scores",
    title="Scores before and after judging",
    question="How good is each system, by the labels and by the original positives?",
    source="FIRE study, table 1",
    form=ScoresForm,
    is_directed=True,
    compute=_compute,
    tables=layout.tables,
    charts=layout.charts,
    warnings=layout.warnings,
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

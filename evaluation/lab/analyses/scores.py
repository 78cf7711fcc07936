"""Scores before and after the labels, with intervals: "A (B + C)"."""

from __future__ import annotations

from typing import Any

import numpy as np

from config.shared.progress import Progress
from evaluation.core.statistics.resampling import difference_interval, mean_interval
from evaluation.core.statistics.saturation import judge_saturation
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.charts import (
    DOTS,
    PERCENT,
    Chart,
    low_high,
    measures_in,
    name_of,
    quantity,
    spans,
)
from evaluation.lab.analyses.equal_captions import (
    add_equal_captions,
    equal_captions_field,
    uses_equal_captions,
)
from evaluation.lab.analyses.fields import (
    MeasuresField,
    confidence_field,
    resamples_field,
    resampling_unit_field,
    seed_field,
)
from evaluation.lab.analyses.forms import AnalysisForm
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.intervals import (
    INTERVALS_NOTE,
    few_units_warnings,
    method_of,
    method_title,
    resampled_by,
)
from evaluation.lab.analyses.results import Result, ends, mean_of
from evaluation.lab.analyses.saturation import (
    SATURATION_NOTE,
    changes_by_noise,
    disagreement_of,
    saturation_warnings,
)
from evaluation.lab.analyses.tables import Column, Table

BY = {"labelled": "By the labels", "original": "Original positives"}


class ScoresForm(AnalysisForm):
    measures = MeasuresField(initial="C@1 C@5 C@10 AP AP(found)", shares=True)
    twins = equal_captions_field()
    unit = resampling_unit_field()
    confidence = confidence_field()
    resamples = resamples_field()
    seed = seed_field()


def _compute(inputs: Inputs, options: dict[str, Any], progress: Progress) -> Result:
    rows = []
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
    labelled: Any,
    original: Any,
    inputs: Inputs,
    options: dict[str, Any],
    noise: float | None,
) -> Result:
    """Return means with their intervals.

    The interval of the difference is paired, because both scores are of the same captions. With
    the original positives only, there is no difference to estimate.
    """
    drawn = {
        "confidence": options["confidence"],
        "resamples": options["resamples"],
        "clusters": inputs.clusters(options["unit"]),
    }
    rng = np.random.default_rng(options["seed"])
    mean, interval = mean_of(labelled), mean_interval(labelled, rng=rng, **drawn)
    by_original = mean_interval(original, rng=rng, **drawn)
    change = (
        None
        if inputs.label_set is None
        else difference_interval(labelled, original, rng=rng, **drawn)
    )
    saturation = None if mean is None else judge_saturation(mean, interval, noise)
    return {
        "labelled": mean,
        "labelled_interval": ends(interval),
        "labelled_method": method_of(interval),
        "noise": noise,
        "gap": saturation and saturation.gap,
        "saturated_by": saturation and saturation.by,
        "original": mean_of(original),
        "original_interval": ends(by_original),
        "original_method": method_of(by_original),
        "difference": mean_of(labelled - original),
        "difference_interval": change and ends(change),
        "difference_method": change and method_of(change),
    }


def _tables(result: Result) -> list[Table]:
    percent = f"{100 * result['confidence']:g} % interval"
    return [
        Table(
            "scores",
            "A (B + C), in %",
            [
                Column("run", "Run"),
                Column("measure", "Measure"),
                Column("labelled", "A: by the labels", "percent"),
                Column("labelled_interval", percent, "percent"),
                Column("original", "B: original positives", "percent"),
                Column("original_interval", percent, "percent"),
                Column("difference", "C: difference", "points"),
                Column("difference_interval", percent, "points"),
                Column("method", "Intervals of A and B"),
            ],
            [{**row, "method": method_title(row.get("labelled_method"))} for row in result["rows"]],
        )
    ]


def _charts(result: Result) -> list[Chart]:
    rows = [
        {
            "run": row["run"],
            "measure": row["measure"],
            "positives": title,
            "score": row[by],
            **low_high(row[f"{by}_interval"]),
        }
        for row in result["rows"]
        for by, title in BY.items()
    ]
    score = quantity("score", "Score", axis={"format": PERCENT}, scale={"zero": False})
    bounds = {"x": {**score, "field": "low"}, "x2": {"field": "high"}}
    plot = {
        "width": 300,
        "height": {"step": 26},
        "encoding": {
            "y": name_of("run"),
            "color": name_of("positives", order=list(BY.values())[::-1]),
        },
        "layer": [*spans(rows, bounds), {"mark": DOTS, "encoding": {"x": score}}],
    }
    return [
        Chart(
            "scores",
            "Scores with their intervals",
            "For each measure, a dot for each run by the labels and by the original positives, "
            "on a line that is its interval.",
            {
                "data": {"values": rows},
                "facet": name_of("measure", order=measures_in(rows)),
                "columns": 3,
                "resolve": {"scale": {"x": "independent"}},
                "spec": plot,
            },
        )
    ]


def _warnings(result: Result) -> list[str]:
    twins = (
        ["A and B also count the positives of equal captions."]
        if uses_equal_captions(result)
        else []
    )
    return twins + few_units_warnings(result) + saturation_warnings(result["rows"])


SCORES = Analysis(
    name="scores",
    title="Scores, before and after",
    question="How good is each system, by the labels and by the original positives?",
    source="Table 1",
    form=ScoresForm,
    compute=_compute,
    tables=_tables,
    charts=_charts,
    warnings=_warnings,
    notes=(
        "A is the score by the labels, B the score by the original positives, and C their "
        "difference. AP divides by the number of all known positives of a caption. AP(found) "
        "divides by the number of positives in the list, as the published code of the study does.",
        INTERVALS_NOTE,
        SATURATION_NOTE,
    ),
)

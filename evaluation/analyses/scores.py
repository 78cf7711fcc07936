"""Scores before and after the labels, with intervals: "A (B + C)"."""

from __future__ import annotations

from typing import Any

import numpy as np

from config.shared.progress import Progress
from evaluation.analyses.base import (
    AnalysisForm,
    Chart,
    Column,
    Inputs,
    Kind,
    MeasuresField,
    Result,
    Table,
    confidence_field,
    ends,
    resamples_field,
    seed_field,
    unit_field,
)
from evaluation.analyses.saturation import disagreement_of, saturation_warnings
from evaluation.analyses.specs import DOTS, PERCENT, low_high, name_of, quantity, spans
from evaluation.core.resampling import difference_interval, mean_interval
from evaluation.core.saturation import judge_saturation

BY = {"labelled": "By the labels", "original": "Original positives"}


class ScoresForm(AnalysisForm):
    measures = MeasuresField(initial="C@1 C@5 C@10 AP AP(found)", shares=True)
    unit = unit_field()
    confidence = confidence_field()
    resamples = resamples_field()
    seed = seed_field()


def _compute(inputs: Inputs, chosen: dict[str, Any], progress: Progress) -> Result:
    rows = []
    labelled = inputs.values_of(inputs.judged, chosen["measures"])
    original = inputs.values_of(inputs.original, chosen["measures"])
    disagreement = disagreement_of(inputs)
    for number, measure in enumerate(chosen["measures"]):
        progress(number, len(chosen["measures"]), "drawing captions")
        rows += [
            {
                "run": name,
                "measure": measure,
                **_row(values, by_original, inputs, chosen, disagreement),
            }
            for (name, values), by_original in zip(
                labelled[measure].items(), original[measure].values(), strict=True
            )
        ]
    return {
        "confidence": chosen["confidence"],
        "unit": chosen["unit"],
        "rows": rows,
        "disagreement": disagreement,
    }


def _row(
    labelled: Any,
    original: Any,
    inputs: Inputs,
    chosen: dict[str, Any],
    disagreement: float | None,
) -> Result:
    """Means with their intervals; the difference is of the same captions, and so its own."""
    drawn = {
        "confidence": chosen["confidence"],
        "resamples": chosen["resamples"],
        "clusters": inputs.clusters(chosen["unit"]),
    }
    rng = np.random.default_rng(chosen["seed"])
    mean, interval = _mean(labelled), mean_interval(labelled, rng=rng, **drawn)
    saturation = None if mean is None else judge_saturation(mean, interval, disagreement)
    return {
        "labelled": mean,
        "labelled_interval": ends(interval),
        "gap": saturation and saturation.gap,
        "saturated_by": saturation and saturation.by,
        "original": _mean(original),
        "original_interval": ends(mean_interval(original, rng=rng, **drawn)),
        "difference": _mean(labelled - original),
        "difference_interval": ends(difference_interval(labelled, original, rng=rng, **drawn)),
    }


def _mean(values: Any) -> float | None:
    return float(values.mean()) if len(values) else None


def _tables(result: Result) -> list[Table]:
    percent = f"{100 * result['confidence']:g} % interval"
    return [
        Table(
            "scores",
            "A (B + C), in per cent",
            [
                Column("run", "Run"),
                Column("measure", "Measure"),
                Column("labelled", "A: by the labels", "percent"),
                Column("labelled_interval", percent, "percent"),
                Column("original", "B: original positives", "percent"),
                Column("original_interval", percent, "percent"),
                Column("difference", "C: difference", "points"),
                Column("difference_interval", percent, "points"),
            ],
            result["rows"],
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
            "For each measure a dot for each run by the labels and by the original positives, on a "
            "line that is its interval.",
            {
                "data": {"values": rows},
                "facet": name_of("measure", order=_measures(rows)),
                "columns": 3,
                "resolve": {"scale": {"x": "independent"}},
                "spec": plot,
            },
        )
    ]


def _measures(rows: list[Result]) -> list[str]:
    return list(dict.fromkeys(row["measure"] for row in rows))


def _warnings(result: Result) -> list[str]:
    return saturation_warnings(result["rows"], result["disagreement"])


SCORES = Kind(
    name="scores",
    title="Scores, before and after",
    question="How good is each system, by the labels and by the original positives alone?",
    source="Table 1",
    form=ScoresForm,
    compute=_compute,
    tables=_tables,
    charts=_charts,
    warnings=_warnings,
    notes=(
        "A is the score by the labels, B by the original positives alone, C what the labels "
        "change. AP divides by all known positives of a caption; AP(found), as the published code "
        "of the study does, by those that the list holds.",
        "Intervals are percentiles of the mean in samples drawn with replacement. They tell how "
        "the score varies with the captions (or videos), not with the annotators.",
    ),
)

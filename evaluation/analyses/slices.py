"""Scores by kinds of captions: by length, by the number of positives."""

from __future__ import annotations

from typing import Any

import numpy as np
from django import forms

from config.shared.progress import Progress
from evaluation.analyses.base import (
    AnalysisForm,
    Chart,
    Column,
    Inputs,
    Kind,
    Result,
    ShareMeasureField,
    Table,
    confidence_field,
    ends,
    resamples_field,
    seed_field,
    unit_field,
)
from evaluation.analyses.specs import RULES, low_high, name_of, offset, quantity, step
from evaluation.core.arrays import IntArray
from evaluation.core.positives import positives_per_query
from evaluation.core.slices import cut_by_quantiles, kendall_tau_b, slice_means, spearman

LENGTH, POSITIVES = "length", "positives"
SLICED = {LENGTH: "Words in the caption", POSITIVES: "Positives of the caption"}


class SlicesForm(AnalysisForm):
    measure = ShareMeasureField()
    by = forms.ChoiceField(label="Sliced by", choices=list(SLICED.items()), initial=LENGTH)
    bins = forms.IntegerField(label="Slices", initial=6, min_value=2, max_value=30)
    unit = unit_field()
    confidence = confidence_field()
    resamples = resamples_field(1000)
    seed = seed_field()


def _compute(inputs: Inputs, chosen: dict[str, Any], progress: Progress) -> Result:
    attribute = _attribute(inputs, chosen["by"])
    bins = cut_by_quantiles(attribute, chosen["bins"])
    rng = np.random.default_rng(chosen["seed"])
    rows, correlations = [], []
    for number, (name, values) in enumerate(
        inputs.values(inputs.judged, chosen["measure"]).items()
    ):
        progress(number, len(inputs.runs), "slicing")
        found = slice_means(
            values,
            bins.groups,
            bins.names,
            chosen["resamples"],
            rng=rng,
            confidence=chosen["confidence"],
            clusters=inputs.clusters(chosen["unit"]),
        )
        rows += [
            {
                "run": name,
                "slice": one.name,
                "captions": one.n,
                "mean": one.mean.value,
                "interval": ends(one.interval),
            }
            for one in found
        ]
        correlations.append(
            {
                "run": name,
                "spearman": spearman(attribute, values).value,
                "kendall": kendall_tau_b(attribute, values).value,
            }
        )
    return {
        "measure": chosen["measure"],
        "by": chosen["by"],
        "confidence": chosen["confidence"],
        "slices": list(bins.names),
        "rows": rows,
        "correlations": correlations,
    }


def _attribute(inputs: Inputs, by: str) -> IntArray:
    return inputs.caption_lengths if by == LENGTH else positives_per_query(inputs.judged)


def _tables(result: Result) -> list[Table]:
    return [
        Table(
            "slices",
            f"{result['measure']} by {SLICED[result['by']].lower()}",
            [
                Column("run", "Run"),
                Column("slice", SLICED[result["by"]]),
                Column("captions", "Captions", "count"),
                Column("mean", "Mean, %", "percent"),
                Column("interval", f"{100 * result['confidence']:g} % interval", "percent"),
            ],
            result["rows"],
        ),
        Table(
            "correlations",
            "Correlation with the score of the caption",
            [
                Column("run", "Run"),
                Column("spearman", "Spearman’s rho", "number"),
                Column("kendall", "Kendall’s tau-b", "number"),
            ],
            result["correlations"],
        ),
    ]


def _charts(result: Result) -> list[Chart]:
    rows = [{**row, **low_high(row["interval"])} for row in result["rows"]]
    run = name_of("run")
    score = quantity("mean", result["measure"], axis={"format": "%"})
    return [
        Chart(
            "slices",
            f"{result['measure']} by {SLICED[result['by']].lower()}",
            "Dots for each run over the slices, each on a line that is its interval.",
            {
                "data": {"values": rows},
                "encoding": {
                    "x": step("slice", SLICED[result["by"]], sort=result["slices"]),
                    "xOffset": offset(run),
                    "color": run,
                },
                "layer": [
                    {
                        "mark": RULES,
                        "encoding": {"y": {**score, "field": "low"}, "y2": {"field": "high"}},
                    },
                    {"mark": {"type": "point", "tooltip": True}, "encoding": {"y": score}},
                ],
            },
        )
    ]


SLICES = Kind(
    name="slices",
    title="Scores by kinds of captions",
    question="Are systems better on short captions or long ones, with few matches or many?",
    form=SlicesForm,
    compute=_compute,
    tables=_tables,
    charts=_charts,
    notes=("Slices hold about as many captions each, as far as equal values allow.",),
)

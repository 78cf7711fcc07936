"""Scores in sub-samples: how many captions it takes to tell two systems apart."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np

from config.shared.progress import Progress
from evaluation.analyses.base import (
    AnalysisForm,
    Chart,
    Column,
    Inputs,
    Kind,
    NumbersField,
    Result,
    ShareMeasureField,
    Table,
    confidence_field,
    resamples_field,
    seed_field,
)
from evaluation.analyses.specs import PERCENT, dashed_lines, name_of, quantity
from evaluation.core.arrays import FloatArray
from evaluation.core.resampling import (
    SubSamples,
    draw_sub_samples,
    smallest_independent_difference,
    smallest_paired_difference,
)

PARTS = 60
ROUNDING = 1e-9
BY = {"labelled": "By the labels", "original": "Original positives"}


class BootstrapForm(AnalysisForm):
    measure = ShareMeasureField()
    sizes = NumbersField(label="Captions drawn", initial="500 1000 3000", highest=1_000_000)
    confidence = confidence_field()
    resamples = resamples_field()
    seed = seed_field()


def _compute(inputs: Inputs, chosen: dict[str, Any], progress: Progress) -> Result:
    rows, pairs = [], []
    rng = np.random.default_rng(chosen["seed"])
    for place, (by, judged) in enumerate(
        (("labelled", inputs.judged), ("original", inputs.original))
    ):
        values = inputs.values(judged, chosen["measure"])
        for number, size in enumerate(chosen["sizes"]):
            progress(place * len(chosen["sizes"]) + number, 2 * len(chosen["sizes"]), "drawing")
            rows += [
                {"run": name, "by": by, **_sampled(own, size, chosen, rng)}
                for name, own in values.items()
            ]
            pairs += [
                {"first": one, "second": other, "by": by, "size": size}
                | _pair(values[one], values[other], size, chosen, rng)
                for one, other in combinations(values, 2)
            ]
    return {
        "measure": chosen["measure"],
        "confidence": chosen["confidence"],
        "rows": rows,
        "pairs": pairs,
    }


def _sampled(
    values: FloatArray, size: int, chosen: dict[str, Any], rng: np.random.Generator
) -> Result:
    drawn = draw_sub_samples(values, size, chosen["resamples"], rng=rng)
    tail = (1 - chosen["confidence"]) / 2
    return {
        "size": size,
        "mean": drawn.mean,
        "deviation": drawn.deviation,
        "interval": drawn.quantiles([tail, 1 - tail]).tolist(),
        "smallest": smallest_independent_difference(drawn, confidence=chosen["confidence"]),
        "histogram": _histogram(drawn),
    }


def _histogram(drawn: SubSamples) -> Result:
    """Of parts as wide as some whole number of captions: between two of these a share such as C@k
    has no values, and other parts would hold now one of them and now two."""
    span = float(drawn.means.max() - drawn.means.min())
    width = max(1, math.ceil(span * drawn.size / PARTS)) / drawn.size
    # Half of an even width is a score, too: rounding errors must not send it to either side.
    places = np.floor(drawn.means / width + 0.5 + ROUNDING).astype(np.int64)
    first = int(places.min())
    return {"first": first * width, "width": width, "counts": np.bincount(places - first).tolist()}


def _pair(
    one: FloatArray, other: FloatArray, size: int, chosen: dict[str, Any], rng: np.random.Generator
) -> Result:
    drawn = draw_sub_samples(one - other, size, chosen["resamples"], rng=rng)
    smallest = smallest_paired_difference(drawn, confidence=chosen["confidence"])
    return {"difference": float((one - other).mean()), "smallest": smallest}


def _tables(result: Result) -> list[Table]:
    return [
        Table(
            "sub-samples",
            f"{result['measure']} in sub-samples",
            [
                Column("run", "Run"),
                Column("by", "Positives"),
                Column("size", "Captions", "count"),
                Column("mean", "Mean, %", "percent"),
                Column("interval", f"{100 * result['confidence']:g} % of samples, %", "percent"),
                Column("smallest", "Smallest significant difference, points", "percent"),
            ],
            [{**row, "by": BY[row["by"]]} for row in result["rows"]],
            note="Of two systems that vary like this one, each scored on captions of its own."
            if _varies(result)
            else "Every sample scores the same: all captions do, or there is but one.",
        ),
        Table(
            "pairs",
            "Two systems on the same captions",
            [
                Column("first", "Run"),
                Column("second", "and run"),
                Column("by", "Positives"),
                Column("size", "Captions", "count"),
                Column("difference", "Difference, points", "points"),
                Column("smallest", "Smallest significant difference, points", "percent"),
            ],
            [{**row, "by": BY[row["by"]]} for row in result["pairs"]],
        ),
    ]


def _varies(result: Result) -> bool:
    return any(row["deviation"] > 0 for row in result["rows"])


def _charts(result: Result) -> list[Chart]:
    if not _varies(result):
        return []
    labelled = [row for row in result["rows"] if row["by"] == "labelled"]
    run = name_of("run")
    sampled = {
        "width": 280,
        "height": 160,
        "mark": {"type": "area", "opacity": 0.45, "line": True, "interpolate": "monotone"},
        "encoding": {
            "x": quantity(
                "score", result["measure"], axis={"format": PERCENT}, scale={"zero": False}
            ),
            "y": quantity("density", "", axis=None, stack=None),
            "color": run,
        },
    }
    smallest = quantity("smallest", "Smallest significant difference", axis={"format": ".1%"})
    captions = quantity("size", "Captions (log)", scale={"type": "log", "nice": False})
    return [
        Chart(
            "sub-samples",
            f"{result['measure']} by the labels in sub-samples",
            "For each number of captions the distributions of the runs’ scores: the more captions, "
            "the narrower they are, and the less they overlap.",
            {
                "data": {"values": _densities(labelled)},
                "facet": {"field": "captions", "type": "ordinal", "title": "Captions drawn"},
                "columns": 3,
                "spec": sampled,
            },
        ),
        Chart(
            "smallest",
            "The smallest difference that is significant",
            "Falling lines: the smallest significant difference over the number of captions, for "
            "each run.",
            dashed_lines(
                [{**row, "by": BY[row["by"]]} for row in result["rows"]],
                name_of("by", "Positives", order=list(BY.values())),
                x=captions,
                y=smallest,
                color=run,
            ),
        ),
    ]


def _densities(rows: list[Result]) -> list[dict[str, Any]]:
    return [
        {"run": row["run"], "captions": row["size"], **point}
        for row in rows
        for point in _density(row["histogram"])
    ]


def _density(histogram: Result) -> list[dict[str, float]]:
    """For the middle of each part, how many of the samples lie there for its width."""
    width, counts = histogram["width"], histogram["counts"]
    return [
        {"score": histogram["first"] + place * width, "density": count / (sum(counts) * width)}
        for place, count in enumerate(counts)
    ]


BOOTSTRAP = Kind(
    name="bootstrap",
    title="Sub-samples of captions",
    question="Which difference between systems can so many captions show?",
    source="Section 4.3, figures 4, 9 and 10",
    form=BootstrapForm,
    compute=_compute,
    tables=_tables,
    charts=_charts,
    notes=(
        "Captions are drawn with replacement, many times, and each run is scored on what was "
        "drawn. The smallest significant difference is the normal quantile of the confidence, "
        "1.96 for 95 per cent, times the standard deviation of the difference: of two systems on "
        "captions of their own that of one times √2; on the same captions that of the paired "
        "differences, which is smaller.",
    ),
)

"""Scores in sub-samples: the number of captions that it takes to distinguish two systems."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np

from config.shared.progress import Progress
from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.statistics.resampling import (
    SubSamples,
    draw_sub_samples,
    smallest_independent_difference,
)
from evaluation.core.statistics.sub_samples import (
    clusters_to_draw,
    draw_cluster_sub_samples,
    paired_sub_samples,
    smallest_tested_difference,
)
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.charts import PERCENT, Chart, dashed_lines, name_of, quantity
from evaluation.lab.analyses.fields import (
    NumbersField,
    ShareMeasureField,
    confidence_field,
    resamples_field,
    resampling_unit_field,
    seed_field,
)
from evaluation.lab.analyses.forms import AnalysisForm
from evaluation.lab.analyses.inputs import CAPTIONS, VIDEOS, Inputs
from evaluation.lab.analyses.intervals import few_measured_warnings, resampled_by
from evaluation.lab.analyses.results import Result
from evaluation.lab.analyses.tables import Column, Table

PARTS = 60
ROUNDING = 1e-9
BY = {"labelled": "By the labels", "original": "Original positives"}


class BootstrapForm(AnalysisForm):
    measure = ShareMeasureField()
    unit = resampling_unit_field()
    sizes = NumbersField(label="Captions per sample", initial="500 1000 3000", highest=1_000_000)
    confidence = confidence_field()
    resamples = resamples_field()
    seed = seed_field()


Pair = tuple[str, str]


def _compute(inputs: Inputs, options: dict[str, Any], progress: Progress) -> Result:
    rows, pairs = [], []
    rng = np.random.default_rng(options["seed"])
    clusters = inputs.clusters(options["unit"])
    sizes = {size: _videos(size, clusters) for size in options["sizes"]}
    for place, (by, judged) in enumerate(
        (("labelled", inputs.judged), ("original", inputs.original))
    ):
        values = inputs.values(judged, options["measure"])
        for number, (size, videos) in enumerate(sizes.items()):
            progress(place * len(sizes) + number, 2 * len(sizes), "drawing")
            common = {"by": by, "size": size, "videos": videos}
            runs, differences = _draw(values, size, clusters, options["resamples"], rng)
            rows += [{"run": name, **common, **_sampled(runs[name], options)} for name in values]
            pairs += [
                {"first": one, "second": other, **common}
                | _pair(values[one] - values[other], drawn, options)
                for (one, other), drawn in differences.items()
            ]
    return {
        "measure": options["measure"],
        "confidence": options["confidence"],
        **resampled_by(inputs, options["unit"]),
        "captions_per_video": None
        if clusters is None
        else len(clusters) / len(np.unique(clusters)),
        "rows": rows,
        "pairs": pairs,
    }


def _videos(size: int, clusters: IntArray | None) -> int | None:
    return None if clusters is None else clusters_to_draw(size, clusters, len(clusters))


def _draw(
    values: dict[str, FloatArray],
    size: int,
    clusters: IntArray | None,
    resamples: int,
    rng: np.random.Generator,
) -> tuple[dict[str, SubSamples], dict[Pair, SubSamples]]:
    """Draw sub-samples of each run, and of the differences of every two runs."""
    pairs = list(combinations(values, 2))
    if clusters is None:
        runs = {
            name: draw_sub_samples(own, size, resamples, rng=rng) for name, own in values.items()
        }
        return runs, {
            (one, other): draw_sub_samples(values[one] - values[other], size, resamples, rng=rng)
            for one, other in pairs
        }
    drawn = draw_cluster_sub_samples(
        np.stack(list(values.values())), size, resamples, rng=rng, clusters=clusters
    )
    runs = dict(zip(values, drawn, strict=True))
    return runs, {pair: paired_sub_samples(runs[pair[0]], runs[pair[1]]) for pair in pairs}


def _sampled(drawn: SubSamples, options: dict[str, Any]) -> Result:
    tail = (1 - options["confidence"]) / 2
    return {
        "mean": drawn.mean,
        "deviation": drawn.deviation,
        "interval": drawn.quantiles([tail, 1 - tail]).tolist(),
        "smallest": smallest_independent_difference(drawn, confidence=options["confidence"]),
        "histogram": _histogram(drawn),
    }


def _histogram(drawn: SubSamples) -> Result:
    """Return a histogram whose bins are a whole number of captions wide.

    A share such as C@k has no values between two captions. Other bins would contain one value here
    and two there.
    """
    span = float(drawn.means.max() - drawn.means.min())
    width = max(1, math.ceil(span * drawn.size / PARTS)) / drawn.size
    # Half of an even width is a score, too. Rounding errors must not move it to another bin.
    places = np.floor(drawn.means / width + 0.5 + ROUNDING).astype(np.int64)
    first = int(places.min())
    return {"first": first * width, "width": width, "counts": np.bincount(places - first).tolist()}


def _pair(differences: FloatArray, drawn: SubSamples, options: dict[str, Any]) -> Result:
    smallest = smallest_tested_difference(drawn, differences, confidence=options["confidence"])
    return {"difference": float(differences.mean()), "smallest": smallest}


def _tables(result: Result) -> list[Table]:
    by_video = result["unit"] == VIDEOS
    sizes = [
        Column("size", "Captions", "count"),
        *([Column("videos", "Videos", "count")] if by_video else []),
    ]
    return [
        Table(
            "sub-samples",
            f"{result['measure']} in sub-samples",
            [
                Column("run", "Run"),
                Column("by", "Positives"),
                *sizes,
                Column("mean", "Mean, %", "percent"),
                Column("interval", f"{100 * result['confidence']:g} % of samples, %", "percent"),
                Column("smallest", "Smallest significant difference, points", "percent"),
            ],
            [{**row, "by": BY[row["by"]]} for row in result["rows"]],
            note=_note(result),
        ),
        Table(
            "pairs",
            "Two systems on the same captions",
            [
                Column("first", "Run"),
                Column("second", "Other run"),
                Column("by", "Positives"),
                *sizes,
                Column("difference", "Difference, points", "points"),
                Column("smallest", "Smallest significant difference, points", "percent"),
            ],
            [{**row, "by": BY[row["by"]]} for row in result["pairs"]],
        ),
    ]


def _note(result: Result) -> str:
    if not _varies(result):
        return (
            "All samples have the same score, because all captions do or because only one can "
            "be drawn."
        )
    note = (
        "The difference is between two systems that vary like this one. Each is scored on "
        "captions of its own."
    )
    if result["unit"] == CAPTIONS:
        return note
    per_video = result["captions_per_video"]
    return (
        f"{note} Each sample holds whole videos with {per_video:.1f} captions each on average, "
        "and about as many captions as stated."
    )


def _warnings(result: Result) -> list[str]:
    per_video = result["captions_per_video"] or 0
    small = sorted({row["size"] for row in result["rows"] if row["size"] < per_video})
    return few_measured_warnings(result, "spread of the samples") + [
        f"{size:,} {'caption' if size == 1 else 'captions'}: no sample is as small, because each "
        f"holds whole videos of {per_video:.1f} captions on average."
        for size in small
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
            "For each number of captions, the distributions of the runs’ scores. With more "
            "captions they are narrower and overlap less.",
            {
                "data": {"values": _densities(labelled)},
                "facet": {"field": "captions", "type": "ordinal", "title": "Captions per sample"},
                "columns": 3,
                "spec": sampled,
            },
        ),
        Chart(
            "smallest",
            "Smallest significant difference",
            "A falling line for each run: the smallest significant difference over the number of "
            "captions.",
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
    """Return for the middle of each bin the number of samples per width."""
    width, counts = histogram["width"], histogram["counts"]
    return [
        {"score": histogram["first"] + place * width, "density": count / (sum(counts) * width)}
        for place, count in enumerate(counts)
    ]


BOOTSTRAP = Analysis(
    name="bootstrap",
    title="Sub-samples of captions",
    question="How small a difference between systems can a number of captions show?",
    source="Section 4.3, figures 4, 9 and 10",
    form=BootstrapForm,
    compute=_compute,
    tables=_tables,
    charts=_charts,
    warnings=_warnings,
    notes=(
        "Captions, or whole videos with all their captions, are drawn with replacement many "
        "times. Each run is scored on each sample.",
        "The smallest significant difference is the standard deviation of the difference times the "
        "normal quantile of the confidence (1.96 for 95 %). For two systems on captions of their "
        "own, the deviation is that of one system times √2. For two systems on the same captions, "
        "it is the deviation of the paired differences if the systems were equal. A test assumes "
        "this deviation, which is smaller. The analysis plan uses the same variances.",
        "Only half of all samples find a true difference of this size. Use the analysis plan to "
        "plan for a higher power.",
    ),
)

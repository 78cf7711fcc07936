"""Tables, charts and warnings of scores in sub-samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from evaluation.lab.analyses.charts import (
    BY_LABELS,
    ORIGINAL_POSITIVES,
    PERCENT,
    Chart,
    dashed_lines,
    name_of,
    quantity,
)
from evaluation.lab.analyses.inputs import CAPTIONS, VIDEOS
from evaluation.lab.analyses.intervals import (
    few_measured_warnings,
)
from evaluation.lab.analyses.old_results import Ends, Row, WithIntervals
from evaluation.lab.analyses.tables import Column, Table
from hearth.shared.words import counted

BY = {"labelled": BY_LABELS, "original": ORIGINAL_POSITIVES}


class Histogram(TypedDict):
    """The scores of sub-samples. first: the middle of the first bin. counts: samples per bin."""

    first: float
    width: float
    counts: list[int]


class SampleFigures(TypedDict):
    """The scores of one run in sub-samples. smallest: the smallest significant difference."""

    mean: float
    deviation: float
    interval: Ends
    smallest: float
    histogram: Histogram


class SizeFields(TypedDict):
    """The positives that count, and the size of each sample.

    by: the source of the positives, a key of `BY`. size: number of captions in a sample. videos:
    number of videos in a sample; null if single captions are drawn.
    """

    by: str
    size: int
    videos: int | None


class SampleRow(SampleFigures, SizeFields):
    """The scores of one run in samples of one size."""

    run: str


class PairFigures(TypedDict):
    """The difference of two runs, and the smallest significant difference."""

    difference: float
    smallest: float


class PairRow(PairFigures, SizeFields):
    """The difference of two runs in samples of one size."""

    first: str
    second: str


class SubSamplesResult(WithIntervals):
    """Scores of sub-samples of captions.

    captions_per_video: the mean number; null if single captions are drawn.
    """

    measure: str
    captions_per_video: float | None
    rows: list[SampleRow]
    pairs: list[PairRow]


def tables(result: SubSamplesResult) -> list[Table]:
    by_video = result["unit"] == VIDEOS
    middle = f"Middle {100 * result['confidence']:g} % of samples, %"
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
                Column("interval", middle, "percent"),
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


def _note(result: SubSamplesResult) -> str:
    if not _varies(result):
        return (
            "All samples have the same score, because all captions have the same score, or "
            "because there is only one caption."
        )
    note = (
        "The smallest significant difference applies to two systems on different captions, whose "
        "scores both vary as much as those of the run."
    )
    if result["unit"] == CAPTIONS:
        return note
    per_video = result["captions_per_video"]
    return (
        f"{note} Each sample contains whole videos with {per_video:.1f} captions each on average, "
        "and about as many captions as stated."
    )


def warnings(result: SubSamplesResult) -> list[str]:
    per_video = result["captions_per_video"] or 0
    small = sorted({row["size"] for row in result["rows"] if row["size"] < per_video})
    return few_measured_warnings(result, "spread of the samples") + [
        f"Samples of {counted(size, 'caption')} are not possible. Each sample contains at least "
        f"one whole video, and a video has {per_video:.1f} captions on average."
        for size in small
    ]


def _varies(result: SubSamplesResult) -> bool:
    return any(row["deviation"] > 0 for row in result["rows"])


def charts(result: SubSamplesResult) -> list[Chart]:
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
            "There is a chart for each number of captions. It shows the distribution of each run’s "
            "scores. With more captions, the distributions are narrower and overlap less.",
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
            "Falling lines for each run, by the labels and by the original positives: the smallest "
            "significant difference over the number of captions.",
            dashed_lines(
                [{**row, "by": BY[row["by"]]} for row in result["rows"]],
                name_of("by", "Positives", order=list(BY.values())),
                x=captions,
                y=smallest,
                color=run,
            ),
        ),
    ]


def _densities(rows: Sequence[SampleRow]) -> list[Row]:
    return [
        {"run": row["run"], "captions": row["size"], **point}
        for row in rows
        for point in _density(row["histogram"])
    ]


def _density(histogram: Histogram) -> list[dict[str, float]]:
    """Return the middle of each bin, with the share of the samples in it divided by its width."""
    width, counts = histogram["width"], histogram["counts"]
    return [
        {"score": histogram["first"] + place * width, "density": count / (sum(counts) * width)}
        for place, count in enumerate(counts)
    ]

"""Scores in sub-samples: how many captions are needed to distinguish two systems."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated

import numpy as np

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
from evaluation.lab.analyses import charts, options, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.intervals import resampled_by
from evaluation.lab.analyses.rows import Ends, OtherRun, Run, Shown, as_json
from evaluation.lab.analyses.tables import Row, Table
from hearth.shared.options import Option
from hearth.shared.progress import Progress
from hearth.shared.words import counted

# Approximate maximum number of bins in a histogram.
PARTS = 60
# Tolerance for rounding errors at the edges of bins, as a share of the width of a bin.
ROUNDING = 1e-9
BY = {"labelled": charts.BY_LABELS, "original": charts.ORIGINAL_POSITIVES}

Smallest = Annotated[float, Shown("Smallest significant difference, points", "percent")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Resampling):
    """Options of the analysis.

    sizes: Separated by spaces.
    """

    measure: options.ShareMeasure = "C@5"
    sizes: Annotated[
        tuple[int, ...], Option("Captions per sample", length=100), options.numbers_to(1_000_000)
    ] = (500, 1000, 3000)


@dataclass(frozen=True, slots=True)
class Histogram:
    """The scores of sub-samples.

    first: the middle of the first bin
    counts: samples per bin
    """

    first: float
    width: float
    counts: list[int]

    @property
    def density(self) -> list[Row]:
        """The middle of each bin, with the share of the samples in it divided by its width."""
        return [
            {
                "score": self.first + place * self.width,
                "density": count / (sum(self.counts) * self.width),
            }
            for place, count in enumerate(self.counts)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sized:
    """The positives that count, and the size of each sample.

    by: the source of the positives
    size: number of captions in a sample
    videos: number of videos in a sample; null if single captions are drawn
    """

    by: Annotated[str, Shown("Positives", write=BY.__getitem__)]
    size: Annotated[int, Shown("Captions", "count")]
    videos: Annotated[int | None, Shown("Videos", "count")]


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRow(Sized):
    """The scores of one run in samples of one size."""

    run: Run
    mean: Annotated[float, Shown("Mean, %", "percent")]
    deviation: float
    interval: Annotated[Ends, Shown("Middle {level} of samples, %", "percent")]
    smallest: Smallest
    histogram: Histogram


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRow(Sized):
    """The difference of two runs in samples of one size, and the smallest significant one."""

    first: Run
    second: OtherRun
    difference: Annotated[float, Shown("Difference, points", "points")]
    smallest: Smallest


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(results.WithIntervals):
    """Scores of sub-samples of captions.

    captions_per_video: the mean number; null if single captions are drawn
    """

    measure: str
    captions_per_video: float | None
    rows: list[SampleRow]
    pairs: list[PairRow]

    @property
    def varies(self) -> bool:
        return any(row.deviation > 0 for row in self.rows)

    def tables(self) -> list[Table]:
        without = () if self.by_video else ("videos",)
        return [
            self.table(
                "sub-samples",
                f"{self.measure} in sub-samples",
                SampleRow,
                self.rows,
                note=self._note(),
                columns="run by size videos mean interval smallest",
                without=without,
            ),
            self.table(
                "pairs",
                "Two systems on the same captions",
                PairRow,
                self.pairs,
                columns="first second by size videos difference smallest",
                without=without,
            ),
        ]

    def _note(self) -> str:
        if not self.varies:
            return (
                "All samples have the same score, because all captions have the same score, or "
                "because there is only one caption."
            )
        note = (
            "The smallest significant difference applies to two systems on different captions, "
            "whose scores both vary as much as those of the run."
        )
        if not self.by_video:
            return note
        return (
            f"{note} Each sample contains whole videos with {self.captions_per_video:.1f} captions "
            "each on average, and about as many captions as stated."
        )

    def warnings(self) -> list[str]:
        per_video = self.captions_per_video or 0
        small = sorted({row.size for row in self.rows if row.size < per_video})
        return self.few_measured_warnings("spread of the samples") + [
            f"Samples of {counted(size, 'caption')} are not possible. Each sample contains at "
            f"least one whole video, and a video has {per_video:.1f} captions on average."
            for size in small
        ]

    def charts(self) -> list[charts.Chart]:
        if not self.varies:
            return []
        run = charts.name_of("run")
        score = charts.quantity(
            "score", self.measure, axis={"format": charts.PERCENT}, scale={"zero": False}
        )
        sampled = {
            "width": 280,
            "height": 160,
            "mark": {"type": "area", "opacity": 0.45, "line": True, "interpolate": "monotone"},
            "encoding": {
                "x": score,
                "y": charts.quantity("density", "", axis=None, stack=None),
                "color": run,
            },
        }
        densities = [
            {"run": row.run, "captions": row.size, **point}
            for row in self.rows
            if row.by == "labelled"
            for point in row.histogram.density
        ]
        return [
            charts.Chart(
                "sub-samples",
                f"{self.measure} by the labels in sub-samples",
                "There is a chart for each number of captions. It shows the distribution of each "
                "run’s scores. With more captions, the distributions are narrower and overlap "
                "less.",
                {
                    "data": {"values": densities},
                    "facet": {
                        "field": "captions",
                        "type": "ordinal",
                        "title": "Captions per sample",
                    },
                    "columns": 3,
                    "spec": sampled,
                },
            ),
            charts.Chart(
                "smallest",
                "Smallest significant difference",
                "Falling lines for each run, by the labels and by the original positives: the "
                "smallest significant difference over the number of captions.",
                charts.dashed_lines(
                    [{**row, "by": BY[row["by"]]} for row in as_json(self.rows)],
                    charts.name_of("by", "Positives", order=list(BY.values())),
                    x=charts.quantity(
                        "size", "Captions (log)", scale={"type": "log", "nice": False}
                    ),
                    y=charts.quantity(
                        "smallest", "Smallest significant difference", axis={"format": ".1%"}
                    ),
                    color=run,
                ),
            ),
        ]


Pair = tuple[str, str]


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    rows: list[SampleRow] = []
    pairs: list[PairRow] = []
    rng = np.random.default_rng(options.seed)
    clusters = inputs.clusters(options.unit)
    sizes = {size: _videos_to_draw(size, clusters) for size in options.sizes}
    level = options.confidence
    tail = (1 - level) / 2
    for place, (by, judged) in enumerate(
        (("labelled", inputs.judged), ("original", inputs.original))
    ):
        values = inputs.values(judged, options.measure)
        for number, (size, videos) in enumerate(sizes.items()):
            progress(place * len(sizes) + number, 2 * len(sizes), "drawing")
            runs, differences = _draw(values, size, clusters, options.resamples, rng)
            rows += [
                SampleRow(
                    run=name,
                    by=by,
                    size=size,
                    videos=videos,
                    mean=runs[name].mean,
                    deviation=runs[name].deviation,
                    interval=runs[name].quantiles([tail, 1 - tail]).tolist(),
                    smallest=smallest_independent_difference(runs[name], confidence=level),
                    histogram=_histogram(runs[name]),
                )
                for name in values
            ]
            for (one, other), drawn in differences.items():
                difference = values[one] - values[other]
                smallest = smallest_tested_difference(drawn, difference, confidence=level)
                pairs.append(
                    PairRow(
                        first=one,
                        second=other,
                        by=by,
                        size=size,
                        videos=videos,
                        difference=float(difference.mean()),
                        smallest=smallest,
                    )
                )
    return Result(
        measure=options.measure,
        confidence=level,
        **resampled_by(inputs, options.unit),
        captions_per_video=None if clusters is None else len(clusters) / len(np.unique(clusters)),
        rows=rows,
        pairs=pairs,
    )


def _videos_to_draw(size: int, clusters: IntArray | None) -> int | None:
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
            (first, second): draw_sub_samples(
                values[first] - values[second], size, resamples, rng=rng
            )
            for first, second in pairs
        }
    drawn = draw_cluster_sub_samples(
        np.stack(list(values.values())), size, resamples, rng=rng, clusters=clusters
    )
    runs = dict(zip(values, drawn, strict=True))
    return runs, {pair: paired_sub_samples(runs[pair[0]], runs[pair[1]]) for pair in pairs}


def _histogram(drawn: SubSamples) -> Histogram:
    """Return a histogram whose bins are a whole number of captions wide.

    A share such as C@k is a number of captions divided by the size of the sample. Bins of another
    width would contain different numbers of its possible values.
    """
    span = float(drawn.means.max() - drawn.means.min())
    width = max(1, math.ceil(span * drawn.size / PARTS)) / drawn.size
    # If the width is an even number of captions, the edges of bins are possible scores. Rounding
    # errors must not move these scores to another bin.
    places = np.floor(drawn.means / width + 0.5 + ROUNDING).astype(np.int64)
    first = int(places.min())
    return Histogram(first * width, width, np.bincount(places - first).tolist())


BOOTSTRAP = Analysis(
    name="bootstrap",
    title="Sub-samples of captions",
    question="How small a difference between systems can a given number of captions show?",
    source="FIRE study, section 4.3, figures 4, 9 and 10",
    options=Options,
    result=Result,
    compute=_compute,
    notes=(
        "Captions, or whole videos with all their captions, are drawn with replacement many "
        "times. Each run is scored on each sample.",
        "The smallest significant difference is the standard deviation of the difference times the "
        "normal quantile of the confidence (1.96 for 95 %). For two systems on different captions, "
        "the deviation is that of one system times √2. For two systems on the same captions, it is "
        "the deviation that the paired differences would have if both systems had the same mean, "
        "which is the null hypothesis of a test. This deviation is smaller. The analysis “Plan "
        "the judging” uses the same variances.",
        "A true difference of this size is significant in only half of all samples. Use the "
        "analysis “Plan the judging” for a higher power.",
    ),
)

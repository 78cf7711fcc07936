"""The correlation of every two proxies: over all captions, and over all videos."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Annotated

import numpy as np

from evaluation.core.arrays import IntArray
from evaluation.core.graded.comparison import correlate
from evaluation.core.statistics.resampling import mean_interval
from evaluation.lab.analyses import charts, options, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.pair_charts import pair_charts
from evaluation.lab.analyses.proxy_inputs import LoadedProxy, load_proxies
from evaluation.lab.analyses.results import Tabled
from evaluation.lab.analyses.rows import CoefficientInterval, Score, Shown
from hearth.shared.progress import Progress

# The items that a correlation is computed over, by the direction of retrieval.
VIDEOS, CAPTIONS = "video-to-text", "text-to-video"
OVER = {VIDEOS: "all captions, for each video", CAPTIONS: "all videos, for each caption"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Options):
    proxies: options.Proxies = ()
    confidence: options.Confidence = 0.95
    resamples: options.NumberOfResamples = 1000
    seed: options.Seed = 0


@dataclass(frozen=True, slots=True)
class CorrelationRow:
    """The mean correlation of two proxies in one direction.

    queries: number of videos, or of captions, that have a correlation. left_out: number of the
    others, for which all values of a proxy are equal.
    """

    proxies: list[str]
    direction: Annotated[str, Shown("Over", key="over", write=OVER.__getitem__)]
    correlation: Annotated[Score, Shown("Mean correlation", "coefficient")]
    interval: CoefficientInterval
    queries: Annotated[int, Shown("Videos or captions", "count")]
    left_out: Annotated[int, Shown("Left out", "count")]

    @property
    def first(self) -> Annotated[str, Shown("Proxy")]:
        return self.proxies[0]

    @property
    def second(self) -> Annotated[str, Shown("Other proxy")]:
        return self.proxies[1]


@dataclass(frozen=True, slots=True)
class Result(results.Result):
    confidence: float
    rows: Annotated[
        list[CorrelationRow],
        Tabled(
            "correlation",
            "Pearson’s correlation of every two proxies",
            columns="first second direction correlation interval queries left_out",
        ),
    ]

    def charts(self) -> list[charts.Chart]:
        rows = [
            {"names": row.proxies, "correlation": row.correlation}
            for row in self.rows
            if row.direction == VIDEOS
        ]
        title = "Correlation over all captions, mean of the videos"
        return pair_charts(rows, "proxy", "correlation", "correlation", title, ".2f")


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    pairs = list(combinations(load_proxies(inputs), 2))
    rows: list[CorrelationRow] = []
    for number, (first, second) in enumerate(pairs):
        progress(number, len(pairs), "correlating proxies")
        by_video = _row(VIDEOS, first.transposed, second.transposed, None, options)
        by_caption = _row(CAPTIONS, first, second, inputs.first_videos, options)
        rows += [by_video, by_caption]
    return Result(options.confidence, rows)


def _row(
    direction: str,
    first: LoadedProxy,
    second: LoadedProxy,
    clusters: IntArray | None,
    options: Options,
) -> CorrelationRow:
    found = correlate(first.values, second.values)
    interval = mean_interval(
        found.values,
        options.resamples,
        rng=np.random.default_rng(options.seed),
        confidence=options.confidence,
        clusters=None if clusters is None else clusters[found.queries],
    )
    return CorrelationRow(
        [first.name, second.name],
        direction,
        found.mean().value,
        interval.ends,
        len(found.queries),
        found.left_out,
    )


PROXY_CORRELATION = Analysis(
    name="proxy-correlation",
    title="Correlation of proxies",
    question="Do the proxies agree on which captions are similar to a video?",
    options=Options,
    result=Result,
    compute=_compute,
    selects=(),
    runs_needed=0,
    proxies_needed=2,
    notes=(
        "For each video, Pearson’s correlation of two proxies is computed over all captions. The "
        "mean over the videos is shown, as in figure 8 of Wray et al. (2021). For the other "
        "direction, the correlation over all videos is computed for each caption, and the mean "
        "over the captions is shown. Original positives are included.",
        "A video or caption for which all values of a proxy are equal has no correlation and is "
        "left out. Two proxies that correlate can both be wrong: “Proxies against people” compares "
        "them with labels.",
        "Intervals resample videos; each video keeps its captions.",
    ),
)

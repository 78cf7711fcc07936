"""The correlation of every two proxies: over all captions, and over all videos."""

from __future__ import annotations

from itertools import combinations
from typing import TypedDict

import numpy as np

from evaluation.core.arrays import IntArray
from evaluation.core.graded.comparison import correlate
from evaluation.core.statistics.resampling import mean_interval
from evaluation.lab.analyses.charts import Chart
from evaluation.lab.analyses.fields import (
    confidence_field,
    proxies_field,
    resamples_field,
    seed_field,
)
from evaluation.lab.analyses.forms import AnalysisForm
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.intervals import interval_title
from evaluation.lab.analyses.old_analysis import Analysis
from evaluation.lab.analyses.old_results import Ends
from evaluation.lab.analyses.pair_charts import pair_charts
from evaluation.lab.analyses.proxy_inputs import LoadedProxy, ProxyOptions, load_proxies
from evaluation.lab.analyses.tables import Column, Table
from hearth.shared.progress import Progress

# The items that a correlation is computed over, by the direction of retrieval.
VIDEOS, CAPTIONS = "video-to-text", "text-to-video"
OVER = {VIDEOS: "all captions, for each video", CAPTIONS: "all videos, for each caption"}


class CorrelationForm(AnalysisForm):
    labels = only = runs = None
    proxies = proxies_field()
    confidence = confidence_field()
    resamples = resamples_field(1000)
    seed = seed_field()


class CorrelationOptions(ProxyOptions):
    confidence: float
    resamples: int
    seed: int


class CorrelationRow(TypedDict):
    """The mean correlation of two proxies in one direction, a key of `OVER`.

    queries: number of videos, or of captions, that have a correlation. left_out: number of the
    others, for which all values of a proxy are equal.
    """

    proxies: list[str]
    direction: str
    correlation: float | None
    interval: Ends | None
    queries: int
    left_out: int


class CorrelationResult(TypedDict):
    confidence: float
    rows: list[CorrelationRow]


def _compute(inputs: Inputs, options: CorrelationOptions, progress: Progress) -> CorrelationResult:
    pairs = list(combinations(load_proxies(inputs), 2))
    rows: list[CorrelationRow] = []
    for number, (first, second) in enumerate(pairs):
        progress(number, len(pairs), "correlating proxies")
        by_video = _row(VIDEOS, first.transposed, second.transposed, None, options)
        by_caption = _row(CAPTIONS, first, second, inputs.first_videos, options)
        rows += [by_video, by_caption]
    return {"confidence": options["confidence"], "rows": rows}


def _row(
    direction: str,
    first: LoadedProxy,
    second: LoadedProxy,
    clusters: IntArray | None,
    options: CorrelationOptions,
) -> CorrelationRow:
    found = correlate(first.values, second.values)
    interval = mean_interval(
        found.values,
        options["resamples"],
        rng=np.random.default_rng(options["seed"]),
        confidence=options["confidence"],
        clusters=None if clusters is None else clusters[found.queries],
    )
    return {
        "proxies": [first.name, second.name],
        "direction": direction,
        "correlation": found.mean().value,
        "interval": interval.ends,
        "queries": len(found.queries),
        "left_out": found.left_out,
    }


def _tables(result: CorrelationResult) -> list[Table]:
    rows = [
        {
            **row,
            "first": row["proxies"][0],
            "second": row["proxies"][1],
            "over": OVER[row["direction"]],
        }
        for row in result["rows"]
    ]
    return [
        Table(
            "correlation",
            "Pearson’s correlation of every two proxies",
            [
                Column("first", "Proxy"),
                Column("second", "Other proxy"),
                Column("over", "Over"),
                Column("correlation", "Mean correlation", "coefficient"),
                Column("interval", interval_title(result["confidence"]), "coefficient"),
                Column("queries", "Videos or captions", "count"),
                Column("left_out", "Left out", "count"),
            ],
            rows,
        )
    ]


def _charts(result: CorrelationResult) -> list[Chart]:
    rows = [
        {"names": row["proxies"], "correlation": row["correlation"]}
        for row in result["rows"]
        if row["direction"] == VIDEOS
    ]
    title = "Correlation over all captions, mean of the videos"
    return pair_charts(rows, "proxy", "correlation", "correlation", title, ".2f")


PROXY_CORRELATION = Analysis(
    name="proxy-correlation",
    title="Correlation of proxies",
    question="Do the proxies agree on which captions are similar to a video?",
    form=CorrelationForm,
    compute=_compute,
    tables=_tables,
    charts=_charts,
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

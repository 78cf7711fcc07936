"""The number of captions that a proxy calls relevant for a video, by threshold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from evaluation.core.graded.comparison import pairs_above
from evaluation.lab.analyses import charts, options, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.proxy_inputs import load_proxies
from evaluation.lab.analyses.results import Tabled
from evaluation.lab.analyses.rows import ProxyName, Shown, row_of
from hearth.shared.options import Option
from hearth.shared.progress import Progress
from pooling.selectors.arrays import original_positives

Step = Annotated[
    float,
    Option(
        "Step between thresholds",
        "For example, 0.05 gives the thresholds 0.05, 0.1, 0.15 … 1.",
        low=0.01,
        high=0.5,
    ),
]


def thresholds_of(step: float) -> list[float]:
    """Return the multiples of the step up to 1. If 1 is not one of them, it is added."""
    found = [round(number * step, 6) for number in range(1, math.floor(1 / step + 1e-9) + 1)]
    return found if found[-1] == 1 else [*found, 1.0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Options):
    proxies: options.Proxies = ()
    step: Step = 0.05


@dataclass(frozen=True, slots=True)
class ThresholdRow:
    """The pairs that a proxy calls relevant at a threshold."""

    proxy: ProxyName
    threshold: Annotated[float, Shown("Threshold", "coefficient")]
    captions_per_video: Annotated[float, Shown("Captions per video", "number")]
    videos_per_caption: Annotated[float, Shown("Videos per caption", "number")]
    pairs: Annotated[int, Shown("Pairs", "count")]
    share: Annotated[float, Shown("Of all pairs, %", "percent")]
    own: Annotated[int, Shown("Original positives", "count")]
    lonely_captions: Annotated[int, Shown("Captions with only their own video", "count")]
    lonely_videos: Annotated[int, Shown("Videos with only their own captions", "count")]


@dataclass(frozen=True, slots=True)
class Result(results.Result):
    captions: int
    videos: int
    own: int
    rows: Annotated[
        list[ThresholdRow],
        Tabled(
            "thresholds",
            "Pairs that a proxy calls relevant, by threshold",
            "{videos:,} videos, {captions:,} captions, {own:,} original positives.",
        ),
    ]

    def charts(self) -> list[charts.Chart]:
        return [
            charts.Chart(
                "thresholds",
                "Captions that are relevant to a video, by threshold",
                "A falling line for each proxy: the mean number, per video, of captions whose "
                "value is at least the threshold. The scale of the numbers is logarithmic.",
                charts.lines(
                    self.rows,
                    charts.quantity("threshold", "Threshold", scale={"domain": [0, 1]}),
                    charts.count("captions_per_video", "Captions per video (log)"),
                    charts.name_of("proxy"),
                ),
            )
        ]


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    own, space = original_positives(inputs.benchmark), inputs.benchmark.pair_space
    proxies = load_proxies(inputs)
    rows: list[ThresholdRow] = []
    for number, proxy in enumerate(proxies):
        progress(number, len(proxies), "counting pairs")
        rows += [
            row_of(
                ThresholdRow,
                above,
                proxy=proxy.name,
                share=above.pairs / space.n_pairs,
                captions_per_video=above.pairs / space.n_videos,
                videos_per_caption=above.pairs / space.n_queries,
                lonely_captions=above.lonely_queries,
                lonely_videos=above.lonely_items,
            )
            for above in pairs_above(proxy.values, own, thresholds_of(options.step))
        ]
    return Result(space.n_queries, space.n_videos, len(own[0]), rows)


PROXY_THRESHOLDS = Analysis(
    name="proxy-thresholds",
    title="Thresholds of proxies",
    question="How many captions match a video by a proxy, at each threshold?",
    options=Options,
    result=Result,
    compute=_compute,
    selects=(),
    runs_needed=0,
    proxies_needed=1,
    notes=(
        "A proxy calls a caption and a video relevant if its value is at least the threshold. The "
        "counts contain the original positives, as in figure 4 of Wray et al. (2021). If the "
        "option “Value of own captions” of a proxy is 1, the value of each original positive is 1.",
        "If nearly all captions match no video but their own, the proxy hardly changes how "
        "retrieval is scored. If the number of captions per video is large, hardly any ranked "
        "video is wrong. This analysis shows only how many pairs a threshold selects. The analysis "
        "“Proxies against people” shows which of these pairs are confirmed by people.",
    ),
)

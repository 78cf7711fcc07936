"""The number of captions that a proxy calls relevant for a video, by threshold."""

from __future__ import annotations

from typing import TypedDict

from evaluation.core.graded.comparison import PairsAbove, pairs_above
from evaluation.lab.analyses.charts import LINES, Chart, count, name_of, quantity, spec
from evaluation.lab.analyses.fields import proxies_field
from evaluation.lab.analyses.forms import AnalysisForm
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.old_analysis import Analysis
from evaluation.lab.analyses.proxy_inputs import LoadedProxy, ProxyOptions, load_proxies
from evaluation.lab.analyses.tables import Column, Table
from evaluation.lab.analyses.thresholds import step_field, thresholds_of
from hearth.shared.progress import Progress
from pooling.selectors.arrays import original_positives


class ThresholdsForm(AnalysisForm):
    labels = only = runs = None
    proxies = proxies_field()
    step = step_field()


class ThresholdsOptions(ProxyOptions):
    step: float


class ThresholdRow(TypedDict):
    """The pairs that a proxy calls relevant at a threshold.

    share: `pairs` divided by the number of all pairs. own: number of original positives among the
    pairs. lonely_captions, lonely_videos: number of captions that match no video but their own, and
    number of videos that match no caption but their own.
    """

    proxy: str
    threshold: float
    pairs: int
    share: float
    own: int
    captions_per_video: float
    videos_per_caption: float
    lonely_captions: int
    lonely_videos: int


class ThresholdsResult(TypedDict):
    captions: int
    videos: int
    own: int
    rows: list[ThresholdRow]


def _compute(inputs: Inputs, options: ThresholdsOptions, progress: Progress) -> ThresholdsResult:
    own = original_positives(inputs.benchmark)
    proxies = load_proxies(inputs)
    rows: list[ThresholdRow] = []
    for number, proxy in enumerate(proxies):
        progress(number, len(proxies), "counting pairs")
        found = pairs_above(proxy.values, own, thresholds_of(options["step"]))
        rows += [_row(proxy, above) for above in found]
    space = inputs.benchmark.pair_space
    return {
        "captions": space.n_queries,
        "videos": space.n_videos,
        "own": len(own[0]),
        "rows": rows,
    }


def _row(proxy: LoadedProxy, above: PairsAbove) -> ThresholdRow:
    space = proxy.space
    return {
        "proxy": proxy.name,
        "threshold": above.threshold,
        "pairs": above.pairs,
        "share": above.pairs / space.n_pairs,
        "own": above.own,
        "captions_per_video": above.pairs / space.n_videos,
        "videos_per_caption": above.pairs / space.n_queries,
        "lonely_captions": above.lonely_queries,
        "lonely_videos": above.lonely_items,
    }


def _tables(result: ThresholdsResult) -> list[Table]:
    return [
        Table(
            "thresholds",
            "Pairs that a proxy calls relevant, by threshold",
            [
                Column("proxy", "Proxy"),
                Column("threshold", "Threshold", "coefficient"),
                Column("captions_per_video", "Captions per video", "number"),
                Column("videos_per_caption", "Videos per caption", "number"),
                Column("pairs", "Pairs", "count"),
                Column("share", "Of all pairs, %", "percent"),
                Column("own", "Original positives", "count"),
                Column("lonely_captions", "Captions with only their own video", "count"),
                Column("lonely_videos", "Videos with only their own captions", "count"),
            ],
            result["rows"],
            note=f"{result['videos']:,} videos, {result['captions']:,} captions, "
            f"{result['own']:,} original positives.",
        )
    ]


def _charts(result: ThresholdsResult) -> list[Chart]:
    return [
        Chart(
            "thresholds",
            "Captions that are relevant to a video, by threshold",
            "A falling line for each proxy: the mean number, per video, of captions whose value "
            "is at least the threshold. The scale of the numbers is logarithmic.",
            spec(
                result["rows"],
                LINES,
                x=quantity("threshold", "Threshold", scale={"domain": [0, 1]}),
                y=count("captions_per_video", "Captions per video (log)"),
                color=name_of("proxy"),
            ),
        )
    ]


PROXY_THRESHOLDS = Analysis(
    name="proxy-thresholds",
    title="Thresholds of proxies",
    question="How many captions match a video by a proxy, at each threshold?",
    form=ThresholdsForm,
    compute=_compute,
    tables=_tables,
    charts=_charts,
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

"""Tables and charts of nDCG with proxies as relevance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from evaluation.core.graded.scoring import Gain
from evaluation.lab.analyses.charts import DOTS, PERCENT, Chart, name_of, quantity
from evaluation.lab.analyses.old_results import Row
from evaluation.lab.analyses.tables import Column, Table
from hearth.shared.words import counted
from pooling.core.direction import Direction

GAINS = {Gain.PAPER.value: "2^relevance − 1", Gain.LINEAR.value: "relevance"}
MEAN = "mean of both"
# The orders of the chart, by the keys of their nDCG.
ORDERS = {"ndcg": "of the run", "random": "random"}


class GainFigures(TypedDict):
    """Means over the captions or videos, 0 to 1; null if undefined."""

    ndcg: float | None
    random: float | None
    above_random: float | None


class _Scores(TypedDict):
    """Scores by one proxy. The keys of `gains` are the names of the gains."""

    proxy: str
    run: str
    gains: dict[str, GainFigures]
    epic_map: float | None
    full_ap: float | None


class NdcgRow(_Scores):
    """The scores of one run in its direction by one proxy.

    depth: the number of ranks that are known, of `items` ranks. queries: number of captions or
    videos with an item whose relevance is above 0. left_out: number of the other captions or
    videos. without_full: number of captions or videos without an item of relevance 1, which both
    kinds of average precision leave out.
    """

    direction: str
    depth: int
    items: int
    queries: int
    left_out: int
    without_full: int


class BothRow(_Scores):
    """The means of both directions. run: the text-to-video run. to_text: the video-to-text run."""

    to_text: str


class ProxyNdcgResult(TypedDict):
    """The tables and charts use the gain `gain`; the rows have both gains."""

    gain: str
    rows: list[NdcgRow]
    both: list[BothRow]


def tables(result: ProxyNdcgResult) -> list[Table]:
    gain = result["gain"]
    return [
        _by_proxy(result),
        Table(
            "both",
            f"Both directions, gain {GAINS[gain]}",
            [
                Column("run", "Run"),
                Column("proxy", "Proxy"),
                Column("to_video", "Text to video, %", "percent"),
                Column("to_text", "Video to text, %", "percent"),
                Column("ndcg", "Mean nDCG, %", "percent"),
                Column("random", "Random, %", "percent"),
                Column("above_random", "Above random, %", "percent"),
                Column("epic_map", "mAP (EPIC code), %", "percent"),
                Column("full_ap", "AP at R = 1, %", "percent"),
            ],
            _both_rows(result),
            note="" if result["both"] else "No system has a run of each direction.",
        ),
        Table(
            "directions",
            f"Each run in its direction, gain {GAINS[gain]}",
            [
                Column("run", "Run"),
                Column("direction", "Direction"),
                Column("proxy", "Proxy"),
                Column("ndcg", "nDCG, %", "percent"),
                Column("random", "Random, %", "percent"),
                Column("above_random", "Above random, %", "percent"),
                Column("epic_map", "mAP (EPIC code), %", "percent"),
                Column("full_ap", "AP at R = 1, %", "percent"),
                Column("queries", "Scored", "count"),
                Column("left_out", "Left out", "count"),
                Column("without_full", "Without R = 1", "count"),
                Column("depth", "Ranks scored", "count"),
                Column("items", "All ranks", "count"),
            ],
            [{**row, **row["gains"][gain]} for row in result["rows"]],
        ),
    ]


def _by_proxy(result: ProxyNdcgResult) -> Table:
    """Return a table like table 3 of Wray et al. (2021).

    Each proxy has a column. The random orders are listed first.
    """
    rows: dict[tuple[str, bool, str], Row] = {}
    for of, scores in _in_all_directions(result):
        figures = scores["gains"][result["gain"]]
        orders = (
            (False, _random_name(result, scores), figures["random"]),
            (True, scores["run"], figures["ndcg"]),
        )
        for is_run, name, value in orders:
            row = rows.setdefault((of, is_run, name), {"run": name, "direction": of})
            rows[of, is_run, name] = {**row, f"ndcg:{scores['proxy']}": value}
    parts = [MEAN, *(direction.value for direction in Direction)]
    return Table(
        "by-proxy",
        f"nDCG by each proxy, gain {GAINS[result['gain']]}",
        [
            Column("run", "Run"),
            Column("direction", "Direction"),
            *(Column(f"ndcg:{name}", f"{name}, %", "percent") for name in _proxies(result)),
        ],
        [rows[at] for at in sorted(rows, key=lambda at: (parts.index(at[0]), at[1]))],
        note=" ".join(_left_out_warnings(result)) or "No caption or video is left out.",
    )


def _in_all_directions(result: ProxyNdcgResult) -> list[tuple[str, NdcgRow | BothRow]]:
    """Return all scores, each with its direction, or with MEAN for those of both directions."""
    rows: list[tuple[str, NdcgRow | BothRow]] = [(row["direction"], row) for row in result["rows"]]
    return rows + [(MEAN, row) for row in result["both"]]


def _random_name(result: ProxyNdcgResult, scores: NdcgRow | BothRow) -> str:
    """Return the name of a random order in the table of `_by_proxy`.

    It contains the name of the run if the lists of the run do not have all items. The random order
    then ends at the same depth, which lowers its nDCG.
    """
    is_cut = not _depths_of_lists(result).keys().isdisjoint((scores["run"], scores.get("to_text")))
    return f"Random, to the depth of {scores['run']}" if is_cut else "Random"


def _proxies(result: ProxyNdcgResult) -> list[str]:
    return list(dict.fromkeys(row["proxy"] for row in result["rows"]))


def _both_rows(result: ProxyNdcgResult) -> list[Row]:
    gain = result["gain"]
    ndcg = {(row["run"], row["proxy"]): row["gains"][gain]["ndcg"] for row in result["rows"]}
    return [
        {
            **row,
            **row["gains"][gain],
            "to_video": ndcg[row["run"], row["proxy"]],
            "to_text": ndcg[row["to_text"], row["proxy"]],
        }
        for row in result["both"]
    ]


def charts(result: ProxyNdcgResult) -> list[Chart]:
    rows: list[Row] = []
    for of, row in _in_all_directions(result):
        figures: Row = row["gains"][result["gain"]]
        names = {"of": of, "run": row["run"], "proxy": row["proxy"]}
        rows += [{**names, "order": ORDERS[key], "value": figures[key]} for key in ORDERS]
    shown = {row["of"] for row in rows}
    parts = [of for of in (*(direction.value for direction in Direction), MEAN) if of in shown]
    shapes = {"domain": list(ORDERS.values()), "range": ["circle", "triangle-up"]}
    view = {
        "width": 640,
        "height": {"step": 26},
        "mark": DOTS,
        "encoding": {
            "y": name_of("run"),
            "x": quantity("value", "nDCG", axis={"format": PERCENT}, scale={"zero": False}),
            "color": name_of("proxy", "Proxy", _proxies(result)),
            "shape": {**name_of("order", "Order"), "scale": shapes},
        },
    }
    return [
        Chart(
            "ndcg",
            "nDCG by each proxy",
            "A dot for each run and proxy at its nDCG, for each direction and for the mean of "
            "both. A triangle in the same colour shows the nDCG of a random order.",
            {
                "data": {"values": rows},
                "facet": name_of("of", order=parts),
                "columns": 1,
                # Each direction has the names of its own runs.
                "resolve": {"scale": {"y": "independent"}},
                "spec": view,
            },
        )
    ]


def warnings(result: ProxyNdcgResult) -> list[str]:
    return [*_list_warnings(result), *_left_out_warnings(result)]


def _depths_of_lists(result: ProxyNdcgResult) -> Mapping[str, int]:
    """Return the depth of each run whose lists do not have all items."""
    return {row["run"]: row["depth"] for row in result["rows"] if row["depth"] < row["items"]}


def _list_warnings(result: ProxyNdcgResult) -> list[str]:
    return [
        f"{run} has only lists and is scored to rank {depth:,}. Its nDCG and that of a random "
        "order are lower than with all ranks."
        for run, depth in _depths_of_lists(result).items()
    ]


def _left_out_warnings(result: ProxyNdcgResult) -> list[str]:
    found = {
        (row["proxy"], row["direction"]): row["left_out"]
        for row in result["rows"]
        if row["left_out"]
    }
    return [
        f"By {proxy}, {counted(number, 'caption' if direction == 'text-to-video' else 'video')} "
        f"without a relevance above 0 {'is' if number == 1 else 'are'} left out ({direction})."
        for (proxy, direction), number in found.items()
    ]

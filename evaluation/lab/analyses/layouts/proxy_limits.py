"""Tables and charts of recall with its limits by proxies."""

from __future__ import annotations

from typing import TypedDict

from evaluation.lab.analyses.charts import DOTS, PERCENT, RULES, Chart, name_of, quantity
from evaluation.lab.analyses.old_results import Row
from evaluation.lab.analyses.tables import Column, Table
from hearth.shared.words import counted

# The kinds of recall in the rows, with their titles.
KINDS = {
    "lower": "lower limit",
    "own": "original positives",
    "upper": "upper limit",
}


class LimitsRow(TypedDict):
    """The geometric mean of the recalls of one run, and its limits by one proxy, 0 to 1.

    recalls: the recall at each cutoff, by the keys of KINDS. equivalent: mean number of equivalent
    items, the original ones included. left_out: number of captions or videos without an original
    positive.
    """

    proxy: str
    run: str
    direction: str
    own: float | None
    lower: float | None
    upper: float | None
    recalls: dict[str, list[float | None]]
    equivalent: float | None
    queries: int
    left_out: int


class ProxyLimitsResult(TypedDict):
    """The recalls of all runs.

    cutoffs: the cutoffs of the recalls in each mean. left_out: the requested cutoffs that are
    greater than the length of the lists of the runs in `short`.
    """

    threshold: float
    cutoffs: list[int]
    left_out: list[int]
    short: list[str]
    rows: list[LimitsRow]


def tables(result: ProxyLimitsResult) -> list[Table]:
    return [
        Table(
            "limits",
            f"Geometric mean recall, relevance above {result['threshold']:g}",
            [
                Column("run", "Run"),
                Column("direction", "Direction"),
                Column("proxy", "Proxy"),
                Column("lower", "Lower limit, %", "percent"),
                Column("own", "Original positives, %", "percent"),
                Column("upper", "Upper limit, %", "percent"),
                Column("equivalent", "Equivalent items", "number"),
                Column("queries", "Scored", "count"),
                Column("left_out", "Left out", "count"),
            ],
            result["rows"],
        ),
        Table(
            "recalls",
            "Recall at each cutoff",
            [
                Column("run", "Run"),
                Column("direction", "Direction"),
                Column("proxy", "Proxy"),
                Column("kind", "Recall"),
                *(
                    Column(f"at_{cutoff}", f"R@{cutoff}, %", "percent")
                    for cutoff in result["cutoffs"]
                ),
            ],
            _recall_rows(result),
        ),
    ]


def _recall_rows(result: ProxyLimitsResult) -> list[Row]:
    return [
        {
            **row,
            "kind": title,
            **{
                f"at_{cutoff}": recall
                for cutoff, recall in zip(result["cutoffs"], row["recalls"][kind], strict=True)
            },
        }
        for row in result["rows"]
        for kind, title in KINDS.items()
    ]


def charts(result: ProxyLimitsResult) -> list[Chart]:
    rows = result["rows"]
    recall = quantity(
        "own", "Geometric mean recall", axis={"format": PERCENT}, scale={"zero": False}
    )
    proxies = list(dict.fromkeys(row["proxy"] for row in rows))
    view = {
        "width": 260,
        "height": {"step": 26},
        "encoding": {"y": name_of("run"), "color": name_of("direction", "Direction")},
        "layer": [
            {
                "mark": RULES,
                "encoding": {"x": {**recall, "field": "lower"}, "x2": {"field": "upper"}},
            },
            {"mark": DOTS, "encoding": {"x": recall}},
        ],
    }
    return [
        Chart(
            "limits",
            "Recall with its limits",
            "Each proxy has a dot for each run, at the geometric mean recall of the original "
            "positives. The dot is on a line from the lower to the upper limit.",
            {
                "data": {"values": rows},
                "facet": {**name_of("proxy", order=proxies), "header": {"labelLimit": 200}},
                "columns": 2,
                "spec": view,
            },
        )
    ]


def warnings(result: ProxyLimitsResult) -> list[str]:
    found = {row["direction"]: row["left_out"] for row in result["rows"] if row["left_out"]}
    return _short(result) + [
        f"{counted(number, 'caption' if direction == 'text-to-video' else 'video')} without an "
        f"original positive {'is' if number == 1 else 'are'} left out ({direction})."
        for direction, number in found.items()
    ]


def _short(result: ProxyLimitsResult) -> list[str]:
    if not result["left_out"]:
        return []
    recalls = ", ".join(f"R@{cutoff}" for cutoff in result["left_out"])
    be = "is" if len(result["left_out"]) == 1 else "are"
    return [
        f"{recalls} {be} left out for all runs, because the lists of {', '.join(result['short'])} "
        "are too short."
    ]

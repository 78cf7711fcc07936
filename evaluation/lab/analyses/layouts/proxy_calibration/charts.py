"""Charts of proxies compared with people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluation.lab.analyses.charts import (
    BAND,
    DOTS,
    LINES,
    ORIGINAL_POSITIVES,
    PERCENT,
    Chart,
    by_measure,
    horizontal_labels,
    low_high,
    name_of,
    offset,
    quantity,
    spans,
)
from evaluation.lab.analyses.layouts.proxy_calibration.findings import best_row
from evaluation.lab.analyses.layouts.proxy_calibration.results import (
    CalibrationResult,
)
from evaluation.lab.analyses.old_results import Row

CURVES = {"precision": "Precision", "recall": "Recall", "alpha": "Alpha"}
PEOPLE = "People"


def charts(result: CalibrationResult) -> list[Chart]:
    found = [_curve_chart(result)]
    if result["scores"]:
        found.append(_scores_chart(result))
    if any(row["auc"] is not None for row in result["lengths"]):
        found.append(_lengths_chart(result))
    return found


def _curve_chart(result: CalibrationResult) -> Chart:
    curve: Sequence[Row] = result["curve"]
    rows = [
        {
            "measure": title,
            "proxy": row["proxy"],
            "threshold": row["threshold"],
            "share": row[key],
            **_band(row, key),
        }
        for key, title in CURVES.items()
        for row in curve
    ]
    ends = {"y": {"field": "low", "type": "quantitative"}, "y2": {"field": "high"}}
    view: dict[str, Any] = {
        "width": 260,
        "height": 240,
        "encoding": {
            "x": quantity("threshold", "Threshold", scale={"domain": [0, 1]}),
            "color": name_of("proxy"),
        },
        "layer": [
            {"mark": BAND, "encoding": ends},
            {
                "mark": LINES,
                "encoding": {"y": quantity("share", "")},
            },
        ],
    }
    return Chart(
        "curve",
        "Proxies compared with people, by threshold",
        "Three charts over the threshold with a line for each proxy. With a higher threshold, "
        "precision usually rises and recall falls. Alpha is usually highest in between. Bands show "
        "intervals.",
        {**by_measure(rows, view, same_scale=True), "resolve": {"scale": {"y": "independent"}}},
    )


def _band(row: Row, key: str) -> dict[str, float | None]:
    """Return the ends of the interval, or the value twice if there is no interval, as for alpha.

    Vega cannot scale an axis if all its ends are undefined.
    """
    return low_high(row.get(f"{key}_interval") or [row[key], row[key]])


def _scores_chart(result: CalibrationResult) -> Chart:
    best = best_row(result)["proxy"]
    scores: Sequence[Row] = [row for row in result["scores"] if row["proxy"] == best]
    score = quantity("score", "Score", axis={"format": PERCENT}, scale={"zero": False})
    names = {"original": ORIGINAL_POSITIVES, "by_proxy": best, "by_people": PEOPLE}
    rows = [
        {"run": row["run"], "measure": row["measure"], "by": title, "score": row[key]}
        for row in scores
        for key, title in names.items()
    ]
    return Chart(
        "scores",
        f"Scores by {best} and by people",
        "Each measure has three dots for each run: the score by the original positives, by the "
        "proxy and by people.",
        by_measure(
            rows,
            {
                "width": 300,
                "height": {"step": 26},
                "mark": DOTS,
                "encoding": {
                    "x": score,
                    "y": name_of("run"),
                    "color": name_of("by", order=list(names.values())),
                },
            },
        ),
    )


def _lengths_chart(result: CalibrationResult) -> Chart:
    lengths: Sequence[Row] = result["lengths"]
    rows = [{**row, **low_high(row["auc_interval"])} for row in lengths]
    proxies = list(dict.fromkeys(row["proxy"] for row in rows))
    words = list(dict.fromkeys(row["words"] for row in rows))
    proxy = name_of("proxy", order=proxies)
    title = "AUC"
    scale = {"zero": False}
    line = {"x": quantity("low", title, scale=scale), "x2": {"field": "high"}}
    return Chart(
        "lengths",
        "AUC by the number of words of the caption",
        "Each group of captions of similar length has a dot for each proxy, on a line that shows "
        "its interval.",
        {
            "data": {"values": rows},
            "height": {"step": 20},
            "encoding": {
                "y": horizontal_labels("words", words, len(proxies)),
                "yOffset": offset(proxy),
                "color": proxy,
            },
            "layer": [
                *spans(rows, line),
                {
                    "mark": {"type": "point", "tooltip": True},
                    "encoding": {"x": quantity("auc", title, scale=scale)},
                },
            ],
        },
    )

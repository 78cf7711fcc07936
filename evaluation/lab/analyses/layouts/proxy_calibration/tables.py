"""Tables of proxies compared with people."""

from __future__ import annotations

from evaluation.lab.analyses.inputs import CAPTIONS
from evaluation.lab.analyses.intervals import interval_title, tau_columns, tau_note
from evaluation.lab.analyses.layouts.proxy_calibration.results import (
    CalibrationResult,
)
from evaluation.lab.analyses.tables import Column, Table
from hearth.shared.numbers import coefficient, ratio, with_percent
from hearth.shared.words import counted

LABELS = {"0": "0, not relevant", "1": "1, relevant"}


def tables(result: CalibrationResult) -> list[Table]:
    percent = interval_title(result["confidence"])
    found = [_proxies_table(result, percent)]
    if result["scores"]:
        found.append(_scores_table(result, percent))
    if any(row["runs"] > 1 for row in result["orders"]):
        found.append(_orders_table(result))
    return [
        *found,
        _ranking_table(result, percent),
        _curve_table(result, percent),
        _lengths_table(result, percent),
        _grades_table(result),
    ]


def _proxies_table(result: CalibrationResult, percent: str) -> Table:
    people = result["people_agreement"]
    left_out = (
        f"Left out: {counted(result['known'], 'original positive')}, "
        f"{counted(result['conflicted'], 'pair')} in conflict and "
        f"{counted(result['pending'], 'pending pair')}."
    )
    of_people = (
        ""
        if people is None
        else f" Two people agree on {with_percent(people)} of their pairs, with the alpha "
        f"{coefficient(result['people_alpha'])}."
    )
    return Table(
        "proxies",
        "Proxies, each at its threshold",
        [
            Column("proxy", "Proxy"),
            Column("method", "Method"),
            Column("threshold", "Threshold", "coefficient"),
            Column("threshold_interval", percent, "coefficient"),
            *_shares_at(percent),
            Column("f1", "F1, %", "percent"),
            Column("alpha", "Alpha", "coefficient"),
            Column("fitted_alpha", "Alpha on other videos", "coefficient"),
            Column("fitted_alpha_interval", percent, "coefficient"),
            Column("difference", "Highest alpha minus that of the best proxy", "coefficient"),
            Column("difference_interval", "Interval of the difference", "coefficient"),
            Column("agreement", "Proxy and people agree on other videos, %", "percent"),
            Column("agreement_interval", percent, "percent"),
        ],
        result["rows"],
        note=f"{counted(result['pairs'], 'judged pair')}, {result['relevant']:,} relevant. "
        f"{left_out}{of_people} The intervals of the differences are simultaneous: their "
        "confidence applies to all comparisons of two proxies at once.",
    )


def _shares_at(percent: str) -> list[Column]:
    return [
        Column("precision", "Precision, %", "percent"),
        Column("precision_interval", percent, "percent"),
        Column("recall", "Recall, %", "percent"),
        Column("recall_interval", percent, "percent"),
    ]


def _ranking_columns(percent: str) -> list[Column]:
    return [
        Column("auc", "AUC", "coefficient"),
        Column("auc_interval", percent, "coefficient"),
        Column("ap", "AP", "coefficient"),
        Column("ap_interval", percent, "coefficient"),
    ]


def _ranking_table(result: CalibrationResult, percent: str) -> Table:
    share = ratio(result["relevant"], result["pairs"])
    return Table(
        "ranking",
        "Without a threshold",
        [Column("proxy", "Proxy"), *_ranking_columns(percent)],
        result["rows"],
        note=f"By guessing, AUC is 0.5 and AP is the share of relevant pairs, {share}.",
    )


def _scores_table(result: CalibrationResult, percent: str) -> Table:
    return Table(
        "scores",
        "Scores by proxies and by people",
        [
            Column("proxy", "Proxy"),
            Column("run", "Run"),
            Column("measure", "Measure"),
            Column("original", "Original positives, %", "percent"),
            Column("by_proxy", "Proxy, %", "percent"),
            Column("by_people", "People, %", "percent"),
            Column("difference", "Proxy minus people", "points"),
            Column("interval", percent, "points"),
        ],
        result["scores"],
        note="Each proxy is used at its threshold in the first table.",
    )


def _orders_table(result: CalibrationResult) -> Table:
    n_runs = max((row["runs"] for row in result["orders"]), default=0)
    return Table(
        "orders",
        "The order of the runs by proxies and by people",
        [
            Column("proxy", "Proxy"),
            Column("measure", "Measure"),
            Column("runs", "Runs", "count"),
            *tau_columns(n_runs, Column("tau", "Kendall’s tau-b", "coefficient")),
            Column("mean", "Mean difference", "points"),
            Column("lowest", "Lowest", "points"),
            Column("highest", "Highest", "points"),
        ],
        result["orders"],
        note=f"Differences are proxy minus people, in points. {tau_note(n_runs)}".strip(),
    )


def _curve_table(result: CalibrationResult, percent: str) -> Table:
    return Table(
        "curve",
        "By threshold",
        [
            Column("proxy", "Proxy"),
            Column("threshold", "Threshold", "coefficient"),
            *_shares_at(percent),
            Column("f1", "F1, %", "percent"),
            Column("alpha", "Alpha", "coefficient"),
            Column("called", "Judged pairs called relevant", "count"),
            Column("correct", "Of these, relevant", "count"),
            Column("pairs", "All pairs called relevant", "count"),
            Column("unjudged", "Of these unjudged, %", "percent"),
        ],
        result["curve"],
    )


def _lengths_table(result: CalibrationResult, percent: str) -> Table:
    units = "Captions" if result["unit"] == CAPTIONS else "Videos"
    return Table(
        "lengths",
        "By the length of the caption",
        [
            Column("proxy", "Proxy"),
            Column("words", "Words"),
            Column("pairs", "Judged pairs", "count"),
            Column("relevant", "Relevant", "count"),
            Column("units", units, "count"),
            *_ranking_columns(percent),
            *_shares_at(percent),
        ],
        result["lengths"],
        note="Precision and recall are those at the threshold of the proxy in the first table.",
    )


def _grades_table(result: CalibrationResult) -> Table:
    rows = [{**row, "label": LABELS.get(row["label"], row["label"])} for row in result["grades"]]
    return Table(
        "grades",
        "Values of the proxies by people’s label",
        [
            Column("proxy", "Proxy"),
            Column("label", "Label"),
            Column("pairs", "Pairs", "count"),
            Column("mean", "Mean value", "coefficient"),
            Column("median", "Median", "coefficient"),
            Column("quartiles", "Middle half", "coefficient"),
        ],
        rows,
    )

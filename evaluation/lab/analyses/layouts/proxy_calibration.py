"""Tables, charts, findings and warnings of proxies compared with people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from config.shared.numbers import coefficient, points, ratio, with_percent
from config.shared.words import counted
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
from evaluation.lab.analyses.inputs import VIDEOS
from evaluation.lab.analyses.intervals import NAMES, few_units_warnings, interval_title
from evaluation.lab.analyses.results import Ends, Row, WithIntervals
from evaluation.lab.analyses.tables import Column, Table

FEW_RELEVANT = 50
# The lowest alpha of annotators for tentative conclusions (Krippendorff 2004, section 11.4). The
# limit is lower if two people do not reach it.
ALPHA_MIN = 0.667
LABELS = {"0": "0, not relevant", "1": "1, relevant"}
CURVES = {"precision": "Precision", "recall": "Recall", "alpha": "Alpha"}
PEOPLE = "People"


class SharesAt(TypedDict):
    """Precision and recall at a threshold."""

    precision: float | None
    precision_interval: Ends | None
    recall: float | None
    recall_interval: Ends | None


class RankingFigures(TypedDict):
    """AUC and AP, which need no threshold; null without relevant or irrelevant pairs."""

    auc: float | None
    auc_interval: Ends | None
    ap: float | None
    ap_interval: Ends | None


class ProxyRow(SharesAt, RankingFigures):
    """A proxy. threshold: the one with the highest alpha, or the entered one.

    fitted_alpha, agreement: with thresholds chosen on other videos; `agreement` is the share of the
    pairs with the same outcome. difference: of the highest alpha to that of the best proxy.
    """

    proxy: str
    method: str
    threshold: float
    threshold_interval: Ends | None
    f1: float
    alpha: float
    fitted_alpha: float | None
    fitted_alpha_interval: Ends | None
    agreement: float | None
    agreement_interval: Ends | None
    difference: float
    difference_interval: Ends | None


class CurveRow(SharesAt):
    """A proxy at one threshold.

    called: judged pairs that it calls relevant. correct: those that people judged relevant. pairs:
    all pairs that it calls relevant. unjudged: the share of these that no one judged.
    """

    proxy: str
    threshold: float
    called: int
    correct: int
    f1: float
    alpha: float
    pairs: int
    unjudged: float | None


class LengthRow(SharesAt, RankingFigures):
    """A proxy for captions of some lengths."""

    proxy: str
    words: str
    pairs: int
    relevant: int
    units: int


class GradeRow(TypedDict):
    """The values of a proxy for the pairs with one label. quartiles: the first and the third."""

    proxy: str
    label: str
    pairs: int
    mean: float
    median: float
    quartiles: Ends


class ScoreRow(TypedDict):
    """The score of a run by the original positives, by a proxy and by people."""

    proxy: str
    run: str
    measure: str
    original: float
    by_proxy: float
    by_people: float
    difference: float
    interval: Ends | None


class OrderRow(TypedDict):
    """The order of the runs by a proxy. mean, lowest, highest: differences to people's scores."""

    proxy: str
    measure: str
    runs: int
    tau: float | None
    mean: float
    lowest: float
    highest: float


class AmongPeople(TypedDict):
    """The agreement of two people: the share of equal labels, and alpha. Null if unknown."""

    people_agreement: float | None
    people_alpha: float | None


class CalibrationResult(AmongPeople, WithIntervals):
    """Proxies compared with people.

    pairs, relevant: judged pairs, and those that people judged relevant. known: original positives,
    which are left out. is_given: whether the threshold was entered.
    """

    pairs: int
    relevant: int
    known: int
    conflicted: int
    pending: int
    is_given: bool
    rows: list[ProxyRow]
    curve: list[CurveRow]
    lengths: list[LengthRow]
    grades: list[GradeRow]
    scores: list[ScoreRow]
    orders: list[OrderRow]


# --- Findings -------------------------------------------------------------------------------------


def best_row(result: CalibrationResult) -> ProxyRow:
    """Return the proxy with the highest alpha."""
    return max(result["rows"], key=lambda row: row["difference"])


def findings(result: CalibrationResult) -> list[str]:
    row = best_row(result)
    return [
        _best(result, row),
        _labels(result, row),
        *_others(result, row),
        *_order(result, row),
        _unjudged(result, row),
    ]


def _best(result: CalibrationResult, row: ProxyRow) -> str:
    name = f"{row['proxy']} at {row['threshold']:g}"
    between = row["threshold_interval"]
    if between and between[0] < between[1] and not result["is_given"]:
        name += f" (threshold {between[0]:g} to {between[1]:g})"
    value, interval = row["fitted_alpha"], row["fitted_alpha_interval"]
    of = "alpha" if result["is_given"] else "alpha on other videos"
    alpha = f"{of} is {coefficient(value)}"
    if interval:
        alpha += f" ({coefficient(interval[0])} to {coefficient(interval[1])})"
    if result["people_alpha"] is not None:
        alpha += f", that of two people is {coefficient(result['people_alpha'])}"
    if interval is None:
        return f"The proxy with the highest agreement is {name}, without an interval: {alpha}."
    limit = min(ALPHA_MIN, result["people_alpha"] or ALPHA_MIN)
    if interval[0] <= 0:
        reason = "because none clearly agrees with them more than by guessing"
    elif (value or 0) < limit:
        reason = f"because the alpha of each is below {coefficient(limit)}"
    else:
        return f"The proxy that agrees best with people is {name}: {alpha}."
    return f"No proxy can replace people, {reason}. The best is {name}: {alpha}."


def _labels(result: CalibrationResult, row: ProxyRow) -> str:
    return (
        f"People confirm {_share(row['precision'], row['precision_interval'])} of the judged pairs "
        f"that {row['proxy']} calls relevant, and it finds "
        f"{_share(row['recall'], row['recall_interval'])} of those that people judged relevant. "
        f"This is from {counted(result['pairs'], 'judged pair')} of "
        f"{counted(result['units'], NAMES[result['unit']])}, {result['relevant']:,} relevant."
    )


def _share(value: float | None, interval: Ends | None) -> str:
    if interval is None:
        return with_percent(value)
    low, high = (f"{100 * end:.1f}" for end in interval)
    return f"{with_percent(value)} ({low} to {high})"


def _others(result: CalibrationResult, best: ProxyRow) -> list[str]:
    others = [row for row in result["rows"] if row is not best]
    worse = [row["proxy"] for row in others if is_clearly_worse(row)]
    equal = [row["proxy"] for row in others if not is_clearly_worse(row)]
    parts = [f"Clearly worse: {', '.join(worse)}."] if worse else []
    parts += [f"Not clearly worse: {', '.join(equal)}."] if equal else []
    return [" ".join(parts)] if parts else []


def is_clearly_worse(row: ProxyRow) -> bool:
    interval = row["difference_interval"]
    return interval is not None and interval[1] < 0


def _order(result: CalibrationResult, best: ProxyRow) -> list[str]:
    order = next((row for row in result["orders"] if row["proxy"] == best["proxy"]), None)
    if order is None:
        return []
    scores = [
        row
        for row in result["scores"]
        if (row["proxy"], row["measure"]) == (order["proxy"], order["measure"])
    ]
    top = max(scores, key=lambda row: row["by_people"])
    text = (
        f"By {best['proxy']}, {top['run']} would have {order['measure']} "
        f"{with_percent(top['by_proxy'])}; people give it {with_percent(top['by_people'])}, and "
        f"the original positives {with_percent(top['original'])}."
    )
    if order["runs"] > 1:
        text += (
            f" Over all {order['runs']} runs, the difference to people is "
            f"{points(order['lowest'])} to {points(order['highest'])} points"
        )
        tau = order["tau"]
        text += "." if tau is None else f", and Kendall’s tau of their order is {coefficient(tau)}."
    return [text]


def _unjudged(result: CalibrationResult, best: ProxyRow) -> str:
    row = next(
        row
        for row in result["curve"]
        if (row["proxy"], row["threshold"]) == (best["proxy"], best["threshold"])
    )
    besides = "In addition to the original positives, " if result["known"] else ""
    return (
        f"{besides}{best['proxy']} calls {counted(row['pairs'], 'pair')} relevant. People judged "
        f"{ratio(row['called'], row['pairs'])} of them, so how many of the others are relevant is "
        "unknown."
    )


def warnings(result: CalibrationResult) -> list[str]:
    found = few_units_warnings(result)
    if result["relevant"] < FEW_RELEVANT:
        found.append(
            f"Only {counted(result['relevant'], 'judged pair')} that "
            f"{'is' if result['relevant'] == 1 else 'are'} no original "
            f"{'positive is' if result['relevant'] == 1 else 'positives are'} relevant. "
            "Recall is uncertain."
        )
    useless = [
        row["proxy"]
        for row in result["rows"]
        if row["auc_interval"] is not None and row["auc_interval"][0] <= 0.5
    ]
    if useless:
        found.append(
            "Not clearly better than guessing, because the interval of AUC contains 0.5 or is "
            f"below it: {', '.join(useless)}."
        )
    return found


# --- Tables ---------------------------------------------------------------------------------------


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
        f"{result['known']:,} original positives, {result['conflicted']:,} pairs in conflict and "
        f"{result['pending']:,} pending ones are left out."
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
            Column("difference", "Highest alpha minus the best", "coefficient"),
            Column("difference_interval", "Interval of the difference", "coefficient"),
            Column("agreement", "Same outcome on other videos, %", "percent"),
            Column("agreement_interval", percent, "percent"),
        ],
        result["rows"],
        note=f"{counted(result['pairs'], 'judged pair')}, {result['relevant']:,} relevant. "
        f"{left_out}{of_people} The intervals of the differences hold together for all pairs of "
        "proxies.",
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
        note="Each proxy at the threshold of the first table.",
    )


def _orders_table(result: CalibrationResult) -> Table:
    return Table(
        "orders",
        "The order of the runs by proxies and by people",
        [
            Column("proxy", "Proxy"),
            Column("measure", "Measure"),
            Column("runs", "Runs", "count"),
            Column("tau", "Kendall’s tau-b", "coefficient"),
            Column("mean", "Mean difference", "points"),
            Column("lowest", "Lowest", "points"),
            Column("highest", "Highest", "points"),
        ],
        result["orders"],
        note="Differences are proxy minus people, in points.",
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
    units = "Videos" if result["unit"] == VIDEOS else "Captions"
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
        note="Precision and recall at the threshold of the first table.",
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


# --- Charts ---------------------------------------------------------------------------------------


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
        "Three charts over the threshold with a line for each proxy: precision rises with the "
        "threshold, recall falls, and alpha is highest in between. Bands show intervals.",
        {**by_measure(rows, view, same_scale=True), "resolve": {"scale": {"y": "independent"}}},
    )


def _band(row: Row, key: str) -> dict[str, float | None]:
    """Return the ends of the interval, or the value twice without one, as for alpha.

    Vega cannot scale an axis without any end.
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
        "For each group of captions by length, a dot for each proxy on a line that shows its "
        "interval.",
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

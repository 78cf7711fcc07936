"""Findings and warnings of proxies compared with people."""

from __future__ import annotations

from evaluation.lab.analyses.intervals import NAMES, few_units_warnings, tau_note
from evaluation.lab.analyses.layouts.proxy_calibration.results import (
    CalibrationResult,
    ProxyRow,
)
from evaluation.lab.analyses.old_results import Ends
from hearth.shared.numbers import coefficient, points, ratio, with_percent
from hearth.shared.words import counted

FEW_RELEVANT = 50
# The lowest alpha of annotators for tentative conclusions (Krippendorff 2004, section 11.4). The
# limit is lower if two people do not reach it.
ALPHA_MIN = 0.667


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
    name = f"{row['proxy']} at the threshold {row['threshold']:g}"
    between = row["threshold_interval"]
    if between and between[0] < between[1] and not result["is_given"]:
        name += f" (interval {between[0]:g} to {between[1]:g})"
    value, interval = row["fitted_alpha"], row["fitted_alpha_interval"]
    of = "its alpha"
    if not result["is_given"]:
        of += " on videos that were not used to choose the threshold"
    alpha = f"{of} is {coefficient(value)}"
    if interval:
        alpha += f" ({coefficient(interval[0])} to {coefficient(interval[1])})"
    if result["people_alpha"] is not None:
        alpha += f", and that of two people is {coefficient(result['people_alpha'])}"
    if interval is None:
        return f"The proxy with the highest agreement is {name}, without an interval: {alpha}."
    limit = min(ALPHA_MIN, result["people_alpha"] or ALPHA_MIN)
    if interval[0] <= 0:
        reason = "because even the best does not clearly agree with them more than by guessing"
    elif (value or 0) < limit:
        reason = f"because even the best has an alpha below {coefficient(limit)}"
    else:
        return f"The proxy that agrees best with people is {name}: {alpha}."
    return f"No proxy can replace people, {reason}. The best is {name}: {alpha}."


def _labels(result: CalibrationResult, row: ProxyRow) -> str:
    return (
        f"People confirm {_share(row['precision'], row['precision_interval'])} of the judged pairs "
        f"that {row['proxy']} calls relevant, and this proxy finds "
        f"{_share(row['recall'], row['recall_interval'])} of those that people judged relevant. "
        f"These shares are based on {counted(result['pairs'], 'judged pair')} of "
        f"{counted(result['units'], NAMES[result['unit']])}. {result['relevant']:,} of these pairs "
        f"{'is' if result['relevant'] == 1 else 'are'} relevant."
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
    parts = [f"Clearly worse than the best proxy: {', '.join(worse)}."] if worse else []
    parts += [f"Not clearly worse than the best proxy: {', '.join(equal)}."] if equal else []
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
        f"The {order['measure']} of the run {top['run']} is {with_percent(top['by_proxy'])} by "
        f"{best['proxy']}, {with_percent(top['by_people'])} by people, and "
        f"{with_percent(top['original'])} by the original positives."
    )
    if order["runs"] > 1:
        text += (
            f" Over all {order['runs']} runs, the score by the proxy minus the score by people is "
            f"{points(order['lowest'])} to {points(order['highest'])} points"
        )
        tau = None if tau_note(order["runs"]) else order["tau"]
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
        f"{besides}{best['proxy']} calls {counted(row['pairs'], 'pair')} relevant. People settled "
        f"{ratio(row['called'], row['pairs'])} of them. How many of the others are relevant is "
        "unknown."
    )


def warnings(result: CalibrationResult) -> list[str]:
    found = few_units_warnings(result)
    if result["relevant"] < FEW_RELEVANT:
        found.append(
            f"Only {result['relevant']:,} of {counted(result['pairs'], 'compared pair')} "
            f"{'is' if result['relevant'] == 1 else 'are'} relevant. Recall is uncertain."
        )
    useless = [
        row["proxy"]
        for row in result["rows"]
        if row["auc_interval"] is not None and row["auc_interval"][0] <= 0.5
    ]
    if useless:
        found.append(
            "Some proxies are not clearly better than guessing, because the interval of their AUC "
            f"contains 0.5 or is below it: {', '.join(useless)}."
        )
    return found

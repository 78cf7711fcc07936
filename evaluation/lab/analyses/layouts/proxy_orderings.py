"""Tables, charts, findings and warnings of the orders of proxies and people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypedDict

from evaluation.lab.analyses.charts import (
    LINES,
    PERCENT,
    Chart,
    by_measure,
    horizontal_labels,
    low_high,
    name_of,
    offset,
    quantity,
    spans,
    step,
)
from evaluation.lab.analyses.intervals import few_units_warnings, interval_title
from evaluation.lab.analyses.old_results import Ends, Row
from evaluation.lab.analyses.tables import Column, Table
from hearth.shared.numbers import coefficient, ratio, with_percent
from hearth.shared.words import counted

GUESSING = 0.5
# The captions of a video by their level, from 0.
LEVELS = ("most similar", "first quartile", "median", "third quartile", "least similar")
SHARES = {"share": "Consistent pairs", "by_video": "Mean of the videos", "majority": "Majority"}
PEOPLE = "People with each other"


class OfStudy(TypedDict):
    """An ordering study: the primary key and the name of its campaign."""

    study: int
    name: str


class StudyRow(OfStudy):
    """How people agree with each other.

    orders, people: number of orders, and of people who ordered captions. needed: number of orders
    that a video needs. chosen_by: name of the proxy that chose the captions. complete, incomplete:
    number of videos with all orders, and of the others, which are left out. pairs: ten for each
    complete video. expected: the share of consistent pairs among random orders. cycles: number of
    videos whose majorities do not form an order.
    """

    orders: int
    people: int
    needed: int
    chosen_by: str
    complete: int
    incomplete: int
    pairs: int
    consistent: int
    share: float | None
    share_interval: Ends | None
    expected: float | None
    tau: float | None
    tau_interval: Ends | None
    cycles: int


class AgreementRow(OfStudy):
    """How a proxy agrees with people.

    is_chooser: whether it chose the captions. alike: number of the consistent pairs that it orders
    like the people. share: `alike` divided by the number of all consistent pairs. ties: number of
    the consistent pairs to which it gives equal values. difference: the share minus that of the
    best proxy. The interval of the difference is null for the best proxy.
    """

    proxy: str
    is_chooser: bool
    consistent: int
    alike: int
    ties: int
    share: float | None
    share_interval: Ends | None
    difference: float | None
    difference_interval: Ends | None
    by_video: float | None
    by_video_interval: Ends | None
    majority: float | None
    majority_interval: Ends | None


class PairRow(OfStudy):
    """The agreement of a proxy with people on the captions of two levels.

    levels: places in `LEVELS`, 0 for the most similar caption.
    """

    proxy: str
    levels: list[int]
    pairs: int
    consistent: int
    alike: int


class OrderingsResult(TypedDict):
    """The studies, the proxies in each, and the pairs of levels for each proxy."""

    confidence: float
    studies: list[StudyRow]
    rows: list[AgreementRow]
    pairs: list[PairRow]


# --- Findings -------------------------------------------------------------------------------------


def findings(result: OrderingsResult) -> list[str]:
    return [
        _of_study(result, study) + text
        for study in result["studies"]
        if study["complete"]
        for text in _findings(study, _rows_of(result, study))
    ]


def _of_study(result: OrderingsResult, study: OfStudy) -> str:
    return f"{study['name']}: " if len(result["studies"]) > 1 else ""


def _rows_of(result: OrderingsResult, study: OfStudy) -> list[AgreementRow]:
    return [row for row in result["rows"] if row["study"] == study["study"]]


def _findings(study: StudyRow, rows: list[AgreementRow]) -> list[str]:
    found = [
        f"People order {_with_interval(study['share'], study['share_interval'])} of the "
        f"{counted(study['pairs'], 'pair')} of captions alike; with random orders it would be "
        f"{with_percent(study['expected'])}. The mean tau of two people is "
        f"{coefficient(study['tau'])}."
    ]
    if not study["consistent"]:
        return [*found, "No pair is consistent, so no proxy can be compared with people."]
    best = max(rows, key=lambda row: row["alike"])
    found.append(
        f"The proxy that agrees best with people is {best['proxy']}: it orders "
        f"{_with_interval(best['share'], best['share_interval'])} of the "
        f"{counted(best['consistent'], 'consistent pair')} like people."
    )
    others = [row for row in rows if row is not best]
    worse = [row["proxy"] for row in others if _is_clearly_worse(row)]
    equal = [row["proxy"] for row in others if not _is_clearly_worse(row)]
    parts = [f"Clearly worse than the best proxy: {', '.join(worse)}."] if worse else []
    parts += [f"Not clearly worse than the best proxy: {', '.join(equal)}."] if equal else []
    tied = [row for row in rows if row["ties"]]
    if tied:
        shares = ", ".join(
            f"{ratio(row['ties'], row['consistent'])} for {row['proxy']}" for row in tied
        )
        parts.append(
            "If a proxy has equal values for both captions of a consistent pair, the pair counts "
            f"as wrong. The share of such pairs is {shares}."
        )
    return found + ([" ".join(parts)] if parts else [])


def _with_interval(value: float | None, interval: Ends | None) -> str:
    if interval is None:
        return with_percent(value)
    low, high = (f"{100 * end:.1f}" for end in interval)
    return f"{with_percent(value)} ({low} to {high})"


def _is_clearly_worse(row: AgreementRow) -> bool:
    interval = row["difference_interval"]
    return interval is not None and interval[1] < 0


def warnings(result: OrderingsResult) -> list[str]:
    return [
        _of_study(result, study) + text
        for study in result["studies"]
        for text in _warnings(study, _rows_of(result, study))
    ]


def _warnings(study: StudyRow, rows: list[AgreementRow]) -> list[str]:
    found, total = [], study["complete"] + study["incomplete"]
    if study["incomplete"]:
        found.append(
            f"{study['incomplete']:,} of {counted(total, 'video')} "
            f"{'has' if study['incomplete'] == 1 else 'have'} fewer than "
            f"{counted(study['needed'], 'order')} and {_be(study['incomplete'])} left out."
        )
    if study["complete"]:
        found += few_units_warnings({"unit": "videos", "units": study["complete"]})
    guessing = [
        row["proxy"]
        for row in rows
        if row["share_interval"] is not None and row["share_interval"][0] <= GUESSING
    ]
    if guessing:
        found.append(
            "Some proxies are not clearly better than guessing, because the interval of their "
            f"agreement contains 50 % or is below it: {', '.join(guessing)}."
        )
    return found


def _be(number: int) -> str:
    return "is" if number == 1 else "are"


# --- Tables ---------------------------------------------------------------------------------------


def tables(result: OrderingsResult) -> list[Table]:
    percent = interval_title(result["confidence"])
    name = [Column("name", "Study")] if len(result["studies"]) > 1 else []
    return [
        _agreement_table(result, name, percent),
        _studies_table(result, percent),
        _pairs_table(result, name),
    ]


def _agreement_table(result: OrderingsResult, name: list[Column], percent: str) -> Table:
    return Table(
        "agreement",
        "Agreement of proxies with people",
        [
            *name,
            Column("proxy", "Proxy"),
            Column("chooser", "Chose the captions"),
            Column("share", "Agreement, %", "percent"),
            Column("share_interval", percent, "percent"),
            Column("difference", "Minus the best", "points"),
            Column("difference_interval", "Interval of the difference", "points"),
            Column("by_video", "Mean of the videos, %", "percent"),
            Column("by_video_interval", percent, "percent"),
            Column("majority", "Majority, %", "percent"),
            Column("majority_interval", percent, "percent"),
            Column("consistent", "Consistent pairs", "count"),
            Column("ties", "Of these, equal values", "count"),
        ],
        [{**row, "chooser": "yes" if row["is_chooser"] else "no"} for row in result["rows"]],
        note="Table 2 of Wray et al. (2021, supplement A). Agreement is the share of the "
        "consistent pairs that the proxy orders like the people.",
    )


def _studies_table(result: OrderingsResult, percent: str) -> Table:
    return Table(
        "studies",
        "Agreement of people with each other",
        [
            Column("name", "Study"),
            Column("chosen_by", "Captions chosen by"),
            Column("people", "People", "count"),
            Column("orders", "Orders", "count"),
            Column("complete", "Videos", "count"),
            Column("incomplete", "Left out", "count"),
            Column("pairs", "Pairs", "count"),
            Column("consistent", "Consistent", "count"),
            Column("share", "Consistent, %", "percent"),
            Column("share_interval", percent, "percent"),
            Column("expected", "Random orders, %", "percent"),
            Column("tau", "Tau of two people", "coefficient"),
            Column("tau_interval", percent, "coefficient"),
            Column("cycles", "Videos with a cycle", "count"),
        ],
        result["studies"],
        note="A pair is consistent if all people who ordered it put it in the same order.",
    )


def _pairs_table(result: OrderingsResult, name: list[Column]) -> Table:
    rows = [
        {
            **row,
            "first": LEVELS[row["levels"][0]],
            "second": LEVELS[row["levels"][1]],
            "share": _ratio(row["alike"], row["consistent"]),
        }
        for row in result["pairs"]
    ]
    return Table(
        "pairs",
        "By pair of captions",
        [
            *name,
            Column("proxy", "Proxy"),
            Column("first", "Caption"),
            Column("second", "Other caption"),
            Column("pairs", "Videos", "count"),
            Column("consistent", "Consistent", "count"),
            Column("alike", "Of these, ordered like people", "count"),
            Column("share", "Agreement, %", "percent"),
        ],
        rows,
        note="Captions are named by their places in the order of the proxy that chose them.",
    )


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


# --- Charts ---------------------------------------------------------------------------------------


def charts(result: OrderingsResult) -> list[Chart]:
    if not any(study["consistent"] for study in result["studies"]):
        return []
    return [_agreement_chart(result), _distance_chart(result)]


def _agreement_chart(result: OrderingsResult) -> Chart:
    agreements: Sequence[Row] = result["rows"]
    rows = [
        {
            "measure": row["name"],
            "proxy": row["proxy"],
            "of": title,
            "share": row[key],
            **low_high(row[f"{key}_interval"]),
        }
        for row in agreements
        if row["consistent"]
        for key, title in SHARES.items()
    ]
    proxies = list(dict.fromkeys(row["proxy"] for row in rows))
    of = name_of("of", order=list(SHARES.values()))
    share = quantity("share", "Agreement", axis={"format": PERCENT}, scale={"zero": False})
    view = {
        "height": {"step": 20},
        "encoding": {
            "y": horizontal_labels("proxy", proxies, len(SHARES)),
            "yOffset": offset(of),
            "color": of,
        },
        "layer": [
            *spans(rows, {"x": {**share, "field": "low"}, "x2": {"field": "high"}}),
            {"mark": {"type": "point", "tooltip": True}, "encoding": {"x": share}},
        ],
    }
    return Chart(
        "agreement",
        "Agreement of proxies with people",
        "Each proxy has three dots, each on a line that shows its interval: the agreement on all "
        "consistent pairs, its mean over the videos, and the agreement with the majority. Guessing "
        "gives 50 %.",
        _by_study(rows, view),
    )


def _distance_chart(result: OrderingsResult) -> Chart:
    rows = [
        {"measure": study["name"], "distance": distance, **series}
        for study in result["studies"]
        if study["consistent"]
        for distance in range(1, len(LEVELS))
        for series in _at_distance(result["pairs"], study, distance)
    ]
    view = {
        "height": 240,
        "mark": LINES,
        "encoding": {
            "x": step("distance", "Places between the captions"),
            "y": quantity("share", "Share of pairs", axis={"format": PERCENT}),
            "color": name_of("series"),
        },
    }
    return Chart(
        "distance",
        "Agreement by the distance of two captions",
        "The horizontal axis is the number of places between two captions. One line shows the "
        "share of all pairs that are consistent: all people order them alike. Each proxy has a "
        "line that shows which share of the consistent pairs it orders like people.",
        _by_study(rows, view),
    )


def _at_distance(pairs: list[PairRow], study: OfStudy, distance: int) -> Iterable[Row]:
    """Yield the shares of people and of each proxy for pairs of levels with this distance."""
    found = [
        row
        for row in pairs
        if row["study"] == study["study"] and row["levels"][1] - row["levels"][0] == distance
    ]
    for number, proxy in enumerate(dict.fromkeys(row["proxy"] for row in found)):
        own = [row for row in found if row["proxy"] == proxy]
        consistent = sum(row["consistent"] for row in own)
        if number == 0:
            share = _ratio(consistent, sum(row["pairs"] for row in own))
            yield {"series": PEOPLE, "share": share}
        yield {"series": proxy, "share": _ratio(sum(row["alike"] for row in own), consistent)}


def _by_study(rows: list[Any], view: dict[str, Any]) -> dict[str, Any]:
    """Return a view for each study, or one view if there is only one."""
    if len({row["measure"] for row in rows}) > 1:
        return by_measure(rows, {**view, "width": 280}, same_scale=True)
    return {"data": {"values": rows}, **view}

"""Tables, charts and warnings of the scores after each number of labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from evaluation.lab.analyses.charts import BAND, PERCENT, Chart, low_high, name_of, quantity, spans
from evaluation.lab.analyses.intervals import few_units_warnings, interval_title
from evaluation.lab.analyses.old_results import Ends, Row, WithIntervals
from evaluation.lab.analyses.tables import Column, Table

IMPORTED, PRIORITISED, SHARED = "imported", "prioritised", "shared"


ORDER_WARNINGS = {
    IMPORTED: "Imported judgments are in the order of their file, which may not be random.",
    PRIORITISED: "A campaign assigned the top results of a run first, so its order is not random.",
    SHARED: "Captions with equal texts were judged together, so they are not in random order.",
}


NOT_VALID = "The intervals of the stopping rule may therefore be wrong more often than stated."


NOT_STARTED = (
    "The stopping rule is not shown yet. It counts captions or videos in a fixed order, and the "
    "first of them still has pairs to judge."
)


DRAWN_INSTEAD = (
    "The stopping rule is therefore shown for a random order that is drawn with the seed. It "
    "shows how many labels a campaign in random order would have needed."
)


# More bands than this would cover the lines. With more runs, the chart of scores has no bands, and
# the chart of the stopping rule is left out. The table of scores contains the intervals.
BANDS_MAX = 8


JUDGED, DRAWN = "judged", "drawn"


class ScoreRow(TypedDict):
    """The score of a run after a number of labels."""

    labels: int
    run: str
    score: float | None
    interval: Ends | None


class AgreementRow(TypedDict):
    """The agreement after a number of labels. several: number of pairs with several labels."""

    labels: int
    pairs: int
    several: int
    alpha: float | None
    interval: Ends | None


class SettledRow(TypedDict):
    """The number of labels after which scores or their order no longer changed.

    share: this number divided by the number of all labels.
    """

    what: str
    labels: int
    share: float


class StopRow(TypedDict):
    """The first time that a stopping rule is met: units, labels, and share of all labels.

    other: the second run of a difference; null for the score of `run`. The three numbers are null
    if the rule is never met. interval: the one at that time, or else the last one. final: the last
    value.
    """

    run: str
    other: str | None
    units: int | None
    labels: int | None
    share: float | None
    interval: Ends
    final: float


class PathRow(TypedDict):
    """The estimate of a run's score after a number of labels, with its interval."""

    labels: int
    run: str
    score: float
    interval: Ends


class Stopping(TypedDict):
    """The stopping rule, for an order of the units (`JUDGED` or `DRAWN`).

    doubts: reasons why the units may not have been judged in random order, keys of
    `ORDER_WARNINGS`. width: the half-width of an interval at which judging can stop, in points.
    units: number of units with pairs to judge. seen: number of these that are used. labels: number
    of all answers.
    """

    unit: str
    order: str
    doubts: list[str]
    width: float
    units: int
    seen: int
    labels: int
    rows: list[StopRow]
    path: list[PathRow]


class HistoryResult(WithIntervals):
    stopping: Stopping
    measure: str
    scores: list[ScoreRow]
    agreement: list[AgreementRow]
    settled: list[SettledRow]


def tables(result: HistoryResult) -> list[Table]:
    percent = interval_title(result["confidence"])
    return [
        Table(
            "settled",
            "Labels until scores stopped changing",
            [
                Column("what", f"{result['measure']} of all runs"),
                Column("labels", "Labels needed", "count"),
                Column("share", "Share of all labels, %", "percent"),
            ],
            result["settled"],
            note="Each row shows the number of labels from which all scores stayed within a "
            "distance of their last values, or from which the runs kept their last order. The last "
            "values are unknown during a campaign, so these numbers are not a stopping rule.",
        ),
        *_stopping_tables(result),
        Table(
            "scores",
            f"{result['measure']} by number of labels",
            [
                Column("labels", "Labels", "count"),
                Column("run", "Run"),
                Column("score", "Score, %", "percent"),
                Column("interval", percent, "percent"),
            ],
            result["scores"],
        ),
        Table(
            "agreement",
            "Agreement by number of labels",
            [
                Column("labels", "Labels", "count"),
                Column("pairs", "Pairs", "count"),
                Column("several", "Labelled several times", "count"),
                Column("alpha", "Krippendorff’s alpha", "number"),
                Column("interval", f"{percent}, pairs resampled", "number"),
            ],
            result["agreement"],
            note="Agreement of the planned labels of each pair on whether it is relevant. A third "
            "label is requested only if two labels differ, which makes alpha of all labels too "
            "high.",
        ),
    ]


def _stopping_tables(result: HistoryResult) -> list[Table]:
    stopping, measure = result["stopping"], result["measure"]
    rows = [
        {**row, "what": row["run"] if row["other"] is None else f"{row['run']} − {row['other']}"}
        for row in stopping["rows"]
    ]
    columns = [
        Column("units", f"{stopping['unit'].capitalize()} needed", "count"),
        Column("labels", "Labels needed", "count"),
        Column("share", "Share of all labels, %", "percent"),
    ]
    scores = [row for row in rows if row["other"] is None]
    differences = [row for row in rows if row["other"] is not None]
    tables = [
        Table(
            "stop-scores",
            f"Stopping rule: labels until the interval of {measure} is ± "
            f"{stopping['width']:g} points",
            [
                Column("what", "Run"),
                *columns,
                Column("interval", "Interval at the stop, %", "percent"),
                Column("final", "Final score, %", "percent"),
            ],
            scores,
            note=_order_note(result),
        ),
        Table(
            "stop-differences",
            f"Stopping rule: labels until one run certainly has the higher {measure}",
            [
                Column("what", "Difference"),
                *columns,
                Column("interval", "Interval at the stop, points", "points"),
                Column("final", "Final difference, points", "points"),
            ],
            differences,
            note="A dash means that the interval always contained 0. The row then has the last "
            "interval.",
        ),
    ]
    return [table for table in tables if table.rows]


def _order_note(result: HistoryResult) -> str:
    stopping = result["stopping"]
    rate, unit = 100 * (1 - result["confidence"]), stopping["unit"]
    order = "in the order of judging" if stopping["order"] == JUDGED else "in a random order"
    return (
        f"The rule uses {stopping['seen']:,} of {stopping['units']:,} {unit}, {order}. Each one "
        "is used only after it is judged completely. The probability that any interval in the two "
        f"tables is ever wrong is at most {rate:.3g} %, however often they are examined. A dash "
        "means that the interval was never narrow enough. The row then has the last interval."
    )


def warnings(result: HistoryResult) -> list[str]:
    stopping, few = result["stopping"], few_units_warnings(result)
    warnings = [ORDER_WARNINGS[reason] for reason in stopping["doubts"]]
    if not stopping["seen"]:
        warnings.append(NOT_STARTED)
    elif warnings:
        warnings.append(NOT_VALID if stopping["order"] == JUDGED else DRAWN_INSTEAD)
    return warnings + few


def charts(result: HistoryResult) -> list[Chart]:
    rows: Sequence[Row] = result["scores"]
    if len({row["run"] for row in rows}) > BANDS_MAX:
        rows = [{**row, "interval": None} for row in rows]
    scores = _band(rows, "score", result["measure"], PERCENT, name_of("run"))
    charts = [
        Chart(
            "scores",
            f"{result['measure']} while labels arrived",
            "A line for each run over the number of labels, within the band of its interval. If a "
            "part of a line is flat, these labels did not change the score.",
            scores,
        ),
        *_stopping_charts(result),
    ]
    if all(row["alpha"] is None for row in result["agreement"]):
        return charts
    alpha = _band(result["agreement"], "alpha", "Krippendorff’s alpha", ".2f", None)
    return [
        *charts,
        Chart(
            "alpha",
            "Agreement while labels arrived",
            "A line over the number of labels, within the band of its interval, which becomes "
            "narrower.",
            alpha,
        ),
    ]


def _stopping_charts(result: HistoryResult) -> list[Chart]:
    rows, measure = result["stopping"]["path"], result["measure"]
    if not rows or len({row["run"] for row in rows}) > BANDS_MAX:
        return []
    return [
        Chart(
            "stopping",
            f"Interval of {measure} by the stopping rule",
            "A line for each run over the number of labels, within the band of its interval. The "
            "intervals become narrower until all pairs are judged.",
            _band(rows, "score", measure, PERCENT, name_of("run")),
        )
    ]


def _band(
    rows: Sequence[Row], key: str, title: str, form: str, colour: dict[str, Any] | None
) -> dict[str, Any]:
    """Return lines, each within the band of its interval."""
    values = [{**row, **low_high(row["interval"])} for row in rows]
    height = quantity(key, title, axis={"format": form}, scale={"zero": False})
    return {
        "data": {"values": values},
        "encoding": {
            "x": quantity("labels", "Labels", axis={"format": ",d", "tickMinStep": 1}),
            **({"color": colour} if colour else {}),
        },
        "layer": [
            *spans(values, {"y": {**height, "field": "low"}, "y2": {"field": "high"}}, BAND),
            {
                "mark": {"type": "line", "point": True, "tooltip": True},
                "encoding": {"y": height},
            },
        ],
    }

"""Tables, charts and warnings of the analysis of scores while labels arrived."""

from __future__ import annotations

from typing import Any

from evaluation.lab.analyses.charts import BAND, PERCENT, Chart, low_high, name_of, quantity, spans
from evaluation.lab.analyses.intervals import few_units_warnings
from evaluation.lab.analyses.results import Result
from evaluation.lab.analyses.tables import Column, Table

IMPORTED, PRIORITISED, SHARED = "imported", "prioritised", "shared"


ORDER_WARNINGS = {
    IMPORTED: "Imported judgments have the order of their file, which may not be random.",
    PRIORITISED: "A campaign assigned the top results of a run first, so its order is not random.",
    SHARED: "Captions with equal texts were judged together, so they are not in random order.",
}


NOT_VALID = "The intervals of the stopping rule may therefore be wrong more often than stated."


DRAWN_INSTEAD = (
    "The stopping rule is therefore shown for a random order that is drawn with the seed. It "
    "shows how many labels a campaign in random order would have needed."
)


# With more bands, the lines are hidden. The table has their numbers.
BANDS_MAX = 8


JUDGED, DRAWN = "judged", "drawn"


def tables(result: Result) -> list[Table]:
    percent = f"{100 * result['confidence']:g} % interval"
    return [
        Table(
            "settled",
            "Labels until scores stopped changing, by hindsight",
            [
                Column("what", f"{result['measure']} of all runs"),
                Column("labels", "Labels needed", "count"),
                Column("share", "Share of all labels, %", "percent"),
            ],
            result["settled"],
            note="From this number of labels to the end, all scores stayed this close to their "
            "last values, and the runs kept their last order. The last values are unknown "
            "during a campaign, so these numbers are not a stopping rule.",
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
                Column("interval", percent, "number"),
            ],
            result["agreement"],
            note="Agreement of the first labels of each pair on relevant or not. A third label "
            "is requested only if two labels differ, which makes alpha of all labels too high.",
        ),
    ]


def _stopping_tables(result: Result) -> list[Table]:
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
            f"Without hindsight: labels until {measure} has an interval of ± "
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
            f"Without hindsight: labels until the run with the higher {measure} is certain",
            [
                Column("what", "Difference"),
                *columns,
                Column("interval", "Interval at the stop, points", "points"),
                Column("final", "Final difference, points", "points"),
            ],
            differences,
            note="If a row has a dash, the interval never excluded 0. The last interval is shown.",
        ),
    ]
    return [table for table in tables if table.rows]


def _order_note(result: Result) -> str:
    stopping = result["stopping"]
    rate, unit = 100 * (1 - result["confidence"]), stopping["unit"]
    order = "in the order judged" if stopping["order"] == JUDGED else "in a random order"
    return (
        f"{stopping['seen']:,} of {stopping['units']:,} {unit} are used, {order}. Each one is "
        f"judged completely before it counts. With an error rate of {rate:.3g} %, all intervals "
        "of both tables are correct at every look. If a row has a dash, the interval was never "
        "narrow enough. The last interval is shown."
    )


def warnings(result: Result) -> list[str]:
    stopping, few = result["stopping"], few_units_warnings(result)
    warnings = [ORDER_WARNINGS[reason] for reason in stopping["doubts"]]
    if warnings:
        warnings.append(NOT_VALID if stopping["order"] == JUDGED else DRAWN_INSTEAD)
    return warnings + few


def charts(result: Result) -> list[Chart]:
    rows = result["scores"]
    if len({row["run"] for row in rows}) > BANDS_MAX:
        rows = [{**row, "interval": None} for row in rows]
    scores = _band(rows, "score", result["measure"], PERCENT, name_of("run"))
    charts = [
        Chart(
            "scores",
            f"{result['measure']} while labels arrived",
            "A line for each run over the number of labels, within the band of its interval. If "
            "a line is flat, further labels did not change the score.",
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


def _stopping_charts(result: Result) -> list[Chart]:
    rows, measure = result["stopping"]["path"], result["measure"]
    if not rows or len({row["run"] for row in rows}) > BANDS_MAX:
        return []
    return [
        Chart(
            "stopping",
            f"Interval of {measure} without hindsight",
            "A line for each run over the number of labels, within an interval that is valid at "
            "every look. The intervals become narrower until all pairs are judged.",
            _band(rows, "score", measure, PERCENT, name_of("run")),
        )
    ]


def _band(
    rows: list[Result], key: str, title: str, form: str, colour: dict[str, Any] | None
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

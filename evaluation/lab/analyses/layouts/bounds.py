"""Tables and chart of the bounds of scores."""

from __future__ import annotations

from evaluation.core.pools.bounds import divides_by_all
from evaluation.core.relevance.measures import parse_measure
from evaluation.lab.analyses.charts import DOTS, PERCENT, RULES, Chart, low_high, name_of, quantity
from evaluation.lab.analyses.results import Result
from evaluation.lab.analyses.tables import Column, Table

# If there are at least this many unjudged pairs per caption outside of the lists, the lower bound
# over all unjudged pairs is close to 0.
MANY_UNLISTED = 20


FOR_MISSING = (
    "bpref and infAP are measures for incomplete judgments. bpref leaves out unjudged videos. "
    "infAP assumes that they are relevant as often as the judged videos above them. This is "
    "correct for a pool that is partly judged, but not for a system whose pairs were not pooled."
)


def tables(result: Result) -> list[Table]:
    percent = f"{100 * result['confidence']:g} % interval"
    checks = [
        {
            **row,
            "without": _minus(row["known"], row["truth"]),
            "error": _minus(row["expected"], row["truth"]),
        }
        for row in result["checks"]
    ]
    return [
        Table(
            "bounds",
            "Scores and their bounds",
            [
                Column("run", "Run"),
                Column("measure", "Measure"),
                Column("score", "Unjudged counted as not relevant, %", "percent"),
                Column("judged_depth", "Ranks read", "count"),
                Column("judged", "Judged of these, %", "percent"),
                Column("bounds", "Bounds over the listed pairs, %", "percent"),
                Column("bounds_all", "Bounds over all unjudged pairs, %", "percent"),
                Column("expected", "Estimate, %", "percent"),
                Column("expected_interval", percent, "percent"),
                Column("condensed", "Unjudged left out, %", "percent"),
            ],
            result["rows"],
            note=_describe_bounds(result),
        ),
        Table(
            "judged",
            "Judged share",
            [
                Column("run", "Run"),
                Column("judged", f"Judged@{result['depth']}, %", "percent"),
                Column("unjudged_listed", "Unjudged pairs in the lists", "count"),
                Column("unjudged_unlisted", "Unjudged pairs outside of the lists", "count"),
                Column("unlisted_per_caption", "Outside of the lists, per caption", "number"),
                Column("bpref", "bpref, %", "percent"),
                Column("infap", "infAP, %", "percent"),
            ],
            result["judged"],
            note=FOR_MISSING,
        ),
        Table(
            "checks",
            "Error of the estimate: systems as if they had not been pooled",
            [
                Column("run", "Run left out"),
                Column("measure", "Measure"),
                Column("truth", "True score, %", "percent"),
                Column("known", "Without its own pairs, %", "percent"),
                Column("without", "Error, points", "points"),
                Column("expected", "Estimate, %", "percent"),
                Column("error", "Its error, points", "points"),
            ],
            checks,
        ),
    ]


def _describe_bounds(result: Result) -> str:
    highest = result["highest_grade"]
    grades = "be relevant or not" if highest == 1 else f"get any grade from 0 to {highest}"
    text = (
        "The bounds over the listed pairs assume that the unjudged pairs in the top "
        f"{result['depth']} of a run may {grades}. Pairs outside of it stay as they are. In the "
        "bounds over all unjudged pairs, those outside of it may be relevant, too. This lowers "
        "only R, AP and nDCG, which divide by the number of all relevant pairs."
    )
    unlisted = max((row["unlisted_per_caption"] or 0 for row in result["judged"]), default=0)
    divided = any(divides_by_all(parse_measure(row["measure"])) for row in result["rows"])
    if not divided or unlisted < MANY_UNLISTED:
        return text
    return (
        f"{text} The lower bounds of these measures over all unjudged pairs are always close to "
        f"0 here: they count all {unlisted:,.0f} unjudged pairs per caption outside of the lists "
        "as relevant. A low bound shows that these pairs are unknown, not that the score is "
        "wrong."
    )


def _minus(value: float | None, other: float | None) -> float | None:
    return None if value is None or other is None else value - other


def charts(result: Result) -> list[Chart]:
    rows = [{**row, **low_high(row["bounds"])} for row in result["rows"]]
    score = quantity("score", "Score", axis={"format": PERCENT}, scale={"zero": False})
    plot = {
        "width": 300,
        "height": {"step": 26},
        "encoding": {"y": name_of("run"), "color": name_of("run")},
        "layer": [
            {"mark": RULES, "encoding": {"x": {**score, "field": "low"}, "x2": {"field": "high"}}},
            {"mark": DOTS, "encoding": {"x": score}},
        ],
    }
    order = list(dict.fromkeys(row["measure"] for row in rows))
    return [
        Chart(
            "bounds",
            "Scores with their bounds over the listed pairs",
            "Each measure has a dot for each run, on a line from the lower to the upper bound over "
            "the listed pairs. If all listed pairs are judged, the line is a point.",
            {
                "data": {"values": rows},
                "facet": name_of("measure", order=order),
                "columns": 3,
                "resolve": {"scale": {"x": "independent"}},
                "spec": plot,
            },
        )
    ]

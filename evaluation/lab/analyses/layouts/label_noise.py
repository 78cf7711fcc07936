"""Tables, chart and warnings of the analysis of wrong labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from evaluation.lab.analyses.charts import (
    DOTS,
    PERCENT,
    Chart,
    by_measure,
    low_high,
    name_of,
    quantity,
    spans,
)
from evaluation.lab.analyses.intervals import few_units_warnings, interval_title
from evaluation.lab.analyses.results import Ends, Row, WithIntervals
from evaluation.lab.analyses.tables import Column, Table
from hearth.shared.words import counted

DOUBLE, GOLD, ANNOTATORS, TYPED = "double", "gold", "dawid-skene", "typed"
SOURCES = {
    DOUBLE: "Pairs with several labels",
    GOLD: "Control pairs",
    ANNOTATORS: "Dawid and Skene, by annotator",
    TYPED: "Entered rates",
}
RAW, CORRECTED = "Raw", "Corrected"
# With fewer pairs whose labels differ, the rates are very uncertain.
FEW_DISAGREEMENTS = 50
# With a larger share of false alarms, a corrected C@10 varies several times as much as the raw one.
MANY_FALSE_ALARMS = 0.1


BOTH_INTERVALS = (
    "The interval for other captions is for statements about systems. The interval for these "
    "captions is for statements about this benchmark, such as the order on its leaderboard: it "
    "covers wrong labels only. Corrected AP, R@k and nDCG assume that all labels are wrong equally "
    "often. They are usually too high; second labels for all positives are better."
)


class RawRow(TypedDict):
    """A raw score with its interval for other captions."""

    run: str
    measure: str
    raw: float
    raw_interval: Ends | None


class NoiseRow(RawRow):
    """A raw and a corrected score. change: raw minus corrected.

    interval: for other captions. fixed_interval: for these captions. bounds_corrected: the bounds
    over the listed pairs, allowing for wrong labels, as in the analysis `bounds`; null if the
    measure has none.
    """

    corrected: float
    interval: Ends | None
    fixed_interval: Ends
    bounds_corrected: Ends | None
    change: float
    change_interval: Ends | None


class RatesRow(TypedDict):
    """The error rates of one source, a key of `SOURCES`. used: whether the correction uses them.

    alone, beside: the false alarms of isolated pairs and of others; null if not distinguished.
    undefined: the reason why there is no estimate.
    """

    source: str
    used: bool
    false_alarm: float | None
    false_alarm_interval: Ends | None
    alone: float | None
    beside: float | None
    miss: float | None
    miss_interval: Ends | None
    prevalence: float | None
    pairs: int
    disagreements: int
    undefined: str | None


class StratumRow(TypedDict):
    """The pairs of one stratum: the share labelled relevant, and the share that is relevant.

    if_relevant, if_not: the share that is relevant among the pairs labelled relevant, and among the
    pairs labelled not relevant; null if there are no such pairs.
    """

    stratum: str
    pairs: int
    labelled: float
    corrected: float
    if_relevant: float | None
    if_not: float | None


class SolePositivesRow(TypedDict):
    """The expected effect of second labels, as in `core.relevance.deciding.Confirmation`."""

    run: str
    measure: str
    deciding: int
    to_confirm: int
    wrong: float
    score: float
    confirmed: float


class NoiseResult(WithIntervals):
    """Scores that are corrected for wrong labels.

    used: the source of the error rates; null if no requested source has an estimate. left_out:
    number of labels that the correction does not use. raw: the raw scores, even if the error rates
    are unknown.
    """

    used: str | None
    annotators: int
    left_out: int
    rates: list[RatesRow]
    scores: list[NoiseRow]
    raw: list[RawRow]
    labels: list[StratumRow]
    deciding: list[SolePositivesRow]


def noise_tables(result: NoiseResult) -> list[Table]:
    percent = interval_title(result["confidence"])
    rates = [
        {**row, "source": SOURCES[row["source"]] + (", used here" if row["used"] else "")}
        for row in result["rates"]
    ]
    return [
        Table(
            "scores",
            "Raw and corrected scores",
            [
                Column("run", "Run"),
                Column("measure", "Measure"),
                Column("raw", "Raw, %", "percent"),
                Column("raw_interval", f"{percent}, sampling only", "percent"),
                Column("corrected", "Corrected, %", "percent"),
                Column("interval", f"{percent}, other captions", "percent"),
                Column("fixed_interval", f"{percent}, these captions", "percent"),
                Column("change", "Raw minus corrected", "points"),
                Column("change_interval", percent, "points"),
            ],
            [{**row, "fixed_interval": row.get("fixed_interval")} for row in result["scores"]],
            note=BOTH_INTERVALS,
        ),
        Table(
            "rates",
            "Error rates of one label",
            [
                Column("source", "Estimated from"),
                Column("false_alarm", "False alarms, %", "percent"),
                Column("false_alarm_interval", percent, "percent"),
                Column("alone", "If isolated, %", "percent"),
                Column("beside", "If not isolated, %", "percent"),
                Column("miss", "Misses, %", "percent"),
                Column("miss_interval", percent, "percent"),
                Column("prevalence", "Truly relevant, %", "percent"),
                Column("pairs", "Pairs or answers", "count"),
                Column("disagreements", "Differing or wrong labels", "count"),
                Column("undefined", "Reason for no estimate"),
            ],
            [{**row, "undefined": row["undefined"] or ""} for row in rates],
            note="False alarms are “relevant” labels of pairs that are not relevant. Misses are "
            "“not relevant” labels of relevant pairs. A pair is isolated if no other pair of its "
            "caption is labelled relevant.",
        ),
        Table(
            "labels",
            "Reliability of the labels",
            [
                Column("stratum", "Pairs"),
                Column("pairs", "Judged", "count"),
                Column("labelled", "Labelled relevant, %", "percent"),
                Column("corrected", "Truly relevant (estimate), %", "percent"),
                Column("if_relevant", "Truly relevant if labelled relevant, %", "percent"),
                Column("if_not", "Truly relevant if labelled not relevant, %", "percent"),
            ],
            result["labels"],
            note="Original positives are left out if they count as relevant.",
        ),
        Table(
            "deciding",
            "Sole positives",
            [
                Column("run", "Run"),
                Column("measure", "Measure"),
                Column("deciding", "Sole positives", "count"),
                Column("to_confirm", "Sole positives with one label", "count"),
                Column("wrong", "Of these, wrong (estimate)", "count"),
                Column("score", "Raw, %", "percent"),
                Column("confirmed", "Expected after confirmation, %", "percent"),
            ],
            [{**row, "wrong": round(row["wrong"])} for row in result["deciding"]],
            note="If the top k of a caption contains a single positive, C@k depends on its "
            "label. A second label of each sole positive, and a third label if the two "
            "differ, corrects most of the wrong labels (“confirmation”).",
        ),
    ]


def noise_charts(result: NoiseResult) -> list[Chart]:
    scores: Sequence[Row] = result["scores"]
    rows = [
        {
            "run": row["run"],
            "measure": row["measure"],
            "labels": title,
            "score": row[score],
            **low_high(row[interval]),
        }
        for row in scores
        for title, score, interval in (
            (RAW, "raw", "raw_interval"),
            (CORRECTED, "corrected", "interval"),
        )
    ]
    if not rows:
        return []
    axis = {"format": PERCENT, "tickCount": 5}
    score = quantity("score", "Score", axis=axis, scale={"zero": False})
    kind = name_of("labels", order=[RAW, CORRECTED])
    bounds = {"x": {**score, "field": "low"}, "x2": {"field": "high"}}
    return [
        Chart(
            "scores",
            "Raw and corrected scores with their intervals",
            "Each measure has two dots for each run: the raw and the corrected score. Each dot is "
            "on a line that shows its interval.",
            by_measure(
                rows,
                {
                    "width": 300,
                    "height": {"step": 18},
                    "encoding": {
                        "y": name_of("run"),
                        "yOffset": {"field": "labels", "type": "nominal", "sort": [RAW, CORRECTED]},
                        "color": kind,
                    },
                    "layer": [*spans(rows, bounds), {"mark": DOTS, "encoding": {"x": score}}],
                },
            ),
        )
    ]


def noise_warnings(result: NoiseResult) -> list[str]:
    used = next((row for row in result["rates"] if row["used"]), None)
    if used is None:
        reasons = "; ".join(
            f"{SOURCES[row['source']]}: {row['undefined']}"
            for row in result["rates"]
            if row["undefined"]
        )
        return [
            "No score is corrected, because the error rates are unknown "
            f"({reasons}). Enter them in the settings."
        ]
    found = []
    if used["source"] == TYPED:
        found.append(
            "The error rates were entered. The intervals do not cover errors in these rates."
        )
    if used["source"] in (DOUBLE, ANNOTATORS) and used["disagreements"] < FEW_DISAGREEMENTS:
        found.append(
            f"The error rates are based on only {counted(used['disagreements'], 'pair')} with "
            "differing labels. Label more pairs twice."
        )
    if used["source"] == GOLD:
        found.append(
            "The error rates are those of control pairs. A lead selected these pairs, so other "
            "pairs may be easier or harder."
        )
    if result["annotators"] == 1:
        found.append(
            "All labels are from one annotator. The systematic errors of this annotator are not "
            "detected."
        )
    if (alarms := used["false_alarm"] or 0) > MANY_FALSE_ALARMS:
        found.append(
            f"With {100 * alarms:.0f} % false alarms, corrected scores are very uncertain."
        )
    if result["left_out"]:
        found.append(
            f"The correction leaves out {counted(result['left_out'], 'label')}, because earlier "
            "labels were the reason to request them. Raw scores use them."
        )
    return found + few_units_warnings(result)

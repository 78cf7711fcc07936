"""Tables, chart and warnings of the analysis of wrong labels."""

from __future__ import annotations

from config.shared.words import counted
from evaluation.lab.analyses.charts import DOTS, PERCENT, Chart, low_high, name_of, quantity, spans
from evaluation.lab.analyses.intervals import few_units_warnings
from evaluation.lab.analyses.results import Result
from evaluation.lab.analyses.tables import Column, Table

DOUBLE, GOLD, ANNOTATORS, TYPED = "double", "gold", "dawid-skene", "typed"
SOURCES = {
    DOUBLE: "Pairs with several labels",
    GOLD: "Control pairs",
    ANNOTATORS: "Dawid and Skene, by annotator",
    TYPED: "Typed in",
}
RAW, CORRECTED = "Raw", "Corrected"
# With fewer pairs whose labels differ, the rates are very uncertain.
FEW_DISAGREEMENTS = 50
# With more false alarms, a corrected C@10 varies several times as much as the raw one.
MANY_FALSE_ALARMS = 0.1


def noise_tables(result: Result) -> list[Table]:
    percent = f"{100 * result['confidence']:g} % interval"
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
                Column("raw_interval", "Interval for sampling only", "percent"),
                Column("corrected", "Corrected, %", "percent"),
                Column("interval", f"{percent}, labelling and sampling", "percent"),
                Column("change", "Raw minus corrected", "points"),
                Column("change_interval", percent, "points"),
            ],
            result["scores"],
        ),
        Table(
            "rates",
            "Error rates of one label",
            [
                Column("source", "Estimated from"),
                Column("false_alarm", "False alarms, %", "percent"),
                Column("false_alarm_interval", percent, "percent"),
                Column("alone", "Only positive, %", "percent"),
                Column("beside", "Other positives, %", "percent"),
                Column("miss", "Misses, %", "percent"),
                Column("miss_interval", percent, "percent"),
                Column("prevalence", "Truly relevant, %", "percent"),
                Column("pairs", "Pairs or answers", "count"),
                Column("disagreements", "Differing or wrong labels", "count"),
                Column("undefined", "Reason for no estimate"),
            ],
            [{**row, "undefined": row["undefined"] or ""} for row in rates],
            note="False alarms are “relevant” labels of pairs that are not relevant. Misses are "
            "“not relevant” labels of relevant pairs. Only positive: no other pair of the "
            "caption is labelled relevant. Other positives: another pair is.",
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
                Column("wrong", "Wrong among these (estimate)", "count"),
                Column("score", "Raw, %", "percent"),
                Column("confirmed", "Expected after confirmation, %", "percent"),
            ],
            [{**row, "wrong": round(row["wrong"])} for row in result["deciding"]],
            note="If the top k of a caption contains a single positive, C@k depends on its "
            "label. A second label of each sole positive, and a third label if the two "
            "differ, corrects most wrong ones.",
        ),
    ]


def noise_charts(result: Result) -> list[Chart]:
    rows = [
        {
            "run": row["run"],
            "measure": row["measure"],
            "labels": title,
            "score": row[score],
            **low_high(row[interval]),
        }
        for row in result["scores"]
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
            {
                "data": {"values": rows},
                "facet": name_of("measure", order=list(dict.fromkeys(r["measure"] for r in rows))),
                "columns": 3,
                "resolve": {"scale": {"x": "independent"}},
                "spec": {
                    "width": 300,
                    "height": {"step": 18},
                    "encoding": {
                        "y": name_of("run"),
                        "yOffset": {"field": "labels", "type": "nominal", "sort": [RAW, CORRECTED]},
                        "color": kind,
                    },
                    "layer": [*spans(rows, bounds), {"mark": DOTS, "encoding": {"x": score}}],
                },
            },
        )
    ]


def noise_warnings(result: Result) -> list[str]:
    used = next((row for row in result["rates"] if row["used"]), None)
    if used is None:
        reasons = "; ".join(
            f"{SOURCES[row['source']]}: {row['undefined']}"
            for row in result["rates"]
            if row["undefined"]
        )
        return [
            "No score is corrected, because no error rates are known "
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
            "One annotator gave all labels. Systematic errors of this annotator are not detected."
        )
    if used["false_alarm"] > MANY_FALSE_ALARMS:
        found.append(
            f"With {100 * used['false_alarm']:.0f} % false alarms, corrected scores are very "
            "uncertain."
        )
    if result["left_out"]:
        found.append(
            f"The correction leaves out {counted(result['left_out'], 'label')}, because earlier "
            "labels were the reason to request them. Raw scores use them."
        )
    return found + few_units_warnings(result)

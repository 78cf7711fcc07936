"""Scores and agreement while the labels came in: when could one have stopped?"""

from __future__ import annotations

from typing import Any

import numpy as np
from django import forms

from config.shared.progress import Progress
from evaluation.analyses.base import (
    AnalysisForm,
    Chart,
    Column,
    Inputs,
    Kind,
    Result,
    ShareMeasureField,
    Table,
    confidence_field,
    ends,
    resamples_field,
    seed_field,
)
from evaluation.analyses.specs import PERCENT, low_high, name_of, quantity, spans
from evaluation.core.alpha import alpha_interval, krippendorff_alpha
from evaluation.core.arrays import IntArray
from evaluation.core.history import Moment, look_back, order_settled_from, settled_from
from evaluation.core.relevance import with_positives
from evaluation.core.resampling import mean_interval

# More bands over each other hide the lines; their numbers stand in the table.
BANDS_MAX = 8
# Within so much of what they came to be.
NEAR = {"within 5 points": 0.05, "within 2 points": 0.02, "within 1 point": 0.01}
BAND = {"type": "area", "opacity": 0.25, "aria": False}


class HistoryForm(AnalysisForm):
    measure = ShareMeasureField()
    moments = forms.IntegerField(label="Moments", initial=20, min_value=2, max_value=100)
    confidence = confidence_field()
    resamples = resamples_field(1000)
    seed = seed_field()


def _compute(inputs: Inputs, chosen: dict[str, Any], progress: Progress) -> Result:
    judgments = inputs.judgments
    arrived = np.argsort(judgments.ids, kind="stable")
    total = len(arrived)
    moments = np.unique(np.linspace(0, total, chosen["moments"] + 1).round().astype(np.int64))
    rows, agreement = [], []
    known = look_back(
        judgments.codes,
        judgments.pair_of[arrived],
        (judgments.labels[arrived] >= 1).astype(np.int64),
        moments,
        n_queries=inputs.benchmark.n_queries,
        n_videos=inputs.benchmark.n_videos,
    )
    for number, moment in enumerate(known):
        progress(number, len(moments), "looking back")
        rng = np.random.default_rng(chosen["seed"])
        rows += _scores(moment, inputs, chosen, rng)
        agreement.append(_agreement(moment, chosen, rng))
    return {
        "measure": chosen["measure"],
        "confidence": chosen["confidence"],
        "scores": rows,
        "agreement": agreement,
        "settled": _settled(moments, rows, len(inputs.runs)),
    }


def _settled(moments: IntArray, rows: list[Result], n_runs: int) -> list[Result]:
    """From how many labels on scores and order stayed; null where there is no score."""
    if not rows or rows[0]["score"] is None:
        return []
    scores = np.array([row["score"] for row in rows]).reshape(len(moments), n_runs)
    found = [(what, settled_from(moments, scores, near)) for what, near in NEAR.items()]
    if n_runs > 1:
        found.append(("same order", order_settled_from(moments, scores)))
    total = max(1, int(moments[-1]))
    return [{"what": what, "labels": at, "share": at / total} for what, at in found]


def _scores(
    moment: Moment, inputs: Inputs, chosen: dict[str, Any], rng: np.random.Generator
) -> list[Result]:
    judged = moment.judged
    if not inputs.labels_only:
        judged = with_positives(judged, inputs.original)
    rows = []
    for run, values in inputs.values(judged, chosen["measure"]).items():
        interval = mean_interval(
            values, chosen["resamples"], rng=rng, confidence=chosen["confidence"]
        )
        score = float(values.mean()) if len(values) else None
        rows.append(
            {"labels": moment.labels, "run": run, "score": score, "interval": ends(interval)}
        )
    return rows


def _agreement(moment: Moment, chosen: dict[str, Any], rng: np.random.Generator) -> Result:
    interval = alpha_interval(
        moment.opinions, chosen["resamples"], rng=rng, confidence=chosen["confidence"]
    )
    return {
        "labels": moment.labels,
        "pairs": moment.opinions.n_pairs,
        "several": moment.opinions.n_multiply_labelled,
        "alpha": krippendorff_alpha(moment.opinions).value,
        "interval": ends(interval),
    }


def _tables(result: Result) -> list[Table]:
    percent = f"{100 * result['confidence']:g} % interval"
    return [
        Table(
            "settled",
            "When one could have stopped",
            [
                Column("what", f"{result['measure']} of all runs"),
                Column("labels", "From so many labels on", "count"),
                Column("share", "Share of all labels, %", "percent"),
            ],
            result["settled"],
            note="From there to the end, at the moments looked at, scores were as near as that to "
            "what they came to be, and the runs in the order in which they came to stand.",
        ),
        Table(
            "scores",
            f"{result['measure']} after so many labels",
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
            "Agreement after so many labels",
            [
                Column("labels", "Labels", "count"),
                Column("pairs", "Pairs", "count"),
                Column("several", "Labelled several times", "count"),
                Column("alpha", "Krippendorff’s alpha", "number"),
                Column("interval", percent, "number"),
            ],
            result["agreement"],
        ),
    ]


def _charts(result: Result) -> list[Chart]:
    rows = result["scores"]
    if len({row["run"] for row in rows}) > BANDS_MAX:
        rows = [{**row, "interval": None} for row in rows]
    scores = _band(rows, "score", result["measure"], PERCENT, name_of("run"))
    charts = [
        Chart(
            "scores",
            f"{result['measure']} while the labels came in",
            "A line for each run over the number of labels, within the band of its interval. Where "
            "the lines run flat, more labels changed nothing.",
            scores,
        ),
    ]
    if all(row["alpha"] is None for row in result["agreement"]):
        return charts
    alpha = _band(result["agreement"], "alpha", "Krippendorff’s alpha", ".2f", None)
    return [
        *charts,
        Chart(
            "alpha",
            "Agreement while the labels came in",
            "A line over the number of labels within the band of its interval, which narrows.",
            alpha,
        ),
    ]


def _band(
    rows: list[Result], key: str, title: str, form: str, colour: dict[str, Any] | None
) -> dict[str, Any]:
    """Lines, each within the band of its interval."""
    values = [{**row, **low_high(row["interval"])} for row in rows]
    height = quantity(key, title, axis={"format": form}, scale={"zero": False})
    return {
        "data": {"values": values},
        "encoding": {
            "x": quantity("labels", "Labels"),
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


HISTORY = Kind(
    name="history",
    title="While the labels came in",
    question="When could one have stopped judging?",
    form=HistoryForm,
    compute=_compute,
    tables=_tables,
    charts=_charts,
    needs_labels=True,
    reads_judgments=True,
    notes=(
        "Of all judgments that count by now, in the order in which they came, whatever label set "
        "is chosen above; a pair is what more than half of its labels said by then. Original "
        "positives count from the beginning.",
        "Imported judgments have the order of their file.",
    ),
)

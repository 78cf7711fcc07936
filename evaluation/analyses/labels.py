"""What the labels are: how many, how many agree, and how sure one can be of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from config.shared.progress import Progress
from evaluation.analyses.base import (
    AnalysisForm,
    Chart,
    Column,
    Inputs,
    Kind,
    Result,
    Table,
    confidence_field,
    ends,
    resamples_field,
    seed_field,
)
from evaluation.analyses.specs import BARS, count, name_of, offset, spec, step
from evaluation.core.agreement import ValueCounts, count_opinions, percent_agreement
from evaluation.core.alpha import alpha_interval, krippendorff_alpha
from evaluation.core.label_file import NO_LABEL
from evaluation.selectors import label_set_labels

OUTCOMES = {"relevant": "Relevant", "irrelevant": "Not relevant", "undecided": "Undecided"}


class LabelsForm(AnalysisForm):
    confidence = confidence_field()
    resamples = resamples_field(1000)
    seed = seed_field()


def _compute(inputs: Inputs, chosen: dict[str, Any], progress: Progress) -> Result:
    assert inputs.label_set is not None  # noqa: S101 - checked by the kind
    counted = label_set_labels(inputs.label_set)
    labels, judgments, relevant = counted.labels, counted.judgments, counted.relevant
    rng = np.random.default_rng(chosen["seed"])
    everything = count_opinions(judgments, relevant)
    rows = []
    for number in np.flatnonzero(np.bincount(judgments)).tolist():
        among = judgments == number
        rows.append(
            {
                "labels": number,
                **_outcomes(labels[among]),
                **_agreement(count_opinions(judgments[among], relevant[among]), chosen, rng),
            }
        )
    return {
        "pairs": len(labels),
        "labels": int(judgments.sum()),
        **_outcomes(labels),
        "several": everything.n_multiply_labelled,
        **_agreement(everything, chosen, rng),
        "confidence": chosen["confidence"],
        "by_number": rows,
        "originals": _outcomes(labels[np.isin(counted.codes, inputs.original.codes)])
        | {"known": len(inputs.original.codes)},
    }


def _outcomes(labels: Any) -> dict[str, int]:
    return {
        "pairs": len(labels),
        "relevant": int((labels >= 1).sum()),
        "irrelevant": int((labels == 0).sum()),
        "undecided": int((labels == NO_LABEL).sum()),
    }


def _agreement(counts: ValueCounts, chosen: dict[str, Any], rng: np.random.Generator) -> Result:
    agreement = percent_agreement(counts).value
    interval = alpha_interval(counts, chosen["resamples"], rng=rng, confidence=chosen["confidence"])
    return {
        "agreement": agreement,
        "disagreement": None if agreement is None else 1 - agreement,
        "alpha": krippendorff_alpha(counts).value,
        "alpha_interval": ends(interval),
    }


def _tables(result: Result) -> list[Table]:
    percent = f"{100 * result['confidence']:g} % interval"
    outcomes = [
        Column("relevant", "Relevant", "count"),
        Column("irrelevant", "Not relevant", "count"),
        Column("undecided", "Undecided", "count"),
    ]
    agreement = [
        Column("disagreement", "Labels differ, %", "percent"),
        Column("alpha", "Krippendorff’s alpha", "number"),
        Column("alpha_interval", percent, "number"),
    ]
    whole = [
        Column("pairs", "Pairs", "count"),
        Column("labels", "Labels", "count"),
        *outcomes,
        Column("several", "Labelled several times", "count"),
        *agreement,
    ]
    by_number = [
        Column("labels", "Labels of the pair", "count"),
        Column("pairs", "Pairs", "count"),
        *outcomes,
        *agreement,
    ]
    return [
        Table("all", "The label set", whole, [result]),
        Table(
            "originals",
            "Original positives that people judged",
            [
                Column("known", "Original positives", "count"),
                Column("pairs", "Judged", "count"),
                *outcomes,
            ],
            [result["originals"]],
            note="Scores count all of them as positive, also those that people find not relevant, "
            "unless the labels stand alone.",
        ),
        Table(
            "by-number",
            "By the number of labels",
            by_number,
            result["by_number"],
            note="Where a third label is asked for only after two differ, pairs with two labels "
            "nearly all agree and pairs with three never do: that is how they were chosen.",
        ),
    ]


def _charts(result: Result) -> list[Chart]:
    rows = [
        {"labels": row["labels"], "pairs": row[key], "outcome": title}
        for row in result["by_number"]
        for key, title in OUTCOMES.items()
    ]
    order = [OUTCOMES[key] for key in ("irrelevant", "relevant", "undecided")]
    outcome = name_of("outcome", order=order)
    return [
        Chart(
            "by-number",
            "Pairs by their number of labels",
            "Bars of pairs for each number of labels: relevant, not relevant, undecided.",
            spec(
                rows,
                BARS,
                x=step("labels", "Labels of the pair"),
                y=count("pairs", "Pairs (log)"),
                color=outcome,
                xOffset=offset(outcome),
            ),
        )
    ]


LABELS = Kind(
    name="labels",
    title="The labels and their agreement",
    question="How many pairs were judged, how do they come out, and do people agree?",
    source="Table 2, figure 7",
    form=LabelsForm,
    compute=_compute,
    tables=_tables,
    charts=_charts,
    runs_needed=0,
    needs_labels=True,
    notes=(
        "Labels are counted as relevant or not. Labels differ: the share of pairs with several "
        "labels that are not all the same. Alpha is 1 for perfect agreement and 0 for chance; its "
        "interval is over the pairs that have several labels.",
        "The original positives play no part here.",
    ),
)

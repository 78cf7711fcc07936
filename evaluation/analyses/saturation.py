"""Warnings of scores so near to 100 per cent that what is left to gain may be noise."""

from __future__ import annotations

from collections.abc import Iterable

from evaluation.analyses.base import Inputs, Result
from evaluation.core.agreement import count_opinions, percent_agreement
from evaluation.core.saturation import INTERVAL
from evaluation.selectors import label_set_labels


def disagreement_of(inputs: Inputs) -> float | None:
    """The share of the pairs labelled several times whose labels differ; None without any."""
    if inputs.label_set is None:
        return None
    counted = label_set_labels(inputs.label_set)
    agreed = percent_agreement(count_opinions(counted.judgments, counted.relevant)).value
    return None if agreed is None else 1 - agreed


def saturation_warnings(rows: Iterable[Result], disagreement: float | None) -> list[str]:
    """One for each row with `run`, `measure`, `gap` and `saturated_by` that is saturated."""
    return [
        f"{row['measure']} of {row['run']} is saturated: the {100 * row['gap']:.1f} points left to "
        f"gain lie within {_what(row['saturated_by'], disagreement)}."
        for row in rows
        if row["saturated_by"] is not None
    ]


def _what(saturated_by: str, disagreement: float | None) -> str:
    if saturated_by == INTERVAL:
        return "the interval of the score"
    return (
        f"what annotators disagree on, {100 * (disagreement or 0):.1f} % of the pairs that were "
        "labelled several times"
    )

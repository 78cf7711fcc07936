"""Number of positives per caption, before and after the labels, and by length."""

from __future__ import annotations

from typing import TypedDict

import numpy as np
from django import forms

from evaluation.core.arrays import IntArray
from evaluation.core.relevance.positives import at_the_ends, length_table, positives_per_query
from evaluation.core.statistics.slices import kendall_tau_b, spearman
from evaluation.lab.analyses.forms import AnalysisForm
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.layouts import positives as layout
from evaluation.lab.analyses.layouts.positives import CaptionRow, PositivesResult, SourceRow
from evaluation.lab.analyses.old_analysis import Analysis
from hearth.shared.progress import Progress


class PositivesForm(AnalysisForm):
    runs = None
    examples = forms.IntegerField(
        label="Examples",
        initial=5,
        min_value=0,
        max_value=50,
        help_text="Number of captions of each group (short, middle, long) in the table.",
    )


class PositivesOptions(TypedDict):
    examples: int


def _compute(inputs: Inputs, options: PositivesOptions, progress: Progress) -> PositivesResult:
    counts = {
        "original": positives_per_query(inputs.original),
        "labelled": positives_per_query(inputs.judged),
    }
    lengths = inputs.caption_lengths
    return {
        "captions": len(lengths),
        "sources": {name: _summary(found) for name, found in counts.items()},
        "per_caption": {name: np.bincount(found).tolist() for name, found in counts.items()},
        "by_length": {name: _cells(length_table(lengths, found)) for name, found in counts.items()},
        "correlations": {
            name: {
                "spearman": spearman(lengths, found).value,
                "kendall": kendall_tau_b(lengths, found).value,
            }
            for name, found in counts.items()
        },
        "examples": _examples(inputs, lengths, counts, options["examples"]),
    }


def _summary(positives: IntArray) -> SourceRow:
    if not len(positives):
        return {"positives": 0, "mean": None, "median": None, "most": None, "without": 0}
    return {
        "positives": int(positives.sum()),
        "mean": float(positives.mean()),
        "median": float(np.median(positives)),
        "most": int(positives.max()),
        "without": int((positives == 0).sum()),
    }


def _cells(table: IntArray) -> list[list[int]]:
    """Return the non-empty cells: [words, positives, captions]."""
    words, positives = np.nonzero(table)
    cells: list[list[int]] = np.stack([words, positives, table[words, positives]], axis=1).tolist()
    return cells


def _examples(
    inputs: Inputs, lengths: IntArray, counts: dict[str, IntArray], count: int
) -> list[CaptionRow]:
    ends = at_the_ends(lengths, min(count, len(lengths)))
    return [
        {
            "end": end,
            "caption_id": inputs.query_keys[number],
            "caption": inputs.captions[number],
            "words": int(lengths[number]),
            "original": int(counts["original"][number]),
            "labelled": int(counts["labelled"][number]),
        }
        for end, numbers in zip(("short", "middle", "long"), ends, strict=True)
        for number in numbers.tolist()
    ]


POSITIVES = Analysis(
    name="positives",
    title="Positives per caption",
    question="How many videos match a caption, and does this depend on its length?",
    source="FIRE study, figures 2 and 11, tables 5 and 6",
    form=PositivesForm,
    compute=_compute,
    reads_lists=False,
    tables=layout.tables,
    charts=layout.charts,
    runs_needed=0,
    notes=(
        "The positives of a caption are the videos that are known to match it. Only pooled pairs "
        "were judged, so the number with the labels is a lower bound. The data set itself usually "
        "has one original positive per caption.",
    ),
)

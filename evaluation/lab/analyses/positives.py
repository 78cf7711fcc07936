"""Number of positives per caption, before and after the labels, and by length."""

from __future__ import annotations

from typing import Any

import numpy as np
from django import forms

from config.shared.progress import Progress
from evaluation.core.arrays import IntArray
from evaluation.core.relevance.positives import at_the_ends, length_table, positives_per_query
from evaluation.core.statistics.slices import kendall_tau_b, spearman
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.charts import (
    BARS,
    CELLS,
    Chart,
    count,
    name_of,
    offset,
    quantity,
    spec,
    step,
)
from evaluation.lab.analyses.forms import AnalysisForm
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.results import Result
from evaluation.lab.analyses.tables import Column, Table

POSITIVES_MAX = 50
SOURCES = {"original": "Original positives", "labelled": "With the labels"}


class PositivesForm(AnalysisForm):
    examples = forms.IntegerField(
        label="Examples",
        initial=5,
        min_value=0,
        max_value=50,
        help_text="Number of captions from the short end, the middle and the long end.",
    )


def _compute(inputs: Inputs, options: dict[str, Any], progress: Progress) -> Result:
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


def _summary(positives: IntArray) -> Result:
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
) -> list[Result]:
    ends = at_the_ends(lengths, min(count, len(lengths)))
    return [
        {
            "end": end,
            "caption_id": inputs.query_keys[number],
            "caption": inputs.captions[number],
            "words": int(lengths[number]),
            **{name: int(found[number]) for name, found in counts.items()},
        }
        for end, numbers in zip(("short", "middle", "long"), ends, strict=True)
        for number in numbers.tolist()
    ]


def _tables(result: Result) -> list[Table]:
    sources = [
        {"source": SOURCES[name], **row, **result["correlations"][name]}
        for name, row in result["sources"].items()
    ]
    return [
        Table(
            "sources",
            "Positives",
            [
                Column("source", "Positives by"),
                Column("positives", "Positives", "count"),
                Column("mean", "Mean per caption", "number"),
                Column("median", "Median", "number"),
                Column("most", "Maximum", "count"),
                Column("without", "Captions without positives", "count"),
                Column("spearman", "Spearman’s rho with length", "number"),
                Column("kendall", "Kendall’s tau-b", "number"),
            ],
            sources,
        ),
        Table(
            "per-caption",
            "Captions by their number of positives",
            [
                Column("positives", "Positives", "count"),
                *(Column(name, title, "count") for name, title in SOURCES.items()),
            ],
            _per_caption(result["per_caption"]),
        ),
        Table(
            "examples",
            "Short, middle and long captions",
            [
                Column("end", "End"),
                Column("caption_id", "Key", compared=lambda row: {"caption": row["caption_id"]}),
                Column("caption", "Caption"),
                Column("words", "Words", "count"),
                *(Column(name, title, "count") for name, title in SOURCES.items()),
            ],
            result["examples"],
        ),
    ]


def _per_caption(counts: dict[str, list[int]]) -> list[dict[str, int]]:
    most = max(map(len, counts.values()))
    rows = (
        {
            "positives": number,
            **{name: found[number] if number < len(found) else 0 for name, found in counts.items()},
        }
        for number in range(most)
    )
    return [row for row in rows if any(row[name] for name in counts)]


def _charts(result: Result) -> list[Chart]:
    rows = [
        {"positives": min(number, POSITIVES_MAX), "captions": captions, "source": SOURCES[name]}
        for name, counts in result["per_caption"].items()
        for number, captions in enumerate(counts)
        if captions
    ]
    source = name_of("source", order=list(SOURCES.values()))
    captions = count("captions", "Captions (log)", aggregate="sum")
    return [
        Chart(
            "per-caption",
            "Captions by their number of positives",
            "Two series of bars over the number of positives: captions by the original "
            f"positives, and with the labels. The last bar is for {POSITIVES_MAX} or more "
            "positives.",
            spec(
                rows,
                BARS,
                x=step("positives", f"Positives (last: {POSITIVES_MAX} or more)"),
                y=captions,
                xOffset=offset(source),
                color=source,
            ),
        ),
        Chart(
            "by-length",
            "Positives by the length of the caption, with the labels",
            "A heat map of captions by their number of words and of positives, with the sums of "
            "rows and columns at its edges.",
            _heat_map(result["by_length"]["labelled"]),
        ),
    ]


def _heat_map(cells: list[list[int]]) -> dict[str, Any]:
    """Return captions by words and positives on a logarithmic colour scale, with their sums."""
    keys = ("words", "positives", "captions")
    words = quantity("words", "Words", bin={"step": 1})
    positives = quantity("positives", "Positives", bin={"maxbins": 40})
    margin = quantity("captions", "Captions", aggregate="sum", scale={"type": "symlog"})
    colours = quantity(
        "captions", "Captions (log)", aggregate="sum", scale={"type": "log", "scheme": "viridis"}
    )
    width, height, edge = {"width": 460}, {"height": 260}, 50
    in_map = {"x": words, "y": positives, "color": colours}
    above = {"x": {**words, "axis": None}, "y": margin}
    beside = {"y": {**positives, "axis": None}, "x": margin}
    map_and_edge = [
        {"mark": CELLS, **width, **height, "encoding": in_map},
        {"mark": BARS, "width": edge, **height, "encoding": beside},
    ]
    close = {"spacing": 6, "bounds": "flush"}
    return {
        "data": {"values": [dict(zip(keys, cell, strict=True)) for cell in cells]},
        **close,
        "vconcat": [
            {"mark": BARS, **width, "height": edge, "encoding": above},
            {**close, "hconcat": map_and_edge},
        ],
    }


POSITIVES = Analysis(
    name="positives",
    title="Positives per caption",
    question="How many videos match a caption, and does this depend on its length?",
    source="Figures 2 and 11, tables 5 and 6",
    form=PositivesForm,
    compute=_compute,
    tables=_tables,
    charts=_charts,
    runs_needed=0,
    notes=(
        "The positives of a caption are the videos that are known to match it. Only pooled pairs "
        "were judged, so the number with the labels is a lower bound. By the original positives "
        "it is the number in the data set, usually one.",
    ),
)

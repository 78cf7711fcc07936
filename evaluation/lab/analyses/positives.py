"""Number of positives per caption, before and after the labels, and by length."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import Annotated, Any

import numpy as np

from evaluation.core.arrays import IntArray
from evaluation.core.relevance.positives import at_the_ends, length_table, positives_per_query
from evaluation.core.statistics.slices import kendall_tau_b, spearman
from evaluation.lab.analyses import charts, options, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.rows import Caption, CaptionKey, Correlation, Score, Shown, cells_of
from evaluation.lab.analyses.tables import Table
from hearth.shared.options import Option
from hearth.shared.progress import Progress

POSITIVES_MAX = 50
SOURCES = {"original": charts.ORIGINAL_POSITIVES, "labelled": charts.WITH_LABELS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Options):
    """Options of the analysis.

    examples: Number of captions of each group (short, middle, long) in the table.
    """

    examples: Annotated[int, Option("Examples", low=0, high=50)] = 5


@dataclass(frozen=True, slots=True)
class SourceRow:
    """The positives of all captions by one source."""

    positives: Annotated[int, Shown("Positives", "count")]
    mean: Annotated[Score, Shown("Mean per caption", "number")]
    median: Annotated[Score, Shown("Median", "number")]
    most: Annotated[int | None, Shown("Maximum", "count")]
    without: Annotated[int, Shown("Captions without positives", "count")]


@dataclass(frozen=True, slots=True)
class SummaryRow(SourceRow):
    """The positives by one source, with the correlations of their numbers with the lengths."""

    source: Annotated[str, Shown("Source", write=SOURCES.__getitem__)]
    spearman: Annotated[Score, Shown("Spearman’s rho with length", "number")]
    kendall: Annotated[Score, Shown("Kendall’s tau-b with length", "number")]


@dataclass(frozen=True, slots=True)
class CountRow:
    """The number of captions that have this number of positives, by each source."""

    positives: Annotated[int, Shown("Positives", "count")]
    original: Annotated[int, Shown(charts.ORIGINAL_POSITIVES, "count")]
    labelled: Annotated[int, Shown(charts.WITH_LABELS, "count")]


@dataclass(frozen=True, slots=True)
class CaptionRow:
    """An example: a caption with its number of positives by each source.

    end: its group by length, `short`, `middle` or `long`
    """

    end: Annotated[str, Shown("Group")]
    caption_id: CaptionKey
    caption: Caption
    words: Annotated[int, Shown("Words", "count")]
    original: Annotated[int, Shown(charts.ORIGINAL_POSITIVES, "count")]
    labelled: Annotated[int, Shown(charts.WITH_LABELS, "count")]


@dataclass(frozen=True, slots=True)
class Result(results.Result):
    """The positives by source. The keys of all objects are `original` and `labelled`.

    captions: the number of all captions
    per_caption: item n is the number of captions with n positives
    by_length: a row [words, positives, captions] for each number of words together with each number
        of positives; captions is the number of captions that have both, at least 1
    correlations: of the number of words of a caption with the number of its positives
    """

    captions: int
    sources: dict[str, SourceRow]
    per_caption: dict[str, list[int]]
    by_length: dict[str, list[list[int]]]
    correlations: dict[str, Correlation]
    examples: list[CaptionRow]

    def tables(self) -> list[Table]:
        sources = [
            SummaryRow(**cells_of(row), source=name, **cells_of(self.correlations[name]))
            for name, row in self.sources.items()
        ]
        order = "source positives mean median most without spearman kendall"
        numbers, ends = "Captions by their number of positives", "Short, middle and long captions"
        return [
            self.table("sources", "Positives", SummaryRow, sources, columns=order),
            self.table("per-caption", numbers, CountRow, self._counts()),
            self.table("examples", ends, CaptionRow, self.examples),
        ]

    def _counts(self) -> list[CountRow]:
        counts = [self.per_caption[name] for name in SOURCES]
        rows = zip_longest(*counts, fillvalue=0)
        return [CountRow(number, *row) for number, row in enumerate(rows) if any(row)]

    def charts(self) -> list[charts.Chart]:
        rows = [
            {"positives": min(number, POSITIVES_MAX), "captions": captions, "source": SOURCES[name]}
            for name, counts in self.per_caption.items()
            for number, captions in enumerate(counts)
            if captions
        ]
        is_cut = any(row["positives"] == POSITIVES_MAX for row in rows)
        title = f"Positives (last: {POSITIVES_MAX} or more)" if is_cut else "Positives"
        return [
            charts.Chart(
                "per-caption",
                "Captions by their number of positives",
                "Each number of positives has two bars: one for the captions that have this number "
                "by the original positives, and one for the captions that have it with the labels."
                + (f" The last bars are for {POSITIVES_MAX} or more positives." if is_cut else ""),
                charts.bars(
                    rows,
                    charts.step("positives", title),
                    charts.count("captions", "Captions (log)", aggregate="sum"),
                    charts.name_of("source", order=list(SOURCES.values())),
                ),
            ),
            charts.Chart(
                "by-length",
                "Positives by the length of the caption, with the labels",
                "A heat map of captions by their number of words and of positives, with the sums "
                "of rows and columns at its edges.",
                _heat_map(self.by_length["labelled"]),
            ),
        ]


def _heat_map(cells: list[list[int]]) -> dict[str, Any]:
    """Return a heat map of captions by words and positives, with the sums at its edges."""
    keys = ("words", "positives", "captions")
    words = charts.quantity("words", "Words", bin={"step": 1}, axis={"format": "d"})
    positives = charts.quantity("positives", "Positives", bin={"maxbins": 40})
    margin = charts.quantity("captions", "Captions", aggregate="sum", scale={"type": "symlog"})
    colours = charts.quantity(
        "captions", "Captions (log)", aggregate="sum", scale={"type": "log", "scheme": "viridis"}
    )
    width, height, edge = {"width": 460}, {"height": 260}, 50
    in_map = {"x": words, "y": positives, "color": colours}
    above = {"x": {**words, "axis": None}, "y": margin}
    right = {"y": {**positives, "axis": None}, "x": margin}
    map_and_edge = [
        {"mark": charts.CELLS, **width, **height, "encoding": in_map},
        {"mark": charts.BARS, "width": edge, **height, "encoding": right},
    ]
    # With this distance between charts, the labels at the ends of their axes do not touch.
    close = {"spacing": 16, "bounds": "flush"}
    return {
        "data": {"values": [dict(zip(keys, cell, strict=True)) for cell in cells]},
        **close,
        "vconcat": [
            {"mark": charts.BARS, **width, "height": edge, "encoding": above},
            {**close, "hconcat": map_and_edge},
        ],
    }


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    counts = {
        "original": positives_per_query(inputs.original),
        "labelled": positives_per_query(inputs.judged),
    }
    lengths = inputs.caption_lengths
    ends = at_the_ends(lengths, min(options.examples, len(lengths)))
    return Result(
        len(lengths),
        {name: _summary(found) for name, found in counts.items()},
        {name: np.bincount(found).tolist() for name, found in counts.items()},
        {name: _cells(length_table(lengths, found)) for name, found in counts.items()},
        {
            name: Correlation(spearman(lengths, found).value, kendall_tau_b(lengths, found).value)
            for name, found in counts.items()
        },
        [
            CaptionRow(
                end,
                inputs.query_keys[number],
                inputs.captions[number],
                int(lengths[number]),
                int(counts["original"][number]),
                int(counts["labelled"][number]),
            )
            for end, numbers in zip(("short", "middle", "long"), ends, strict=True)
            for number in numbers.tolist()
        ],
    )


def _summary(positives: IntArray) -> SourceRow:
    if not len(positives):
        return SourceRow(0, None, None, None, 0)
    return SourceRow(
        int(positives.sum()),
        float(positives.mean()),
        float(np.median(positives)),
        int(positives.max()),
        int((positives == 0).sum()),
    )


def _cells(table: IntArray) -> list[list[int]]:
    """Return the non-empty cells: [words, positives, captions]."""
    words, positives = np.nonzero(table)
    cells: list[list[int]] = np.stack([words, positives, table[words, positives]], axis=1).tolist()
    return cells


POSITIVES = Analysis(
    name="positives",
    title="Positives per caption",
    question="How many videos match a caption, and does this depend on its length?",
    source="FIRE study, figures 2 and 11, tables 5 and 6",
    options=Options,
    result=Result,
    compute=_compute,
    selects=("labels", "only"),
    reads_lists=False,
    runs_needed=0,
    notes=(
        "The positives of a caption are the videos that are known to match it. Only pooled pairs "
        "were judged, so the number with the labels is a lower bound. The data set itself usually "
        "has one original positive per caption.",
    ),
)

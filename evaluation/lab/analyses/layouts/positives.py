"""Tables and charts of the positives per caption."""

from __future__ import annotations

from typing import Any, TypedDict

from evaluation.lab.analyses.charts import (
    BARS,
    CELLS,
    ORIGINAL_POSITIVES,
    WITH_LABELS,
    Chart,
    count,
    name_of,
    offset,
    quantity,
    spec,
    step,
)
from evaluation.lab.analyses.old_results import Correlation
from evaluation.lab.analyses.tables import Column, Table

POSITIVES_MAX = 50
SOURCES = {"original": ORIGINAL_POSITIVES, "labelled": WITH_LABELS}


class SourceRow(TypedDict):
    """The positives of all captions by one source. without: captions without positives."""

    positives: int
    mean: float | None
    median: float | None
    most: int | None
    without: int


class CaptionRow(TypedDict):
    """An example: a caption with its number of positives by each source.

    end: its group by length, `short`, `middle` or `long`.
    """

    end: str
    caption_id: str
    caption: str
    words: int
    original: int
    labelled: int


class PositivesResult(TypedDict):
    """The positives by source. The keys of all dicts are those of `SOURCES`.

    captions: the number of all captions. per_caption: item n is the number of captions with n
    positives. by_length: a row [words, positives, captions] for each number of words together with
    each number of positives; captions is the number of captions that have both, at least 1.
    correlations: those of the number of words of a caption with the number of its positives.
    """

    captions: int
    sources: dict[str, SourceRow]
    per_caption: dict[str, list[int]]
    by_length: dict[str, list[list[int]]]
    correlations: dict[str, Correlation]
    examples: list[CaptionRow]


def tables(result: PositivesResult) -> list[Table]:
    sources = [
        {"source": SOURCES[name], **row, **result["correlations"][name]}
        for name, row in result["sources"].items()
    ]
    return [
        Table(
            "sources",
            "Positives",
            [
                Column("source", "Source"),
                Column("positives", "Positives", "count"),
                Column("mean", "Mean per caption", "number"),
                Column("median", "Median", "number"),
                Column("most", "Maximum", "count"),
                Column("without", "Captions without positives", "count"),
                Column("spearman", "Spearman’s rho with length", "number"),
                Column("kendall", "Kendall’s tau-b with length", "number"),
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
                Column("end", "Group"),
                Column("caption_id", "Key", compared=lambda row: {"caption": row["caption_id"]}),
                Column("caption", "Caption", names="caption"),
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


def charts(result: PositivesResult) -> list[Chart]:
    rows = [
        {"positives": min(number, POSITIVES_MAX), "captions": captions, "source": SOURCES[name]}
        for name, counts in result["per_caption"].items()
        for number, captions in enumerate(counts)
        if captions
    ]
    is_cut = any(row["positives"] == POSITIVES_MAX for row in rows)
    title = f"Positives (last: {POSITIVES_MAX} or more)" if is_cut else "Positives"
    source = name_of("source", order=list(SOURCES.values()))
    captions = count("captions", "Captions (log)", aggregate="sum")
    return [
        Chart(
            "per-caption",
            "Captions by their number of positives",
            "Each number of positives has two bars: one for the captions that have this number by "
            "the original positives, and one for the captions that have it with the labels."
            + (f" The last bars are for {POSITIVES_MAX} or more positives." if is_cut else ""),
            spec(
                rows,
                BARS,
                x=step("positives", title),
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
    """Return a heat map of captions by words and positives, with the sums at its edges."""
    keys = ("words", "positives", "captions")
    words = quantity("words", "Words", bin={"step": 1}, axis={"format": "d"})
    positives = quantity("positives", "Positives", bin={"maxbins": 40})
    margin = quantity("captions", "Captions", aggregate="sum", scale={"type": "symlog"})
    colours = quantity(
        "captions", "Captions (log)", aggregate="sum", scale={"type": "log", "scheme": "viridis"}
    )
    width, height, edge = {"width": 460}, {"height": 260}, 50
    in_map = {"x": words, "y": positives, "color": colours}
    above = {"x": {**words, "axis": None}, "y": margin}
    right = {"y": {**positives, "axis": None}, "x": margin}
    map_and_edge = [
        {"mark": CELLS, **width, **height, "encoding": in_map},
        {"mark": BARS, "width": edge, **height, "encoding": right},
    ]
    # With this distance between charts, the labels at the ends of their axes do not touch.
    close = {"spacing": 16, "bounds": "flush"}
    return {
        "data": {"values": [dict(zip(keys, cell, strict=True)) for cell in cells]},
        **close,
        "vconcat": [
            {"mark": BARS, **width, "height": edge, "encoding": above},
            {**close, "hconcat": map_and_edge},
        ],
    }

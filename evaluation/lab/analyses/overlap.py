"""Overlap of systems: the same videos, and the same videos at the same ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from django import forms

from config.shared.progress import Progress
from evaluation.core.pools.overlap import PairOverlap, compare_all_runs
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.charts import BARS, CELLS, Chart, horizontal_labels, name_of, quantity
from evaluation.lab.analyses.fields import depth_field
from evaluation.lab.analyses.forms import AnalysisForm
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.results import Row
from evaluation.lab.analyses.tables import Column, Table

# Number of columns of a matrix that fit on a phone, and maximum number of pairs in a list.
COLUMNS_ON_PHONE = 4
PAIRS_DRAWN = 30


class OverlapRow(TypedDict):
    """The overlap of two runs. `rbo` is the sum over the known ranks, which the study quotes."""

    runs: list[str]
    overlap: float | None
    rbo: float | None
    p: float
    rbo_minimum: float | None
    rbo_residual: float | None
    rbo_extrapolated: float | None


class OverlapResult(TypedDict):
    depth: int
    pairs: list[OverlapRow]


class OverlapForm(AnalysisForm):
    depth = depth_field()
    p = forms.FloatField(
        label="Persistence p",
        initial=0.9,
        min_value=0.01,
        max_value=0.999,
        help_text="The weight of a rank, divided by the weight of the rank above it.",
    )


class OverlapOptions(TypedDict):
    depth: int
    p: float


def _compute(inputs: Inputs, options: OverlapOptions, progress: Progress) -> OverlapResult:
    pairs = compare_all_runs(inputs.ranked, options["depth"], options["p"])
    return {"depth": options["depth"], "pairs": [_pair(pair, options["p"]) for pair in pairs]}


def _pair(pair: PairOverlap, p: float) -> OverlapRow:
    return {
        "runs": [pair.first, pair.second],
        "overlap": pair.common.value,
        "rbo": pair.truncated.value,
        "p": p,
        "rbo_minimum": pair.minimum.value,
        "rbo_residual": pair.residual.value,
        "rbo_extrapolated": pair.extrapolated.value,
    }


def _tables(result: OverlapResult) -> list[Table]:
    rows = [
        {"first": pair["runs"][0], "second": pair["runs"][1], **pair} for pair in result["pairs"]
    ]
    return [
        Table(
            "pairs",
            f"Overlap of the top {result['depth']}",
            [
                Column("first", "Run"),
                Column("second", "Other run"),
                Column("overlap", "Shared, %", "percent"),
                Column("rbo", "RBO, known ranks only", "number"),
                Column("rbo_minimum", "RBO minimum", "number"),
                Column("rbo_residual", "Residual", "number"),
                Column("rbo_extrapolated", "RBO extrapolated", "number"),
            ],
            rows,
        )
    ]


def _charts(result: OverlapResult) -> list[Chart]:
    shared = f"Shared videos in the top {result['depth']}"
    return [
        _chart(result["pairs"], "overlap", "overlap", shared, ".1%"),
        _chart(result["pairs"], "RBO", "rbo", "Rank-biased overlap, known ranks only", ".3f"),
    ]


def _chart(pairs: Sequence[Row], name: str, key: str, title: str, format: str) -> Chart:
    """Return a matrix of the runs. If it is too wide for a phone, there is a list of the pairs."""
    names = list(dict.fromkeys(run for pair in pairs for run in pair["runs"]))
    return Chart(
        name.lower(),
        title,
        f"A matrix of the runs; each cell is the {name} of two of them.",
        _matrix(pairs, names, key, title, format),
        narrow=_list_of_pairs(pairs, key, title, format) if len(names) > COLUMNS_ON_PHONE else None,
    )


def _matrix(
    pairs: Sequence[Row], names: list[str], key: str, title: str, format: str
) -> dict[str, Any]:
    """Return a square of cells that contain their numbers."""
    rows = [
        {"run": run, "other run": other, key: pair[key]}
        for pair in pairs
        for run, other in (pair["runs"], pair["runs"][::-1])
    ]
    colours = quantity(key, title, scale={"scheme": "oranges", "domain": [0, 1]}, legend=None)
    text_colour = {
        "condition": {"test": f"datum['{key}'] > 0.6", "value": "white"},
        "value": "#25211c",
    }
    numbers = {"text": quantity(key, title, format=format), "color": text_colour}
    # Numbers need room, so a matrix of many runs can be wider than the page.
    size = {"width": {"step": 44}, "autosize": "pad"} if len(names) > COLUMNS_ON_PHONE else {}
    return {
        "data": {"values": rows},
        "height": {"step": 40},
        **size,
        "encoding": {
            "x": {**name_of("run", order=names), "axis": {"labelAngle": -30}},
            "y": name_of("other run", order=names),
        },
        "layer": [
            {"mark": CELLS, "encoding": {"color": colours}},
            {"mark": {"type": "text"}, "encoding": numbers},
        ],
    }


def _list_of_pairs(pairs: Sequence[Row], key: str, title: str, format: str) -> dict[str, Any]:
    """Return a bar for each pair of runs, the highest first, below the names of the runs."""
    ordered = sorted(pairs, key=lambda pair: -(pair[key] or 0))[:PAIRS_DRAWN]
    rows = [{"pair": " – ".join(pair["runs"]), key: pair[key]} for pair in ordered]
    head = title if len(pairs) <= PAIRS_DRAWN else f"{title}, the {PAIRS_DRAWN} highest"
    value = quantity(key, head, axis={"format": format}, scale={"domain": [0, 1]})
    number = {"text": quantity(key, title, format=format)}
    at_end = {"type": "text", "align": "left", "dx": 4, "aria": False}
    return {
        "data": {"values": rows},
        "height": {"step": 40},
        "encoding": {
            "x": value,
            "y": horizontal_labels("pair", [row["pair"] for row in rows], 1),
        },
        "layer": [
            {"mark": {**BARS, "height": 10}},
            {"mark": at_end, "encoding": number},
        ],
    }


OVERLAP = Analysis(
    name="overlap",
    title="Overlap between systems",
    question="Do the systems rank the same videos at the top, and in the same order?",
    source="Table 3",
    form=OverlapForm,
    compute=_compute,
    tables=_tables,
    charts=_charts,
    runs_needed=2,
    notes=(
        "Shared: the share of the top that two lists have in common, averaged over all captions.",
        "Rank-biased overlap (Webber, Moffat, Zobel 2010) gives the top ranks more weight. “Known "
        "ranks only” leaves out the ranks below the depth, as in the study. “Minimum” assumes that "
        "the lists have no further video in common there. “Residual” is the most that these ranks "
        "could add. “Extrapolated” assumes that the lists continue to agree as much as above.",
    ),
)

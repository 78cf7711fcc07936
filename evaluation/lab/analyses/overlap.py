"""Overlap of two systems: the share of common videos at the top, and rank-biased overlap."""

from __future__ import annotations

from typing import TypedDict

from django import forms

from evaluation.core.pools.overlap import PairOverlap, compare_all_runs
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.charts import Chart
from evaluation.lab.analyses.fields import depth_field
from evaluation.lab.analyses.forms import DirectedForm
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.pair_charts import pair_charts
from evaluation.lab.analyses.tables import Column, Table
from hearth.shared.progress import Progress


class OverlapRow(TypedDict):
    """The overlap of two runs. `rbo` is the sum over the known ranks, as in the FIRE study."""

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


class OverlapForm(DirectedForm):
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
    pairs = [{"names": pair["runs"], **pair} for pair in result["pairs"]]
    shared = f"Shared videos in the top {result['depth']}"
    return [
        *pair_charts(pairs, "run", "overlap", "overlap", shared, ".1%"),
        *pair_charts(pairs, "run", "RBO", "rbo", "Rank-biased overlap, known ranks only", ".3f"),
    ]


OVERLAP = Analysis(
    name="overlap",
    title="Overlap between systems",
    question="Do the systems rank the same videos at the top, and in the same order?",
    source="FIRE study, table 3",
    form=OverlapForm,
    is_directed=True,
    compute=_compute,
    tables=_tables,
    charts=_charts,
    runs_needed=2,
    notes=(
        "Shared: the share of the top that two lists have in common, averaged over all captions.",
        "Rank-biased overlap (Webber, Moffat, Zobel 2010) gives the top ranks more weight. “Known "
        "ranks only” leaves out the ranks below the depth, as in the FIRE study. “Minimum” assumes "
        "that the lists have no further video in common there. “Residual” is the most that these "
        "ranks could add. “Extrapolated” assumes that the lists continue to agree as much as "
        "above.",
    ),
)

"""Ranks of the positives, by their source."""

from __future__ import annotations

from typing import TypedDict

from evaluation.core.relevance.positives import NEW, ORIGINAL, ranks_by_source
from evaluation.lab.analyses.charts import (
    BARS,
    NEW_POSITIVES,
    ORIGINAL_POSITIVES,
    Chart,
    name_of,
    quantity,
    step,
)
from evaluation.lab.analyses.fields import depth_field
from evaluation.lab.analyses.forms import AnalysisForm
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.old_analysis import Analysis
from evaluation.lab.analyses.old_results import Row
from evaluation.lab.analyses.tables import Column, Table
from hearth.shared.progress import Progress

SOURCES = {"original": ORIGINAL_POSITIVES, "new": NEW_POSITIVES}


class RankCounts(TypedDict):
    """The number of positives of a run at each rank, by source."""

    original: list[int]
    new: list[int]


class RanksResult(TypedDict):
    captions: int
    runs: dict[str, RankCounts]


class RanksForm(AnalysisForm):
    depth = depth_field()


class RanksOptions(TypedDict):
    depth: int


def _compute(inputs: Inputs, options: RanksOptions, progress: Progress) -> RanksResult:
    runs: dict[str, RankCounts] = {}
    for number, (name, ranked) in enumerate(inputs.ranked.items()):
        progress(number, len(inputs.runs), "looking up positives")
        counts = ranks_by_source(ranked.top(options["depth"]), inputs.judged, inputs.original)
        runs[name] = {"original": counts[ORIGINAL].tolist(), "new": counts[NEW].tolist()}
    return {"captions": len(inputs.captions), "runs": runs}


def _rows(result: RanksResult) -> list[Row]:
    return [
        {"run": name, "rank": rank, "original": original, "new": new}
        for name, counts in result["runs"].items()
        for rank, (original, new) in enumerate(
            zip(counts["original"], counts["new"], strict=True), start=1
        )
    ]


def _tables(result: RanksResult) -> list[Table]:
    columns = [
        Column("run", "Run"),
        Column("rank", "Rank", "count"),
        *(Column(key, title, "count") for key, title in SOURCES.items()),
    ]
    return [
        Table(
            "totals",
            "Positives within the depth",
            [
                Column("run", "Run"),
                *(Column(key, title, "count") for key, title in SOURCES.items()),
                Column("share", "New positives, %", "percent"),
            ],
            [_totals(name, counts) for name, counts in result["runs"].items()],
        ),
        Table("ranks", "Positives at each rank", columns, _rows(result)),
    ]


def _totals(name: str, counts: RankCounts) -> Row:
    original, new = sum(counts["original"]), sum(counts["new"])
    share = new / (original + new) if original + new else None
    return {"run": name, "original": original, "new": new, "share": share}


def _charts(result: RanksResult) -> list[Chart]:
    rows = [
        {"run": row["run"], "rank": row["rank"], "positives": row[key], "source": title}
        for row in _rows(result)
        for key, title in SOURCES.items()
    ]
    bars = {
        "mark": BARS,
        "width": 280,
        "height": 180,
        "encoding": {
            "x": step("rank", "Rank"),
            "y": quantity("positives", "Positives"),
            "color": name_of("source", order=list(SOURCES.values())),
        },
    }
    facet = {**name_of("run"), "header": {"labelLimit": 260}}
    return [
        Chart(
            "ranks",
            "Positives at each rank, by their source",
            "A chart for each run: stacked bars over the ranks, for original positives and for new "
            "positives.",
            {"data": {"values": rows}, "facet": facet, "columns": 3, "spec": bars},
        )
    ]


RANKS = Analysis(
    name="ranks",
    title="Ranks of the positives",
    question="At which ranks are the new positives, and at which the original ones?",
    source="FIRE study, figure 12",
    form=RanksForm,
    compute=_compute,
    tables=_tables,
    charts=_charts,
    needs_labels=True,
)

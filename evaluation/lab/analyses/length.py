"""Numbers of correct ranked lists by caption length, before and after the labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any, TypedDict

from django import forms

from evaluation.core.relevance.compare import EVERY, FIRST, SECOND
from evaluation.core.relevance.compare import NEITHER as NONE_RIGHT
from evaluation.core.relevance.positives import (
    BOTH,
    NEITHER,
    ONLY_FIRST,
    ONLY_SECOND,
    finds_one,
    right_by_length,
)
from evaluation.lab.analyses.charts import (
    BARS,
    NEITHER_RUN,
    ORIGINAL_POSITIVES,
    PERCENT,
    WITH_LABELS,
    Chart,
    name_of,
    quantity,
    step,
)
from evaluation.lab.analyses.forms import AnalysisForm
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.old_analysis import Analysis
from evaluation.lab.analyses.old_results import Row
from evaluation.lab.analyses.tables import Column, Table
from hearth.shared.progress import Progress

BY = {"original": ORIGINAL_POSITIVES, "labelled": WITH_LABELS}
# Maximum number of runs, because each pair of runs has a chart.
RUNS_MAX = 6


class LengthRow(TypedDict):
    """The numbers of captions of one length on which two runs are correct. by: a key of `BY`."""

    first: str
    second: str
    by: str
    words: int
    both: int
    only_first: int
    only_second: int
    neither: int


class LengthResult(TypedDict):
    cutoff: int
    runs: list[str]
    rows: list[LengthRow]


class LengthForm(AnalysisForm):
    cutoff = forms.IntegerField(
        label="Correct within the top", initial=1, min_value=1, max_value=1000
    )


class LengthOptions(TypedDict):
    cutoff: int


def _compute(inputs: Inputs, options: LengthOptions, progress: Progress) -> LengthResult:
    names = list(inputs.ranked)[:RUNS_MAX]
    right = {
        by: {name: finds_one(inputs.ranked[name], judged, options["cutoff"]) for name in names}
        for by, judged in (("original", inputs.original), ("labelled", inputs.judged))
    }
    rows: list[LengthRow] = []
    for first, second in combinations(names, 2):
        for by, found in right.items():
            by_length = right_by_length(found[first], found[second], inputs.caption_lengths)
            for words, counts in zip(
                by_length.lengths.tolist(), by_length.counts.tolist(), strict=True
            ):
                rows.append(
                    {
                        "first": first,
                        "second": second,
                        "by": by,
                        "words": words,
                        "both": counts[BOTH],
                        "only_first": counts[ONLY_FIRST],
                        "only_second": counts[ONLY_SECOND],
                        "neither": counts[NEITHER],
                    }
                )
    return {"cutoff": options["cutoff"], "runs": names, "rows": rows}


def _tables(result: LengthResult) -> list[Table]:
    columns = [
        Column("first", "First run"),
        Column("second", "Second run"),
        Column("by", "Positives"),
        Column("words", "Words", "count"),
        Column("both", "Both correct", "count", compared=_captions("both", EVERY, result)),
        Column(
            "only_first", "Only the first", "count", compared=_captions("only_first", FIRST, result)
        ),
        Column(
            "only_second",
            "Only the second",
            "count",
            compared=_captions("only_second", SECOND, result),
        ),
        Column("neither", "Neither", "count", compared=_captions("neither", NONE_RIGHT, result)),
    ]
    rows = [{**row, "by": BY[row["by"]]} for row in result["rows"]]
    return [
        Table(
            "who",
            "Numbers of captions for which both runs, one run or neither run is correct",
            columns,
            rows,
        )
    ]


def _captions(key: str, show: str, result: LengthResult) -> Callable[[Row], Mapping[str, Any]]:
    """Return a function that maps a row to the options of the comparison to which its cell links.

    The options are empty if the cell has no captions.
    """

    def compared(row: Row) -> Mapping[str, Any]:
        if not row[key]:
            return {}
        two = {name: row[name] for name in ("first", "second")}
        by = next(name for name, title in BY.items() if title == row["by"])
        words = {"least": row["words"], "most": row["words"]}
        options = {"runs": list(two.values()), "show": show, "by": by}
        return {**two, **options, "cutoff": result["cutoff"], **words}

    return compared


def _charts(result: LengthResult) -> list[Chart]:
    return [
        _chart(place, first, second, result["rows"])
        for place, (first, second) in enumerate(combinations(result["runs"], 2), start=1)
    ]


def _chart(place: int, first: str, second: str, rows: Sequence[Row]) -> Chart:
    names = {
        "both": "both",
        "only_first": f"only {first}",
        "only_second": f"only {second}",
        "neither": NEITHER_RUN,
    }
    values: list[dict[str, Any]] = [
        {"words": row["words"], "positives": BY[row["by"]], "captions": row[key], "right": name}
        for row in rows
        if (row["first"], row["second"]) == (first, second)
        for key, name in names.items()
    ]
    # The order of stacking, from the bottom. The order of colours begins with “neither”.
    height = {name: place for place, name in enumerate(names.values())}
    for value in values:
        value["height"] = height[value["right"]]
    colours = [NEITHER_RUN, *list(names.values())[:-1]]
    bars = {
        "mark": BARS,
        "width": 420,
        "height": 200,
        "encoding": {
            "x": step("words", "Words in the caption"),
            "y": quantity("captions", "Captions", stack="normalize", axis={"format": PERCENT}),
            "color": name_of("right", "Correct", order=colours),
            "order": {"field": "height", "type": "quantitative"},
        },
    }
    return Chart(
        f"who-{place}",
        f"{first} and {second}",
        f"Two charts of stacked shares over the length of the caption: {first} and {second} both "
        "correct, only one of them, or neither, by the original positives and with the labels.",
        {
            "data": {"values": values},
            "facet": name_of("positives", order=list(BY.values())),
            "columns": 2,
            "spec": bars,
        },
    )


LENGTH = Analysis(
    name="length",
    title="Correctness of ranked lists by caption length",
    question="Are short captions difficult for systems, or are their labels missing?",
    source="FIRE study, figure 3",
    form=LengthForm,
    compute=_compute,
    tables=_tables,
    charts=_charts,
    runs_needed=2,
    needs_labels=True,
    notes=(
        f"If there are more than {RUNS_MAX} runs, only the first {RUNS_MAX} are compared. Select "
        "others in the settings. There are few long captions, so their shares are uncertain.",
    ),
)

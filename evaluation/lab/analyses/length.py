"""Numbers of correct ranked lists by caption length, before and after the labels."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Annotated

from evaluation.core.relevance import positives
from evaluation.core.relevance.compare import EVERY, FIRST, SECOND
from evaluation.core.relevance.compare import NEITHER as NONE_RIGHT
from evaluation.core.relevance.positives import BOTH, NEITHER, ONLY_FIRST, ONLY_SECOND, finds_one
from evaluation.lab.analyses import charts, options, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.rows import Compared, Shown
from evaluation.lab.analyses.tables import Row, Table
from hearth.shared.options import Option
from hearth.shared.progress import Progress

BY = {"original": charts.ORIGINAL_POSITIVES, "labelled": charts.WITH_LABELS}
# Maximum number of runs, because each pair of runs has a chart.
RUNS_MAX = 6
# The captions of the comparison to which each number of captions links.
SHOWN = {"both": EVERY, "only_first": FIRST, "only_second": SECOND, "neither": NONE_RIGHT}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Options):
    cutoff: Annotated[int, Option("Correct within the top", low=1, high=1000)] = 1


@dataclass(frozen=True, slots=True)
class LengthRow:
    """The numbers of captions of one length on which two runs are correct."""

    first: Annotated[str, Shown("First run")]
    second: Annotated[str, Shown("Second run")]
    by: Annotated[str, Shown("Positives", write=BY.__getitem__)]
    words: Annotated[int, Shown("Words", "count")]
    both: Annotated[int, Shown("Both correct", "count")]
    only_first: Annotated[int, Shown("Only the first", "count")]
    only_second: Annotated[int, Shown("Only the second", "count")]
    neither: Annotated[int, Shown("Neither", "count")]


@dataclass(frozen=True, slots=True)
class Result(results.Result):
    cutoff: int
    runs: list[str]
    rows: list[LengthRow]

    def tables(self) -> list[Table]:
        return [
            self.table(
                "who",
                "Numbers of captions for which both runs, one run or neither run is correct",
                LengthRow,
                self.rows,
                compared={key: self._captions(key) for key in SHOWN},
            )
        ]

    def _captions(self, key: str) -> Compared:
        """Return a function that maps a row to the options of the comparison of its captions."""

        def compared(row: Row) -> Row:
            if not row[key]:
                return {}
            by = next(name for name, title in BY.items() if title == row["by"])
            return {
                "first": row["first"],
                "second": row["second"],
                "runs": [row["first"], row["second"]],
                "show": SHOWN[key],
                "by": by,
                "cutoff": self.cutoff,
                "least": row["words"],
                "most": row["words"],
            }

        return compared

    def charts(self) -> list[charts.Chart]:
        return [
            _chart(place, first, second, self.rows)
            for place, (first, second) in enumerate(combinations(self.runs, 2), start=1)
        ]


def _chart(place: int, first: str, second: str, rows: list[LengthRow]) -> charts.Chart:
    names = {
        "both": "both",
        "only_first": f"only {first}",
        "only_second": f"only {second}",
        "neither": charts.NEITHER_RUN,
    }
    own = [row for row in rows if (row.first, row.second) == (first, second)]
    # The order of stacking, from the bottom. The order of colours begins with “neither”.
    height = {name: place for place, name in enumerate(names.values())}
    values = [
        {
            "words": row["words"],
            "positives": row["by"],
            "captions": row["captions"],
            "right": row["right"],
            "height": height[row["right"]],
        }
        for row in charts.melt(own, "words by", names, "captions", "right")
    ]
    bars = {
        "mark": charts.BARS,
        "width": 420,
        "height": 200,
        "encoding": {
            "x": charts.step("words", "Words in the caption"),
            "y": charts.quantity(
                "captions", "Captions", stack="normalize", axis={"format": charts.PERCENT}
            ),
            "color": charts.name_of(
                "right", "Correct", [charts.NEITHER_RUN, *list(names.values())[:-1]]
            ),
            "order": {"field": "height", "type": "quantitative"},
        },
    }
    return charts.Chart(
        f"who-{place}",
        f"{first} and {second}",
        f"Two charts of stacked shares over the length of the caption: {first} and {second} "
        "both correct, only one of them, or neither, by the original positives and with the "
        "labels.",
        {
            "data": {"values": values},
            "facet": charts.name_of("positives", order=list(BY.values())),
            "columns": 2,
            "spec": bars,
        },
    )


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    names = list(inputs.ranked)[:RUNS_MAX]
    right = {
        by: {name: finds_one(inputs.ranked[name], judged, options.cutoff) for name in names}
        for by, judged in (("original", inputs.original), ("labelled", inputs.judged))
    }
    rows: list[LengthRow] = []
    for first, second in combinations(names, 2):
        for by, found in right.items():
            by_length = positives.right_by_length(
                found[first], found[second], inputs.caption_lengths
            )
            rows += [
                LengthRow(
                    first,
                    second,
                    by,
                    words,
                    *(counts[one] for one in (BOTH, ONLY_FIRST, ONLY_SECOND, NEITHER)),
                )
                for words, counts in zip(
                    by_length.lengths.tolist(), by_length.counts.tolist(), strict=True
                )
            ]
    return Result(options.cutoff, names, rows)


LENGTH = Analysis(
    name="length",
    title="Correctness of ranked lists by caption length",
    question="Are short captions difficult for systems, or are their labels missing?",
    source="FIRE study, figure 3",
    options=Options,
    result=Result,
    compute=_compute,
    runs_needed=2,
    needs_labels=True,
    notes=(
        f"If there are more than {RUNS_MAX} runs, only the first {RUNS_MAX} are compared. Select "
        "others in the settings. There are few long captions, so their shares are uncertain.",
    ),
)

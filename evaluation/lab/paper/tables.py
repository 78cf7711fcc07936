"""Tables like tables 1 to 4 of the FIRE study in LaTeX, from the results of analyses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.core.files.latex import (
    Table,
    coefficient,
    count,
    escape,
    interval,
    percent,
    points,
    table,
)
from evaluation.lab.analyses.labels import Result as Labels
from evaluation.lab.analyses.leave_one_out import LeftOut
from evaluation.lab.analyses.leave_one_out import Result as LeaveOneOut
from evaluation.lab.analyses.overlap import Result as Overlap
from evaluation.lab.analyses.scores import Result as Scores
from pooling.models import Benchmark

FIRE_AP = "AP(found)@20"
"""The average precision in the tables of the FIRE study, whose lists have 20 videos."""
_WHICH_AP = {
    "AP": "AP divides by the number of all positives of a caption.",
    FIRE_AP: f"{FIRE_AP} divides by the number of positives among the first 20 videos; it is the "
    "AP that the code of the FIRE study~\\cite{fire} computes.",
}


def scores(result: Scores) -> Table:
    """Return the scores as A (B + C).

    A is the score by the labels, B the score by the original positives, and C their difference.
    """
    measures = list(dict.fromkeys(row.measure for row in result.rows))
    runs = list(dict.fromkeys(row.run for row in result.rows))
    cells = {
        (row.run, row.measure): f"{percent(row.labelled)} ({percent(row.original)} "
        f"{points(row.difference)})"
        for row in result.rows
    }
    return Table(
        "tab:scores",
        " ".join(
            [
                "Scores in \\% by the labels. In parentheses: scores by the original positives, "
                "and the difference.",
                *(text for measure, text in _WHICH_AP.items() if measure in measures),
            ]
        ),
        ["Run", *map(escape, measures)],
        [[escape(run), *(cells[run, measure] for measure in measures)] for run in runs],
    )


def labels(result: Labels) -> Table:
    """Return the numbers of pairs and labels, and the agreement of the labels."""
    rows = [
        ["Judged pairs", count(result.pairs)],
        ["Judgments", count(result.labels)],
        ["Relevant pairs", count(result.relevant)],
        ["Not relevant pairs", count(result.irrelevant)],
        ["Pairs without a decision", count(result.undecided)],
        ["Pairs with several labels", count(result.several)],
        ["Equal labels, \\%", percent(result.agreement)],
        ["Krippendorff's $\\alpha$", coefficient(result.alpha)],
        ["\\quad interval", interval(result.alpha_interval)],
        ["Gwet's AC$_1$", coefficient(result.ac1)],
    ]
    caption = (
        "The labels and their agreement. The interval resamples annotators, with a confidence of "
        "95\\,\\%."
    )
    return Table("tab:labels", caption, ["", "Number"], rows)


def overlap(result: Overlap) -> Table:
    """Return a matrix of the runs: shared videos above the diagonal, rank-biased overlap below."""
    pairs = result.pairs
    runs = list(dict.fromkeys(run for pair in pairs for run in pair.runs))
    cells: dict[tuple[str, str], str] = {}
    for pair in pairs:
        first, second = sorted(pair.runs, key=runs.index)
        cells[first, second] = percent(pair.overlap)
        cells[second, first] = coefficient(pair.rbo)
    rows = [
        [f"{number}\\enspace {escape(run)}", *(cells.get((run, other), "") for other in runs)]
        for number, run in enumerate(runs, start=1)
    ]
    return Table(
        "tab:overlap",
        f"Overlap of the top {result.depth} of two runs: shared videos in \\% above the "
        f"diagonal, rank-biased overlap ($p = {pairs[0].p:g}$, known ranks)~\\cite{{rbo}} "
        "below.",
        ["Run", *(str(number) for number in range(1, len(runs) + 1))],
        rows,
    )


def leave_one_out(result: LeaveOneOut) -> Table:
    """Return the scores of each run without the pairs that only it contributed."""
    runs = result.runs
    # PostgreSQL returns the keys of stored results in another order, so they are sorted.
    found = next(iter(runs.values())).all if runs else {}
    measures = sorted(found, key=lambda name: ("@" not in name, len(name), name))
    return Table(
        "tab:leave-one-out",
        "Scores in \\% of each run if the pairs that only this run contributed are unjudged, and "
        "the difference from its scores by all labels. Lists are cut at rank "
        f"{result.depth}.",
        ["Run", *map(escape, measures), "Pairs"],
        [
            [
                escape(name),
                *(_left_out(figures, measure) for measure in measures),
                count(figures.pairs),
            ]
            for name, figures in sorted(runs.items())
        ],
    )


def _left_out(figures: LeftOut, measure: str) -> str:
    without, every = figures.left_out[measure], figures.all[measure]
    known = None not in (figures.bias[measure], without, every)
    difference = (without or 0) - (every or 0) if known else None
    return f"{percent(without)} ({points(difference)})"


# The function of each table by the name of its analysis, in the order of the study's tables.
TABLES: dict[str, Callable[[Any], Table]] = {
    "scores": scores,
    "labels": labels,
    "overlap": overlap,
    "leave-one-out": leave_one_out,
}


@dataclass(frozen=True, slots=True)
class Further:
    """A table of an analysis above the lab, for benchmarks to which it applies.

    build: returns None if there is nothing to show.
    """

    applies: Callable[[Benchmark], bool]
    build: Callable[[Any], Table | None]


# By the name of the analysis, which is registered in the same module.
FURTHER: dict[str, Further] = {}


def tables_tex(results: Mapping[str, Any], missing: Mapping[str, str]) -> str:
    """Return the file of all tables.

    results: by the name of the analysis. missing: the reason why an analysis has no result, by its
    name.
    """
    parts = ["% Needs \\usepackage{booktabs}, and \\usepackage{url} for the references.\n"]
    for number, (name, build) in enumerate(TABLES.items(), start=1):
        title = f"% Like table {number} of the FIRE study: the analysis {name}."
        if name in missing:
            part = f"% {' '.join(missing[name].split())}\n"
        else:
            part = table(build(results[name]))
        parts.append(f"{title}\n{part}")
    for name, further in FURTHER.items():
        if name in results and (made := further.build(results[name])) is not None:
            parts.append(f"% The analysis {name}.\n{table(made)}")
    return "\n".join(parts)

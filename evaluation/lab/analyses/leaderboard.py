"""Ranks by the original positives and by each label set."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from config.shared.progress import Progress
from evaluation.core.arrays import FloatArray
from evaluation.core.pools.bounds import bound_scores
from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.measures import Measure, parse_measure
from evaluation.core.statistics.rank_stability import RankStability, rank_stability
from evaluation.core.statistics.ties import rank_systems
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.charts import (
    DOTS,
    PERCENT,
    Chart,
    low_high,
    name_of,
    quantity,
    spans,
    spec,
    step,
)
from evaluation.lab.analyses.fields import (
    ShareMeasureField,
    confidence_field,
    resamples_field,
    resampling_unit_field,
    seed_field,
)
from evaluation.lab.analyses.forms import AnalysisForm
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.intervals import few_units_warnings, resampled_by
from evaluation.lab.analyses.results import Result, ends
from evaluation.lab.analyses.tables import Column, Table
from evaluation.models import Draft, LabelSet, LabelSource
from evaluation.release.selectors import ORIGINAL, highest_grade

# Maximum number of label sets; the newest are used.
RELEASES_MAX = 12


class LeaderboardForm(AnalysisForm):
    measure = ShareMeasureField(initial="C@1")
    unit = resampling_unit_field()
    confidence = confidence_field()
    resamples = resamples_field(1000)
    seed = seed_field()


def _fill_defaults(inputs: Inputs, options: dict[str, Any]) -> dict[str, Any]:
    """Add the label sets by hash, oldest first: a new one results in a new leaderboard.

    A draft is not added. If it is selected, the inputs contain it already.
    """
    sets = LabelSet.objects.filter(benchmark=inputs.benchmark)
    newest = sets.values_list("version", "sha256")[:RELEASES_MAX]
    return options | {
        "releases": [list(one) for one in reversed(newest)],
        "highest_grade": highest_grade(inputs.benchmark),
    }


def _releases(inputs: Inputs, options: dict[str, Any]) -> list[LabelSource]:
    """Return the label sets in the options, and the draft if it is selected."""
    versions = [version for version, _ in options["releases"]]
    sets = LabelSet.objects.filter(benchmark=inputs.benchmark, version__in=versions)
    draft = [inputs.label_set] if isinstance(inputs.label_set, Draft) else []
    return [*sets.order_by("version"), *draft]


def _compute(inputs: Inputs, options: dict[str, Any], progress: Progress) -> Result:
    releases = _releases(inputs, options)
    steps = len(releases) + 2
    names: list[str | int] = [ORIGINAL]
    values = [_values(inputs, inputs.original, options)]
    for number, release in enumerate(releases, start=1):
        progress(number, steps, "scoring by each label set")
        names.append(release.reference)
        values.append(_values(inputs, inputs.judged_by(release), options))
    progress(steps - 1, steps, "ranking")
    return {
        "measure": options["measure"],
        "confidence": options["confidence"],
        **resampled_by(inputs, options["unit"]),
        "board": _board(inputs, values[0], options),
        "releases": [
            row
            for name, found in zip(names, values, strict=True)
            for row in _release_rows(name, inputs, found)
        ],
        "moves": [
            {"before": before, "after": after, **_move(_stability(one, other, inputs, options))}
            for (before, one), (after, other) in pairwise(zip(names, values, strict=True))
        ],
    }


def _values(inputs: Inputs, judged: Judged, options: dict[str, Any]) -> FloatArray:
    """Return values of a measure, float64 [n_runs, n_queries]."""
    return np.stack(list(inputs.values(judged, options["measure"]).values()))


def _stability(
    before: FloatArray, after: FloatArray, inputs: Inputs, options: dict[str, Any]
) -> RankStability:
    return rank_stability(
        before,
        after,
        options["resamples"],
        rng=np.random.default_rng(options["seed"]),
        confidence=options["confidence"],
        clusters=inputs.varied_clusters(options["unit"]),
    )


def _move(found: RankStability) -> Result:
    return {
        "tau": found.tau.value,
        "interval": ends(found.interval),
        "same_order": found.same_order,
    }


def _release_rows(name: str | int, inputs: Inputs, values: FloatArray) -> list[Result]:
    scores = values.mean(axis=1)
    return [
        {"labels": name, "run": run.name, "score": score, "rank": rank}
        for run, score, rank in zip(
            inputs.runs, scores.tolist(), rank_systems(scores).tolist(), strict=True
        )
    ]


def _board(inputs: Inputs, original: FloatArray, options: dict[str, Any]) -> list[Result]:
    """Return one row per run, ordered by rank under the selected labels."""
    labelled = _values(inputs, inputs.judged, options)
    ranks = _stability(original, labelled, inputs, options).ranks
    measure = parse_measure(options["measure"])
    rows = [
        {
            "run": run.name,
            "rank": rank.labelled,
            "rank_interval": list(rank.labelled_interval),
            "original_rank": rank.original,
            "score": float(after.mean()),
            "original": float(before.mean()),
            **_bounds_and_judged(
                inputs.ranked[run.name], inputs.judged, measure, options["highest_grade"]
            ),
        }
        for run, rank, before, after in zip(inputs.runs, ranks, original, labelled, strict=True)
    ]
    return sorted(rows, key=lambda row: (row["rank"], row["run"]))


def _bounds_and_judged(ranked: Any, judged: Judged, measure: Measure, grade: int) -> Result:
    """Return the bounds over the listed pairs and the judged share of the ranks that are read."""
    depth = measure.reads(ranked.shape[1])
    share = Measure("Judged", max(1, depth))
    found = bound_scores(ranked, judged, [measure, share], highest=max(grade, judged.highest_gain))
    return {
        "bounds": [found.lower.mean(measure).value, found.upper.mean(measure).value],
        "judged": found.known.mean(share).value,
        "judged_depth": depth,
    }


def _tables(result: Result) -> list[Table]:
    percent = f"{100 * result['confidence']:g} % interval"
    return [
        Table(
            "board",
            f"Ranks by {result['measure']}",
            [
                Column("rank", "Rank", "count"),
                Column("rank_interval", percent, "count"),
                Column("original_rank", "By the original positives", "count"),
                Column("run", "Run"),
                Column("score", "Score, %", "percent"),
                Column("original", "By the original positives, %", "percent"),
                Column("bounds", "Bounds over the listed pairs, %", "percent"),
                Column("judged_depth", "Ranks read", "count"),
                Column("judged", "Judged of these, %", "percent"),
            ],
            result["board"],
        ),
        Table(
            "releases",
            "By each label set",
            [
                Column("labels", "Labels"),
                Column("run", "Run"),
                Column("rank", "Rank", "count"),
                Column("score", "Score, %", "percent"),
            ],
            [{**row, "labels": title(row["labels"])} for row in result["releases"]],
        ),
        Table(
            "moves",
            "From one label set to the next",
            [
                Column("before", "From"),
                Column("after", "to"),
                Column("tau", "Kendall’s tau", "number"),
                Column("interval", percent, "number"),
                Column("same_order", "Resamples with the same order, %", "percent"),
            ],
            [
                {**row, "before": title(row["before"]), "after": title(row["after"])}
                for row in result["moves"]
            ],
        ),
    ]


def title(reference: str | int) -> str:
    """Return the name of labels in tables."""
    if reference == ORIGINAL:
        return "Original positives"
    return f"Label set {reference}" if isinstance(reference, int) else "Draft"


def _charts(result: Result) -> list[Chart]:
    rows = [{**row, "labels": title(row["labels"])} for row in result["releases"]]
    releases = list(dict.fromkeys(row["labels"] for row in rows))
    bounded_rows = [{**row, **low_high(row["bounds"])} for row in result["board"]]
    score = quantity("score", result["measure"], axis={"format": PERCENT}, scale={"zero": False})
    return [
        Chart(
            "ranks",
            "Ranks by each label set",
            "A line for each run: its rank by the original positives, then by each label set.",
            spec(
                rows,
                {"type": "line", "point": {"size": 80}, "tooltip": True},
                x=step("labels", "", sort=releases),
                y=quantity(
                    "rank",
                    "Rank",
                    scale={"reverse": True, "zero": False},
                    axis={"tickMinStep": 1, "format": "d"},
                ),
                color=name_of("run"),
            ),
        ),
        Chart(
            "bounds",
            "Scores with their bounds",
            "For each run, from the first rank, a dot at its score. The line goes from the "
            "lowest to the highest score that the unjudged pairs allow.",
            {
                "data": {"values": bounded_rows},
                "height": {"step": 26},
                "encoding": {"y": name_of("run", order=[row["run"] for row in bounded_rows])},
                "layer": [
                    *spans(bounded_rows, {"x": {**score, "field": "low"}, "x2": {"field": "high"}}),
                    {"mark": DOTS, "encoding": {"x": score}},
                ],
            },
        ),
    ]


LEADERBOARD = Analysis(
    name="leaderboard",
    title="Leaderboard",
    question="Which run is best, by which label set, and how certain is its rank?",
    form=LeaderboardForm,
    compute=_compute,
    tables=_tables,
    charts=_charts,
    warnings=few_units_warnings,
    fill_defaults=_fill_defaults,
    notes=(
        "Ranks are by the selected labels. Equal scores share the better rank, even if they "
        "differ by rounding. The interval of a rank covers its values in resamples of captions "
        "or videos.",
        "Bounds over the listed pairs are the lowest and the highest score over all labels that "
        "the unjudged pairs of the list can get. Unjudged pairs outside of the list count as not "
        "relevant. The analysis “Bounds and bias” includes them. A measure with a cutoff reads "
        "the top of the list, any other measure reads the whole list.",
        f"If there are more than {RELEASES_MAX} label sets, the newest are used.",
    ),
)

"""What the unjudged pairs may hide: the lowest and highest score that is still possible."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from config.shared.progress import Progress
from evaluation.analyses.base import (
    CUT,
    AnalysisForm,
    Chart,
    Column,
    Inputs,
    Kind,
    MeasuresField,
    Result,
    Table,
    confidence_field,
    depth_field,
    ends,
    seed_field,
)
from evaluation.analyses.specs import DOTS, PERCENT, RULES, low_high, name_of, quantity
from evaluation.core.arrays import FloatArray
from evaluation.core.bounds import bound_scores
from evaluation.core.expectations import check_expectations, expect_scores, pool_chances
from evaluation.core.incomplete import bpref, condense, inferred_ap
from evaluation.core.leave_out import PooledLabels, gather_pool
from evaluation.core.measures import Measure, parse_measure
from evaluation.core.resampling import mean_interval
from evaluation.core.scoring import score_run
from pooling.selectors import find_runs, ranked_matrix

Ranked = npt.NDArray[Any]
# Measures of which there is an estimate.
EXPECTED = ("C", "P", "R", "RR", "AP", "AP(found)")
FOR_MISSING = (
    "Measures made for missing judgments. bpref leaves out what is unjudged. infAP takes it for "
    "what the judged videos above it are: right half-way through a pool, and not for a system "
    "whose pairs were not pooled."
)


class BoundsForm(AnalysisForm):
    measures = MeasuresField(initial="C@1 C@5 C@10 AP", shares=True)
    depth = depth_field()
    confidence = confidence_field()
    seed = seed_field()


def _fill(inputs: Inputs, chosen: dict[str, Any]) -> dict[str, Any]:
    """Which systems a pair was found by is a question to all runs, whichever are looked at."""
    pool = {run.name: run.sha256 for run in find_runs(inputs.benchmark)}
    return chosen | {"pool": pool}


def _compute(inputs: Inputs, chosen: dict[str, Any], progress: Progress) -> Result:
    depth = chosen["depth"]
    # A run may have come since it was asked for.
    names = sorted({*chosen["pool"], *(run.name for run in inputs.runs)})
    everybody = find_runs(inputs.benchmark, names)
    lists = {run.name: ranked_matrix(run)[:, :depth] for run in everybody}
    runs = {run.name: lists[run.name] for run in inputs.runs}
    measures = [parse_measure(name) for name in chosen["measures"]]
    pool = gather_pool(lists, depth, inputs.judged, inputs.standing)
    rows, judged = [], []
    for number, (name, ranked) in enumerate(runs.items()):
        progress(number, len(runs), "bounding scores")
        rows += _bounds(name, ranked, inputs, measures)
        judged.append({"run": name, **_judged(ranked, inputs, depth)})
    _expect(rows, runs, pool, chosen)
    progress(len(runs), len(runs), "checking estimates")
    return {
        "depth": depth,
        "confidence": chosen["confidence"],
        "rows": rows,
        "judged": judged,
        "checks": _checks(pool, measures),
    }


def _bounds(name: str, ranked: Ranked, inputs: Inputs, measures: list[Measure]) -> list[Result]:
    found = bound_scores(ranked, inputs.judged, measures)
    condensed = score_run(condense(ranked, inputs.judged), inputs.judged, measures)
    return [
        {
            "run": name,
            "measure": str(measure),
            "score": found.known.mean(measure).value,
            "bounds": [found.lower.mean(measure).value, found.upper.mean(measure).value],
            "condensed": condensed.mean(measure).value,
            "expected": None,
            "expected_interval": None,
        }
        for measure in measures
    ]


def _judged(ranked: Ranked, inputs: Inputs, depth: int) -> Result:
    share = Measure("Judged", depth)
    return {
        "judged": score_run(ranked, inputs.judged, [share]).mean(share).value,
        "bpref": float(bpref(ranked, inputs.judged).mean()),
        "infap": float(inferred_ap(ranked, inputs.judged, depth).mean()),
    }


def _expect(
    rows: list[Result], runs: dict[str, Ranked], pool: PooledLabels, chosen: dict[str, Any]
) -> None:
    """Where the pool tells how often such pairs are relevant, what each score is likely to be."""
    measures = {row["measure"]: parse_measure(row["measure"]) for row in rows}
    wanted = [one for one in measures.values() if one.name in EXPECTED]
    chances = _chances(pool)
    if chances is None or not wanted:
        return
    rng = np.random.default_rng(chosen["seed"])
    for name, ranked in runs.items():
        found = expect_scores(ranked, pool.labels, chances, wanted)
        for row in rows:
            values = found.get(measures[row["measure"]])
            if row["run"] == name and values is not None:
                interval = mean_interval(values, rng=rng, confidence=chosen["confidence"])
                row |= {"expected": float(values.mean()), "expected_interval": ends(interval)}


def _chances(pool: PooledLabels) -> FloatArray | None:
    """None where no system brought any judged pair alone."""
    try:
        return pool_chances(pool)
    except ValueError:
        return None


def _checks(pool: PooledLabels, measures: list[Measure]) -> list[Result]:
    """How wrong the estimate is for systems whose score is known: each left out of the pool. One
    that brought nothing alone loses nothing, most of all a run that was never pooled."""
    wanted = [one for one in measures if one.name in EXPECTED]
    try:
        found = check_expectations(pool, wanted)
    except ValueError:
        return []
    return [
        {
            "run": check.system,
            "measure": str(measure),
            "truth": check.truth[measure].value,
            "known": check.known[measure].value,
            "expected": check.expected[measure].value,
        }
        for check in found
        if pool.is_alone(check.system).any()
        for measure in wanted
    ]


def _tables(result: Result) -> list[Table]:
    percent = f"{100 * result['confidence']:g} % interval"
    checks = [
        {
            **row,
            "without": _minus(row["known"], row["truth"]),
            "error": _minus(row["expected"], row["truth"]),
        }
        for row in result["checks"]
    ]
    return [
        Table(
            "bounds",
            "What is known, and what is possible",
            [
                Column("run", "Run"),
                Column("measure", "Measure"),
                Column("score", "Unjudged counted as not relevant, %", "percent"),
                Column("bounds", "Lowest to highest possible, %", "percent"),
                Column("expected", "Estimate, %", "percent"),
                Column("expected_interval", percent, "percent"),
                Column("condensed", "Unjudged left out, %", "percent"),
            ],
            result["rows"],
        ),
        Table(
            "judged",
            "How much is judged",
            [
                Column("run", "Run"),
                Column("judged", f"Judged of the top {result['depth']}, %", "percent"),
                Column("bpref", "bpref, %", "percent"),
                Column("infap", "infAP, %", "percent"),
            ],
            result["judged"],
            note=FOR_MISSING,
        ),
        Table(
            "checks",
            "How wrong such estimates are: systems as if they had not been pooled",
            [
                Column("run", "Run left out"),
                Column("measure", "Measure"),
                Column("truth", "True score, %", "percent"),
                Column("known", "Without its own pairs, %", "percent"),
                Column("without", "Error, points", "points"),
                Column("expected", "Estimate, %", "percent"),
                Column("error", "Its error, points", "points"),
            ],
            checks,
        ),
    ]


def _minus(value: float | None, other: float | None) -> float | None:
    return None if value is None or other is None else value - other


def _charts(result: Result) -> list[Chart]:
    rows = [{**row, **low_high(row["bounds"])} for row in result["rows"]]
    score = quantity("score", "Score", axis={"format": PERCENT}, scale={"zero": False})
    plot = {
        "width": 300,
        "height": {"step": 26},
        "encoding": {"y": name_of("run"), "color": name_of("run")},
        "layer": [
            {"mark": RULES, "encoding": {"x": {**score, "field": "low"}, "x2": {"field": "high"}}},
            {"mark": DOTS, "encoding": {"x": score}},
        ],
    }
    order = list(dict.fromkeys(row["measure"] for row in rows))
    return [
        Chart(
            "bounds",
            "Scores and how far they could lie off",
            "For each measure a dot for each run on a line from the lowest to the highest score "
            "that is possible. Where all is judged the line is a point.",
            {
                "data": {"values": rows},
                "facet": name_of("measure", order=order),
                "columns": 3,
                "resolve": {"scale": {"x": "independent"}},
                "spec": plot,
            },
        )
    ]


BOUNDS = Kind(
    name="bounds",
    title="Bounds and bias",
    question="How far off may a score be, because not all that a system found was judged?",
    form=BoundsForm,
    compute=_compute,
    tables=_tables,
    charts=_charts,
    fill=_fill,
    notes=(
        "The bounds are reached for some way in which the unjudged pairs of the list turn out; no "
        "way leads beyond them.",
        "The estimate takes each unjudged pair to be relevant as often as, at the same rank, pairs "
        "were that only one of all the benchmark’s runs found, chosen above or not. Its interval "
        "covers the choice of captions, not that a new system may find better videos than the "
        "pooled ones; how wrong it is for the systems that are known stands in the last table.",
        CUT,
    ),
)

"""The lowest and the highest score that are possible, given the unjudged pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from config.shared.progress import Progress
from evaluation.core.arrays import FloatArray
from evaluation.core.pools.bounds import Bounds, bound_scores, divides_by_all
from evaluation.core.pools.expectations import check_expectations, expect_scores, pool_chances
from evaluation.core.pools.incomplete import bpref, condense, inferred_ap
from evaluation.core.pools.leave_out import PooledLabels, gather_pool
from evaluation.core.relevance.measures import Measure, parse_measure
from evaluation.core.relevance.scoring import score_run
from evaluation.core.statistics.resampling import mean_interval
from evaluation.lab.analyses.base import (
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
    unit_field,
)
from evaluation.lab.analyses.intervals import few_units_warnings, resampled_by
from evaluation.lab.analyses.specs import DOTS, PERCENT, RULES, low_high, name_of, quantity
from evaluation.release.selectors import highest_grade
from pooling.selectors import find_runs, ranked_matrix

Ranked = npt.NDArray[Any]
# Measures of which there is an estimate.
EXPECTED = ("C", "P", "R", "RR", "AP", "AP(found)")
# If there are at least this many unjudged pairs per caption outside of the lists, the lower bound
# over all unjudged pairs is close to 0.
MANY_UNLISTED = 20
FOR_MISSING = (
    "Measures made for missing judgments. bpref leaves out what is unjudged. infAP takes it for "
    "what the judged videos above it are: right half-way through a pool, and not for a system "
    "whose pairs were not pooled."
)


class BoundsForm(AnalysisForm):
    measures = MeasuresField(initial="C@1 C@5 C@10 AP", shares=True)
    depth = depth_field()
    unit = unit_field()
    confidence = confidence_field()
    seed = seed_field()


def _fill(inputs: Inputs, chosen: dict[str, Any]) -> dict[str, Any]:
    """Add the scale and all runs: the estimate depends on which of them found a pair."""
    pool = {run.name: run.sha256 for run in find_runs(inputs.benchmark)}
    return chosen | {"pool": pool, "highest_grade": highest_grade(inputs.benchmark)}


def _compute(inputs: Inputs, chosen: dict[str, Any], progress: Progress) -> Result:
    depth = chosen["depth"]
    # A run may have come since it was asked for.
    names = sorted({*chosen["pool"], *(run.name for run in inputs.runs)})
    everybody = find_runs(inputs.benchmark, names)
    lists = {run.name: ranked_matrix(run)[:, :depth] for run in everybody}
    runs = {run.name: lists[run.name] for run in inputs.runs}
    measures = [parse_measure(name) for name in chosen["measures"]]
    pool = gather_pool(lists, depth, inputs.judged, inputs.standing)
    grade = max(chosen["highest_grade"], inputs.judged.highest_gain)
    rows, judged = [], []
    for number, (name, ranked) in enumerate(runs.items()):
        progress(number, len(runs), "bounding scores")
        shares = [Measure("Judged", depth)]
        shares += [Measure("Judged", max(1, one.reads(ranked.shape[1]))) for one in measures]
        found = bound_scores(ranked, inputs.judged, [*measures, *shares], highest=grade)
        rows += _bounds(name, ranked, inputs, measures, found)
        judged.append({"run": name, **_judged(ranked, inputs, depth, found)})
    _expect(rows, runs, pool, inputs, chosen)
    progress(len(runs), len(runs), "checking estimates")
    return {
        "depth": depth,
        "highest_grade": grade,
        **resampled_by(inputs, chosen["unit"]),
        "confidence": chosen["confidence"],
        "rows": rows,
        "judged": judged,
        "checks": _checks(pool, measures),
    }


def _bounds(
    name: str, ranked: Ranked, inputs: Inputs, measures: list[Measure], found: Bounds
) -> list[Result]:
    condensed = score_run(condense(ranked, inputs.judged), inputs.judged, measures)
    return [
        {
            "run": name,
            "measure": str(measure),
            "score": found.known.mean(measure).value,
            "bounds": [found.lower.mean(measure).value, found.upper.mean(measure).value],
            "bounds_all": [found.lower_all.mean(measure).value, found.upper.mean(measure).value],
            **_read(measure, ranked.shape[1], found),
            "condensed": condensed.mean(measure).value,
            "expected": None,
            "expected_interval": None,
        }
        for measure in measures
    ]


def _read(measure: Measure, depth: int, found: Bounds) -> Result:
    """Return the number of ranks that the measure reads, and the judged share of them."""
    read = measure.reads(depth)
    share = found.known.mean(Measure("Judged", max(1, read)))
    return {"judged_depth": read, "judged": share.value}


def _judged(ranked: Ranked, inputs: Inputs, depth: int, found: Bounds) -> Result:
    unlisted = found.unlisted
    return {
        "judged": found.known.mean(Measure("Judged", depth)).value,
        "unjudged_listed": int(found.listed.sum()),
        "unjudged_unlisted": int(unlisted.sum()),
        "unlisted_per_caption": float(unlisted.mean()) if len(unlisted) else None,
        "bpref": float(bpref(ranked, inputs.judged).mean()),
        "infap": float(inferred_ap(ranked, inputs.judged, depth).mean()),
    }


def _expect(
    rows: list[Result],
    runs: dict[str, Ranked],
    pool: PooledLabels,
    inputs: Inputs,
    chosen: dict[str, Any],
) -> None:
    """Add an estimate to each row if the pool shows how often comparable pairs are relevant."""
    measures = {row["measure"]: parse_measure(row["measure"]) for row in rows}
    wanted = [one for one in measures.values() if one.name in EXPECTED]
    chances = _chances(pool)
    if chances is None or not wanted:
        return
    rng = np.random.default_rng(chosen["seed"])
    drawn = {"confidence": chosen["confidence"], "clusters": inputs.clusters(chosen["unit"])}
    for name, ranked in runs.items():
        found = expect_scores(ranked, pool.labels, chances, wanted)
        for row in rows:
            values = found.get(measures[row["measure"]])
            if row["run"] == name and values is not None:
                interval = mean_interval(values, rng=rng, **drawn)
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
        if pool.is_unique(check.system).any()
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
                Column("judged_depth", "Ranks read", "count"),
                Column("judged", "Judged of these, %", "percent"),
                Column("bounds", "Bounds over the listed pairs, %", "percent"),
                Column("bounds_all", "Bounds over all unjudged pairs, %", "percent"),
                Column("expected", "Estimate, %", "percent"),
                Column("expected_interval", percent, "percent"),
                Column("condensed", "Unjudged left out, %", "percent"),
            ],
            result["rows"],
            note=_say_bounds(result),
        ),
        Table(
            "judged",
            "How much is judged",
            [
                Column("run", "Run"),
                Column("judged", f"Judged@{result['depth']}, %", "percent"),
                Column("unjudged_listed", "Unjudged pairs in the lists", "count"),
                Column("unjudged_unlisted", "Unjudged pairs outside of the lists", "count"),
                Column("unlisted_per_caption", "Outside of the lists, per caption", "number"),
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


def _say_bounds(result: Result) -> str:
    highest = result["highest_grade"]
    grades = "be relevant or not" if highest == 1 else f"get any grade from 0 to {highest}"
    text = (
        "The bounds over the listed pairs assume that the unjudged pairs in the top "
        f"{result['depth']} of a run may {grades}. Pairs outside of it stay as they are. In the "
        "bounds over all unjudged pairs, those outside of it may be relevant, too. This lowers "
        "only R, AP and nDCG, which divide by the number of all relevant pairs."
    )
    unlisted = max((row["unlisted_per_caption"] or 0 for row in result["judged"]), default=0)
    divided = any(divides_by_all(parse_measure(row["measure"])) for row in result["rows"])
    if not divided or unlisted < MANY_UNLISTED:
        return text
    return (
        f"{text} The lower bounds of these measures over all unjudged pairs are always close to "
        f"0 here: they count all {unlisted:,.0f} unjudged pairs per caption outside of the lists "
        "as relevant. A low bound shows that these pairs are unknown, not that the score is "
        "wrong."
    )


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
            "Scores with their bounds over the listed pairs",
            "Each measure has a dot for each run, on a line from the lower to the upper bound over "
            "the listed pairs. If all listed pairs are judged, the line is a point.",
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
    warnings=few_units_warnings,
    fill=_fill,
    notes=(
        "The bounds are exact. Some outcome of the unjudged pairs reaches each bound, and no "
        "outcome goes beyond it.",
        "The estimate assumes that an unjudged pair is relevant as often as the judged pairs that "
        "only one run found at the same rank. It uses all runs of the benchmark, not only the "
        "selected ones. Its interval covers the choice of captions or videos. It does not cover a "
        "new system that finds better videos than the pooled systems. The last table shows the "
        "error of the estimate for known systems.",
        CUT,
    ),
)

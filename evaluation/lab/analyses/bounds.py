"""The lowest and the highest score that the unjudged pairs allow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

import numpy as np

from evaluation.core.arrays import FloatArray
from evaluation.core.pools.bounds import Bounds, bound_scores
from evaluation.core.pools.expectations import check_expectations, expect_scores, pool_chances
from evaluation.core.pools.incomplete import bpref, condense, inferred_ap
from evaluation.core.pools.leave_out import PooledLabels, gather_pool
from evaluation.core.relevance.measures import Measure, parse_measure
from evaluation.core.relevance.scoring import score_run
from evaluation.core.statistics.resampling import mean_interval
from evaluation.lab.analyses.fields import (
    MeasuresField,
    confidence_field,
    depth_field,
    resampling_unit_field,
    seed_field,
)
from evaluation.lab.analyses.forms import DirectedForm
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.intervals import Drawing, few_units_warnings, resampled_by
from evaluation.lab.analyses.layouts import bounds as layout
from evaluation.lab.analyses.layouts.bounds import (
    BoundsResult,
    BoundsRow,
    CheckRow,
    JudgedFigures,
    JudgedRow,
)
from evaluation.lab.analyses.noise import DRAWS, EQUAL_RATES, corrected_bounds, noise_of_labels
from evaluation.lab.analyses.old_analysis import CUT, Analysis
from evaluation.lab.analyses.old_results import Ends
from evaluation.release.selectors import highest_grade
from hearth.shared.progress import Progress
from pooling.core.ranked_lists import RankedLists
from pooling.selectors.runs import find_runs, ranked_lists


class BoundsForm(DirectedForm):
    measures = MeasuresField(initial="C@1 C@5 C@10 AP", shares=True)
    depth = depth_field()
    unit = resampling_unit_field()
    confidence = confidence_field()
    seed = seed_field()


class BoundsFields(TypedDict):
    measures: list[str]
    depth: int
    unit: str
    confidence: float
    seed: int


class BoundsOptions(BoundsFields):
    """pool: the SHA-256 of each run in the direction of the selected runs, by its name."""

    pool: dict[str, str]
    highest_grade: int


def _fill_defaults(inputs: Inputs, options: BoundsFields) -> BoundsOptions:
    """Add the highest grade, and all runs of the direction, because the estimate uses them."""
    pool = {run.name: run.sha256 for run in inputs.runs_of_direction()}
    return {**options, "pool": pool, "highest_grade": highest_grade(inputs.benchmark)}


def _compute(inputs: Inputs, options: BoundsOptions, progress: Progress) -> BoundsResult:
    depth = options["depth"]
    # If no run was selected, `inputs.runs` can contain runs that were added since the request.
    names = sorted({*options["pool"], *(run.name for run in inputs.runs)})
    all_runs = find_runs(inputs.benchmark, names, inputs.direction)
    lists = {run.name: ranked_lists(run, depth) for run in all_runs}
    runs = {run.name: lists[run.name] for run in inputs.runs}
    measures = [parse_measure(name) for name in options["measures"]]
    pool = gather_pool(lists, depth, inputs.judged, inputs.counted_originals)
    grade = max(options["highest_grade"], inputs.judged.highest_gain)
    noise = noise_of_labels(
        inputs, inputs.counted_originals, unit=options["unit"], number=DRAWS, seed=options["seed"]
    )
    rows: list[BoundsRow] = []
    judged: list[JudgedRow] = []
    for number, (name, ranked) in enumerate(runs.items()):
        progress(number, len(runs), "bounding scores")
        shares = [Measure("Judged", depth)]
        shares += [_judged_measure(measure, ranked.depth) for measure in measures]
        found = bound_scores(ranked, inputs.judged, [*measures, *shares], highest=grade)
        corrected = corrected_bounds(noise, ranked, measures, options["confidence"])
        rows += _bounds(name, ranked, inputs, measures, found, corrected)
        judged.append({"run": name, **_judged(ranked, inputs, depth, found)})
    _expect(rows, runs, pool, inputs, options)
    progress(len(runs), len(runs), "checking estimates")
    return {
        "depth": depth,
        "highest_grade": grade,
        **resampled_by(inputs, options["unit"]),
        "confidence": options["confidence"],
        "rows": rows,
        "judged": judged,
        "checks": _checks(pool, measures),
    }


def _bounds(
    name: str,
    ranked: RankedLists,
    inputs: Inputs,
    measures: list[Measure],
    found: Bounds,
    corrected: Mapping[Measure, Ends],
) -> list[BoundsRow]:
    condensed = score_run(condense(ranked, inputs.judged), inputs.judged, measures)
    return [
        {
            "run": name,
            "measure": str(measure),
            "score": found.known.mean(measure).value,
            "bounds": [found.lower.mean(measure).value, found.upper.mean(measure).value],
            "bounds_corrected": corrected.get(measure),
            "bounds_all": [found.lower_all.mean(measure).value, found.upper.mean(measure).value],
            "judged_depth": measure.reads(ranked.depth),
            "judged": found.known.mean(_judged_measure(measure, ranked.depth)).value,
            "condensed": condensed.mean(measure).value,
            "expected": None,
            "expected_interval": None,
        }
        for measure in measures
    ]


def _judged_measure(measure: Measure, depth: int) -> Measure:
    """Return Judged@k for the number of ranks that `measure` uses."""
    return Measure("Judged", max(1, measure.reads(depth)))


def _judged(ranked: RankedLists, inputs: Inputs, depth: int, found: Bounds) -> JudgedFigures:
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
    rows: list[BoundsRow],
    runs: dict[str, RankedLists],
    pool: PooledLabels,
    inputs: Inputs,
    options: BoundsOptions,
) -> None:
    """Add an estimate to each row if the pool shows how often comparable pairs are relevant."""
    measures = {row["measure"]: parse_measure(row["measure"]) for row in rows}
    estimated = [measure for measure in measures.values() if measure.kind.can("expect")]
    chances = _chances(pool)
    if chances is None or not estimated:
        return
    drawn: Drawing = {
        "confidence": options["confidence"],
        "clusters": inputs.clusters(options["unit"]),
        "rng": np.random.default_rng(options["seed"]),
    }
    for name, ranked in runs.items():
        found = expect_scores(ranked, pool.labels, chances, estimated)
        for row in rows:
            values = found.get(measures[row["measure"]])
            if row["run"] == name and values is not None:
                interval = mean_interval(values, **drawn)
                row["expected"], row["expected_interval"] = float(values.mean()), interval.ends


def _chances(pool: PooledLabels) -> FloatArray | None:
    """Return the result of `pool_chances`.

    Return None if every judged pair was contributed by two or more systems.
    """
    try:
        return pool_chances(pool)
    except ValueError:
        return None


def _checks(pool: PooledLabels, measures: list[Measure]) -> list[CheckRow]:
    """Leave out each system of the pool in turn, and return its estimated and its true scores.

    A system without pairs that only it contributed has no row, because the pool loses nothing
    without it.
    """
    estimated = [measure for measure in measures if measure.kind.can("expect")]
    try:
        found = check_expectations(pool, estimated)
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
        for measure in estimated
    ]


BOUNDS = Analysis(
    name="bounds",
    title="Bounds and bias",
    question="How far can a score be off because some ranked videos are unjudged?",
    form=BoundsForm,
    is_directed=True,
    compute=_compute,
    tables=layout.tables,
    charts=layout.charts,
    warnings=few_units_warnings,
    fill_defaults=_fill_defaults,
    notes=(
        "If all labels are right, the bounds are exact: some outcome of the unjudged pairs reaches "
        "each bound, and no outcome goes beyond it. Wrong labels move both bounds, so the true "
        "score can be outside of them.",
        "The corrected bounds allow for wrong labels. The lower one is the lower end of the "
        "interval of the corrected score with all unjudged pairs of the lists as not relevant, "
        "and the upper one the upper end with all of them as relevant. The intervals are for these "
        f"captions. {EQUAL_RATES} Corrected bounds exist for C@k, P@k and RR of text-to-video "
        "runs, and only if pairs with several labels show how often labels are wrong.",
        "The estimate assumes that an unjudged pair is relevant as often as similar judged pairs. "
        "A judged pair is similar if it has the same rank as the unjudged pair and only one run "
        "ranks it within the depth. The estimate uses all runs of the benchmark, not only the "
        "selected ones. Its interval covers the choice of captions or videos. It does not cover "
        "the error for a new system that ranks better videos than the pooled systems. The last "
        "table shows the error of the estimate for each pooled system.",
        CUT,
    ),
)

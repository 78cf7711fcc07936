"""Ranks by the original positives and by each label set."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from evaluation.core.arrays import FloatArray
from evaluation.core.pools.bounds import bound_scores
from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.measures import Measure, parse_measure
from evaluation.core.statistics.rank_stability import RankStability, rank_stability
from evaluation.core.statistics.ties import rank_systems
from evaluation.lab.analyses.fields import (
    ResamplingOptions,
    ShareMeasureField,
    confidence_field,
    resamples_field,
    resampling_unit_field,
    seed_field,
)
from evaluation.lab.analyses.forms import DirectedForm
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.intervals import few_units_warnings, resampled_by
from evaluation.lab.analyses.layouts import leaderboard as layout
from evaluation.lab.analyses.layouts.leaderboard import (
    BoardRow,
    BoundsAndJudged,
    LeaderboardResult,
    MoveFigures,
    ReleaseRow,
)
from evaluation.lab.analyses.noise import (
    ALL_POSITIVES,
    DRAWS,
    EQUAL_RATES,
    corrected_bounds,
    noise_of_labels,
)
from evaluation.lab.analyses.old_analysis import Analysis
from evaluation.models import Draft, LabelSet, LabelSource
from evaluation.release.selectors import ORIGINAL, highest_grade
from hearth.shared.progress import Progress
from pooling.core.ranked_lists import RankedLists

# Maximum number of label sets; the newest are used.
RELEASES_MAX = 12


class LeaderboardForm(DirectedForm):
    measure = ShareMeasureField(initial="C@1")
    unit = resampling_unit_field()
    confidence = confidence_field()
    resamples = resamples_field(1000)
    seed = seed_field()


class LeaderboardFields(ResamplingOptions):
    measure: str


class LeaderboardOptions(LeaderboardFields):
    """releases: version and SHA-256 of each label set, oldest first."""

    releases: list[list[str]]
    highest_grade: int


def _fill_defaults(inputs: Inputs, options: LeaderboardFields) -> LeaderboardOptions:
    """Add the version and hash of the newest label sets, oldest first, and the highest grade.

    A new label set therefore makes a new question. A draft is not added, because the inputs contain
    it if it is selected.
    """
    newest = LabelSet.objects.filter(benchmark=inputs.benchmark)[:RELEASES_MAX]
    return {
        **options,
        "releases": [[release.version, release.sha256] for release in reversed(newest)],
        "highest_grade": highest_grade(inputs.benchmark),
    }


def _releases(inputs: Inputs, options: LeaderboardOptions) -> list[LabelSource]:
    """Return the label sets in the options, and the draft if it is selected."""
    stored = LabelSet.objects.filter(benchmark=inputs.benchmark)
    known = {label_set.version: label_set for label_set in stored}
    sets = [known[version] for version, _ in options["releases"] if version in known]
    draft = [inputs.label_set] if isinstance(inputs.label_set, Draft) else []
    return [*sets, *draft]


def _compute(inputs: Inputs, options: LeaderboardOptions, progress: Progress) -> LeaderboardResult:
    releases = _releases(inputs, options)
    steps = len(releases) + 2
    names = [ORIGINAL]
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
            {"before": before, "after": after, **_move(_stability(old, new, inputs, options))}
            for (before, old), (after, new) in pairwise(zip(names, values, strict=True))
        ],
    }


def _values(inputs: Inputs, judged: Judged, options: LeaderboardOptions) -> FloatArray:
    """Return values of a measure, float64 [n_runs, n_queries]."""
    return np.stack(list(inputs.values(judged, options["measure"]).values()))


def _stability(
    before: FloatArray, after: FloatArray, inputs: Inputs, options: LeaderboardOptions
) -> RankStability:
    return rank_stability(
        before,
        after,
        options["resamples"],
        rng=np.random.default_rng(options["seed"]),
        confidence=options["confidence"],
        clusters=inputs.varied_clusters(options["unit"]),
    )


def _move(found: RankStability) -> MoveFigures:
    return {
        "tau": found.tau.value,
        "interval": found.interval.ends,
        "same_order": found.same_order,
    }


def _release_rows(name: str, inputs: Inputs, values: FloatArray) -> list[ReleaseRow]:
    scores = values.mean(axis=1)
    return [
        {"labels": name, "run": run.name, "score": score, "rank": rank}
        for run, score, rank in zip(
            inputs.runs, scores.tolist(), rank_systems(scores).tolist(), strict=True
        )
    ]


def _board(inputs: Inputs, original: FloatArray, options: LeaderboardOptions) -> list[BoardRow]:
    """Return one row per run, ordered by rank under the selected labels."""
    labelled = _values(inputs, inputs.judged, options)
    ranks = _stability(original, labelled, inputs, options).ranks
    measure = parse_measure(options["measure"])
    noise = noise_of_labels(
        inputs, inputs.counted_originals, unit=options["unit"], number=DRAWS, seed=options["seed"]
    )
    corrected = {
        run.name: corrected_bounds(
            noise, inputs.ranked[run.name], [measure], options["confidence"]
        ).get(measure)
        for run in inputs.runs
    }
    rows: list[BoardRow] = [
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
            "bounds_corrected": corrected[run.name],
        }
        for run, rank, before, after in zip(inputs.runs, ranks, original, labelled, strict=True)
    ]
    return sorted(rows, key=lambda row: (row["rank"], row["run"]))


def _bounds_and_judged(
    ranked: RankedLists, judged: Judged, measure: Measure, grade: int
) -> BoundsAndJudged:
    """Return the bounds over the listed pairs, and the judged share of the ranks that are used."""
    depth = measure.reads(ranked.depth)
    share = Measure("Judged", max(1, depth))
    found = bound_scores(ranked, judged, [measure, share], highest=max(grade, judged.highest_gain))
    return {
        "bounds": [found.lower.mean(measure).value, found.upper.mean(measure).value],
        "judged": found.known.mean(share).value,
        "judged_depth": depth,
    }


LEADERBOARD = Analysis(
    name="leaderboard",
    title="Leaderboard",
    question="Which run is best by each label set, and how certain is its rank?",
    form=LeaderboardForm,
    is_directed=True,
    compute=_compute,
    tables=layout.tables,
    charts=layout.charts,
    warnings=few_units_warnings,
    fill_defaults=_fill_defaults,
    notes=(
        "Ranks are by the selected labels. Scores that are equal, or differ only by rounding, "
        "share the better rank. The interval of a rank covers its values in resamples of captions "
        "or videos.",
        "Bounds over the listed pairs are the lowest and the highest score that a run can have if "
        "all labels are right, depending on the labels that the unjudged pairs of its lists get. "
        "Wrong labels move both bounds, so the true score can be outside of them. The corrected "
        f"bounds allow for wrong labels; “Bounds and bias” explains them. {EQUAL_RATES} "
        "Unjudged pairs outside of its lists count as not relevant. The analysis “Bounds and bias” "
        "includes them. A measure with a cutoff uses the top of the list. Any other measure uses "
        "the whole list.",
        ALL_POSITIVES,
        f"If there are more than {RELEASES_MAX} label sets, the newest are used.",
    ),
)

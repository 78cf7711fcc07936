"""Scoring runs by the original positives and by a label set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

from django.db import transaction

from evaluation.core.pools.bounds import bound_scores
from evaluation.core.pools.coverage import cover_ranks
from evaluation.core.relevance.judged import Judged, with_positives
from evaluation.core.relevance.measures import DEFAULT_MEASURES, Measure, parse_measure
from evaluation.core.relevance.scoring import score_run
from evaluation.core.relevance.strata import NEEDS_STRATA, Strata
from evaluation.models import Evaluation, LabelSet
from evaluation.release import selectors
from evaluation.release.policies import check_can_evaluate
from evaluation.scores.moments import MomentEvaluation, MomentScoring
from hearth.accounts.actors import Actor
from hearth.jobs.models import Job
from hearth.jobs.services import enqueue_job
from hearth.shared.options import Option
from hearth.shared.progress import Progress, no_progress
from hearth.shared.version import code_version
from hearth.webhooks.models import Event
from hearth.webhooks.services import announce
from pooling.core.direction import Direction
from pooling.core.equal_texts import OFF
from pooling.models import Benchmark, Run
from pooling.policies import POOLED_DEPTH
from pooling.selectors.runs import find_runs, private_runs, ranked_lists

JUDGED_DEPTHS = (1, 5, 10)
# Measures whose bounds take no longer to compute than their scores.
BOUNDED = tuple(Measure("C", depth) for depth in JUDGED_DEPTHS)

Scores = dict[str, float | None]


class UndefinedScore(TypedDict):
    """A stored score that is undefined, with the reason."""

    undefined: str


StoredScores = dict[str, float | UndefinedScore]


@dataclass(frozen=True, slots=True)
class RunEvaluation:
    """Scores of one run. An undefined score is None, and `undefined` contains its reason.

    original: scores by the original positives. labelled: scores by the label set, or None if there
    is no label set. judged: judged share of the top ranks, by depth, for `JUDGED_DEPTHS` and all
    depths in `reads`. reads: number of ranks of the run that each measure reads. unjudged: number
    of unjudged pairs in the top ten. bounds: lowest and highest C@k, or score of moments, that the
    unjudged pairs of the list allow. intervals: 95 % intervals of scores of moments, by video.

    `judged`, `unjudged` and `bounds` are by the label set, or by the original positives if there is
    no label set.
    """

    run: Run
    original: Scores
    labelled: Scores | None
    judged: Scores
    reads: dict[str, int]
    unjudged: int
    bounds: dict[str, list[float | None]]
    undefined: dict[str, str]
    intervals: dict[str, list[float]]


@dataclass(frozen=True, slots=True)
class EvaluatedRuns:
    """Scores of several runs. `twins`: the rule for equal captions, see `evaluate_runs`."""

    label_set: LabelSet | None
    runs: list[RunEvaluation]
    code_version: str
    twins: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateOptions:
    """The runs to score, and the labels and measures.

    labels: `latest`, a version number, or `original` for the original positives; by default,
        `latest`.
    labels_only: Leave out the original positives.
    run_names: The runs to score; by default, all.
    measures: Measures such as C@5; by default, all common measures. The scores by measures that are
        named here are not stored.
    """

    labels: Annotated[str, Option("Labels", metavar="LABELS")] = selectors.LATEST
    labels_only: Annotated[bool, Option("Labels only")] = False
    run_names: Annotated[tuple[str, ...], Option("Runs", flag="run")] = ()
    measures: Annotated[tuple[str, ...], Option("Measures", flag="measure", metavar="MEASURE")] = ()


def evaluate_runs(
    *,
    benchmark: Benchmark,
    by: Actor,
    labels: str = selectors.LATEST,
    run_names: Sequence[str] = (),
    measures: Sequence[str] = (),
    labels_only: bool = False,
    twins: str = OFF,
    progress: Progress = no_progress,
) -> EvaluatedRuns:
    """Score runs by the original positives and by a label set.

    In both scores, the original positives count as judged and as positive, as in the FIRE study.
    With `labels_only`, they do not count in the scores by the label set. run_names: all runs if
    empty. measures: the default measures if empty. twins: a rule of `pooling.core.equal_texts`;
    captions with equal texts share their original positives.

    Scores are stored if `measures` is empty and `twins` is off. Raises `NotPermitted` if `by` may
    not score runs. Raises `InvalidInput` if the label set, a run or a measure does not exist.
    """
    check_can_evaluate(by, benchmark)
    requested = tuple(parse_measure(text) for text in measures)
    label_set = selectors.find_label_set(benchmark, labels)
    runs = find_runs(benchmark, run_names, upper_bounds=True)
    positives = _Positives(*_positives(benchmark, label_set, twins, labels_only=labels_only))
    moments = MomentScoring(benchmark, label_set, labels_only=labels_only)
    of_strata = None
    if any(measure.needs == NEEDS_STRATA for measure in requested):
        of_strata = selectors.strata_of_labels(benchmark, label_set, labels_only=labels_only)
    is_stored = not measures and twins == OFF
    # Private runs are scored too, but the returned value does not contain them.
    private = private_runs(benchmark) if is_stored and not run_names else []
    results = []
    for number, run in enumerate([*runs, *private]):
        progress(number, len(runs) + len(private), "scoring")
        located = moments.evaluate(run, requested or None)
        strata = of_strata if run.facing is Direction.TEXT_TO_VIDEO else None
        results.append(_evaluate(run, *positives.facing(run.facing), requested, located, strata))
    if is_stored:
        _store(benchmark, results, label_set, labels_only)
    progress(len(results), len(results), "scoring")
    return EvaluatedRuns(label_set, results[: len(runs)], code_version(), twins)


def score_private_run(*, run: Run, progress: Progress) -> None:
    """Score an uploaded run by the newest label set, or else by the original positives."""
    progress(0, None, "scoring")
    benchmark = run.benchmark
    label_set = LabelSet.objects.filter(benchmark=benchmark).first()
    positives = _Positives(*_positives(benchmark, label_set, OFF))
    located = MomentScoring(benchmark, label_set).evaluate(run, None)
    result = _evaluate(run, *positives.facing(run.facing), (), located)
    _store(benchmark, [result], label_set, labels_only=False)


class _Positives:
    """The original positives, and the positives by the label set, for each scored direction."""

    def __init__(self, original: Judged, labelled: Judged | None) -> None:
        self._original, self._labelled = original, labelled
        self._found: dict[Direction, tuple[Judged, Judged | None]] = {}

    def facing(self, direction: Direction) -> tuple[Judged, Judged | None]:
        if direction not in self._found:
            labelled = None if self._labelled is None else self._labelled.facing(direction)
            self._found[direction] = self._original.facing(direction), labelled
        return self._found[direction]


def _positives(
    benchmark: Benchmark, label_set: LabelSet | None, twins: str, *, labels_only: bool = False
) -> tuple[Judged, Judged | None]:
    """Return the original positives, and the positives by the label set if there is one."""
    original = selectors.originals_with_equal_captions(benchmark, twins)
    labelled = None if label_set is None else selectors.label_set_judged(label_set)
    if labelled is not None and not labels_only:
        labelled = with_positives(
            labelled, selectors.originals_with_equal_captions(benchmark, twins, label_set)
        )
    return original, labelled


def begin_scoring(*, run: Run, by: Actor) -> Job:
    """Queue the scoring of one run.

    It is scored by the newest label set, or by the original positives if no set is published.
    """
    return _enqueue(
        run.benchmark, f"Score the run {run.name} of {run.benchmark.name}", by, runs=[run.pk]
    )


def begin_scoring_all(*, benchmark: Benchmark, by: Actor) -> Job:
    """Queue the scoring of all runs, also private ones, by the same labels as `begin_scoring`."""
    return _enqueue(benchmark, f"Score the runs of {benchmark.name}", by)


def _enqueue(benchmark: Benchmark, title: str, by: Actor, **params: Any) -> Job:
    check_can_evaluate(by, benchmark)
    has_labels = LabelSet.objects.filter(benchmark=benchmark).exists()
    return enqueue_job(
        kind="evaluate",
        title=title[:300],
        params={
            "benchmark": benchmark.key,
            "labels": selectors.LATEST if has_labels else selectors.ORIGINAL,
            **params,
        },
        benchmark_key=benchmark.key,
        by=by,
    )


def score_all_again(*, benchmark: Benchmark, by: Actor) -> None:
    """Delete the scores of all runs, and queue their scoring. Call it in a transaction."""
    check_can_evaluate(by, benchmark)
    Evaluation.objects.filter(run__benchmark=benchmark).delete()
    for run in find_runs(benchmark, upper_bounds=True):
        begin_scoring(run=run, by=by)
    if private_runs(benchmark):
        begin_scoring_all(benchmark=benchmark, by=by)


def _evaluate(
    run: Run,
    original: Judged,
    labelled: Judged | None,
    requested: Sequence[Measure],
    located: MomentEvaluation,
    strata: Strata | None = None,
) -> RunEvaluation:
    ranked = ranked_lists(run)
    measures = [m for m in requested or DEFAULT_MEASURES if m not in located.measures]
    reads = {str(measure): measure.reads(run.depth) for measure in measures}
    depths = [Measure("Judged", depth) for depth in _judged_depths(run.depth, reads.values())]
    of_originals = None if strata is None else Strata.of((), original.codes)
    by_original = score_run(ranked, original, [*measures, *depths], strata=of_originals)
    by_labels = by_original
    if labelled is not None:
        by_labels = score_run(ranked, labelled, [*measures, *depths], strata=strata)
    known = original if labelled is None else labelled
    coverage = cover_ranks(ranked.top(POOLED_DEPTH), known)
    # The bounds of C@k depend only on the top k.
    bounds = bound_scores(ranked.top(max(JUDGED_DEPTHS)), known, BOUNDED)
    reasons = dict(located.undefined)
    for scores in (by_original, by_labels):
        for measure in measures:
            if reason := scores.mean(measure).undefined:
                reasons[str(measure)] = reason
    return RunEvaluation(
        run=run,
        original={str(m): by_original.mean(m).value for m in measures} | located.original,
        labelled=None
        if labelled is None
        else {str(m): by_labels.mean(m).value for m in measures} | located.labelled,
        judged={str(m.cutoff): by_labels.mean(m).value for m in depths},
        reads=reads | located.reads,
        unjudged=int((coverage.filled - coverage.judged).sum()),
        bounds={str(m): [bounds.lower.mean(m).value, bounds.upper.mean(m).value] for m in BOUNDED}
        | located.bounds,
        undefined=reasons,
        intervals=located.intervals,
    )


def _judged_depths(depth: int, reads: Iterable[int]) -> list[int]:
    """Return the depths whose judged share is stored: common ones and those that measures read."""
    common = {common for common in JUDGED_DEPTHS if common <= depth}
    return sorted(common | {read for read in reads if read > 0})


@transaction.atomic
def _store(
    benchmark: Benchmark,
    results: Sequence[RunEvaluation],
    label_set: LabelSet | None,
    labels_only: bool,
) -> None:
    version = selectors.ORIGINAL if label_set is None else label_set.version
    for result in results:
        if not result.run.is_private:
            facts = {"run": result.run.name, "labels": version, "labels_only": labels_only}
            announce(Event.RUN_SCORED, benchmark.key, facts)
        original = _with_reasons(result.original, result)
        coverage = {
            "judged": result.judged,
            "unjudged": result.unjudged,
            "bounds": result.bounds,
            "intervals": result.intervals,
        }
        if label_set is None or result.labelled is None:
            _save_evaluation(result.run, None, False, scores=original, **coverage)
            continue
        _save_evaluation(result.run, None, False, scores=original)
        labelled = _with_reasons(result.labelled, result)
        _save_evaluation(result.run, label_set, labels_only, scores=labelled, **coverage)


def _with_reasons(scores: Scores, result: RunEvaluation) -> StoredScores:
    return {
        name: {"undefined": result.undefined[name]} if value is None else value
        for name, value in scores.items()
    }


def _save_evaluation(
    run: Run, label_set: LabelSet | None, labels_only: bool, **values: Any
) -> None:
    """Create or update an evaluation. Stored values that are not in `values` stay."""
    Evaluation.objects.update_or_create(
        run=run,
        label_set=label_set,
        labels_only=labels_only,
        defaults={**values, "code_version": code_version()},
        create_defaults={"judged": {}, **values, "code_version": code_version()},
    )

"""Compute and store the results of analyses; each question is computed once."""

from __future__ import annotations

import datetime
import time
from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import Max, Q, QuerySet
from django.utils import timezone

from evaluation.lab.analyses import get_analysis
from evaluation.lab.analyses.question import Question, build_question
from evaluation.lab.enums import ANALYSIS_JOB, PAPER_JOB
from evaluation.lab.paper.paper import plan_paper
from evaluation.models import DRAFT, AnalysisResult, LabelSet
from evaluation.release.policies import check_can_evaluate
from evaluation.release.services import SETTLED_FOR
from evaluation.scores.selectors import NOISE_ANALYSIS
from hearth.accounts.actors import Actor, actor_of
from hearth.accounts.models import User
from hearth.jobs.models import Job
from hearth.jobs.services import enqueue_job
from hearth.shared.errors import Conflict, InvalidInput
from hearth.shared.progress import Progress, no_progress
from hearth.shared.version import code_version
from pooling.models import Benchmark, Run

# The page of a benchmark shows the result of the first of these analyses, and the results page that
# of the second one. So publishing computes them.
OVERVIEW_ANALYSIS = "originals"
SHOWN_ANALYSES = (OVERVIEW_ANALYSIS, NOISE_ANALYSIS)
# Maximum number of stored results of one analysis in one benchmark. Drafts have their own maximum,
# because a new draft every few minutes must not delete the results of label sets.
RESULTS_MAX, DRAFT_RESULTS_MAX = 50, 10


def analyse(*, question: Question, progress: Progress = no_progress) -> AnalysisResult:
    """Return the stored result of a question. Compute and store it first if there is none."""
    stored = question.stored_result()
    if stored is not None:
        return stored
    began = time.perf_counter()
    progress(0, None, "reading runs and labels")
    result = question.analysis.answer(question.inputs, question.options, progress)
    return _store(question, result, seconds=time.perf_counter() - began)


def begin_analysis(*, question: Question, data: Mapping[str, Any], created_by: User | None) -> Job:
    """Return the unfinished job for the question. Begin one if there is none.

    data: the form data of the question, as for `build_question`. The job builds the question again
    from this data, with the default options that were filled in at the time of the request.
    """
    benchmark = question.inputs.benchmark
    return question.unfinished_job() or enqueue_job(
        kind=ANALYSIS_JOB,
        title=f"Compute the analysis “{question.analysis.title}” of {benchmark.name}"[:300],
        params={
            "benchmark": benchmark.key,
            "analysis": question.analysis.name,
            "given": _with_run_ids(data, question),
            "chosen": question.options,
            "key": question.key,
            "question": question.stable_key,
            "code_version": code_version(),
        },
        benchmark_key=benchmark.key,
        by=actor_of(created_by),
    )


def _with_run_ids(data: Mapping[str, Any], question: Question) -> dict[str, Any]:
    """Return the form data with ids of runs, because a name can change before the job starts."""
    named = {"runs": [run.pk for run in question.inputs.runs]} if data.get("runs") else {}
    return {**data, **named}


def check_same_code(requested_version: str) -> None:
    """Raise `Conflict` if the worker runs another code version than the one that began the job.

    The code version is part of a result's key, so the page would never find this worker's result.
    The error ends the job. The job is not begun again automatically, because it would fail again.
    """
    if requested_version != code_version():
        raise Conflict(
            f"This job was requested by version {requested_version}, but the worker runs version "
            f"{code_version()}. Restart the process with the older version."
        )


def compute_shown_analyses(
    *, benchmark: Benchmark, progress: Progress = no_progress
) -> dict[str, AnalysisResult]:
    """Compute the analyses that pages show. Return their results by name, if they are defined."""
    found = {}
    for name in SHOWN_ANALYSES:
        try:
            question = build_question(get_analysis(name), benchmark, {})
        except InvalidInput:
            continue
        found[name] = analyse(question=question, progress=progress)
    return found


def compute_paper(
    *, label_set: LabelSet, by: Actor, progress: Progress = no_progress
) -> dict[str, AnalysisResult]:
    """Compute and store the results that a paper about a label set needs.

    Return them by the name of the analysis.

    Raises `NotPermitted` if `by` may not compute figures. Raises `InvalidInput` if there is no run.
    """
    check_can_evaluate(by, label_set.benchmark)
    questions = plan_paper(label_set).questions
    return {
        name: analyse(question=question, progress=progress) for name, question in questions.items()
    }


def begin_paper(*, label_set: LabelSet, by: Actor) -> Job:
    """Queue the job that computes the figures of a paper, or return the unfinished one.

    Raises `NotPermitted` if `by` may not compute figures. Raises `InvalidInput` if there is no run.
    """
    benchmark = label_set.benchmark
    check_can_evaluate(by, benchmark)
    plan_paper(label_set)
    return enqueue_job(
        kind=PAPER_JOB,
        title=f"Compute the figures of a paper about {benchmark.name}",
        params={"benchmark": benchmark.key, "version": str(label_set.reference)},
        benchmark_key=benchmark.key,
        by=by,
    )


def renew_analyses() -> int:
    """Begin the jobs that update outdated results, and return the number of jobs.

    For each benchmark with a label set or a stored result, the analyses that pages show are
    updated, and so is each analysis that already has a stored result. All use the default options.
    A new run, label set or code version makes a result outdated. A benchmark waits until no run or
    label set has arrived for a while, because several runs are often uploaded one after another.
    Failed jobs are not repeated.
    """
    begun = 0
    used = Q(analysis_results__isnull=False) | Q(label_sets__isnull=False)
    for benchmark in Benchmark.objects.filter(used).distinct():
        if _newest_input(benchmark) > timezone.now() - SETTLED_FOR:
            continue
        begun += sum(_renew(benchmark, name, {}) for name in _to_renew(benchmark))
    return begun


def _to_renew(benchmark: Benchmark) -> list[str]:
    return sorted({*SHOWN_ANALYSES, *_analyses_with_results(benchmark)})


def renew_draft_analyses(*, benchmark: Benchmark) -> int:
    """Begin the jobs for the analyses that have stored results of drafts.

    Return the number of jobs.
    """
    names = _analyses_with_results(benchmark, inputs__labels=DRAFT)
    return sum(_renew(benchmark, name, {"labels": DRAFT}) for name in names)


def _analyses_with_results(benchmark: Benchmark, **inputs: Any) -> QuerySet[AnalysisResult, str]:
    """Return the names of the analyses that have stored results."""
    results = AnalysisResult.objects.filter(benchmark=benchmark, **inputs).order_by()
    return results.values_list("kind", flat=True).distinct()


def _renew(benchmark: Benchmark, name: str, data: dict[str, Any]) -> bool:
    """Begin a job if there is neither a result nor a job; return whether a job was begun."""
    try:
        question = build_question(get_analysis(name), benchmark, data)
    except InvalidInput:  # The analysis is undefined for the current inputs.
        return False
    if question.stored_result() is not None or question.job() is not None:
        return False
    # The results page shows the corrections of a label set, whose labels do not change. They are
    # not computed again after each answer.
    if name == NOISE_ANALYSIS and not data and question.latest_outdated_result() is not None:
        return False
    begin_analysis(question=question, data=data, created_by=None)
    return True


def _newest_input(benchmark: Benchmark) -> datetime.datetime:
    """Return when the last run or label set arrived."""
    runs = Run.objects.filter(benchmark=benchmark).aggregate(at=Max("created_at"))
    sets = LabelSet.objects.filter(benchmark=benchmark).aggregate(at=Max("created_at"))
    return max(runs["at"] or benchmark.created_at, sets["at"] or benchmark.created_at)


@transaction.atomic
def _store(question: Question, result: Mapping[str, Any], seconds: float) -> AnalysisResult:
    benchmark, name = question.inputs.benchmark, question.analysis.name
    # Two workers may compute the same question at the same time. Only one of the equal results is
    # stored.
    stored, _ = AnalysisResult.objects.get_or_create(
        benchmark=benchmark,
        key=question.key,
        defaults={
            "kind": name,
            "inputs": question.provenance,
            "result": result,
            "seconds": seconds,
        },
    )
    results = AnalysisResult.objects.filter(benchmark=benchmark, kind=name)
    of_drafts = Q(inputs__labels=DRAFT)
    _delete_old(results.filter(of_drafts), DRAFT_RESULTS_MAX)
    _delete_old(results.exclude(of_drafts), RESULTS_MAX)
    return stored


def _delete_old(results: QuerySet[AnalysisResult], count: int) -> None:
    """Delete all but the newest `count` results."""
    oldest = results.order_by("-pk").values_list("pk", flat=True)[count - 1 : count].first()
    if oldest is not None:
        results.filter(pk__lt=oldest).delete()

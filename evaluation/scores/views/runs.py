"""The page of a run: its scores, its rank, and its unjudged pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render

from annotation.selectors.tasks import run_tasks_for_page
from evaluation.models import LabelSet
from evaluation.release.exports import formats_for
from evaluation.release.policies import can_evaluate, can_see_scores
from evaluation.release.selectors import positive_counts
from evaluation.scores.forms import TABLE_MEASURES
from evaluation.scores.selectors import stored_corrections, stored_scores
from evaluation.scores.tables import (
    NOT_COMPUTED,
    Cell,
    ResultRow,
    mark_ranks,
    moment_measures,
    result_rows,
)
from hearth.jobs.models import UNFINISHED, Job
from hearth.jobs.views import in_place_context, start_job
from hearth.shared.numbers import Figure
from hearth.shared.pages import POST, only_for
from pooling.core.pool_options import LEFT_OUT
from pooling.models import Benchmark, Pool, Run
from pooling.moments.exports import moment_forms, send_run_form
from pooling.phrasings.selectors import spread_of_run, spread_table
from pooling.policies import POOLED_DEPTH, benchmarks_seen_by, can_change_benchmark, can_change_run
from pooling.selectors.runs import find_runs


@dataclass(frozen=True, slots=True)
class Line:
    """One measure of the run: its score, bounds, and rank among the scored runs."""

    cell: Cell
    bounds: Figure
    rank_before: int | None
    rank: int | None
    n_ranked: int
    interval: str = ""


@only_for(can_see_scores)
def run(request: HttpRequest, key: str, pk: int) -> HttpResponse:
    """Show a run with its scores by the newest label set, or else by the original positives."""
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    found = get_object_or_404(_runs(benchmark), pk=pk)
    label_set = LabelSet.objects.filter(benchmark=benchmark).first()
    # A withdrawn run and an upper bound have scores on their own pages only.
    is_alone = found.is_withdrawn or found.is_upper_bound
    listed = [found] if is_alone else find_runs(benchmark, direction=found.facing)
    rows = result_rows(
        listed,
        stored_scores(benchmark, None),
        stored_scores(benchmark, label_set) if label_set else {},
        by_labels=label_set is not None,
        corrections=stored_corrections(label_set, TABLE_MEASURES),
    )
    row = next(row for row in rows if row.run.pk == found.pk)
    measures = (*TABLE_MEASURES, *moment_measures([row.labelled, row.original]))
    lines = [_line(row, rows, measure) for measure in measures]
    if is_alone:
        lines = [replace(line, rank_before=None, rank=None) for line in lines]
    job = _scoring_job(found)
    context = {
        "benchmark": benchmark,
        "run": found,
        "n_rows": found.pair_space.n_queries,
        "row": row,
        "rows": [row],
        "lines": lines,
        "has_moments": len(lines) > len(TABLE_MEASURES),
        "is_old": any(
            line.cell.judged.reason == NOT_COMPUTED for line in lines[: len(TABLE_MEASURES)]
        ),
        "shares": _shares(row),
        "n_unscored": sum(not row.is_scored for row in rows),
        "label_set": label_set,
        "depth": min(POOLED_DEPTH, found.depth),
        "new": run_tasks_for_page(found),
        "is_pooled": _is_pooled(found, min(POOLED_DEPTH, found.depth)),
        "may_change": can_change_benchmark(request.user, benchmark),
        "can_change": can_change_run(request.user, found),
        **({} if job is None else in_place_context(request, job)),
        "to_confirm": positive_counts(found, label_set) if label_set else [],
        "moment_forms": moment_forms(found),
        "export_formats": formats_for(request.user, benchmark),
        "spread": spread_table(spread_of_run(found)),
        "code_versions": sorted(row.code_versions),
    }
    return render(request, "evaluation/scores/run.html", context)


@only_for(can_see_scores)
def run_moments(request: HttpRequest, key: str, pk: int, form: str) -> StreamingHttpResponse:
    """Download a run of moments in a form that official evaluators read."""
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    return send_run_form(get_object_or_404(_runs(benchmark), pk=pk), form)


@only_for(can_evaluate, POST)
def run_pool(request: HttpRequest, key: str, pk: int) -> HttpResponse:
    """Pool the top of a run. Anyone who may import the run may pool it.

    No annotator judges the pairs before a lead opens a campaign.
    """
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    found = get_object_or_404(_runs(benchmark), pk=pk)
    depth = min(POOLED_DEPTH, found.depth)
    return start_job(
        request,
        kind="build_pool",
        title=f"Pool the top {depth} of {found.name}",
        params={
            "benchmark": benchmark.key,
            "depth": depth,
            "runs": [found.pk],
            "sample": None,
            "seed": 0,
        },
        benchmark_key=benchmark.key,
    )


def _is_pooled(found: Run, depth: int) -> bool:
    """Return whether a pool without limits contains the top of the run."""
    pools = Pool.objects.filter(runs=found, depth__gte=depth, sample_size=None, video_sample=None)
    return pools.filter(budget=None).exclude(originals=LEFT_OUT).exists()


def _runs(benchmark: Benchmark) -> QuerySet[Run]:
    runs = Run.objects.filter(benchmark=benchmark)
    return runs.select_related("benchmark", "system", "created_by")


def _line(row: ResultRow, rows: list[ResultRow], measure: str) -> Line:
    mark_ranks(rows, measure)
    bounds = row.evaluation.bounds.get(measure) if row.evaluation else None
    return Line(
        row.cell(measure),
        Figure(list(bounds) if bounds else None, "percent"),
        row.rank_before,
        row.rank,
        row.n_ranked,
        "" if measure in TABLE_MEASURES else row.cell(measure).interval,
    )


def _shares(row: ResultRow) -> list[tuple[str, Figure]]:
    """Return the judged share of the top ranks, by depth."""
    judged = row.evaluation.judged if row.evaluation else {}
    return [(depth, Figure(share, "percent sign")) for depth, share in judged.items()]


def _scoring_job(found: Run) -> Job | None:
    """Return the unfinished job that scores the run."""
    jobs = Job.objects.filter(
        kind="evaluate", benchmark_key=found.benchmark.key, state__in=UNFINISHED
    )
    return next((job for job in jobs if job.params.get("runs") in ([found.pk], None)), None)

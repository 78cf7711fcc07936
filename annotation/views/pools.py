"""The page that previews and builds a pool."""

from __future__ import annotations

import uuid
from typing import Any, cast

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.selectors.effort import PoolPlanReport, preview_pool
from hearth.jobs.models import JobState
from hearth.jobs.policies import jobs_seen_by
from hearth.jobs.views import start_job
from hearth.shared.errors import InvalidInput
from hearth.shared.numbers import Figure, count_figure, duration
from hearth.shared.option_fields import OptionsForm
from hearth.shared.options import as_params, build
from hearth.shared.pages import FORM_METHODS, form_data, form_status, only_for
from hearth.shared.words import counted, tasks_to_judge
from pooling.core.pool_options import PoolRequest
from pooling.forms.pools import PoolForm
from pooling.models import Benchmark
from pooling.policies import benchmarks_seen_by, can_see_benchmarks, check_can_build_pool
from pooling.selectors.pool_plan import takes_long
from pooling.selectors.runs import build_params

PREVIEW = "preview"
ASSUMED = "assumed; you can change it below"


@only_for(can_see_benchmarks, FORM_METHODS)
def pool_build(request: HttpRequest, key: str) -> HttpResponse:
    """Show the form, preview the pool directly or by a job, or start the job that builds it."""
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    check_can_build_pool(request.user, benchmark)
    initial = {"proxy": request.GET.get("proxy", "")}
    form = PoolForm(**form_data(request), benchmark=benchmark, initial=initial)
    if request.method == "POST" and form.is_valid():
        wanted = form.options
        if request.POST.get("step") != PREVIEW:
            title = f"Pool the top {wanted.pool.depth} of {benchmark.name}"
            return _start(request, benchmark, "build_pool", title, build_params(benchmark, wanted))
        if takes_long(benchmark, wanted.pool):
            title = f"Preview a pool of {benchmark.name}"
            return _start(request, benchmark, "preview_pool", title, as_params(wanted))
        try:
            planned = preview_pool(benchmark, wanted.pool, wanted.rate, wanted.seconds)
        except InvalidInput as error:
            form.add_error(None, str(error))
        else:
            return _show(request, benchmark, form, planned.report())
    return _show(request, benchmark, form)


def _show(
    request: HttpRequest,
    benchmark: Benchmark,
    form: OptionsForm[PoolRequest],
    plan: PoolPlanReport | None = None,
) -> HttpResponse:
    context: dict[str, Any] = {"benchmark": benchmark, "form": form, "plan": plan}
    if plan is None:
        return render(request, "pooling/pool_build.html", context, status=form_status(request))
    context["figures"] = _figures(plan)
    return render(request, "pooling/pool_build.html", context)


@only_for(can_see_benchmarks)
def pool_preview(request: HttpRequest, key: str, pk: uuid.UUID) -> HttpResponse:
    """Show a preview that a job has computed."""
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    check_can_build_pool(request.user, benchmark)
    job = get_object_or_404(
        jobs_seen_by(request.user), pk=pk, kind="preview_pool", benchmark_key=benchmark.key
    )
    if job.state != JobState.DONE or job.result is None:
        return redirect("job", job.pk)
    form = PoolForm.of(build(PoolRequest, job.params), benchmark=benchmark)
    return _show(request, benchmark, form, cast(PoolPlanReport, job.result))


def _start(
    request: HttpRequest, benchmark: Benchmark, kind: str, title: str, params: dict[str, Any]
) -> HttpResponse:
    params = {"benchmark": benchmark.key, **params}
    return start_job(request, kind=kind, title=title, params=params, benchmark_key=benchmark.key)


def _figures(plan: PoolPlanReport) -> list[tuple[str, Figure]]:
    """Return the figures of a preview. Previews of older versions lack some values."""
    left_out = f"the maximum leaves out {plan['left_out']:,}" if plan["left_out"] else ""
    unranked, pairs = plan.get("unranked", 0), plan.get("task_pairs", plan["new_pairs"])
    policy = "the policy of the newest campaign" if plan.get("has_policy") else "the default policy"
    figures = [
        ("Tasks to judge", count_figure(plan["new_tasks"], _note_on_tasks(plan, pairs))),
        (
            "Labels",
            count_figure(plan["labels"], f"needed under {policy}; disagreements need more"),
        ),
        *_times(plan),
        ("Pairs of the pool", count_figure(plan["pairs"])),
        ("Pairs in no earlier pool", count_figure(plan["new_pairs"], left_out)),
        *([("New pairs that no run ranks", count_figure(unranked))] if unranked else []),
    ]
    if plan["cost"] is not None:
        cost = Figure(round(plan["cost"]), "count", "in the currency of the rate")
        figures.append(("Cost", cost))
    return figures


def _note_on_tasks(plan: PoolPlanReport, pairs: int) -> str:
    """Return the pairs of the tasks, and the total if earlier pools have tasks for the campaign."""
    note = f"({counted(pairs, 'pair')})"
    if waiting := plan.get("waiting_tasks", 0):
        total = tasks_to_judge(plan["new_tasks"] + waiting, pairs + plan["waiting_pairs"])
        note += f"; {total} with those of earlier pools"
    return note


def _times(plan: PoolPlanReport) -> list[tuple[str, Figure]]:
    seconds, hours = plan["seconds"], plan["hours"]
    if seconds is None or hours is None:  # previews of older versions
        return []
    where = "this benchmark" if plan["is_of_benchmark"] else "this site"
    note = f"median of the last {counted(plan['answers'], 'timed answer')} of {where}"
    return [
        ("Time of judging", Figure(duration(3600 * hours))),
        ("Time of an answer", Figure(seconds, "seconds", note if plan["answers"] else ASSUMED)),
    ]

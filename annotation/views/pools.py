"""The page that previews and builds a pool."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_http_methods

from annotation.selectors.effort import PlannedPool, preview_pool
from config.jobs.views import start_job
from config.shared.errors import InvalidInput
from config.shared.numbers import Figure, count_figure, undefined
from config.shared.pages import FORM_METHODS, form_data, form_status, only_for
from pooling.forms.pools import PoolForm
from pooling.models import Benchmark
from pooling.policies import benchmarks_seen_by, can_see_benchmarks, check_can_build_pool

PREVIEW = "preview"


@only_for(can_see_benchmarks)
@require_http_methods(FORM_METHODS)
def pool_build(request: HttpRequest, key: str) -> HttpResponse:
    """Show the form, preview the pool in place, or start the job that builds it."""
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    check_can_build_pool(request.user, benchmark)
    form = PoolForm(**form_data(request), benchmark=benchmark)
    context = {"benchmark": benchmark, "form": form}
    if request.method == "POST" and form.is_valid():
        if request.POST.get("step") != PREVIEW:
            return _start(request, benchmark, form)
        try:
            planned = preview_pool(benchmark, form.options(), form.cleaned_data["rate"])
        except InvalidInput as error:
            form.add_error(None, str(error))
        else:
            context |= {"figures": _figures(planned), "planned": planned}
            return render(request, "pooling/pool_build.html", context)
    return render(request, "pooling/pool_build.html", context, status=form_status(request))


def _start(request: HttpRequest, benchmark: Benchmark, form: PoolForm) -> HttpResponse:
    options = form.options()
    return start_job(
        request,
        kind="build_pool",
        title=f"Pool the top {options.depth} of {benchmark.name}",
        params={
            "benchmark": benchmark.key,
            **options.values(),
            "expected": form.cleaned_data["expected"],
        },
        benchmark_key=benchmark.key,
    )


def _figures(planned: PlannedPool) -> list[tuple[str, Figure]]:
    plan, effort = planned.plan, planned.effort
    left_out = f"the budget leaves out {plan.n_left_out:,}" if plan.n_left_out else ""
    shared = len(plan.new) - plan.n_new_tasks
    no_time = undefined("no answer has a time yet")
    speed = effort.speed
    where = "this benchmark" if speed.is_of_benchmark else "this site"
    note = f"median of the last {speed.answers:,} timed answers of {where}"
    figures = [
        ("New pairs", count_figure(len(plan.new), left_out)),
        ("Pairs of the pool", count_figure(len(plan.codes))),
        (
            "New tasks",
            count_figure(plan.n_new_tasks, f"equal captions save {shared:,}" if shared else ""),
        ),
        ("Labels", count_figure(effort.labels, "without labels needed after a disagreement")),
        (
            "Time of an answer",
            no_time if speed.seconds is None else Figure(speed.seconds, "seconds", note),
        ),
        (
            "Hours of judging",
            no_time if effort.hours is None else Figure(round(effort.hours, 1), "number"),
        ),
    ]
    if effort.cost is not None:
        figures.append(("Cost", Figure(round(effort.cost), "count", "in the currency of the rate")))
    return figures

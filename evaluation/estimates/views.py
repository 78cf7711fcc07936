"""The page of a run's estimates: the plan, the draws and the form that draws captions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from annotation.policies import can_lead
from evaluation.estimates.forms import DrawForm, EstimateForm
from evaluation.estimates.models import Draw
from evaluation.estimates.plans import plan_of
from evaluation.estimates.results import Result, estimate, results_of
from evaluation.estimates.selectors import check_run, draws_of_run
from evaluation.estimates.tasks import DRAW_JOB
from evaluation.release.policies import can_see_scores
from hearth.jobs.views import start_job
from hearth.shared.downloads import download_json
from hearth.shared.errors import InvalidInput
from hearth.shared.pages import FORM_METHODS, UNPROCESSABLE, form_data, only_for
from pooling.core.direction import Direction
from pooling.models import Benchmark, Proxy, Run
from pooling.policies import benchmarks_seen_by
from pooling.selectors.runs import find_runs


@dataclass(frozen=True, slots=True)
class ShownDraw:
    """A draw with its estimates, the drawn measure first."""

    draw: Draw
    results: list[Result]


@only_for(can_see_scores, FORM_METHODS)
def run_estimate(request: HttpRequest, key: str, pk: int) -> HttpResponse:
    """Show what drawn captions bring and what they say. A POST request draws captions."""
    run = _run(request, key, pk)
    benchmark = run.benchmark
    proxies = {proxy.name: proxy for proxy in Proxy.objects.filter(benchmark=benchmark)}
    machines = [("", "none"), *((name, name) for name in proxies)]
    others = find_runs(benchmark, direction=Direction.TEXT_TO_VIDEO)
    names = [(other.name, other.name) for other in others]
    second = [("", "none"), *(name for name in names if name[0] != run.name)]
    machine = proxies.get(request.GET.get("proxy", ""))
    form = DrawForm(
        initial={"proxy": machine.name if machine else ""},
        offered={"proxy": machines, "other": second},
        **form_data(request),
    )
    if request.method == "POST" and form.is_valid():
        return start_job(
            request,
            kind=DRAW_JOB,
            # Annotators do not see jobs, but the names of campaigns.
            title=f"Draw captions of {run.name}"[:300],
            params={"benchmark": benchmark.key, "run": run.name, **form.values()},
            benchmark_key=benchmark.key,
        )
    asked = EstimateForm(
        request.GET if "measure" in request.GET else None,
        initial={"runs": [run.name]},
        offered={"runs": names, "proxy": machines},
    )
    plan = plan_of(run, machine)
    context = {
        "benchmark": benchmark,
        "run": run,
        "plan": plan,
        "chart": plan.chart(run.name),
        "main": next((one for one in plan.measures if one.measure == "C@10"), None),
        "proxies": proxies,
        "machine": machine,
        "draws": [ShownDraw(draw, results_of(draw)) for draw in draws_of_run(run)],
        "form": form,
        "asked": asked,
        **_asked(benchmark, asked),
        "may_draw": can_lead(request.user, benchmark),
    }
    status = UNPROCESSABLE if form.errors else 200
    return render(request, "evaluation/estimates/run.html", context, status=status)


@only_for(can_see_scores)
def run_estimate_chart(request: HttpRequest, key: str, pk: int) -> HttpResponse:
    """Download the Vega-Lite specification of the plan."""
    run = _run(request, key, pk)
    name = request.GET.get("proxy", "")
    proxy = Proxy.objects.filter(benchmark=run.benchmark, name=name).first()
    chart = plan_of(run, proxy).chart(run.name)
    schema = "https://vega.github.io/schema/vega-lite/v6.json"
    spec = {"$schema": schema, **chart.spec, "description": chart.text, "usermeta": {}}
    return download_json(spec, f"{key}-plan.vl")


def _run(request: HttpRequest, key: str, pk: int) -> Run:
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    run = get_object_or_404(Run.objects.select_related("benchmark"), benchmark=benchmark, pk=pk)
    check_run(run)
    return run


def _asked(benchmark: Benchmark, form: EstimateForm) -> dict[str, Any]:
    """Return the estimates that the form selects, or why there are none."""
    if not form.is_bound or not form.is_valid():
        return {}
    try:
        return {"found": estimate(benchmark, form.options)}
    except InvalidInput as error:
        return {"reason": str(error)}

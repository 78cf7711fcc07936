"""The page of a run's estimates: the plan, the draws and the form that draws captions."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from annotation.policies import can_lead
from evaluation.estimates.forms import DrawForm
from evaluation.estimates.models import Draw
from evaluation.estimates.plans import plan_of
from evaluation.estimates.results import Result, result_of
from evaluation.estimates.selectors import LoadedDraw, check_run
from evaluation.estimates.tasks import DRAW_JOB
from evaluation.release.policies import can_see_scores
from hearth.jobs.views import start_job
from hearth.shared.downloads import download_json
from hearth.shared.pages import FORM_METHODS, UNPROCESSABLE, form_data, only_for
from pooling.models import Proxy, Run
from pooling.policies import benchmarks_seen_by


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
    offered = {"proxy": [("", "none"), *((name, name) for name in proxies)]}
    machine = proxies.get(request.GET.get("proxy", ""))
    form = DrawForm(
        initial={"proxy": machine.name if machine else ""}, offered=offered, **form_data(request)
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
    plan = plan_of(run, machine)
    context = {
        "benchmark": benchmark,
        "run": run,
        "plan": plan,
        "chart": plan.chart(run.name),
        "main": next((one for one in plan.measures if one.measure == "C@10"), None),
        "proxies": proxies,
        "machine": machine,
        "draws": [_shown(draw) for draw in _draws(run)],
        "form": form,
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


def _draws(run: Run) -> list[Draw]:
    draws = Draw.objects.filter(run=run)
    return list(draws.select_related("run__benchmark", "campaign__benchmark", "created_by"))


def _shown(draw: Draw) -> ShownDraw:
    loaded = LoadedDraw.of(draw)
    measures = sorted(draw.populations, key=lambda name: name != draw.measure)
    return ShownDraw(draw, [result_of(draw, name, loaded) for name in measures])

"""The button that computes agreement."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from evaluation.release.policies import can_evaluate
from hearth.jobs.views import start_job
from hearth.shared.pages import POST, only_for
from pooling.policies import benchmarks_seen_by


@only_for(can_evaluate, POST)
def agreement_compute(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    return start_job(
        request,
        kind="agreement",
        title=f"Compute the agreement of {benchmark.name}",
        params={"benchmark": benchmark.key},
        benchmark_key=benchmark.key,
    )

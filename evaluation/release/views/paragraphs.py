"""The outcomes of paragraphs: their file, and the button that stores them as labels."""

from __future__ import annotations

from typing import cast

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404

from annotation.policies import can_lead_somewhere, check_can_lead
from evaluation.release.policies import can_see_scores
from evaluation.release.selectors.paragraphs import outcome_lines, paragraph_pairs
from hearth.accounts.models import User
from hearth.jobs.views import start_job
from hearth.shared.downloads import stream_csv
from hearth.shared.pages import POST, only_for
from pooling.policies import benchmarks_seen_by


@only_for(can_see_scores)
def paragraphs_outcomes(request: HttpRequest, key: str) -> HttpResponseBase:
    """Download the labels of paragraphs that follow from those of their sentences."""
    seen = benchmarks_seen_by(request.user).filter(paragraphs__isnull=False)
    benchmark = get_object_or_404(seen, key=key)
    lines = outcome_lines(benchmark, paragraph_pairs(benchmark))
    return stream_csv(lines, f"{key}-paragraphs")


@only_for(can_lead_somewhere, POST)
def paragraphs_settle(request: HttpRequest, key: str) -> HttpResponse:
    seen = benchmarks_seen_by(request.user).filter(paragraphs__isnull=False)
    benchmark = get_object_or_404(seen, key=key)
    check_can_lead(cast(User, request.user), benchmark)
    return start_job(
        request,
        kind="settle_paragraphs",
        title=f"Store the labels of paragraphs of {benchmark.name}",
        params={"benchmark": key},
        benchmark_key=key,
    )

"""The file with the outcomes of paragraphs."""

from __future__ import annotations

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404

from evaluation.release.policies import can_see_scores
from evaluation.release.selectors.paragraphs import outcome_lines, paragraph_pairs
from hearth.shared.downloads import stream_csv
from hearth.shared.pages import only_for
from pooling.policies import benchmarks_seen_by


@only_for(can_see_scores)
def paragraphs_outcomes(request: HttpRequest, key: str) -> HttpResponseBase:
    """Download the labels of paragraphs that follow from those of their sentences."""
    seen = benchmarks_seen_by(request.user).filter(paragraphs__isnull=False)
    benchmark = get_object_or_404(seen, key=key)
    lines = outcome_lines(benchmark, paragraph_pairs(benchmark))
    return stream_csv(lines, f"{key}-paragraphs")

"""The page of the uploads of the last day."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from annotation.policies import benchmarks_led_by, can_lead_somewhere
from evaluation.portal.uploads import recent_uploads
from hearth.shared.pages import only_for
from pooling.policies import can_change_benchmark


@only_for(can_lead_somewhere)
def uploads(request: HttpRequest, key: str) -> HttpResponse:
    """Show leads the uploads of the last day, and how to undo each."""
    benchmark = get_object_or_404(benchmarks_led_by(request.user), key=key)
    context = {
        "benchmark": benchmark,
        "uploads": recent_uploads(benchmark),
        "may_change": can_change_benchmark(request.user, benchmark),
    }
    return render(request, "evaluation/portal/uploads.html", context)

"""The page with the tables and texts for a paper, and its download."""

from __future__ import annotations

from typing import Any, cast

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from evaluation.lab.paper.paper import plan_paper, write_paper
from evaluation.lab.services import begin_paper
from evaluation.models import LabelSet
from evaluation.release.policies import can_evaluate, can_see_scores
from evaluation.release.selectors import get_label_set
from hearth.accounts.models import User
from hearth.jobs.views import show_job
from hearth.shared.downloads import download
from hearth.shared.errors import InvalidInput
from hearth.shared.pages import POST, only_for
from pooling.policies import benchmarks_seen_by


@only_for(can_see_scores)
def paper(request: HttpRequest, key: str, version: str) -> HttpResponse:
    """Show the tables and texts, or the button that computes their figures."""
    label_set = _get_label_set(request, key, version)
    context: dict[str, Any] = {"benchmark": label_set.benchmark, "label_set": label_set}
    try:
        plan = plan_paper(label_set)
    except InvalidInput as error:
        return render(request, "evaluation/lab/paper.html", {**context, "unavailable": error})
    stored = plan.stored_results()
    if stored is not None:
        context |= {"paper": write_paper(plan, stored), "missing": plan.missing}
    return render(request, "evaluation/lab/paper.html", context)


@only_for(can_evaluate, POST)
def paper_compute(request: HttpRequest, key: str, version: str) -> HttpResponse:
    """Begin the job that computes the figures, and show its progress."""
    label_set = _get_label_set(request, key, version)
    return show_job(request, begin_paper(label_set=label_set, by=cast(User, request.user)))


@only_for(can_see_scores)
def paper_download(request: HttpRequest, key: str, version: str) -> HttpResponse:
    """Download the files as a zip archive."""
    label_set = _get_label_set(request, key, version)
    plan = plan_paper(label_set)
    stored = plan.stored_results()
    if stored is None:
        raise Http404
    made = write_paper(plan, stored)
    return download(made.archive(), f"{made.stem}.zip", "application/zip")


def _get_label_set(request: HttpRequest, key: str, version: str) -> LabelSet:
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    return get_label_set(benchmark, version)

"""The buttons that request second labels for the sole positives of a run, or all positives."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from annotation.policies import check_can_lead
from evaluation.models import LabelSet
from evaluation.release.forms import ConfirmForm
from evaluation.release.policies import can_see_scores
from evaluation.release.selectors import positives_to_confirm
from hearth.jobs.views import start_job
from hearth.shared.errors import InvalidInput
from hearth.shared.pages import POST, only_for
from pooling.models import Run
from pooling.policies import benchmarks_seen_by


@only_for(can_see_scores, POST)
def run_confirm(request: HttpRequest, key: str, pk: int) -> HttpResponse:
    """Start a job that opens a campaign, in which positives get second labels."""
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    check_can_lead(request.user, benchmark)
    found = get_object_or_404(Run, benchmark=benchmark, pk=pk)
    label_set = LabelSet.objects.filter(benchmark=benchmark).first()
    form = ConfirmForm(request.POST)
    if not form.is_valid():
        raise InvalidInput("Choose one of the measures C@1, C@5 and C@10, or all positives.")
    cutoff = form.cutoff_or_all
    if cutoff is None:
        title = f"Confirm all positives of {benchmark.name}"
        _, codes = positives_to_confirm(label_set, None, 1)
    else:
        title = f"Confirm C@{cutoff} of {found.name}"
        _, codes = positives_to_confirm(label_set, found, cutoff)
    return start_job(
        request,
        kind="open_confirmation",
        title=title,
        # Annotators see the name of the campaign, so it must not name the run.
        params={"benchmark": benchmark.key, "codes": codes.tolist(), "seed": 0, "name": ""},
        benchmark_key=benchmark.key,
    )

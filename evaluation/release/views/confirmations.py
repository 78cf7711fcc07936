"""The button that requests second labels for sole positives."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST

from annotation.policies import check_can_lead
from config.jobs.views import start_job
from config.shared.errors import InvalidInput
from config.shared.pages import only_for
from evaluation.models import LabelSet
from evaluation.release.forms import ConfirmForm
from evaluation.release.policies import can_see_scores
from evaluation.release.selectors import unconfirmed_sole_positives
from pooling.models import Run
from pooling.policies import benchmarks_seen_by


@only_for(can_see_scores)
@require_POST
def run_confirm(request: HttpRequest, key: str, pk: int) -> HttpResponse:
    """Start a job that opens a campaign, in which the sole positives of C@k get second labels."""
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    check_can_lead(request.user, benchmark)
    found = get_object_or_404(Run, benchmark=benchmark, pk=pk)
    label_set = LabelSet.objects.filter(benchmark=benchmark).first()
    form = ConfirmForm(request.POST)
    if label_set is None:
        raise InvalidInput(
            "Publish a label set first. Second labels are requested for positives of a label set."
        )
    if not form.is_valid():
        raise InvalidInput("Choose one of the measures C@1, C@5 and C@10.")
    cutoff = form.cleaned_data["cutoff"]
    if cutoff > found.depth:
        raise InvalidInput(f"Choose a cutoff up to {found.depth}, the depth of this run.")
    _, codes = unconfirmed_sole_positives(found, label_set, cutoff)
    return start_job(
        request,
        kind="open_confirmation",
        title=f"Confirm C@{cutoff} of {found.name}",
        # Annotators see the name of the campaign, so it must not name the run.
        params={"benchmark": benchmark.key, "codes": codes.tolist(), "seed": 0, "name": ""},
        benchmark_key=benchmark.key,
    )

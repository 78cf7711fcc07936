"""The buttons that publish and draft labels, and the downloads of label sets."""

from __future__ import annotations

from typing import cast

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST, require_safe
from rest_framework.exceptions import ValidationError

from config.accounts.models import User
from config.jobs.views import show_job, start_job
from config.shared.downloads import attachment
from config.shared.errors import InvalidInput
from config.shared.pages import only_for
from evaluation.models import LabelSet
from evaluation.release.exports import FORMATS, ExportOptions, file_stem
from evaluation.release.forms import PublishForm
from evaluation.release.policies import can_evaluate, can_see_scores, check_can_publish_labels
from evaluation.release.selectors import benchmark_outcomes
from evaluation.release.serializers import read_options
from evaluation.release.services import begin_draft, export_label_set
from pooling.policies import benchmarks_seen_by


@only_for(can_see_scores)
@require_POST
def labels_publish(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    check_can_publish_labels(request.user, benchmark)
    form = PublishForm(request.POST)
    allow_pending = form.is_valid() and form.cleaned_data["allow_pending"]
    outcomes = benchmark_outcomes(benchmark)
    if outcomes.counts.unsettled and not allow_pending:
        context = {"benchmark": benchmark, "outcomes": outcomes, "counts": outcomes.counts}
        return render(request, "evaluation/release/publish_confirm.html", context)
    return start_job(
        request,
        kind="publish_labels",
        title=f"Publish the labels of {benchmark.name}",
        params={"benchmark": benchmark.key, "allow_pending": allow_pending},
        benchmark_key=benchmark.key,
    )


@only_for(can_evaluate)
@require_POST
def draft_make(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    job = begin_draft(benchmark=benchmark, by=cast(User, request.user))
    return show_job(request, job)


@only_for(can_see_scores)
@require_safe
def label_set_export(request: HttpRequest, key: str, version: int, format: str) -> HttpResponseBase:
    """Return a label set as a file. Permission is checked at each download."""
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    label_set = get_object_or_404(
        LabelSet.objects.select_related("benchmark"), benchmark=benchmark, version=version
    )
    if format not in FORMATS:
        raise Http404
    kind = FORMATS[format]
    response: HttpResponseBase = HttpResponse()
    if request.method != "HEAD":
        pieces = export_label_set(
            label_set=label_set,
            format=format,
            options=_options(request),
            by=cast(User, request.user),
        )
        response = StreamingHttpResponse(pieces)
    response["Content-Type"] = kind.content_type
    response["Content-Disposition"] = attachment(f"{file_stem(label_set)}{kind.suffix}")
    return response


def _options(request: HttpRequest) -> ExportOptions:
    try:
        return read_options(request.GET)
    except ValidationError as error:
        raise InvalidInput(f"The options of the download are invalid: {error.detail}") from None

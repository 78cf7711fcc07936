"""The buttons that publish, draft and verify labels, and the downloads of label sets."""

from __future__ import annotations

from typing import cast

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from rest_framework.exceptions import ValidationError

from evaluation.release import policies
from evaluation.release.exports import FORMATS, ExportOptions, file_stem
from evaluation.release.forms import PublishForm
from evaluation.release.selectors import benchmark_outcomes, get_label_set
from evaluation.release.selectors.proposals import propose_from_draft
from evaluation.release.serializers import read_options
from evaluation.release.services import begin_draft, export_label_set
from hearth.accounts.models import User
from hearth.jobs.views import show_job, start_job
from hearth.shared.downloads import attachment
from hearth.shared.errors import InvalidInput
from hearth.shared.pages import FORM_METHODS, POST, form_data, form_status, only_for
from pooling.policies import benchmarks_seen_by


@only_for(policies.can_see_scores, FORM_METHODS)
def labels_publish(request: HttpRequest, key: str) -> HttpResponse:
    """Show the counts and the number of the next label set, or start the job that publishes it."""
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    policies.check_can_publish_labels(request.user, benchmark)
    outcomes = benchmark_outcomes(benchmark)
    proposal = propose_from_draft(benchmark)
    form = PublishForm(**form_data(request), counts=outcomes.counts, proposal=proposal)
    if request.method == "POST" and form.is_valid():
        return start_job(
            request,
            kind="publish_labels",
            title=f"Publish the labels of {benchmark.name}",
            params={"benchmark": benchmark.key, "allow_pending": False, **form.cleaned_data},
            benchmark_key=benchmark.key,
        )
    context = {"benchmark": benchmark, "form": form, "outcomes": outcomes, "proposal": proposal}
    status = form_status(request)
    return render(request, "evaluation/release/publish.html", context, status=status)


@only_for(policies.can_evaluate, POST)
def draft_make(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    job = begin_draft(benchmark=benchmark, by=cast(User, request.user))
    return show_job(request, job)


@only_for(policies.can_see_scores, POST)
def label_set_verify(request: HttpRequest, key: str, version: str) -> HttpResponse:
    """Start the job that rebuilds the files of a label set and compares their bytes."""
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    policies.check_can_evaluate(cast(User, request.user), benchmark)
    found = get_label_set(benchmark, version)
    return start_job(
        request,
        kind="verify_labels",
        title=f"Verify label set {found.version} of {benchmark.name}",
        params={"benchmark": benchmark.key, "version": found.version},
        benchmark_key=benchmark.key,
    )


@only_for(policies.can_see_scores)
def label_set_export(request: HttpRequest, key: str, version: str, format: str) -> HttpResponseBase:
    """Return a label set as a file. Permission is checked at each download."""
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    label_set = get_label_set(benchmark, version)
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

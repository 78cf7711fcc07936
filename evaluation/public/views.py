"""The pages that visitors see of public benchmarks, and the lists of uploaded runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_safe

from annotation.policies import benchmarks_led_by, can_lead_somewhere
from evaluation.models import LabelSet
from evaluation.public import selectors
from evaluation.release.exports import ExportOptions, file_stem
from evaluation.release.exports.release import datasheet_text
from evaluation.scores.tables import results_csv, results_json
from hearth.requests.throttles import limit_rate
from hearth.shared.downloads import attachment, download, download_csv, download_json, stream_csv
from hearth.shared.errors import NotFound
from hearth.shared.pages import only_for
from hearth.shared.tables import csv_parts, page_of
from pooling import policies
from pooling.enums import RunUploadState
from pooling.models import RunUpload
from pooling.selectors.arrays import query_keys, query_texts, video_keys
from pooling.selectors.uploaders import uploaders_of

UPLOADS_PER_PAGE = 25
# People who wait for confirmation come first. Confirming or removing them makes room for others.
UPLOADERS_MAX = 100
MARKDOWN = "text/markdown; charset=utf-8"
PublicPageView = Callable[..., HttpResponseBase]


def for_visitors(view: PublicPageView) -> PublicPageView:
    """Mark a page as open to visitors. It is not cached, because it depends on who is signed in."""

    @wraps(view)
    @require_safe
    def open_view(request: HttpRequest, *args: str, **kwargs: str) -> HttpResponseBase:
        response = view(request, *args, **kwargs)
        patch_cache_control(response, private=True, no_store=True)
        return response

    return open_view


@for_visitors
@limit_rate("visits")
def benchmarks(request: HttpRequest) -> HttpResponse:
    """List the public benchmarks."""
    found = policies.public_benchmarks_seen_by(request.user)
    context = {"benchmarks": found, "is_any_public": policies.public_benchmarks().exists()}
    return render(request, "evaluation/public/benchmarks.html", context)


@for_visitors
@limit_rate("visits")
def benchmark(request: HttpRequest, key: str) -> HttpResponse:
    """Show the leaderboard and the label sets of a benchmark, and how to upload a run."""
    shown = _shown(request, key)
    context = {
        "benchmark": shown.benchmark,
        "page": shown.page,
        "is_blind": shown.is_blind,
        "finding": shown.finding,
        "rows": shown.rows,
        "label_set": shown.label_set,
        "label_sets": shown.label_sets,
        "formats": selectors.PUBLIC_FORMATS,
        "can_upload": policies.can_upload_for_scoring(request.user),
        "open_registration": settings.OPEN_REGISTRATION,
    }
    return render(request, "evaluation/public/benchmark.html", context)


@for_visitors
@limit_rate("downloads")
def leaderboard(request: HttpRequest, key: str, format: str) -> HttpResponse:
    """Return the leaderboard as a file."""
    shown = _shown(request, key)
    if shown.is_blind:
        raise Http404
    name = f"{key}-leaderboard"
    if format == "csv":
        return download_csv(results_csv(shown.rows, shown.label_set, False), name)
    if format == "json":
        found = results_json(shown.benchmark, shown.rows, shown.label_set, False)
        return download_json(found, name)
    raise Http404


@for_visitors
@limit_rate("downloads")
def label_set_file(request: HttpRequest, key: str, version: str, format: str) -> HttpResponseBase:
    """Return a label set without single judgments, or its datasheet."""
    shown = _shown(request, key)
    found = _label_set(shown, version)
    if format == "datasheet":
        return download(datasheet_text(found), f"{file_stem(found)}-datasheet.md", MARKDOWN)
    if format not in selectors.PUBLIC_FORMATS:
        raise Http404
    kind = selectors.PUBLIC_FORMATS[format]
    with_texts = shown.page.shows_texts and "texts" in kind.options
    response: HttpResponseBase = HttpResponse()
    if request.method != "HEAD":
        response = StreamingHttpResponse(kind.pieces(found, ExportOptions(texts=with_texts)))
    response["Content-Type"] = kind.content_type
    response["Content-Disposition"] = attachment(f"{file_stem(found)}{kind.suffix}")
    return response


@for_visitors
@limit_rate("downloads")
def ids(request: HttpRequest, key: str, kind: str) -> HttpResponseBase:
    """Return the ids of the captions or videos, in the order of a `.npy` matrix."""
    shown = _shown(request, key)
    if kind == "captions":
        return stream_csv(_captions(shown), f"{key}-captions")
    if kind == "videos":
        rows = enumerate(video_keys(shown.benchmark))
        return stream_csv(csv_parts(["number", "video_id"], rows), f"{key}-videos")
    raise Http404


def _captions(shown: selectors.PublicView) -> Iterator[str]:
    keys = query_keys(shown.benchmark)
    if not shown.page.shows_texts:
        return csv_parts(["number", "caption_id"], enumerate(keys))
    texts = query_texts(shown.benchmark)
    rows = zip(range(len(keys)), keys, texts, strict=True)
    return csv_parts(["number", "caption_id", "caption"], rows)


@only_for(policies.can_upload_for_scoring)
def uploads(request: HttpRequest) -> HttpResponse:
    """Show a person their own uploads with their states and scores."""
    own = policies.own_run_uploads(request.user)
    context = {"benchmarks": list(policies.public_benchmarks_seen_by(request.user)), "is_own": True}
    return _uploads(request, own, "evaluation/public/uploads.html", context)


@only_for(can_lead_somewhere)
def uploads_of_benchmark(request: HttpRequest, key: str) -> HttpResponse:
    """Show leads the uploads to a benchmark."""
    found = get_object_or_404(benchmarks_led_by(request.user), key=key)
    context = {
        "benchmark": found,
        "above": reverse("benchmark-runs", args=[key]),
        "uploaders": uploaders_of(found)[:UPLOADERS_MAX],
        "is_own": False,
    }
    of_benchmark = RunUpload.objects.filter(benchmark=found)
    return _uploads(request, of_benchmark, "evaluation/public/benchmark_uploads.html", context)


def _uploads(
    request: HttpRequest, found: QuerySet[RunUpload], template: str, context: dict[str, Any]
) -> HttpResponse:
    rows = found.select_related("benchmark", "created_by", "run__system", "run__benchmark")
    page = page_of(rows, request.GET.get("page"), UPLOADS_PER_PAGE)
    shown = selectors.upload_rows(page)
    is_waiting = any(row.upload.state == RunUploadState.WAITING for row in shown)
    context |= {"page": page, "rows": shown, "is_waiting": is_waiting}
    return render(request, template, context)


def _shown(request: HttpRequest, key: str) -> selectors.PublicView:
    """Return what the visitor sees of a benchmark. Raises `Http404` if it is not public."""
    seen = policies.public_benchmarks_seen_by(request.user).select_related("public_page")
    return selectors.public_view(get_object_or_404(seen, key=key))


def _label_set(shown: selectors.PublicView, version: str) -> LabelSet:
    for label_set in shown.label_sets:
        if label_set.version == version:
            return label_set
    raise NotFound("There is no such label set.")

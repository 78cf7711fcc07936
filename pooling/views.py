"""Pages that import runs, train captions and tags and build pools; the files of videos."""

from __future__ import annotations

import uuid
from typing import cast

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models.fields.files import FieldFile
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from config.accounts.models import User
from config.accounts.roles import is_lead, is_researcher
from config.jobs.views import start_job, upload_page
from config.requests.files import receives_files
from config.shared.errors import Conflict
from config.shared.pages import CONFLICT, FORM_METHODS, form_data, form_status, only_for
from config.shared.ranges import stored_file_response
from pooling import services
from pooling.enums import EqualTexts
from pooling.forms import EqualTextsForm, PoolForm, RunUploadForm, TagsForm, TrainCaptionsForm
from pooling.policies import (
    benchmarks_seen_by,
    can_see_benchmarks,
    can_set_equal_texts,
    can_upload_run,
    can_watch_videos,
    check_can_build_pool,
    check_can_import_metadata,
    systems_seen_by,
    videos_watched_by,
)
from pooling.selectors import equal_text_counts

SYSTEMS_OFFERED = 200


@receives_files(is_researcher)
@only_for(can_upload_run)
@require_http_methods(FORM_METHODS)
def run_upload(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    name = request.POST.get("name", "").strip() or request.POST.get("system", "").strip()
    return upload_page(
        request,
        "pooling/run_upload.html",
        {
            "benchmark": benchmark,
            "heading": "Upload a run",
            "systems": _known_systems(request),
            "back": reverse("benchmark-runs", args=[benchmark.key]),
            "back_name": "Back to the runs",
        },
        form=RunUploadForm(**form_data(request)),
        kind="import_run",
        expected="A run in TREC, JSON or .npy format",
        title=f"Import run {name} into {benchmark.name}",
        benchmark_key=benchmark.key,
    )


@only_for(can_see_benchmarks)
@require_http_methods(FORM_METHODS)
def pool_build(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    check_can_build_pool(request.user, benchmark)
    form = PoolForm(**form_data(request), benchmark=benchmark)
    if request.method == "POST" and form.is_valid():
        options = form.cleaned_data
        return start_job(
            request,
            kind="build_pool",
            title=f"Pool the top {options['depth']} of {benchmark.name}",
            params={"benchmark": benchmark.key, **options},
            benchmark_key=benchmark.key,
        )
    context = {"benchmark": benchmark, "form": form}
    return render(request, "pooling/pool_build.html", context, status=form_status(request))


@only_for(can_see_benchmarks)
@require_http_methods(FORM_METHODS)
def equal_captions(request: HttpRequest, key: str) -> HttpResponse:
    """Show the benchmark's rule for equal texts and the effect of each rule; change the rule."""
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    may_change = can_set_equal_texts(request.user, benchmark)
    form = EqualTextsForm(request.POST or None, initial={"rule": benchmark.equal_texts})
    status = form_status(request)
    if request.method == "POST" and form.is_valid():
        rule = EqualTexts(form.cleaned_data["rule"])
        try:
            services.set_equal_texts(benchmark=benchmark, rule=rule, by=cast(User, request.user))
        except Conflict as error:
            form.add_error(None, str(error))
            status = CONFLICT
        else:
            messages.success(request, f"The rule is now: {rule.label}.")
            return redirect("equal-captions", benchmark.key)
    context = {
        "benchmark": benchmark,
        "form": form,
        "rows": equal_text_counts(benchmark),
        "may_change": may_change,
    }
    return render(request, "pooling/equal_captions.html", context, status=status)


@receives_files(is_lead)
@only_for(can_see_benchmarks)
@require_http_methods(FORM_METHODS)
def train_captions_upload(request: HttpRequest, key: str) -> HttpResponse:
    form = TrainCaptionsForm(**form_data(request))
    return _metadata_upload(request, key, "train captions", form, "import_train_captions")


@receives_files(is_lead)
@only_for(can_see_benchmarks)
@require_http_methods(FORM_METHODS)
def tags_upload(request: HttpRequest, key: str) -> HttpResponse:
    form = TagsForm(**form_data(request))
    return _metadata_upload(request, key, "tags", form, "import_tags")


def _metadata_upload(
    request: HttpRequest, key: str, noun: str, form: Form, kind: str
) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    check_can_import_metadata(request.user, benchmark)
    return upload_page(
        request,
        f"pooling/{noun.replace(' ', '_')}_upload.html",
        {
            "benchmark": benchmark,
            "heading": f"Import {noun}",
            "back": reverse("benchmark-captions", args=[benchmark.key]),
            "back_name": "Back to the captions",
        },
        form=form,
        kind=kind,
        title=f"Import {noun} into {benchmark.name}",
        benchmark_key=benchmark.key,
    )


def _known_systems(request: HttpRequest) -> list[str]:
    """Return the suggestions for the name of the system."""
    return list(systems_seen_by(request.user).values_list("key", flat=True)[:SYSTEMS_OFFERED])


@require_safe
def video_file(request: HttpRequest, public_id: uuid.UUID) -> HttpResponseBase:
    return _media(request, public_id, "file", "video/mp4")


@require_safe
def video_poster(request: HttpRequest, public_id: uuid.UUID) -> HttpResponseBase:
    return _media(request, public_id, "poster", "image/jpeg")


@require_safe
def video_sheet(request: HttpRequest, public_id: uuid.UUID) -> HttpResponseBase:
    return _media(request, public_id, "sheet", "image/jpeg")


def _media(
    request: HttpRequest, public_id: uuid.UUID, field: str, content_type: str
) -> HttpResponseBase:
    # No redirect to the sign-in page, because a video player cannot show it.
    if not can_watch_videos(request.user):
        raise PermissionDenied
    video = get_object_or_404(
        videos_watched_by(request.user).only(field, "sha256"), public_id=public_id
    )
    stored: FieldFile = getattr(video, field)
    if not stored:
        raise Http404
    return stored_file_response(
        request,
        storage=stored.storage,
        name=stored.name or "",
        content_type=content_type,
        version=f"{video.sha256}-{stored.name}",
    )

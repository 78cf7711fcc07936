"""The page that adds the files of videos, and shows their states."""

from __future__ import annotations

import uuid
from typing import cast

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from hearth.accounts.models import User
from hearth.accounts.roles import is_lead
from hearth.jobs.views import upload_page
from hearth.requests.files import receives_files
from hearth.shared.errors import InvalidInput
from hearth.shared.pages import FORM_METHODS, POST, form_data, only_for
from hearth.shared.words import counted
from pooling import services
from pooling.enums import UploadState
from pooling.forms.uploads import FILES_MAX, AddressesForm, parse_files
from pooling.models import Benchmark
from pooling.policies import benchmarks_seen_by, can_see_benchmarks, check_can_add_videos
from pooling.selectors import uploads
from pooling.selectors.folders import shown_folders
from pooling.services.uploads import PART_BYTES_MAX

ROWS_PER_PAGE = 50
# Browsers send parts of this size, so that a broken connection costs little.
PART_BYTES = PART_BYTES_MAX // 2


@only_for(can_see_benchmarks)
def videos_add(request: HttpRequest, key: str) -> HttpResponse:
    """Show the form and the list of files. htmx reloads the list while files are unfinished."""
    benchmark = _benchmark(request, key)
    counts = uploads.count_uploads(benchmark)
    context = {
        "benchmark": benchmark,
        "counts": counts,
        "n_missing": uploads.count_unplayable(benchmark),
        "is_refreshed": bool(request.htmx),  # type: ignore[attr-defined]
        "states": [
            (state.label, counts.by_state.get(state, 0))
            for state in UploadState
            if counts.by_state.get(state)
        ],
        "page": Paginator(uploads.shown_uploads(benchmark), ROWS_PER_PAGE).get_page(
            request.GET.get("page")
        ),
    }
    if context["is_refreshed"]:
        return render(request, "pooling/_uploads.html", context)
    context |= {
        "back": reverse("benchmark-captions", args=[benchmark.key]),
        "folders": shown_folders(),
        "buckets": settings.VIDEO_BUCKETS,
        "files_max": FILES_MAX,
        "part_bytes": PART_BYTES,
    }
    return render(request, "pooling/videos_add.html", context)


@only_for(can_see_benchmarks, POST)
def videos_plan(request: HttpRequest, key: str) -> JsonResponse:
    """Return the effect of adding each file of a list. Nothing is changed."""
    benchmark = _benchmark(request, key)
    plan = uploads.plan_files(benchmark, parse_files(request.body))
    return JsonResponse(
        {
            "files": [
                {
                    "status": file.status,
                    "key": file.key,
                    "sent": file.upload.offset if file.upload else 0,
                }
                for file in plan
            ]
        }
    )


@only_for(can_see_benchmarks, POST)
def videos_folder(request: HttpRequest, key: str) -> HttpResponse:
    """Add the videos of a folder on the server or of a bucket."""
    benchmark = _benchmark(request, key)
    folder = request.POST.get("folder", "")
    summary = services.add_folder(benchmark=benchmark, folder=folder, by=cast(User, request.user))
    messages.info(request, summary)
    return redirect("videos-add", benchmark.key)


@receives_files(is_lead)
@only_for(can_see_benchmarks, FORM_METHODS)
def video_addresses(request: HttpRequest, key: str) -> HttpResponse:
    """Set the addresses of videos on other servers. Only browsers open these addresses."""
    benchmark = _benchmark(request, key)
    return upload_page(
        request,
        "pooling/video_addresses.html",
        {
            "benchmark": benchmark,
            "heading": "Set addresses of videos",
            "hosts": settings.VIDEO_HOSTS,
            "back": reverse("videos-add", args=[benchmark.key]),
            "back_name": "Back to adding videos",
        },
        form=AddressesForm(**form_data(request)),
        kind="set_addresses",
        title=f"Set addresses of videos of {benchmark.name}",
        benchmark_key=benchmark.key,
    )


@only_for(can_see_benchmarks, POST)
def videos_retry(request: HttpRequest, key: str) -> HttpResponse:
    """Prepare one refused file again, or all refused files."""
    benchmark = _benchmark(request, key)
    name = request.POST.get("upload", "")
    ids = [_id(name)] if name else None
    number = services.retry_uploads(benchmark=benchmark, by=cast(User, request.user), ids=ids)
    text = "No file can be retried. Send the files again."
    if number:
        text = f"{counted(number, 'file')} will be prepared again."
    messages.info(request, text)
    return redirect("videos-add", benchmark.key)


@only_for(can_see_benchmarks, POST)
def videos_cancel(request: HttpRequest, key: str) -> HttpResponse:
    """Cancel the preparation of all files, or remove one file."""
    benchmark = _benchmark(request, key)
    by = cast(User, request.user)
    if name := request.POST.get("upload", ""):
        upload = get_object_or_404(benchmark.uploads.select_related("benchmark"), pk=_id(name))
        services.end_upload(upload=upload, by=by)
        messages.info(request, f"{upload.name} has been removed from the list.")
    else:
        number = services.cancel_uploads(benchmark=benchmark, by=by)
        messages.info(request, f"{counted(number, 'file')} will not be prepared.")
    return redirect("videos-add", benchmark.key)


def _benchmark(request: HttpRequest, key: str) -> Benchmark:
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    check_can_add_videos(request.user, benchmark)
    return benchmark


def _id(text: str) -> uuid.UUID:
    try:
        return uuid.UUID(text)
    except ValueError:
        raise InvalidInput("The field `upload` must contain the id of a file.") from None

"""The tus protocol 1.0, by which browsers and scripts send files in parts.

The core and the extensions creation, checksum, termination and expiration are supported:
https://tus.io/protocols/resumable-upload.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, cast

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.http import http_date

from hearth.accounts.models import User
from hearth.accounts.roles import is_lead
from hearth.requests.files import receives_files
from hearth.shared.pages import only_for
from pooling import services
from pooling.enums import UploadState
from pooling.forms.uploads import parse_checksum, parse_creation, parse_number
from pooling.models import Benchmark, VideoUpload
from pooling.policies import benchmarks_seen_by, can_see_benchmarks, check_can_add_videos
from pooling.selectors.uploads import is_intact
from pooling.services.uploads import ALGORITHMS, PART_BYTES_MAX, expires_at

VERSION = "1.0.0"
PART = "application/offset+octet-stream"
CAPABILITIES = {
    "Tus-Version": VERSION,
    "Tus-Extension": "creation,checksum,termination,expiration",
    "Tus-Checksum-Algorithm": ",".join(ALGORITHMS),
}

View = Callable[..., HttpResponseBase]


def tus(view: View) -> View:
    """Check the version of the protocol and the person, and set the headers of the response."""

    @wraps(view)
    def checked(request: HttpRequest, key: str, **place: Any) -> HttpResponseBase:
        benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
        return answer(request, benchmark, partial(view, request, benchmark, **place))

    return checked


def answer(
    request: HttpRequest, benchmark: Benchmark, work: Callable[[], HttpResponseBase]
) -> HttpResponseBase:
    """Check the person and the version of the protocol, then return the response of `work`."""
    check_can_add_videos(request.user, benchmark)
    if request.method == "OPTIONS":
        response: HttpResponseBase = HttpResponse(status=204, headers=CAPABILITIES)
        response["Tus-Max-Size"] = str(settings.VIDEO_BYTES_MAX)
    elif request.headers.get("Tus-Resumable") != VERSION:
        response = HttpResponse(status=412, headers=CAPABILITIES)
    else:
        response = work()
    response["Tus-Resumable"] = VERSION
    return response


@only_for(can_see_benchmarks, ["OPTIONS", "POST"])
@tus
def video_uploads(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """Begin an upload, or find the upload of the same file that was begun before."""
    return begin(request, benchmark, "video-upload")


def begin(request: HttpRequest, benchmark: Benchmark, address: str) -> HttpResponse:
    """Begin an upload. address: the name of the URL to which its parts are sent."""
    file = parse_creation(
        request.headers.get("Upload-Length", ""), request.headers.get("Upload-Metadata", "")
    )
    upload = services.begin_upload(benchmark=benchmark, file=file, by=_person(request))
    response = HttpResponse(status=201)
    response["Location"] = reverse(address, args=[benchmark.key, upload.pk])
    return _with_offset(response, upload)


@receives_files(is_lead, bytes_max=PART_BYTES_MAX, content_type=PART)
@only_for(can_see_benchmarks, ["OPTIONS", "HEAD", "PATCH", "DELETE"])
@tus
def video_upload(request: HttpRequest, benchmark: Benchmark, pk: uuid.UUID) -> HttpResponse:
    """Return the offset of an upload, receive a part of it, or remove it."""
    return continue_upload(request, benchmark, pk)


def continue_upload(request: HttpRequest, benchmark: Benchmark, pk: uuid.UUID) -> HttpResponse:
    upload = get_object_or_404(benchmark.uploads.select_related("benchmark"), pk=pk)
    if request.method == "PATCH":
        return _receive(request, upload)
    if request.method == "DELETE":
        services.end_upload(upload=upload, by=_person(request))
        return HttpResponse(status=204)
    if upload.state == UploadState.ARRIVING and not is_intact(upload):
        return HttpResponse(status=410)
    response = HttpResponse(headers={"Cache-Control": "no-store"})
    response["Upload-Length"] = str(upload.size)
    return _with_offset(response, upload)


def _receive(request: HttpRequest, upload: VideoUpload) -> HttpResponse:
    if request.content_type != PART:
        return HttpResponse(status=415)
    upload.offset = services.receive_part(
        upload=upload,
        offset=_number(request, "Upload-Offset"),
        length=_number(request, "Content-Length"),
        body=request,
        by=_person(request),
        checksum=parse_checksum(request.headers.get("Upload-Checksum", "")),
    )
    upload.refresh_from_db()
    return _with_offset(HttpResponse(status=204), upload)


def _number(request: HttpRequest, header: str) -> int:
    return parse_number(request.headers.get(header, ""), f"The header {header}")


def _with_offset(response: HttpResponse, upload: VideoUpload) -> HttpResponse:
    response["Upload-Offset"] = str(upload.offset)
    if upload.state == UploadState.ARRIVING:
        response["Upload-Expires"] = http_date(expires_at(upload).timestamp())
    return response


def _person(request: HttpRequest) -> User:
    return cast(User, request.user)

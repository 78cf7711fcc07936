"""The files of videos: playable copy, poster and contact sheet."""

from __future__ import annotations

import uuid

from django.core.exceptions import PermissionDenied
from django.db.models.fields.files import FieldFile
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from hearth.shared.ranges import stored_file_response
from pooling.policies import can_watch_videos, videos_watched_by


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
    # This does not redirect to the sign-in page, because a video player cannot show that page.
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

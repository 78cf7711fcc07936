"""The page that finds scenes, and the pictures of their middle frames."""

from __future__ import annotations

import uuid

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from hearth.accounts.roles import is_lead
from hearth.jobs.views import start_job
from hearth.requests.files import receives_files
from hearth.shared.options import as_params
from hearth.shared.pages import FORM_METHODS, form_data, form_status, only_for
from hearth.shared.ranges import stored_file_response
from hearth.shared.uploads import stored_uploads
from pooling import policies
from pooling.scenes.forms import ScenesForm
from pooling.scenes.models import VideoScenes
from pooling.scenes.selectors import scene_counts
from pooling.scenes.tasks import KIND


@receives_files(is_lead)
@only_for(policies.can_see_benchmarks, FORM_METHODS)
def scenes_find(request: HttpRequest, key: str) -> HttpResponse:
    """Start the job that divides videos into scenes."""
    benchmark = get_object_or_404(policies.benchmarks_seen_by(request.user), key=key)
    policies.check_can_import_metadata(request.user, benchmark)
    form = ScenesForm(**form_data(request), initial={"video": request.GET.get("video", "")})
    if request.method == "POST" and form.is_valid():
        with stored_uploads(form.sent_files()) as stored:
            return start_job(
                request,
                kind=KIND,
                title=f"Find scenes of {benchmark.name}",
                params={"benchmark": key, **as_params(form.options), **stored},
                benchmark_key=key,
            )
    context = {"benchmark": benchmark, "form": form, "counts": scene_counts(benchmark)}
    return render(request, "pooling/scenes/find.html", context, status=form_status(request))


@require_safe
def video_scenes(request: HttpRequest, public_id: uuid.UUID) -> HttpResponseBase:
    """Send the picture with the middle frames of a video's scenes."""
    if not policies.can_watch_videos(request.user):
        raise PermissionDenied
    videos = policies.videos_watched_by(request.user)
    found = get_object_or_404(
        VideoScenes.objects.exclude(picture=""), video__in=videos, video__public_id=public_id
    )
    return stored_file_response(
        request,
        storage=found.picture.storage,
        name=found.picture.name or "",
        content_type="image/jpeg",
        version=f"{found.pk}-{found.picture.name}",
    )

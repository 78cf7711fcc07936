"""Guidelines: their versions, the form for a new version, and their pictures."""

from __future__ import annotations

import uuid
from typing import Any, cast

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from annotation import services
from annotation.forms.guidelines import GuidelineForm, PictureForm, PictureFormSet
from annotation.media import MAX_BYTES
from annotation.models import Guideline, GuidelinePicture
from annotation.policies import can_lead, check_can_lead, scopes_known
from annotation.selectors.guidelines import guidelines_of, latest_guideline
from hearth.accounts.models import User
from hearth.accounts.roles import is_lead
from hearth.requests.files import receives_files
from hearth.shared.errors import Conflict, InvalidInput
from hearth.shared.pages import FORM_METHODS, form_status, only_for
from hearth.shared.ranges import stored_file_response
from pooling.models import Benchmark
from pooling.policies import benchmarks_seen_by, can_see_benchmarks, can_watch_videos

DEFAULT_TEXT = "annotation/guidelines/default.txt"
ROWS = "pictures"
# Enough for the maximum number of pictures of the maximum size, and for their texts.
REQUEST_BYTES_MAX = services.PICTURES_MAX * MAX_BYTES + 1_000_000


@only_for(can_see_benchmarks)
def guidelines(request: HttpRequest, key: str, version: int | None = None) -> HttpResponse:
    """Show the list of versions, and one of them, by default the newest."""
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    versions = guidelines_of(benchmark)
    shown = latest_guideline(benchmark)
    if version is not None:
        shown = get_object_or_404(versions, version=version)
    context = {
        "benchmark": benchmark,
        "versions": versions,
        "guideline": shown,
        "can_lead": can_lead(request.user, benchmark),
    }
    return render(request, "annotation/guidelines/guidelines.html", context)


@receives_files(is_lead, bytes_max=REQUEST_BYTES_MAX)
@only_for(can_see_benchmarks, FORM_METHODS)
def guideline_write(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    check_can_lead(request.user, benchmark)
    latest = latest_guideline(benchmark)
    if request.method != "POST":
        form = GuidelineForm(initial=_initial_text(latest))
        rows = PictureFormSet(prefix=ROWS, initial=_initial_rows(latest))
        rows.extra = services.PICTURES_MAX - len(rows.initial or [])
        return _form_page(request, benchmark, latest, form, rows)
    form = GuidelineForm(request.POST)
    rows = PictureFormSet(request.POST, request.FILES, prefix=ROWS)
    # Both are validated, so that all errors are shown together.
    if all([form.is_valid(), rows.is_valid()]):
        written = _write(request, benchmark, form, rows)
        if written is not None:
            messages.success(request, f"Version {written.version} of the guidelines is now in use.")
            return redirect("guidelines", benchmark.key)
    return _form_page(request, benchmark, latest, form, rows)


@require_safe
def guideline_picture(request: HttpRequest, public_id: uuid.UUID) -> HttpResponseBase:
    # No redirect to the sign-in page, because an image element cannot show it.
    if not can_watch_videos(request.user):
        raise PermissionDenied
    seen = scopes_known(request.user)
    pictures = seen.limit(GuidelinePicture.objects.all(), "guideline__benchmark__key")
    picture = get_object_or_404(pictures, public_id=public_id)
    return stored_file_response(
        request,
        storage=picture.file.storage,
        name=picture.file.name or "",
        content_type="image/jpeg",
        version=picture.file.name or "",
    )


def _form_page(
    request: HttpRequest,
    benchmark: Benchmark,
    latest: Guideline | None,
    form: GuidelineForm,
    rows: Any,
) -> HttpResponse:
    kept: dict[Any, GuidelinePicture] = {
        picture.public_id: picture for picture in _pictures_of(latest)
    }
    context = {
        "benchmark": benchmark,
        "latest": latest,
        "form": form,
        "formset": rows,
        # Each row of the form, with its picture of the latest version or None.
        "rows": [(row, kept.get(_kept_id(row))) for row in rows],
        "pictures_max": services.PICTURES_MAX,
    }
    return render(request, "annotation/guidelines/form.html", context, status=form_status(request))


def _write(
    request: HttpRequest, benchmark: Benchmark, form: GuidelineForm, rows: Any
) -> Guideline | None:
    """Write the new version. If it is refused, add the reason to the form and return None."""
    try:
        return services.write_guideline(
            benchmark=benchmark,
            text=form.cleaned_data["text"].replace("\r\n", "\n"),
            pictures=_examples(benchmark, rows),
            after=form.cleaned_data["after"],
            by=cast(User, request.user),
        )
    except (InvalidInput, Conflict) as refused:
        form.add_error(None, str(refused))
        return None


def _examples(benchmark: Benchmark, rows: Any) -> list[services.Example]:
    """Return the pictures of the new version, by place. Pictures without a place come last."""
    known = GuidelinePicture.objects.filter(guideline__benchmark=benchmark)
    kept = {picture.public_id: picture for picture in known.select_related("guideline")}
    wanted: list[PictureForm] = [row for row in rows if row.is_in_next_version]
    wanted.sort(key=lambda row: row.cleaned_data.get("place") or PLACE_LAST)
    return [_example(row, kept) for row in wanted]


PLACE_LAST = 1000


def _example(row: PictureForm, kept: dict[Any, GuidelinePicture]) -> services.Example:
    data = row.cleaned_data
    file, picture = data.get("file"), kept.get(data.get("kept"))
    if file is None and picture is None:
        raise InvalidInput("A picture of the earlier version no longer exists.")
    return services.Example(
        text=data["text"],
        is_match=row.is_match,
        content=file.read() if file else None,
        # A new file in the row of an earlier picture replaces it.
        kept=None if file else picture,
    )


def _pictures_of(guideline: Guideline | None) -> list[GuidelinePicture]:
    return list(guideline.pictures.all()) if guideline else []


def _initial_text(latest: Guideline | None) -> dict[str, Any]:
    if latest is None:
        return {"text": render_to_string(DEFAULT_TEXT).strip(), "after": 0}
    return {"text": latest.text, "after": latest.version}


def _initial_rows(latest: Guideline | None) -> list[dict[str, Any]]:
    shows = {True: PictureForm.MATCH, False: PictureForm.NO_MATCH, None: ""}
    return [
        {
            "kept": picture.public_id,
            "text": picture.text,
            "shows": shows[picture.is_match],
            "place": place,
        }
        for place, picture in enumerate(_pictures_of(latest), start=1)
    ]


def _kept_id(row: PictureForm) -> uuid.UUID | None:
    try:
        return uuid.UUID(str(row["kept"].value()))
    except ValueError:
        return None

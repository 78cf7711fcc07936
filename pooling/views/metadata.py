"""Pages that import runs, train captions and tags."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse

from hearth.accounts.roles import is_lead, is_researcher
from hearth.jobs.views import upload_page
from hearth.requests.files import receives_files
from hearth.shared.option_fields import OptionsForm
from hearth.shared.pages import FORM_METHODS, form_data, only_for
from pooling import policies
from pooling.core.readers.registry import Formats
from pooling.core.readers.runs import RUNS
from pooling.core.readers.tags import TAGS
from pooling.core.readers.train_captions import TRAIN_CAPTIONS
from pooling.forms.runs import RunUploadForm, TagsForm, TrainCaptionsForm


@receives_files(is_lead)
@only_for(policies.can_see_benchmarks, FORM_METHODS)
def train_captions_upload(request: HttpRequest, key: str) -> HttpResponse:
    form = TrainCaptionsForm(**form_data(request))
    kind = "import_train_captions"
    return _metadata_upload(request, key, "train captions", form, kind, TRAIN_CAPTIONS)


@receives_files(is_lead)
@only_for(policies.can_see_benchmarks, FORM_METHODS)
def tags_upload(request: HttpRequest, key: str) -> HttpResponse:
    form = TagsForm(**form_data(request))
    return _metadata_upload(request, key, "tags", form, "import_tags", TAGS)


def _metadata_upload(
    request: HttpRequest,
    key: str,
    noun: str,
    form: OptionsForm[Any],
    kind: str,
    formats: Formats[Any],
) -> HttpResponse:
    benchmark = get_object_or_404(policies.benchmarks_seen_by(request.user), key=key)
    policies.check_can_import_metadata(request.user, benchmark)
    return upload_page(
        request,
        "upload.html",
        {
            "benchmark": benchmark,
            "formats": formats,
            "heading": f"Import {noun}",
            "back": reverse("benchmark-captions", args=[benchmark.key]),
            "back_name": "Back to the captions",
        },
        form=form,
        kind=kind,
        title=f"Import {noun} into {benchmark.name}",
        benchmark_key=benchmark.key,
    )


SYSTEMS_OFFERED = 200


@receives_files(is_researcher)
@only_for(policies.can_upload_run, FORM_METHODS)
def run_upload(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = get_object_or_404(policies.benchmarks_seen_by(request.user), key=key)
    policies.check_can_import_run(request.user, benchmark)
    name = request.POST.get("name", "").strip() or request.POST.get("system", "").strip()
    return upload_page(
        request,
        "pooling/run_upload.html",
        {
            "benchmark": benchmark,
            "formats": RUNS,
            "heading": "Upload runs",
            "systems": _known_systems(request),
            "is_public": policies.public_benchmarks_seen_by(request.user).filter(key=key).exists(),
            "back": reverse("benchmark-runs", args=[benchmark.key]),
            "back_name": "Back to the runs",
        },
        form=RunUploadForm(**form_data(request)),
        kind="import_run",
        title=f"Import run {name} into {benchmark.name}",
        benchmark_key=benchmark.key,
    )


def _known_systems(request: HttpRequest) -> list[str]:
    """Return the suggestions for the name of the system."""
    return list(
        policies.systems_seen_by(request.user).values_list("key", flat=True)[:SYSTEMS_OFFERED]
    )

"""The pages of phrasings."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse

from hearth.accounts.roles import is_lead
from hearth.jobs.deletion_page import deletion_page
from hearth.jobs.views import upload_page
from hearth.requests.files import receives_files
from hearth.shared.pages import FORM_METHODS, form_data, only_for
from pooling import policies
from pooling.models import Benchmark
from pooling.phrasings.core.readers import PHRASINGS
from pooling.phrasings.forms import PhrasingsForm
from pooling.phrasings.models import PhrasingSet


def _benchmark_to_change(request: HttpRequest, key: str) -> Benchmark:
    benchmark = get_object_or_404(policies.benchmarks_seen_by(request.user), key=key)
    policies.check_can_import_metadata(request.user, benchmark)
    return benchmark


@receives_files(is_lead)
@only_for(policies.can_see_benchmarks, FORM_METHODS)
def phrasings_upload(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = _benchmark_to_change(request, key)
    return upload_page(
        request,
        "upload.html",
        {
            "benchmark": benchmark,
            "formats": PHRASINGS,
            "heading": "Import phrasings",
            "back": reverse("benchmark-captions", args=[key]) + "#phrasings",
            "back_name": "Back to the captions",
        },
        form=PhrasingsForm(**form_data(request)),
        kind="import_phrasings",
        title=f"Import phrasings into {benchmark.name}",
        benchmark_key=benchmark.key,
    )


@only_for(policies.can_see_benchmarks, FORM_METHODS)
def phrasings_delete(request: HttpRequest, key: str, pk: int) -> HttpResponse:
    benchmark = _benchmark_to_change(request, key)
    added = get_object_or_404(
        PhrasingSet.objects.select_related("benchmark"), benchmark=benchmark, pk=pk
    )
    return deletion_page(request, added, {"benchmark": benchmark})

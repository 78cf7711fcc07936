"""The pages of phrasings."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from hearth.accounts.roles import is_lead, is_researcher
from hearth.jobs.deletion_page import deletion_page
from hearth.jobs.views import start_job, upload_page
from hearth.requests.files import receives_files
from hearth.shared.pages import FORM_METHODS, form_data, form_status, only_for
from pooling import policies
from pooling.core.readers.runs import RUNS
from pooling.models import Benchmark
from pooling.phrasings.core.readers import PHRASINGS
from pooling.phrasings.endpoint import configured_model, instructions
from pooling.phrasings.forms import (
    ExpandForm,
    FuseForm,
    PhrasedListsForm,
    PhrasingsForm,
    TextVectorsForm,
    runs_offered,
)
from pooling.phrasings.models import PhrasingSet
from pooling.phrasings.selectors import phrasing_counts
from pooling.phrasings.services.expanding import DEFAULT_COUNT


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


@receives_files(is_lead)
@only_for(policies.can_see_benchmarks, FORM_METHODS)
def phrasing_embeddings_upload(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = _benchmark_to_change(request, key)
    return upload_page(
        request,
        "pooling/phrasings/embeddings.html",
        {
            "benchmark": benchmark,
            "counts": phrasing_counts(benchmark),
            "heading": "Import embeddings of phrasings",
            "back": reverse("benchmark-captions", args=[key]) + "#phrasings",
            "back_name": "Back to the captions",
        },
        form=TextVectorsForm(**form_data(request)),
        kind="import_text_vectors",
        title=f"Import embeddings of the phrasings of {benchmark.name}",
        benchmark_key=benchmark.key,
    )


@only_for(policies.can_see_benchmarks, FORM_METHODS)
def phrasings_expand(request: HttpRequest, key: str) -> HttpResponse:
    """Make further texts of the captions of a benchmark."""
    benchmark = _benchmark_to_change(request, key)
    form = ExpandForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        return start_job(
            request,
            kind="expand",
            title=f"Expand the captions of {benchmark.name}",
            params={"benchmark": key, **form.values()},
            benchmark_key=key,
        )
    context = {
        "benchmark": benchmark,
        "form": form,
        "model": configured_model(),
        "instructions": instructions(DEFAULT_COUNT),
    }
    return render(request, "pooling/phrasings/expand.html", context, status=form_status(request))


@only_for(policies.can_see_benchmarks, FORM_METHODS)
def phrasings_delete(request: HttpRequest, key: str, pk: int) -> HttpResponse:
    benchmark = _benchmark_to_change(request, key)
    added = get_object_or_404(
        PhrasingSet.objects.select_related("benchmark"), benchmark=benchmark, pk=pk
    )
    return deletion_page(request, added, {"benchmark": benchmark})


@only_for(policies.can_upload_run, FORM_METHODS)
def runs_fuse(request: HttpRequest, key: str) -> HttpResponse:
    """Fuse runs, or the phrasings of one run. A GET request can name the first run."""
    benchmark = get_object_or_404(policies.benchmarks_seen_by(request.user), key=key)
    policies.check_can_import_run(request.user, benchmark)
    form = FuseForm(
        request.POST or None,
        initial={"runs": request.GET.getlist("run")},
        offered={"runs": runs_offered(benchmark)},
    )
    if request.method == "POST" and form.is_valid():
        return start_job(
            request,
            kind="fuse_runs",
            title=f"Fuse runs of {benchmark.name}",
            params={"benchmark": key, **form.values()},
            benchmark_key=key,
        )
    context = {"benchmark": benchmark, "form": form}
    return render(request, "pooling/phrasings/fuse.html", context, status=form_status(request))


@receives_files(is_researcher)
@only_for(policies.can_upload_run, FORM_METHODS)
def phrased_lists_upload(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = get_object_or_404(policies.benchmarks_seen_by(request.user), key=key)
    policies.check_can_import_run(request.user, benchmark)
    form = PhrasedListsForm(
        **form_data(request),
        initial={"run": request.GET.get("run")},
        offered={"run": runs_offered(benchmark)},
    )
    return upload_page(
        request,
        "upload.html",
        {
            "benchmark": benchmark,
            "formats": RUNS,
            "heading": "Add lists of a phrasing",
            "back": reverse("benchmark-runs", args=[key]),
            "back_name": "Back to the runs",
        },
        form=form,
        kind="import_phrased_lists",
        title=f"Add lists of a phrasing to a run of {benchmark.name}",
        benchmark_key=key,
    )

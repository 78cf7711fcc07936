"""Pages that add paragraphs, upload similarities and focus runs."""

from __future__ import annotations

from typing import Any, cast

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from hearth.accounts.models import User
from hearth.accounts.roles import is_researcher
from hearth.jobs.deletion_page import deletion_page
from hearth.jobs.views import start_job, upload_page
from hearth.requests.files import receives_files
from hearth.shared.option_fields import OptionsForm
from hearth.shared.options import as_params
from hearth.shared.pages import FORM_METHODS, form_data, form_status, only_for
from hearth.shared.uploads import stored_uploads
from pooling import policies
from pooling.core.direction import Direction
from pooling.models import Benchmark
from pooling.paragraphs.forms import ClipsForm, FocusForm, ParagraphsForm, SimilaritiesForm
from pooling.paragraphs.models import ClipSet, Paragraphs, Similarities
from pooling.paragraphs.selectors import has_paragraphs, parts_of
from pooling.selectors.runs import find_runs


@only_for(policies.can_see_benchmarks)
def paragraphs(request: HttpRequest, key: str) -> HttpResponse:
    """Show the paragraphs of a benchmark, the similarities of its runs, and what can be added."""
    benchmark = get_object_or_404(policies.benchmarks_seen_by(request.user), key=key)
    both = Paragraphs.objects.select_related("benchmark", "sentences")
    found = both.filter(benchmark=benchmark).first()
    context: dict[str, Any] = {
        "benchmark": benchmark,
        "paragraphs": found,
        "above": both.filter(sentences=benchmark).first(),
        "may_join": policies.can_change_benchmark(request.user, benchmark),
        "may_add": policies.can_import_run(request.user, benchmark),
    }
    if found is not None:
        counts = parts_of(benchmark).counts(benchmark.n_queries)
        runs = find_runs(benchmark, direction=Direction.TEXT_TO_VIDEO)
        stored = Similarities.objects.filter(run__in=runs).select_related("created_by")
        context |= {
            "fewest": int(counts.min()),
            "most": int(counts.max()),
            "clip_sets": benchmark.clip_sets.select_related("created_by"),
            "runs": [(run, [each for each in stored if each.run_id == run.pk]) for run in runs],
        }
    return render(request, "pooling/paragraphs/paragraphs.html", context)


@receives_files(is_researcher)
@only_for(policies.can_import_benchmarks, FORM_METHODS)
def paragraphs_add(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = get_object_or_404(policies.benchmarks_seen_by(request.user), key=key)
    policies.check_can_import_benchmark(cast(User, request.user), key)
    if has_paragraphs(benchmark):
        return redirect("paragraphs", key)
    stored = Paragraphs.objects.filter(sentences=benchmark).select_related("benchmark").first()
    initial = {"paragraphs": f"{key}-paragraphs"}
    if stored is not None:
        share = float(stored.share) * 100
        initial = {"paragraphs": stored.benchmark.key, "share": f"{share:g}"}
    form = ParagraphsForm(**form_data(request), initial=initial)
    title = f"Add paragraphs to {benchmark.name}"
    return _page(request, benchmark, form, "add_paragraphs", title, "add.html")


@receives_files(is_researcher)
@only_for(policies.can_upload_run, FORM_METHODS)
def similarities_upload(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = _with_paragraphs(request, key)
    context = {
        "benchmark": benchmark,
        "heading": "Upload similarities of clips",
        "back": reverse("paragraphs", args=[key]),
        "back_name": "Back to the paragraphs",
    }
    return upload_page(
        request,
        "pooling/paragraphs/similarities_upload.html",
        context,
        form=SimilaritiesForm(**form_data(request), offered=_offered(benchmark)),
        kind="import_similarities",
        title=f"Import similarities into {benchmark.name}",
        benchmark_key=key,
    )


@receives_files(is_researcher)
@only_for(policies.can_upload_run, FORM_METHODS)
def clips_upload(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = _with_paragraphs(request, key)
    context = {
        "benchmark": benchmark,
        "heading": "Upload proposals or stamps",
        "back": reverse("paragraphs", args=[key]),
        "back_name": "Back to the paragraphs",
    }
    return upload_page(
        request,
        "pooling/paragraphs/clips_upload.html",
        context,
        form=ClipsForm(**form_data(request)),
        kind="import_clips",
        title=f"Import clips into {benchmark.name}",
        benchmark_key=key,
    )


@only_for(policies.can_upload_run, FORM_METHODS)
def clips_delete(request: HttpRequest, key: str, pk: int) -> HttpResponse:
    benchmark = _with_paragraphs(request, key)
    found = get_object_or_404(
        ClipSet.objects.select_related("benchmark"), benchmark=benchmark, pk=pk
    )
    return deletion_page(request, found, {"benchmark": benchmark})


@receives_files(is_researcher)
@only_for(policies.can_upload_run, FORM_METHODS)
def run_focus(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = _with_paragraphs(request, key)
    initial = {"run": request.GET.get("run", "")}
    form = FocusForm(**form_data(request), offered=_offered(benchmark), initial=initial)
    title = f"Focus {request.POST.get('run', '')} of {benchmark.name}"
    return _page(request, benchmark, form, "focus_run", title, "focus.html")


def _with_paragraphs(request: HttpRequest, key: str) -> Benchmark:
    seen = policies.benchmarks_seen_by(request.user).filter(paragraphs__isnull=False)
    benchmark = get_object_or_404(seen, key=key)
    policies.check_can_import_run(request.user, benchmark)
    return benchmark


def _offered(benchmark: Benchmark) -> dict[str, list[tuple[str, str]]]:
    runs = find_runs(benchmark, direction=Direction.TEXT_TO_VIDEO)
    return {"run": [(run.name, run.name) for run in runs]}


def _page(
    request: HttpRequest,
    benchmark: Benchmark,
    form: OptionsForm[Any],
    kind: str,
    title: str,
    template: str,
) -> HttpResponse:
    """Show a form, or start the job that it requests."""
    if request.method == "POST" and form.is_valid():
        with stored_uploads(form.sent_files()) as stored:
            params = {"benchmark": benchmark.key, **as_params(form.options), **stored}
            return start_job(
                request, kind=kind, title=title, params=params, benchmark_key=benchmark.key
            )
    context = {"benchmark": benchmark, "form": form}
    template = f"pooling/paragraphs/{template}"
    return render(request, template, context, status=form_status(request))

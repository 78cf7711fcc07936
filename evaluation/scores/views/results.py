"""The results table "A (B + C)", on a page and to take away."""

from __future__ import annotations

import json

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST, require_safe

from annotation.policies import can_lead
from config.jobs.views import start_job
from config.shared.errors import InvalidInput
from config.shared.pages import only_for
from evaluation.models import LabelSet
from evaluation.release.exports import FORMATS
from evaluation.release.policies import can_evaluate, can_see_scores
from evaluation.scores.forms import (
    DEFAULT_SORT,
    JUDGED,
    RUN,
    TABLE_MEASURES,
    EvaluateForm,
    ResultsForm,
)
from evaluation.scores.selectors import stored_scores
from evaluation.scores.tables import (
    Column,
    ResultRow,
    mark_best,
    mark_ranks,
    result_rows,
    results_csv,
    results_json,
    sorted_rows,
)
from pooling.models import Benchmark
from pooling.policies import benchmarks_seen_by
from pooling.selectors import find_runs

DOWNLOADS = {"csv": "text/csv; charset=utf-8", "json": "application/json"}


@only_for(can_see_scores)
@require_safe
def results(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    form, rows = _asked_for(request, benchmark)
    sort = form.cleaned_data["sort"] or DEFAULT_SORT
    mark_best(rows)
    ranked_by = _ranked_by(sort)
    mark_ranks(rows, ranked_by)
    context = {
        "benchmark": benchmark,
        "form": form,
        "label_sets": list(form.label_sets.values()),
        "label_set": form.label_set,
        "labels_only": form.labels_only,
        "labels": form.cleaned_data["labels"],
        "rows": sorted_rows(rows, sort),
        "columns": _columns(sort),
        "ranked_by": ranked_by,
        "can_pool": can_lead(request.user, benchmark),
        "judged_column": JUDGED,
        "export_formats": FORMATS,
        "unscored": [row.run.name for row in rows if not row.is_scored],
        "code_versions": sorted({version for row in rows for version in row.code_versions}),
    }
    return render(request, "evaluation/scores/results.html", context)


@only_for(can_see_scores)
@require_safe
def results_download(request: HttpRequest, key: str, format: str) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    if format not in DOWNLOADS:
        raise Http404
    form, rows = _asked_for(request, benchmark)
    rows = sorted_rows(rows, RUN)
    if format == "csv":
        body = results_csv(rows, form.label_set, form.labels_only)
    else:
        found = results_json(benchmark, rows, form.label_set, form.labels_only)
        body = json.dumps(found, allow_nan=False, indent=1) + "\n"
    response = HttpResponse(body, content_type=DOWNLOADS[format])
    stem = f"{benchmark.key}-results-{_labels_name(form.label_set, form.labels_only)}"
    response["Content-Disposition"] = f'attachment; filename="{stem}.{format}"'
    return response


def _asked_for(request: HttpRequest, benchmark: Benchmark) -> tuple[ResultsForm, list[ResultRow]]:
    form = ResultsForm(request.GET, label_sets=list(LabelSet.objects.filter(benchmark=benchmark)))
    if not form.is_valid():
        name, problems = next(iter(form.errors.items()))
        raise InvalidInput(f"{name}: {problems[0]}")
    original = stored_scores(benchmark, None)
    labelled = (
        {}
        if form.label_set is None
        else stored_scores(benchmark, form.label_set, labels_only=form.labels_only)
    )
    rows = result_rows(
        find_runs(benchmark), original, labelled, by_labels=form.label_set is not None
    )
    return form, rows


def _ranked_by(sort: str) -> str:
    """The measure that the table is ordered by, or the first where it is by something else."""
    key = sort.removeprefix("-")
    return key if key in TABLE_MEASURES else TABLE_MEASURES[0]


def _columns(sort: str) -> list[Column]:
    """The heads of the table, each with what a click on it orders by."""
    key, descending = sort.removeprefix("-"), sort.startswith("-")
    return [
        Column(
            key=name,
            title="Run" if name == RUN else name,
            # Scores begin with the highest, names with A.
            next_sort=(name if descending else f"-{name}")
            if name == key
            else (name if name == RUN else f"-{name}"),
            order=("descending" if descending else "ascending") if name == key else "",
        )
        for name in (RUN, *TABLE_MEASURES, JUDGED)
    ]


def _labels_name(label_set: LabelSet | None, labels_only: bool) -> str:
    if label_set is None:
        return "original"
    return f"v{label_set.version}" + ("-labels-only" if labels_only else "")


@only_for(can_evaluate)
@require_POST
def evaluate(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    form = EvaluateForm(request.POST, label_sets=list(LabelSet.objects.filter(benchmark=benchmark)))
    if not form.is_valid():
        raise InvalidInput("There is no such label set.")
    labels, labels_only = form.cleaned_data["labels"], form.cleaned_data["only"]
    return start_job(
        request,
        kind="evaluate",
        title=f"Score the runs of {benchmark.name}",
        params={"benchmark": benchmark.key, "labels": labels, "labels_only": labels_only},
        benchmark_key=benchmark.key,
    )

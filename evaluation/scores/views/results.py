"""The results table, which `evaluation.scores.tables` describes, as a page and as files."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from evaluation.models import LabelSet
from evaluation.release.exports import formats_for
from evaluation.release.policies import can_evaluate, can_see_scores
from evaluation.scores import forms, tables
from evaluation.scores.moments import columns_of_moments
from evaluation.scores.selectors import stored_corrections, stored_scores
from hearth.jobs.views import start_job
from hearth.shared.downloads import download_csv, download_json
from hearth.shared.errors import InvalidInput
from hearth.shared.pages import POST, check_form, only_for
from pooling.core.direction import Direction
from pooling.models import Benchmark
from pooling.policies import benchmarks_seen_by
from pooling.selectors.runs import find_runs, withdrawn_runs


@only_for(can_see_scores)
def results(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    form, rows = _requested_results(request, benchmark)
    order = tables.result_order(form.cleaned_data["sort"], form.measures)
    tables.mark_best(rows)
    tables.mark_ranks(rows, tables.ranking_measure(order.key, form.measures))
    context = {
        "benchmark": benchmark,
        "form": form,
        "label_sets": list(form.label_sets.values()),
        "label_set": form.label_set,
        "labels_only": form.labels_only,
        "labels": form.cleaned_data["labels"],
        "direction": form.cleaned_data["direction"],
        "directions": form.directions,
        "of": form.cleaned_data["of"],
        "has_moments": bool(form.moments),
        "rows": tables.sort_rows(rows, order),
        "corrections": rows[0].corrections if rows else None,
        "heads": order.heads,
        "judged_column": forms.JUDGED,
        "export_formats": formats_for(request.user, benchmark),
        "withdrawn": withdrawn_runs(benchmark),
        "unscored": [row.run.name for row in rows if not row.is_scored],
        "code_versions": sorted({version for row in rows for version in row.code_versions}),
    }
    return render(request, "evaluation/scores/results.html", context)


@only_for(can_see_scores)
def results_download(request: HttpRequest, key: str, format: str) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    form, rows = _requested_results(request, benchmark)
    rows = tables.sort_rows(rows, tables.result_order(forms.RUN))
    name = f"{benchmark.key}-results-{_labels_name(form.label_set, form.labels_only)}"
    if form.cleaned_data["direction"] != Direction.TEXT_TO_VIDEO:
        name += f"-{form.cleaned_data['direction']}"
    if format == "csv":
        return download_csv(tables.results_csv(rows, form.label_set, form.labels_only), name)
    if format == "json":
        return download_json(
            tables.results_json(benchmark, rows, form.label_set, form.labels_only), name
        )
    raise Http404


def _requested_results(
    request: HttpRequest, benchmark: Benchmark
) -> tuple[forms.ResultsForm, list[tables.ResultRow]]:
    runs = find_runs(benchmark)
    form = forms.ResultsForm(
        request.GET,
        label_sets=list(LabelSet.objects.filter(benchmark=benchmark)),
        directions={run.direction for run in runs},
        moments=columns_of_moments(benchmark),
    )
    check_form(form)
    original = stored_scores(benchmark, None)
    labelled = (
        {}
        if form.label_set is None
        else stored_scores(benchmark, form.label_set, labels_only=form.labels_only)
    )
    rows = tables.result_rows(
        [run for run in runs if run.direction == form.cleaned_data["direction"]],
        original,
        labelled,
        by_labels=form.label_set is not None,
        corrections=stored_corrections(
            form.label_set, forms.TABLE_MEASURES, labels_only=form.labels_only
        ),
        measures=form.measures,
    )
    return form, rows


def _labels_name(label_set: LabelSet | None, labels_only: bool) -> str:
    if label_set is None:
        return "original"
    return f"v{label_set.version}" + ("-labels-only" if labels_only else "")


@only_for(can_evaluate, POST)
def evaluate(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    form = forms.EvaluateForm(
        request.POST, label_sets=list(LabelSet.objects.filter(benchmark=benchmark))
    )
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

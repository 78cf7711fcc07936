"""The pages of the lab: the list of analyses, one analysis, and its downloads."""

from __future__ import annotations

from typing import Any, TypeVar, cast
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, render
from django.utils import timezone

from evaluation.lab.analyses import ANALYSES, SECTIONS, Analysis
from evaluation.lab.analyses.charts import SERIES_KINDS, Chart
from evaluation.lab.analyses.question import (
    Question,
    build_form,
    build_question,
    find_result,
    question_from_form,
    submitted_data,
)
from evaluation.lab.analyses.tables import Table
from evaluation.lab.selectors import run_numbers
from evaluation.lab.services import begin_analysis
from evaluation.models import DRAFT, AnalysisResult
from evaluation.release.policies import can_evaluate, can_see_scores
from evaluation.release.selectors import ORIGINAL, draft_state
from evaluation.release.services import SETTLED_FOR
from hearth.accounts.models import User
from hearth.jobs.models import JobState
from hearth.jobs.views import in_place_context, show_job
from hearth.shared.downloads import download, download_csv, download_json
from hearth.shared.errors import InvalidInput
from hearth.shared.pages import POST, UNPROCESSABLE, only_for
from pooling.models import Benchmark
from pooling.policies import benchmarks_seen_by

Part = TypeVar("Part", Table, Chart)


@only_for(can_see_scores)
def analyses(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    labels = request.GET.get("labels", "")
    context = {
        "benchmark": benchmark,
        "sections": SECTIONS,
        "query": urlencode({"labels": labels}) if labels else "",
        "drafted": draft_state(benchmark),
    }
    return render(request, "evaluation/lab/analyses.html", context)


@only_for(can_see_scores)
def analysis(request: HttpRequest, key: str, name: str) -> HttpResponse:
    """Show the stored result, or the progress of the job that computes it."""
    benchmark, analysis = _get_analysis(request, key, name)
    form = build_form(analysis.form, benchmark, submitted_data(analysis.form, request.GET))
    context: dict[str, Any] = {"benchmark": benchmark, "analysis": analysis, "form": form}
    try:
        question = question_from_form(analysis, benchmark, form)
    except InvalidInput as error:
        status = UNPROCESSABLE if form.errors else 200
        # One of the settings in the address may be the cause, so the page shows the settings.
        context |= {
            "unavailable": None if form.errors else error.reason,
            "unfold": bool(request.GET),
        }
        return render(request, "evaluation/lab/analysis.html", context, status=status)
    result = question.stored_result()
    if result is None:
        result = question.latest_outdated_result()
        context |= {"pending": question, **_pending_context(request, question, result)}
    if result is not None:
        context |= _result_context(analysis, result, request.GET.copy())
    return render(request, "evaluation/lab/analysis.html", context)


@only_for(can_evaluate, POST)
def analysis_compute(request: HttpRequest, key: str, name: str) -> HttpResponse:
    """Begin the job that computes the analysis, and show its progress."""
    benchmark, analysis = _get_analysis(request, key, name)
    data = submitted_data(analysis.form, request.POST)
    question = build_question(analysis, benchmark, data)
    job = begin_analysis(question=question, data=data, created_by=cast(User, request.user))
    return show_job(request, job)


@only_for(can_see_scores)
def analysis_json(request: HttpRequest, key: str, name: str) -> HttpResponse:
    """Download the result and its inputs."""
    stored = _get_result(request, key, name)
    return download_json({**stored.result, "inputs": stored.inputs}, _file_stem(stored))


@only_for(can_see_scores)
def analysis_table(request: HttpRequest, key: str, name: str, part: str) -> HttpResponse:
    """Download a table as CSV. An interval takes two columns, and each row ends with the inputs."""
    stored = _get_result(request, key, name)
    table = _part(ANALYSES[name].tables(stored.result), part)
    return download_csv(table.csv(_source(stored)), f"{_file_stem(stored)}-{part}")


@only_for(can_see_scores)
def analysis_latex(request: HttpRequest, key: str, name: str, part: str) -> HttpResponse:
    """Download a table in LaTeX."""
    stored = _get_result(request, key, name)
    table = _part(ANALYSES[name].tables(stored.result), part)
    body = table.latex(f"{name}-{part}", _source(stored))
    return download(body, f"{_file_stem(stored)}-{part}.tex", "application/x-tex; charset=utf-8")


@only_for(can_see_scores)
def analysis_chart(request: HttpRequest, key: str, name: str, part: str) -> HttpResponse:
    """Download the Vega-Lite specification of a chart, with its data and the inputs."""
    stored = _get_result(request, key, name)
    chart = _part(ANALYSES[name].charts(stored.result), part)
    usermeta = {
        "inputs": stored.inputs,
        "systems": run_numbers(stored.benchmark),
        "kinds": SERIES_KINDS,
    }
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        **chart.spec,
        "description": chart.text,
        "usermeta": usermeta if chart.narrow is None else {**usermeta, "narrow": chart.narrow},
    }
    return download_json(spec, f"{_file_stem(stored)}-{part}.vl")


def _get_analysis(
    request: HttpRequest, key: str, name: str
) -> tuple[Benchmark, Analysis[Any, Any]]:
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    if name not in ANALYSES:
        raise Http404
    return benchmark, ANALYSES[name]


def _pending_context(
    request: HttpRequest, question: Question, outdated: AnalysisResult | None
) -> dict[str, Any]:
    is_new = outdated is not None and outdated.created_at > timezone.now() - SETTLED_FOR
    data = submitted_data(question.analysis.form, request.GET)
    job = question.unfinished_job()
    return {
        **({} if job is None else in_place_context(request, job)),
        # While annotators judge, a label arrives every second or two. A recent result is therefore
        # not computed again for each new label.
        "rests": is_new and question.analysis.changes_while_judging,
        # A failed job is not begun again automatically, because it would fail again.
        "failed": question.job(JobState.FAILED, JobState.CANCELLED),
        "hidden": [(name, text) for name, value in data.items() for text in _texts(value)],
    }


def _texts(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [str(value) for value in values]


def _result_context(
    analysis: Analysis[Any, Any], stored: AnalysisResult, query: QueryDict
) -> dict[str, Any]:
    # Charts and files must belong to this result, even if a newer one has replaced it.
    query["result"] = stored.key
    return {
        "result": stored,
        "query": query.urlencode(),
        "file_stem": _file_stem(stored),
        "findings": analysis.findings(stored.result),
        "warnings": analysis.warnings(stored.result),
        "tables": analysis.tables(stored.result),
        "charts": analysis.charts(stored.result),
    }


def _get_result(request: HttpRequest, key: str, name: str) -> AnalysisResult:
    """Return the result whose key is in the address.

    If there is none, return the stored result for the options in the address.
    """
    benchmark, analysis = _get_analysis(request, key, name)
    stored = find_result(benchmark, request.GET.get("result", ""))
    if stored is None or stored.kind != analysis.name:
        data = submitted_data(analysis.form, request.GET)
        stored = build_question(analysis, benchmark, data).stored_result()
    if stored is None:
        raise Http404
    return stored


def _file_stem(stored: AnalysisResult) -> str:
    """Return a file name without its extension.

    It contains the labels and the first digits of the result's key.
    """
    labels = stored.inputs["labels"]
    by = labels if labels in (ORIGINAL, DRAFT) else f"labels{labels}"
    return f"{stored.benchmark.key}-{stored.kind}-{by}-{stored.key[:12]}"


def _part(parts: list[Part], name: str) -> Part:
    """Return the table or chart with this name."""
    for part in parts:
        if part.name == name:
            return part
    raise Http404


def _source(stored: AnalysisResult) -> dict[str, Any]:
    """Return the inputs of a result, and its key as `result`, by column name."""
    inputs = stored.inputs
    named = {
        f"{noun}_sha256": "; ".join(f"{name} {sha256}" for name, sha256 in inputs[noun].items())
        for noun in ("runs", "proxies", "studies")
        if noun in inputs
    }
    return {
        "label_set": inputs["labels"],
        "label_set_sha256": inputs["labels_sha256"],
        "labels_only": int(inputs["labels_only"]),
        **named,
        "code_version": inputs["code_version"],
        "result": stored.key,
    }

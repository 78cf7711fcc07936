"""The lab: analyses to choose from, one of them with its charts and tables, and to take away."""

from __future__ import annotations

import csv
import io
import json
from typing import Any, TypeVar, cast

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from config.accounts.models import User
from config.jobs.models import JobState
from config.jobs.views import UNFINISHED
from config.shared.errors import InvalidInput
from config.shared.pages import UNPROCESSABLE, only_for
from evaluation.analyses import KINDS, SECTIONS, Kind
from evaluation.analyses.asked import Asked, ask, asked_by, form_given, given_in
from evaluation.analyses.base import AnalysisForm, Chart, Table
from evaluation.models import Analysis
from evaluation.policies import can_evaluate, can_see_scores
from evaluation.services import begin_analysis
from evaluation.views.tables import as_text
from pooling.models import Benchmark
from pooling.policies import benchmarks_seen_by

Part = TypeVar("Part", Table, Chart)


@only_for(can_see_scores)
@require_safe
def analyses(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    return render(
        request, "evaluation/analyses.html", {"benchmark": benchmark, "sections": SECTIONS}
    )


@only_for(can_see_scores)
@require_safe
def analysis(request: HttpRequest, key: str, name: str) -> HttpResponse:
    """The result where it is computed; else how far the job is that computes it."""
    benchmark, kind = _named(request, key, name)
    form = form_given(kind.form, benchmark, request.GET)
    context: dict[str, Any] = {"benchmark": benchmark, "kind": kind, "form": form}
    if not form.is_valid():
        return render(request, "evaluation/analysis.html", context, status=UNPROCESSABLE)
    try:
        asked = asked_by(kind, benchmark, form)
    except InvalidInput as error:
        return render(request, "evaluation/analysis.html", context | {"refused": error.reason})
    found = asked.stored()
    context |= {"asked": asked, "query": request.GET.urlencode()}
    context |= _waiting(asked, form) if found is None else _shown(kind, found)
    return render(request, "evaluation/analysis.html", context)


@only_for(can_evaluate)
@require_POST
def analysis_compute(request: HttpRequest, key: str, name: str) -> HttpResponse:
    """Begin to compute; htmx is answered with the progress, a browser without it with the job."""
    benchmark, kind = _named(request, key, name)
    given = given_in(kind.form, request.POST)
    asked = ask(kind, benchmark, given)
    job = begin_analysis(asked=asked, given=given, created_by=cast(User, request.user))
    if request.htmx:  # type: ignore[attr-defined]
        return render(request, "jobs/_progress.html", {"job": job, "stage": ""})
    return redirect("job", job.pk)


@only_for(can_see_scores)
@require_safe
def analysis_json(request: HttpRequest, key: str, name: str) -> HttpResponse:
    """All that was found, with what it was computed from."""
    found = _found(request, key, name)
    body = json.dumps({**found.result, "inputs": found.inputs}, allow_nan=False, indent=1)
    return _file(f"{body}\n", "application/json", f"{key}-{name}.json")


@only_for(can_see_scores)
@require_safe
def analysis_table(request: HttpRequest, key: str, name: str, part: str) -> HttpResponse:
    table = _part(KINDS[name].tables(_found(request, key, name).result), part)
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([column.key for column in table.columns])
    for row in table.rows:
        writer.writerow([_cell(row[column.key]) for column in table.columns])
    return _file(out.getvalue(), "text/csv; charset=utf-8", f"{key}-{name}-{part}.csv")


@only_for(can_see_scores)
@require_safe
def analysis_chart(request: HttpRequest, key: str, name: str, part: str) -> HttpResponse:
    """The specification of a chart, complete with its data."""
    chart = _part(KINDS[name].charts(_found(request, key, name).result), part)
    spec = {"$schema": "https://vega.github.io/schema/vega-lite/v6.json", **chart.spec}
    return JsonResponse({**spec, "description": chart.text})


def _named(request: HttpRequest, key: str, name: str) -> tuple[Benchmark, Kind]:
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    if name not in KINDS:
        raise Http404
    return benchmark, KINDS[name]


def _waiting(asked: Asked, form: AnalysisForm) -> dict[str, Any]:
    return {
        "job": asked.job(*UNFINISHED),
        # It is not begun again by itself: it would fail again.
        "failed": asked.job(JobState.FAILED, JobState.CANCELLED),
        "hidden": [(name, text) for name in form.fields for text in _texts(form.data.get(name))],
    }


def _texts(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [str(one) for one in values if one not in (None, "", False)]


def _shown(kind: Kind, found: Analysis) -> dict[str, Any]:
    return {
        "analysis": found,
        "tables": kind.tables(found.result),
        "charts": kind.charts(found.result),
    }


def _found(request: HttpRequest, key: str, name: str) -> Analysis:
    benchmark, kind = _named(request, key, name)
    found = ask(kind, benchmark, given_in(kind.form, request.GET)).stored()
    if found is None:
        raise Http404
    return found


def _part(parts: list[Part], name: str) -> Part:
    for part in parts:
        if part.name == name:
            return part
    raise Http404


def _cell(value: Any) -> Any:
    """As a file holds it: numbers exact, intervals with a blank between, nothing for undefined."""
    if isinstance(value, list):
        return " ".join(repr(one) for one in value)
    return as_text(value) if isinstance(value, str) else value


def _file(body: str, content_type: str, name: str) -> HttpResponse:
    response = HttpResponse(body, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response

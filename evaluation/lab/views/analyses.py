"""The lab: analyses to choose from, one of them with its charts and tables, and to take away."""

from __future__ import annotations

import csv
import io
import json
from typing import Any, TypeVar, cast
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from config.accounts.models import User
from config.jobs.models import JobState
from config.shared.errors import InvalidInput
from config.shared.pages import UNPROCESSABLE, only_for
from config.shared.tables import plain_text as as_text
from evaluation.lab.analyses import KINDS, SECTIONS, Kind
from evaluation.lab.analyses.asked import Asked, ask, asked_by, form_given, given_in, stored_result
from evaluation.lab.analyses.base import AnalysisForm, Chart, Table
from evaluation.lab.services import begin_analysis
from evaluation.models import Analysis
from evaluation.release.policies import can_evaluate, can_see_scores
from evaluation.release.selectors import draft_state
from evaluation.release.services import SETTLED_FOR
from pooling.models import Benchmark
from pooling.policies import benchmarks_seen_by

Part = TypeVar("Part", Table, Chart)


@only_for(can_see_scores)
@require_safe
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
@require_safe
def analysis(request: HttpRequest, key: str, name: str) -> HttpResponse:
    """The result where it is computed; else how far the job is that computes it."""
    benchmark, kind = _named(request, key, name)
    form = form_given(kind.form, benchmark, request.GET)
    context: dict[str, Any] = {"benchmark": benchmark, "kind": kind, "form": form}
    if not form.is_valid():
        return render(request, "evaluation/lab/analysis.html", context, status=UNPROCESSABLE)
    try:
        asked = asked_by(kind, benchmark, form)
    except InvalidInput as error:
        return render(request, "evaluation/lab/analysis.html", context | {"refused": error.reason})
    found = asked.stored()
    if found is None:
        found = asked.earlier()
        context |= {"asked": asked, **_waiting(asked, form, found)}
    if found is not None:
        context |= _shown(kind, found, request.GET.copy())
    return render(request, "evaluation/lab/analysis.html", context)


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
    return _file(f"{body}\n", "application/json", f"{_file_stem(found)}.json")


@only_for(can_see_scores)
@require_safe
def analysis_table(request: HttpRequest, key: str, name: str, part: str) -> HttpResponse:
    """Its columns, an interval in two of them, and in each row what it was computed from."""
    found = _found(request, key, name)
    table = _part(KINDS[name].tables(found.result), part)
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    spread = {column.key for column in table.columns if _is_spread(table, column.key)}
    heads = [head for column in table.columns for head in _heads(column.key, spread)]
    source = _source(found)
    writer.writerow([*heads, *source])
    for row in table.rows:
        cells = (_cells(row[column.key], column.key in spread) for column in table.columns)
        writer.writerow([cell for pair in cells for cell in pair] + [*source.values()])
    return _file(out.getvalue(), "text/csv; charset=utf-8", f"{_file_stem(found)}-{part}.csv")


@only_for(can_see_scores)
@require_safe
def analysis_chart(request: HttpRequest, key: str, name: str, part: str) -> HttpResponse:
    """The specification of a chart, complete with its data and what that was computed from."""
    found = _found(request, key, name)
    chart = _part(KINDS[name].charts(found.result), part)
    spec = {"$schema": "https://vega.github.io/schema/vega-lite/v6.json", **chart.spec}
    return JsonResponse({**spec, "description": chart.text, "usermeta": {"inputs": found.inputs}})


def _named(request: HttpRequest, key: str, name: str) -> tuple[Benchmark, Kind]:
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    if name not in KINDS:
        raise Http404
    return benchmark, KINDS[name]


def _waiting(asked: Asked, form: AnalysisForm, earlier: Analysis | None) -> dict[str, Any]:
    is_new = earlier is not None and earlier.created_at > timezone.now() - SETTLED_FOR
    return {
        "job": asked.under_way(),
        # A label comes every second or two where people judge: it is not begun again for each.
        "rests": is_new and asked.kind.reads_judgments,
        # It is not begun again by itself: it would fail again.
        "failed": asked.job(JobState.FAILED, JobState.CANCELLED),
        "hidden": [(name, text) for name in form.fields for text in _texts(form.data.get(name))],
    }


def _texts(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [str(one) for one in values if one not in (None, "", False)]


def _shown(kind: Kind, found: Analysis, query: QueryDict) -> dict[str, Any]:
    # Its charts and files are to be of this result, also when another has taken its place.
    query["result"] = found.key
    return {
        "analysis": found,
        "query": query.urlencode(),
        "file_stem": _file_stem(found),
        "warnings": kind.warnings(found.result),
        "tables": kind.tables(found.result),
        "charts": kind.charts(found.result),
    }


def _found(request: HttpRequest, key: str, name: str) -> Analysis:
    """The result that is named, or where it is gone or none is, that of what was chosen."""
    benchmark, kind = _named(request, key, name)
    found = stored_result(benchmark, request.GET.get("result", ""))
    if found is None or found.kind != kind.name:
        found = ask(kind, benchmark, given_in(kind.form, request.GET)).stored()
    if found is None:
        raise Http404
    return found


def _file_stem(found: Analysis) -> str:
    """It tells the labels, and by the hash of all inputs which result this is."""
    labels = found.inputs["labels"]
    by = f"labels{labels}" if isinstance(labels, int) else labels
    return f"{found.benchmark.key}-{found.kind}-{by}-{found.key[:12]}"


def _part(parts: list[Part], name: str) -> Part:
    for part in parts:
        if part.name == name:
            return part
    raise Http404


def _source(found: Analysis) -> dict[str, Any]:
    """By the head of its column. `result` is the hash of all that the result hangs on."""
    inputs = found.inputs
    runs = "; ".join(f"{name} {sha256}" for name, sha256 in inputs["runs"].items())
    return {
        "label_set": inputs["labels"],
        "label_set_sha256": inputs["labels_sha256"],
        "labels_only": int(inputs["labels_only"]),
        "runs_sha256": as_text(runs),
        "code_version": inputs["code_version"],
        "result": found.key,
    }


def _is_spread(table: Table, key: str) -> bool:
    """Whether a column holds intervals."""
    return any(isinstance(row[key], list) for row in table.rows)


def _heads(key: str, spread: set[str]) -> list[str]:
    return [f"{key}_low", f"{key}_high"] if key in spread else [key]


def _cells(value: Any, is_spread: bool) -> list[Any]:
    """As a file holds it: numbers exact, an interval in two cells, nothing for undefined."""
    if is_spread:
        return [None, None] if value is None else value
    return [as_text(value) if isinstance(value, str) else value]


def _file(body: str, content_type: str, name: str) -> HttpResponse:
    response = HttpResponse(body, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response

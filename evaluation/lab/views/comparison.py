"""The page that compares ranked lists of one caption, and its downloads."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from evaluation.core.relevance.compare import LONG, SHORT
from evaluation.lab.analyses.question import submitted_data
from evaluation.lab.comparison.captions import (
    Comparison,
    build_compare_form,
    compare_lists,
    comparison_from_form,
    look_up_caption,
)
from evaluation.lab.comparison.form import CompareForm
from evaluation.lab.comparison.lists import KINDS, caption_as_json, lists_of
from evaluation.release.policies import can_see_scores
from hearth.shared.errors import InvalidInput
from hearth.shared.pages import UNPROCESSABLE, only_for
from hearth.shared.tables import csv_text, plain_text
from pooling.core.direction import Direction
from pooling.policies import benchmarks_seen_by

# Maximum number of selected captions in the table below the lists.
ROWS_MAX = 25


@only_for(can_see_scores)
def compare(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    form = build_compare_form(benchmark, submitted_data(CompareForm, request.GET))
    context: dict[str, Any] = {"benchmark": benchmark, "form": form}
    if form.is_valid():
        comparison = comparison_from_form(benchmark, form)
        context |= _selected(comparison)
        try:
            context |= _caption_context(request, comparison, comparison.query())
        except InvalidInput as error:
            form.add_error("caption", error.reason)
    status = UNPROCESSABLE if form.errors else 200
    return render(request, "evaluation/lab/compare.html", context, status=status)


@only_for(can_see_scores)
def compare_download(request: HttpRequest, key: str, format: str) -> HttpResponse:
    """Download the selected captions (`csv`, `json`), or the lists of one caption (`caption`)."""
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    if format not in DOWNLOADS:
        raise Http404
    content_type, suffix, body = DOWNLOADS[format]
    comparison = compare_lists(benchmark, submitted_data(CompareForm, request.GET))
    response = HttpResponse(body(comparison), content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{benchmark.key}-{suffix}"'
    return response


def _selected(comparison: Comparison) -> dict[str, Any]:
    runs = comparison.benchmark.runs.listed().filter(direction=Direction.TEXT_TO_VIDEO)
    known = runs.count()
    address = urlencode(comparison.address(), doseq=True)
    return {
        "comparison": comparison,
        "total": len(comparison.queries),
        "n_runs": known,
        "n_hidden": known - len(comparison.inputs.runs),
        "query": address,
        "hidden": parse_qsl(address),
        "inputs": comparison.provenance,
    }


def _caption_context(
    request: HttpRequest, comparison: Comparison, query: int | None
) -> dict[str, Any]:
    if query is None:
        return {}
    place = comparison.place(query)
    start = ((place or 1) - 1) // ROWS_MAX * ROWS_MAX
    row = comparison.row(query)
    shared = urlencode(comparison.address(caption=row["caption_id"]), doseq=True)
    page = reverse("compare", args=[comparison.benchmark.key])
    return {
        "place": place,
        "row": row,
        "lists": lists_of(comparison, query),
        "kinds": KINDS,
        "rows": list(enumerate(comparison.rows(start, start + ROWS_MAX), start=start + 1)),
        "shared": request.build_absolute_uri(f"{page}?{shared}"),
        "caption_query": shared,
        "by_words": LONG if comparison.options["order"] == SHORT else SHORT,
    }


def compare_csv(comparison: Comparison) -> str:
    """Return a CSV file with a row for each caption.

    The columns are the caption, the figures of each run, and the inputs of the comparison.
    """
    names = [run.name for run in comparison.inputs.runs]
    kinds = ("original", "labelled") if comparison.inputs.label_set else ("original",)
    of_runs = [f"{noun} {kind}" for kind in kinds for noun in ("rank", "right")] + ["sha256"]
    inputs = comparison.provenance
    hashes = inputs["runs"]
    of_all = [inputs["labels"], inputs["labels_sha256"], int(inputs["labels_only"])]
    of_all += [urlencode(comparison.address(), doseq=True), inputs["code_version"]]
    heads = ["caption_id", "caption", "words", "new"]
    heads += [plain_text(f"{name} {noun}") for name in names for noun in of_runs]
    heads += ["labels", "labels_sha256", "labels_only", "chosen", "code"]
    rows = (
        [row["caption_id"], row["caption"], row["words"], row["new"]]
        + [cell for name in names for cell in (*_cells(row["runs"][name], kinds), hashes[name])]
        + of_all
        for row in comparison.rows()
    )
    return csv_text(heads, rows)


def _cells(run: Mapping[str, Any], kinds: tuple[str, ...]) -> list[Any]:
    """Return the first positive ranks, and whether the list is correct. A missing rank is empty."""
    return [cell for kind in kinds for cell in (run[kind]["rank"] or "", int(run[kind]["right"]))]


def compare_json(comparison: Comparison) -> Iterator[str]:
    """Yield the same JSON as `manage.py compare --json`, one caption at a time."""
    count, inputs = len(comparison.queries), json.dumps(comparison.provenance, allow_nan=False)
    yield f'{{"count": {count}, "inputs": {inputs}, "captions": ['
    for number, row in enumerate(comparison.rows()):
        yield f"{',' if number else ''}\n{json.dumps(row, allow_nan=False)}"
    yield "\n]}\n"


def caption_json(comparison: Comparison) -> str:
    found = caption_as_json(comparison, look_up_caption(comparison))
    return json.dumps(found, allow_nan=False, indent=1) + "\n"


DOWNLOADS: dict[str, tuple[str, str, Callable[[Comparison], str | Iterator[str]]]] = {
    "csv": ("text/csv; charset=utf-8", "compare.csv", compare_csv),
    "json": ("application/json", "compare.json", compare_json),
    "caption": ("application/json", "compare-caption.json", caption_json),
}

"""The page that compares two label sets, and its CSV file."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from evaluation.models import DRAFT, LabelSet
from evaluation.release.policies import can_see_scores
from evaluation.release.selectors import latest_draft
from evaluation.release.selectors.diffs import KINDS, SourceDiff, compare_label_sets
from hearth.shared.downloads import CSV, attachment
from hearth.shared.filters import filters, requested_filter
from hearth.shared.pages import only_for
from hearth.shared.tables import page_of
from hearth.shared.words import lower_first
from pooling.models import Benchmark
from pooling.policies import benchmarks_seen_by

NAMES = {kind.name.lower(): label for kind, label in KINDS.items()}


@only_for(can_see_scores)
def label_set_diff(request: HttpRequest, key: str, version: str, other: str) -> HttpResponse:
    """Show the differences from `other` to `version`, the counts first."""
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    found = compare_label_sets(benchmark, other, version)
    kind = requested_filter(request, "change", NAMES)
    page = page_of(found.rows(kind).tolist(), request.GET.get("page"))
    context = {
        "benchmark": benchmark,
        "heading": f"Changes from {lower_first(found.old.title)} to {lower_first(found.new.title)}",
        "old": found.old,
        "new": found.new,
        "filters": filters(request, "change", _choices(found)),
        "change": kind,
        "page": page,
        "rows": found.changes(list(page)),
        "versions": _versions(benchmark),
        "above": _address(found.new),
        "above_name": found.new.title,
    }
    return render(request, "evaluation/release/diff.html", context)


@only_for(can_see_scores)
def label_set_diff_csv(
    request: HttpRequest, key: str, version: str, other: str
) -> StreamingHttpResponse:
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    found = compare_label_sets(benchmark, other, version)
    pieces = found.csv(requested_filter(request, "change", NAMES))
    name = f"{benchmark.key}-labels-{found.old.reference}-to-{found.new.reference}.csv"
    headers = {"Content-Disposition": attachment(name)}
    return StreamingHttpResponse(pieces, content_type=CSV, headers=headers)


@only_for(can_see_scores)
def label_set_compare(request: HttpRequest, key: str) -> HttpResponse:
    """Redirect from the form with two versions to the page that compares them.

    If a version is missing, redirect to the list of label sets, where both can be selected.
    """
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    old, new = request.GET.get("from", ""), request.GET.get("to", "")
    if not (old and new):
        return redirect("benchmark-labels", key)
    found = compare_label_sets(benchmark, old, new)
    return redirect("label-set-diff", key, found.new.reference, found.old.reference)


def _choices(found: SourceDiff) -> list[tuple[str, str, int]]:
    counts = found.counts
    differing = sum(counts.values()) - counts["same"]
    named = [(name, label, counts[name]) for name, label in NAMES.items() if counts[name]]
    return [("", "All differences", differing), *named]


def _versions(benchmark: Benchmark) -> list[str]:
    draft = [DRAFT] if latest_draft(benchmark) else []
    return [*draft, *(found.version for found in LabelSet.objects.filter(benchmark=benchmark))]


def _address(source: object) -> str:
    if isinstance(source, LabelSet):
        return reverse("label-set", args=[source.benchmark.key, source.version])
    return ""

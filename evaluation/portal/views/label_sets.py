"""The page of one label set."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from evaluation.core.people.agreement_figures import Resampling, figures_from_store
from evaluation.models import LabelSet, LabelSetBasis
from evaluation.monitor.figures import AgreementRow, agreement_note, agreement_rows
from evaluation.release.exports import formats_for
from evaluation.release.selectors import draft_state, get_label_set
from hearth.shared.caches import process_cache as cache
from hearth.shared.pages import only_for
from pooling.enums import EqualTexts
from pooling.policies import benchmarks_seen_by, can_see_benchmarks

CACHE_SECONDS = 24 * 3600


@only_for(can_see_benchmarks)
def label_set(request: HttpRequest, key: str, version: str) -> HttpResponse:
    """Show what a label set contains, how it was made, and what to do with it."""
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    found = get_label_set(benchmark, version)
    sets = list(LabelSet.objects.filter(benchmark=benchmark).defer("agreement"))
    place = sets.index(found)
    drafted = draft_state(benchmark)
    context = {
        "benchmark": benchmark,
        "label_set": found,
        "previous": sets[place + 1] if place + 1 < len(sets) else None,
        "newer": sets[0] if place else None,
        "drafted": drafted,
        "versions": [one.version for one in sets],
        "without_label": found.n_pending + found.n_conflicted,
        "export_formats": formats_for(request.user, benchmark),
        **_basis_context(found),
        **_agreement_context(found),
        "above": reverse("benchmark-labels", args=[benchmark.key]),
        "above_name": "Labels",
    }
    return render(request, "evaluation/portal/label_set.html", context)


def _basis_context(found: LabelSet) -> dict[str, Any]:
    """Return the rules of the label set, and the numbers of judgments made here and elsewhere.

    Label sets that older versions of Hearth published have no stored rules.
    """
    basis = LabelSetBasis.objects.filter(label_set=found).only("rules").first()
    if basis is None:
        return {"rules": None}
    judged = [row for row in basis.rules["campaigns"] if row["judgments"]]
    imported = sum(row["judgments"] for row in judged if row["is_imported"])
    return {
        "rules": basis.rules,
        "equal_texts": EqualTexts(basis.rules["equal_texts"]).label,
        "campaigns": judged,
        "imported": imported,
        "judged_here": sum(row["judgments"] for row in judged) - imported,
    }


def _agreement_context(found: LabelSet) -> dict[str, Any]:
    if not found.agreement:
        return {"agreement_rows": []}
    key = f"agreement-of-set-{found.pk}-{found.sha256}"
    rows: tuple[list[AgreementRow], str] | None = cache.get(key)
    if rows is None:
        figures = figures_from_store(found.agreement, Resampling())
        rows = agreement_rows(figures), agreement_note(figures)
        cache.set(key, rows, CACHE_SECONDS)
    return {"agreement_rows": rows[0], "agreement_note": rows[1]}

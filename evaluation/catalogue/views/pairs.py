"""The CSV file of pooled pairs."""

from __future__ import annotations

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404

from evaluation.catalogue.forms import PairFilter
from evaluation.catalogue.selectors.pairs import pair_parts, pair_rows
from evaluation.catalogue.tables import PAIR_FILE, pair_cells
from hearth.shared.downloads import stream_csv
from hearth.shared.pages import check_form, only_for
from hearth.shared.tables import csv_parts
from pooling.policies import benchmarks_seen_by, can_see_benchmarks


@only_for(can_see_benchmarks)
def pairs_csv(request: HttpRequest, key: str) -> HttpResponseBase:
    """Download the pooled pairs that the filter selects, in the order of their codes."""
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    form = PairFilter(request.GET, benchmark=benchmark)
    check_form(form)
    parts = pair_parts(benchmark, form.source, **form.options)
    rows = (pair_cells(row) for part in parts for row in pair_rows(benchmark, part.columns))
    return stream_csv(csv_parts(PAIR_FILE, rows), f"{key}-pairs")

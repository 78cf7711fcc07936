"""The list of captions, and its CSV file."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render

from evaluation.catalogue.forms import CaptionFilter
from evaluation.catalogue.selectors.lists import find_captions, video_states
from evaluation.catalogue.tables import CAPTION_COLUMNS, CAPTION_FILE, caption_cells
from hearth.shared.downloads import stream_csv
from hearth.shared.pages import UNPROCESSABLE, check_form, only_for
from hearth.shared.tables import Order, csv_parts, page_of
from pooling.policies import benchmarks_seen_by, can_change_benchmark, can_see_benchmarks
from pooling.selectors.metadata import tags_of, train_splits_of


@only_for(can_see_benchmarks)
def captions(request: HttpRequest, key: str) -> HttpResponse:
    """Show the captions, the number of videos in each state, train captions and tags."""
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    form = CaptionFilter(request.GET, benchmark=benchmark)
    order = _order(request)
    context: dict[str, Any] = {
        "benchmark": benchmark,
        "may_change": can_change_benchmark(request.user, benchmark),
        "form": form,
        "heads": order.heads,
        "video_states": [(state, n) for state, n in video_states(benchmark).items() if n],
        "splits": list(train_splits_of(benchmark)),
        "tags": list(tags_of(benchmark)),
    }
    if form.is_valid():
        found = find_captions(benchmark, form.source, **form.options)
        page = page_of(found.in_order(order), request.GET.get("page"))
        context |= {"page": page, "rows": found.rows(list(page))}
    status = UNPROCESSABLE if form.errors else 200
    return render(request, "evaluation/catalogue/captions.html", context, status=status)


@only_for(can_see_benchmarks)
def captions_csv(request: HttpRequest, key: str) -> HttpResponseBase:
    """Download the captions that the filter selects, in the order of the page."""
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    form = CaptionFilter(request.GET, benchmark=benchmark)
    check_form(form)
    found = find_captions(benchmark, form.source, **form.options)
    rows = found.all_rows(found.in_order(_order(request)))
    return stream_csv(csv_parts(CAPTION_FILE, map(caption_cells, rows)), f"{key}-captions")


def _order(request: HttpRequest) -> Order:
    return Order.requested(request.GET.get("sort", ""), CAPTION_COLUMNS, "number")

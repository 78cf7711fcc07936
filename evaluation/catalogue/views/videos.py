"""The list of videos, and its CSV file."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render

from evaluation.catalogue.forms import VideoFilter
from evaluation.catalogue.selectors.lists import find_videos
from evaluation.catalogue.tables import VIDEO_COLUMNS, VIDEO_FILE, video_cells
from hearth.shared.downloads import stream_csv
from hearth.shared.pages import UNPROCESSABLE, check_form, only_for
from hearth.shared.tables import Order, csv_parts, page_of
from pooling.policies import benchmarks_seen_by, can_see_benchmarks


@only_for(can_see_benchmarks)
def videos(request: HttpRequest, key: str) -> HttpResponse:
    """Show the videos."""
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    form = VideoFilter(request.GET, benchmark=benchmark)
    order = _order(request)
    context: dict[str, Any] = {"benchmark": benchmark, "form": form, "heads": order.heads}
    if form.is_valid():
        found = find_videos(benchmark, form.source, **form.options)
        page = page_of(found.in_order(order), request.GET.get("page"))
        context |= {"page": page, "rows": found.rows(list(page))}
    status = UNPROCESSABLE if form.errors else 200
    return render(request, "evaluation/catalogue/videos.html", context, status=status)


@only_for(can_see_benchmarks)
def videos_csv(request: HttpRequest, key: str) -> HttpResponseBase:
    """Download the videos that the filter selects, in the order of the page."""
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    form = VideoFilter(request.GET, benchmark=benchmark)
    check_form(form)
    found = find_videos(benchmark, form.source, **form.options)
    rows = found.all_rows(found.in_order(_order(request)))
    return stream_csv(csv_parts(VIDEO_FILE, map(video_cells, rows)), f"{key}-videos")


def _order(request: HttpRequest) -> Order:
    return Order.requested(request.GET.get("sort", ""), VIDEO_COLUMNS, "number")

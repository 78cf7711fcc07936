"""The lists of captions and videos, and the CSV files of captions, videos and pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render

from evaluation.catalogue.forms import CaptionFilter, FilterForm, PairFilter, VideoFilter
from evaluation.catalogue.selectors import lists
from evaluation.catalogue.selectors.pairs import pair_parts, pair_rows
from evaluation.catalogue.serializers import (
    CaptionSerializer,
    PairSerializer,
    VideoSerializer,
    file_parts,
)
from evaluation.catalogue.tables import CAPTION_COLUMNS, VIDEO_COLUMNS
from hearth.shared.downloads import stream_csv
from hearth.shared.pages import UNPROCESSABLE, check_form, only_for
from hearth.shared.tables import Column, Order, page_of
from pooling.models import Benchmark
from pooling.phrasings.selectors import phrasing_counts, phrasing_sets_of
from pooling.policies import benchmarks_seen_by, can_change_benchmark, can_see_benchmarks
from pooling.selectors.metadata import tags_of, train_splits_of


@dataclass(frozen=True, slots=True)
class Listing:
    """The list of the captions or the videos of a benchmark."""

    name: str
    form: type[FilterForm]
    find: Callable[..., lists.EntryList]
    columns: Sequence[Column]
    serializer: type[CaptionSerializer | VideoSerializer]

    def order(self, request: HttpRequest) -> Order:
        return Order.requested(request.GET.get("sort", ""), self.columns, "number")

    def page(self, request: HttpRequest, benchmark: Benchmark, **context: Any) -> HttpResponse:
        """Show what the filter selects."""
        form, order = self.form(request.GET, benchmark=benchmark), self.order(request)
        context |= {"benchmark": benchmark, "form": form, "heads": order.heads}
        if form.is_valid():
            found = self.find(benchmark, form.source, **form.options)
            page = page_of(found.in_order(order), request.GET.get("page"))
            context |= {"page": page, "rows": found.rows(list(page))}
        status = UNPROCESSABLE if form.errors else 200
        return render(request, f"evaluation/catalogue/{self.name}.html", context, status=status)

    def file(self, request: HttpRequest, benchmark: Benchmark) -> HttpResponseBase:
        """Download what the filter selects, in the order of the page."""
        form = self.form(request.GET, benchmark=benchmark)
        check_form(form)
        found = self.find(benchmark, form.source, **form.options)
        rows = found.all_rows(found.in_order(self.order(request)))
        return stream_csv(file_parts(self.serializer, rows), f"{benchmark.key}-{self.name}")


CAPTIONS = Listing(
    "captions", CaptionFilter, lists.find_captions, CAPTION_COLUMNS, CaptionSerializer
)
VIDEOS = Listing("videos", VideoFilter, lists.find_videos, VIDEO_COLUMNS, VideoSerializer)


@only_for(can_see_benchmarks)
def captions(request: HttpRequest, key: str) -> HttpResponse:
    """Show the captions, the number of videos in each state, phrasings, train captions and tags."""
    benchmark = _benchmark(request, key)
    return CAPTIONS.page(
        request,
        benchmark,
        may_change=can_change_benchmark(request.user, benchmark),
        video_states=[(state, n) for state, n in lists.video_states(benchmark).items() if n],
        splits=list(train_splits_of(benchmark)),
        tags=list(tags_of(benchmark)),
        phrasing_sets=list(phrasing_sets_of(benchmark)),
        phrasing_counts=phrasing_counts(benchmark),
    )


@only_for(can_see_benchmarks)
def videos(request: HttpRequest, key: str) -> HttpResponse:
    """Show the videos."""
    return VIDEOS.page(request, _benchmark(request, key))


@only_for(can_see_benchmarks)
def captions_csv(request: HttpRequest, key: str) -> HttpResponseBase:
    """Download captions."""
    return CAPTIONS.file(request, _benchmark(request, key))


@only_for(can_see_benchmarks)
def videos_csv(request: HttpRequest, key: str) -> HttpResponseBase:
    """Download videos."""
    return VIDEOS.file(request, _benchmark(request, key))


@only_for(can_see_benchmarks)
def pairs_csv(request: HttpRequest, key: str) -> HttpResponseBase:
    """Download the pooled pairs that the filter selects, in the order of their codes."""
    benchmark = _benchmark(request, key)
    form = PairFilter(request.GET, benchmark=benchmark)
    check_form(form)
    parts = pair_parts(benchmark, form.source, **form.options)
    rows = (row for part in parts for row in pair_rows(benchmark, part.columns))
    return stream_csv(file_parts(PairSerializer, rows), f"{key}-pairs")


def _benchmark(request: HttpRequest, key: str) -> Benchmark:
    return get_object_or_404(benchmarks_seen_by(request.user), key=key)

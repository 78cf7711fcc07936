"""The API of captions, videos and pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.catalogue.forms import CaptionFilter, FilterForm, PairFilter, VideoFilter
from evaluation.catalogue.selectors.lists import EntryList, find_captions, find_videos
from evaluation.catalogue.selectors.pairs import pair_page, pair_parts, pair_rows
from evaluation.catalogue.serializers import (
    CaptionSerializer,
    PairSerializer,
    VideoSerializer,
    page_of_results,
)
from hearth.shared.pages import check_form
from hearth.shared.paging import CURSOR_PARAMETERS, Cursor, cursor_page
from pooling.api.base import OfBenchmark
from pooling.models import Benchmark

# A page of pairs reads at most this number of parts. `pair_parts` describes their size.
PARTS_PER_PAGE = 5


def filter_parameters(form: type[FilterForm]) -> list[OpenApiParameter]:
    return [
        OpenApiParameter(
            name,
            str,
            enum=[value for value, _ in getattr(field, "choices", []) if value] or None,
            description=f"{field.label}. {field.help_text}".strip(),
        )
        for name, field in form.base_fields.items()
    ]


def checked_filter(form: type[FilterForm], request: Request, benchmark: Benchmark) -> Any:
    """Return the valid form of a request. Raises `InvalidInput` if a value is invalid."""
    found = form(request.query_params, benchmark=benchmark)
    check_form(found)
    return found


class Captions(OfBenchmark):
    """The captions of a benchmark."""

    @extend_schema(
        operation_id="benchmarks_queries_list",
        parameters=[*CURSOR_PARAMETERS, *filter_parameters(CaptionFilter)],
        responses=page_of_results(CaptionSerializer),
    )
    def get(self, request: Request, key: str) -> Response:
        """List captions in the order of their numbers, which are the rows of a `.npy` matrix.

        `labels` selects the labels that `judged` and `relevant` count: the version of a label set,
        or `draft`. The default is the newest label set.
        """
        form = checked_filter(CaptionFilter, request, self.benchmark)
        return _entry_page(request, find_captions, form, CaptionSerializer)


class Videos(OfBenchmark):
    """The videos of a benchmark."""

    @extend_schema(
        operation_id="benchmarks_videos_list",
        parameters=[*CURSOR_PARAMETERS, *filter_parameters(VideoFilter)],
        responses=page_of_results(VideoSerializer),
    )
    def get(self, request: Request, key: str) -> Response:
        """List videos in the order of their numbers, which are the columns of a `.npy` matrix.

        `labels` is as in the list of captions.
        """
        form = checked_filter(VideoFilter, request, self.benchmark)
        return _entry_page(request, find_videos, form, VideoSerializer)


class Pairs(OfBenchmark):
    """The pooled pairs of a benchmark."""

    @extend_schema(
        operation_id="benchmarks_pairs_list",
        parameters=[*CURSOR_PARAMETERS, *filter_parameters(PairFilter)],
        responses=page_of_results(
            PairSerializer, ". Other pages can have fewer results than the limit, or none."
        ),
    )
    def get(self, request: Request, key: str) -> Response:
        """List pooled pairs by the number of the caption, and then by the number of the video.

        `labels` is as in the list of captions. A page reads a limited number of pairs, so with a
        filter it can have fewer results than the limit. Follow `next` until it is null.
        """
        benchmark, cursor = self.benchmark, Cursor.requested(request)
        form = checked_filter(PairFilter, request, benchmark)
        parts = pair_parts(benchmark, form.source, after=cursor.after, **form.options)
        page = pair_page(parts, cursor.limit, PARTS_PER_PAGE)
        rows = [row for columns in page.columns for row in pair_rows(benchmark, columns)]
        return Response(cursor_page(request, rows, page.next))


def _entry_page(
    request: Request,
    find: Callable[..., EntryList],
    form: FilterForm,
    serializer: type[serializers.Serializer[Any]],
) -> Response:
    """Return the captions or videos that follow the cursor, in the order of their numbers."""
    found, cursor = find(form.benchmark, form.source, **form.options), Cursor.requested(request)
    start = int(np.searchsorted(found.numbers, cursor.after, side="right"))
    numbers = found.numbers[start : start + cursor.limit].tolist()
    is_last = start + cursor.limit >= len(found.numbers)
    rows = list(serializer(found.rows(numbers), many=True).data)
    return Response(cursor_page(request, rows, None if is_last else numbers[-1]))

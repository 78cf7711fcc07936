"""The API of captions, videos and pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.catalogue.enums import PairOutcome
from evaluation.catalogue.forms import CaptionFilter, FilterForm, PairFilter, VideoFilter
from evaluation.catalogue.selectors.lists import (
    CaptionList,
    VideoList,
    find_captions,
    find_videos,
)
from evaluation.catalogue.selectors.pairs import pair_page, pair_parts, pair_rows
from hearth.shared.pages import check_form
from hearth.shared.paging import CURSOR_PARAMETERS, Cursor, cursor_page
from pooling.api.base import OfBenchmark
from pooling.enums import MediaState
from pooling.models import Benchmark

# A page of pairs reads at most this number of parts. `pair_parts` describes their size.
PARTS_PER_PAGE = 5
PAIRS_HELP = "The number of pooled pairs."
JUDGED_HELP = "The number of pooled pairs that have a label."
RELEVANT_HELP = (
    "The number of pairs whose label is relevant. Equal captions share labels, so the number can "
    "include pairs outside the pools."
)


class CaptionSerializer(serializers.Serializer[Any]):
    number = serializers.IntegerField(
        source="query.number", help_text="The row in a `.npy` matrix, from 0 without gaps."
    )
    caption_id = serializers.CharField(source="query.key")
    caption = serializers.CharField(source="query.text")
    words = serializers.IntegerField()
    original_positives = serializers.ListField(
        source="positive_ids",
        child=serializers.CharField(),
        help_text="The ids of the videos.",
    )
    pairs = serializers.IntegerField(help_text=PAIRS_HELP)
    judged = serializers.IntegerField(help_text=JUDGED_HELP)
    relevant = serializers.IntegerField(help_text=RELEVANT_HELP)


class VideoSerializer(serializers.Serializer[Any]):
    number = serializers.IntegerField(
        source="video.number", help_text="The column in a `.npy` matrix, from 0 without gaps."
    )
    video_id = serializers.CharField(source="video.key")
    state = serializers.ChoiceField(source="video.state", choices=MediaState.choices)
    seconds = serializers.FloatField(
        source="video.duration", allow_null=True, help_text="null if the length is unknown"
    )
    captions = serializers.IntegerField(
        help_text="The number of captions that have the video as an original positive."
    )
    pairs = serializers.IntegerField(help_text=PAIRS_HELP)
    judged = serializers.IntegerField(help_text=JUDGED_HELP)
    relevant = serializers.IntegerField(help_text=RELEVANT_HELP)


class PairSerializer(serializers.Serializer[Any]):
    query = serializers.IntegerField(help_text="The number of the caption.")
    video = serializers.IntegerField(help_text="The number of the video.")
    caption_id = serializers.CharField()
    video_id = serializers.CharField()
    original_positive = serializers.BooleanField()
    outcome = serializers.ChoiceField(choices=PairOutcome.choices)
    label = serializers.IntegerField(  # type: ignore[assignment]
        allow_null=True, help_text="null if the pair is unjudged, pending or in conflict"
    )
    judgments = serializers.IntegerField(help_text="The number of counted judgments.")
    relevant = serializers.IntegerField(help_text="The number of relevant judgments.")


class CaptionPageSerializer(serializers.Serializer[Any]):
    next = serializers.URLField(allow_null=True, help_text="null on the last page")
    results = CaptionSerializer(many=True)


class VideoPageSerializer(serializers.Serializer[Any]):
    next = serializers.URLField(allow_null=True, help_text="null on the last page")
    results = VideoSerializer(many=True)


class PairPageSerializer(serializers.Serializer[Any]):
    next = serializers.URLField(
        allow_null=True,
        help_text="null on the last page. Other pages can have fewer results than the limit, or "
        "none.",
    )
    results = PairSerializer(many=True)


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
        responses=CaptionPageSerializer,
    )
    def get(self, request: Request, key: str) -> Response:
        """List captions in the order of their numbers, which are the rows of a `.npy` matrix.

        `labels` selects the labels that `judged` and `relevant` count: the version of a label set,
        or `draft`. The default is the newest label set.
        """
        benchmark = self.benchmark
        form = checked_filter(CaptionFilter, request, benchmark)
        found = find_captions(benchmark, form.source, **form.options)
        return Response(_entry_page(request, found, CaptionSerializer))


class Videos(OfBenchmark):
    """The videos of a benchmark."""

    @extend_schema(
        operation_id="benchmarks_videos_list",
        parameters=[*CURSOR_PARAMETERS, *filter_parameters(VideoFilter)],
        responses=VideoPageSerializer,
    )
    def get(self, request: Request, key: str) -> Response:
        """List videos in the order of their numbers, which are the columns of a `.npy` matrix.

        `labels` is as in the list of captions.
        """
        benchmark = self.benchmark
        form = checked_filter(VideoFilter, request, benchmark)
        found = find_videos(benchmark, form.source, **form.options)
        return Response(_entry_page(request, found, VideoSerializer))


class Pairs(OfBenchmark):
    """The pooled pairs of a benchmark."""

    @extend_schema(
        operation_id="benchmarks_pairs_list",
        parameters=[*CURSOR_PARAMETERS, *filter_parameters(PairFilter)],
        responses=PairPageSerializer,
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
    found: CaptionList | VideoList,
    serializer: type[serializers.Serializer[Any]],
) -> dict[str, Any]:
    """Return the captions or videos that follow the cursor, in the order of their numbers."""
    cursor = Cursor.requested(request)
    start = int(np.searchsorted(found.numbers, cursor.after, side="right"))
    numbers = found.numbers[start : start + cursor.limit].tolist()
    is_last = start + cursor.limit >= len(found.numbers)
    rows = list(serializer(found.rows(numbers), many=True).data)
    return cursor_page(request, rows, None if is_last else numbers[-1])

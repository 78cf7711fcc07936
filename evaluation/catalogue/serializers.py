"""The fields of captions, videos and pairs, for the API and for CSV files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import attrgetter, itemgetter
from typing import Any

from drf_spectacular.utils import inline_serializer
from rest_framework import serializers

from evaluation.catalogue.enums import PairOutcome
from hearth.shared.tables import csv_parts
from pooling.enums import MediaState


def _counts() -> tuple[serializers.IntegerField, ...]:
    """Return the fields `pairs`, `judged` and `relevant`."""
    return (
        serializers.IntegerField(help_text="The number of pooled pairs."),
        serializers.IntegerField(help_text="The number of pooled pairs that have a label."),
        serializers.IntegerField(
            help_text="The number of pairs whose label is relevant. Equal captions share labels, "
            "so the number can include pairs outside the pools."
        ),
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
    pairs, judged, relevant = _counts()


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
    pairs, judged, relevant = _counts()


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


def page_of_results(
    serializer: type[serializers.Serializer[Any]], help_text: str = ""
) -> serializers.Serializer[Any]:
    """Return the serializer of a page for the documents of the API."""
    text = f"null on the last page{help_text}"
    return inline_serializer(
        serializer.__name__.removesuffix("Serializer") + "Page",
        {
            "next": serializers.URLField(allow_null=True, help_text=text),
            "results": serializer(many=True),
        },
    )


def file_parts(serializer: type[serializers.Serializer[Any]], rows: Iterable[Any]) -> Iterator[str]:
    """Yield a CSV file with the fields of a serializer, part by part. rows: objects or dicts."""
    getter = itemgetter if serializer is PairSerializer else attrgetter
    fields = serializer().fields
    getters = [getter(field.source or name) for name, field in fields.items()]
    return csv_parts(list(fields), ([_cell(get(row)) for get in getters] for row in rows))


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return " ".join(value)
    return int(value) if isinstance(value, bool) else value

"""The shape of requests for exports. Pages and the API use it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from evaluation.release.exports import JUDGMENT_COLUMNS, ExportOptions


class ExportSerializer(serializers.Serializer[dict[str, Any]]):
    licence = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=200,
        help_text="Licence of the labels, for the formats fire and release. Default: the licence "
        "of the benchmark.",
    )
    texts = serializers.BooleanField(
        default=False,
        help_text="Add the texts of the captions, for the formats spreadsheet, jsonl, parquet and "
        "release.",
    )
    hub_id = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=200,
        help_text="Name of the data set on the Hugging Face Hub, for the format release.",
    )
    columns = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=200,
        help_text="Additional columns of the format judgments, separated by commas: "
        f"{', '.join(JUDGMENT_COLUMNS)}.",
    )


def read_options(data: Mapping[str, Any]) -> ExportOptions:
    """Return the options in a query string. Raises `ValidationError` if one is invalid."""
    shape = ExportSerializer(data=data)
    shape.is_valid(raise_exception=True)
    columns = tuple(filter(None, shape.validated_data["columns"].split(",")))
    return ExportOptions(**{**shape.validated_data, "columns": columns})

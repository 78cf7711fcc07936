"""The shape of requests for exports. Pages and the API use it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from evaluation.release.exports import JUDGMENT_COLUMNS, ExportOptions
from hearth.shared.option_fields import serializer_of
from hearth.shared.options import build


class ExportSerializer(serializer_of(ExportOptions, "Export", without=("columns",))):  # type: ignore[misc]
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
    return build(ExportOptions, {**shape.validated_data, "columns": columns})

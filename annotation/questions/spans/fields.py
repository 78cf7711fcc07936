"""The fields of spans in the API of the judging room."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotation.core.spans import SPANS_MAX
from annotation.questions.spans.models import spans_of


class SpansField(serializers.ListField):
    """The spans of an answer, in seconds. They are read from their table."""

    child = serializers.ListField(
        child=serializers.FloatField(), min_length=2, max_length=2, help_text="start and end"
    )

    def __init__(self, **options: Any) -> None:
        text = "only if the campaign asks where: start and end of each span, in seconds; at least "
        super().__init__(
            **options,
            required=False,
            max_length=SPANS_MAX,
            help_text=f"{text}one if the caption is relevant, otherwise none",
        )

    def get_attribute(self, instance: Any) -> Any:
        return [span.seconds for span in spans_of(getattr(instance, "own", instance))]


class MarksField(serializers.ListField):
    """The times at which the person pressed the keys, for each span, before the shift."""

    child = serializers.ListField(
        child=serializers.FloatField(allow_null=True, min_value=0), min_length=2, max_length=2
    )

    def __init__(self, **options: Any) -> None:
        text = "the times of the video, in seconds, at which you marked the edges of each span "
        super().__init__(
            **options,
            required=False,
            max_length=SPANS_MAX,
            help_text=f"{text}while it played; null for an edge that you set otherwise",
        )


def shift_field(**options: Any) -> serializers.FloatField:
    text = "your reaction time in seconds, by which the marks were shifted"
    return serializers.FloatField(
        **options, required=False, min_value=0, max_value=5, help_text=text
    )


def cuts_field() -> serializers.ListField:
    text = "only if the campaign asks where: the times of scene cuts, in seconds"
    return CutsField(child=serializers.FloatField(), required=False, help_text=text)


class CutsField(serializers.ListField):
    def get_attribute(self, instance: Any) -> Any:
        from annotation.questions.spans.cuts import cuts_of

        return cuts_of(instance.task.video)

"""The fields of ordering studies in the API of the judging room."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotation.questions.order.models import OrderingCaption, captions_of
from annotation.questions.order.orders import CAPTIONS


class CaptionsOfTask(serializers.ListSerializer[OrderingCaption]):
    """The captions of an assignment, by place."""

    def get_attribute(self, instance: Any) -> Any:
        return captions_of(instance.task)


class PlacedCaptionSerializer(serializers.ModelSerializer[OrderingCaption]):
    """A caption of an ordering study, without its level and value by the proxy."""

    text = serializers.CharField(source="query.text")

    class Meta:
        model = OrderingCaption
        fields = ["place", "text"]
        list_serializer_class = CaptionsOfTask


def captions_field() -> Any:
    text = "only in ordering studies: the five captions to put in order"
    return PlacedCaptionSerializer(many=True, required=False, help_text=text)


class PlacesField(serializers.ListField):
    """An order of five captions: their places on the screen, most similar caption first."""

    child = serializers.IntegerField(min_value=0, max_value=CAPTIONS - 1)

    def __init__(self, **options: Any) -> None:
        text = "required in ordering studies, instead of `label`: the places of the captions, each "
        super().__init__(
            **options,
            required=False,
            min_length=CAPTIONS,
            max_length=CAPTIONS,
            help_text=f"{text}once, most similar caption first",
        )

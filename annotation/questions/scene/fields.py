"""The field of scenes in the API of the judging room."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class SceneField(serializers.ListField):
    """The start and end of a scene, in seconds."""

    child = serializers.FloatField()

    def get_attribute(self, instance: Any) -> Any:
        scene = instance.task.item.scene
        return [scene.start, scene.end]


def scene_field() -> SceneField:
    text = "only if the campaign asks what happens in a scene: its start and end, in seconds"
    return SceneField(required=False, min_length=2, max_length=2, help_text=text)

"""A third kind of question: a sentence about a video. docs/adding.md explains it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from annotation.enums import JudgmentState
from annotation.models import Campaign, Judgment
from annotation.questions.kind import QuestionKind, Words
from annotation.questions.room import Room, RoomTexts

LENGTH = 500


class SentenceRoom(Room):
    script = "js/annotation/questions/sentence.js"
    texts = RoomTexts(title="Describing videos", shown="Video to describe")


class SentenceKind(QuestionKind):
    """The payload is {"sentence": …}."""

    name = "sentence"
    fields = ("sentence",)
    campaigns = "sentences"
    room = SentenceRoom()
    words = Words(
        study="description study",
        studies="description studies",
        answer="sentence",
        answers="sentences",
        answered="described",
        start="Start describing videos",
        summary="videos to describe",
    )
    heads = ("video_id", "sentence")

    def answer_fields(self, of: str = "") -> dict[str, Any]:
        from rest_framework.serializers import CharField

        source = f"{of}payload.sentence"
        return {"sentence": CharField(source=source, max_length=LENGTH, required=False)}

    def rows(self, campaign: Campaign) -> Iterator[tuple[Any, ...]]:
        counted = Judgment.objects.filter(task__campaign=campaign, state=JudgmentState.LIVE)
        yield from counted.order_by("task__position", "pk").values_list(
            "task__item__video__key", "payload__sentence"
        )


KIND = SentenceKind()

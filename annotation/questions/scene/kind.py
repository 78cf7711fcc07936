"""The question what happens in a scene of a video."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.questions.kind import Link, QuestionKind, Subject, Words
from annotation.questions.scene.room import ROOM
from hearth.shared.errors import InvalidInput
from pooling.core.keys import text_fault

if TYPE_CHECKING:
    from annotation.models import Campaign

LENGTH = 500


class SceneKind(QuestionKind):
    """The payload is {"scene_text": …}. Descriptions need not agree.

    The file of the answers has the form of train captions.
    """

    name = "scene"
    fields = ("scene_text",)
    subject = Subject.SCENE
    campaigns = "scenes"
    room = ROOM
    words = Words(
        study="description study",
        studies="description studies",
        item="scene",
        items="scenes",
        answer="description",
        answers="descriptions",
        answered="described",
        heading="Descriptions",
        alone="no other description of the same scenes",
        nobody="No one has described this scene yet.",
        no_ruling="A lead cannot describe scenes here. Return the scene to the queue.",
        start=_("Start describing scenes"),
        go_on=_("Continue describing scenes"),
        complete=_("There are no more scenes to describe in this study."),
        summary=_("scenes to describe"),
    )
    shown = ("item__video", "item__scene")
    guideline = "annotation/questions/scene/_guideline.html"
    opening = Link("scenes-describe", "Let people describe scenes")
    heads = ("caption", "video_id", "start", "end")

    def item_fields(self) -> dict[str, Any]:
        from annotation.questions.scene.fields import scene_field

        return {"scene": scene_field()}

    def answer_fields(self, of: str = "") -> dict[str, Any]:
        from rest_framework.serializers import CharField

        text = "required if the campaign asks what happens in a scene: your sentence"
        source = f"{of}payload.scene_text"
        return {
            "scene_text": CharField(
                source=source, max_length=LENGTH, required=False, help_text=text
            )
        }

    @property
    def needed(self) -> str:
        return gettext("This campaign needs a description of the scene.")

    def checked(self, campaign: Campaign, payload: dict[str, Any]) -> dict[str, Any]:
        """Return the description in one line."""
        text = " ".join(payload["scene_text"].split())
        if text_fault(text, "description", longest=LENGTH):
            message = gettext("The description must have 1 to {most} visible characters.")
            raise InvalidInput(message.format(most=LENGTH))
        return {"scene_text": text}

    def rows(self, campaign: Campaign) -> Iterator[tuple[Any, ...]]:
        from annotation.enums import JudgmentState
        from annotation.models import Judgment

        counted = Judgment.objects.filter(task__campaign=campaign, state=JudgmentState.LIVE)
        yield from counted.order_by(
            "task__item__video__number", "task__item__scene__start", "pk"
        ).values_list(
            "payload__scene_text",
            "task__item__video__key",
            "task__item__scene__start",
            "task__item__scene__end",
        )


KIND = SceneKind()

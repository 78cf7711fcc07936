"""The judging room of campaigns in which a pair gets a label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from annotation.core.keys import DIGITS, OTHERS, STEPS, TWO_STEPS, Action, Keys, room_keys
from annotation.questions.room import Room, RoomTexts

if TYPE_CHECKING:
    from annotation.models import Campaign


class LabelRoom(Room):
    script = "js/annotation/questions/label.js"
    imports: ClassVar[Sequence[str]] = (
        "js/annotation/judging/checklist.js",
        "js/annotation/judging/swipe.js",
    )
    texts = RoomTexts(
        shown=_("Pair to judge"),
        digits=_(
            "In campaigns with a checklist, digits mark elements of the caption. On scales of more "
            "than two steps, they choose a step."
        ),
        loading=_("Loading the next pair …"),
        nothing_loaded=_(
            "No further pair is loaded. The next one appears when the connection is back."
        ),
        undo=_("Undo: back to the last pair"),
        escalate=_("Send this pair to a lead"),
        advice=_(
            "If you are in doubt, judge the pair as not relevant. Send it to a lead only if the "
            "guidelines do not help you."
        ),
        report=_(
            "The page has found no error in the video. If you report the video, the pair is hidden "
            "from all annotators until a lead reviews it."
        ),
        empty=_("No pairs for you at the moment"),
        done=_(
            "Every pair of this campaign is judged or assigned to another annotator. If two "
            "annotators disagree about a pair, it can come back."
        ),
    )
    script_texts: ClassVar[Sequence[str]] = (
        _("Correct: not relevant"),
        _("Correct: relevant"),
        _("Next pair."),
        _("Wrong: the pair is not relevant"),
        _("Wrong: the pair is relevant"),
        _("You have answered this pair in another tab. Next pair."),
    )
    # The first table also has the actions of all rooms.
    actions: ClassVar[Mapping[str, tuple[Action, ...]]] = {
        _("Judging"): TWO_STEPS + OTHERS,
        _("Scales of more than two steps"): STEPS,
    }

    def keys(self, campaign: Campaign, own: Keys) -> Keys:
        return room_keys(own, steps=len(campaign.labels), checklist=campaign.checklist)

    def key_texts(self, campaign: Campaign) -> dict[str, str]:
        mark = gettext(
            "Mark the element with this number as missing in the video. This does not submit an "
            "answer."
        )
        answers = {f"answer-{label}": _name(text) for label, text in campaign.labels.items()}
        return answers | {f"mark-{digit}": mark for digit in DIGITS}

    def context(self, campaign: Campaign, shown: dict[str, list[str]]) -> dict[str, Any]:
        answers = [
            {"value": label, "text": _name(text), "keys": shown[f"answer-{label}"]}
            for label, text in campaign.labels.items()
        ]
        return {"answers": answers}


def _name(label: str) -> str:
    text = gettext(label)
    return text[:1].upper() + text[1:]


ROOM = LabelRoom()

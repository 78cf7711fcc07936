"""The judging room of faithfulness campaigns: two texts, and no video."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from django.utils.translation import gettext_noop as _

from annotation.core.keys import Action
from annotation.questions.label.room import LabelRoom
from annotation.questions.room import RoomTexts

# The labels 0 and 1.
STEPS = (_("says something else"), _("says the same"))


class FaithfulnessRoom(LabelRoom):
    script = "js/annotation/questions/faithfulness.js"
    imports = ("js/annotation/questions/label.js", *LabelRoom.imports)
    texts = RoomTexts(
        title=_("Comparing texts"),
        shown=_("Texts to compare"),
        loading=_("Loading the next texts …"),
        nothing_loaded=_(
            "No further texts are loaded. The next ones appear when the connection is back."
        ),
        undo=_("Undo: back to the last texts"),
        escalate=_("Send these texts to a lead"),
        advice=_("Send the texts to a lead only if the guidelines do not help you."),
        empty=_("No texts for you at the moment"),
        done=_(
            "All texts of this campaign are judged or assigned to other annotators. If two "
            "annotators disagree about a text, it can come back."
        ),
    )
    script_texts = (
        *LabelRoom.script_texts,
        _("Next texts."),
        _("You have answered these texts in another tab. Next texts."),
    )
    # The keys of both answers are in the table of the room for pairs.
    actions: ClassVar[Mapping[str, tuple[Action, ...]]] = {}


ROOM = FaithfulnessRoom()

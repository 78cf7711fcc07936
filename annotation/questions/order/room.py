"""The judging room of ordering studies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from annotation.core.keys import DIGITS, Action, Keys
from annotation.questions.order.orders import CAPTIONS
from annotation.questions.room import Room, RoomTexts

if TYPE_CHECKING:
    from annotation.models import Campaign

CHOOSE = [f"choose-{digit}" for digit in DIGITS[:CAPTIONS]]


class OrderRoom(Room):
    script = "js/annotation/questions/order.js"
    imports = ("js/annotation/judging/drag.js",)
    texts = RoomTexts(
        title=_("Ordering captions"),
        shown=_("Video with captions to put in order"),
        digits=_("In ordering studies, they choose a caption."),
        advice=_(
            "If two captions fit the video equally well, choose either order. Send the video to a "
            "lead only if the guidelines do not help you."
        ),
        done=_(
            "For every video of this campaign, you have put the captions in order, or enough other "
            "annotators have done so or are doing so."
        ),
    )
    script_texts = (
        _("Order confirmed. Next video."),
        _("Place {place} of {total}: {caption}"),
        _("Your earlier order. Change it and confirm it again."),
        _("in first place"),
    )
    actions = {
        _("Ordering captions"): (
            Action("above", _("Choose the caption above"), ("ArrowUp",)),
            Action("below", _("Choose the caption below"), ("ArrowDown",)),
            Action("raise", _("Move the caption up"), ("o",)),
            Action("lower", _("Move the caption down"), ("l",)),
            Action("top", _("Move the caption to the first place"), ("Home",)),
            Action("bottom", _("Move the caption to the last place"), ("End",)),
            Action("confirm", _("Confirm the order"), ("y",)),
        )
    }

    def keys(self, campaign: Campaign, own: Keys) -> Keys:
        """Enter always confirms the order."""
        digits: Keys = {name: (digit,) for name, digit in zip(CHOOSE, DIGITS, strict=False)}
        return digits | super().keys(campaign, own) | {"confirm": ("Enter", *own["confirm"])}

    def key_texts(self, campaign: Campaign) -> dict[str, str]:
        choose = gettext("Choose the caption with this number")
        return dict.fromkeys(CHOOSE, choose) | super().key_texts(campaign)


ROOM = OrderRoom()

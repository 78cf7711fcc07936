"""The judging room of campaigns that ask where in a video a caption is relevant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_noop as _

from annotation.core.keys import TWO_STEPS, Action, Keys
from annotation.questions.label.room import LabelRoom
from annotation.questions.room import Room

if TYPE_CHECKING:
    from annotation.models import Annotator, Campaign

LOW, HIGH = TWO_STEPS


class SpansRoom(Room):
    script = "js/annotation/questions/spans.js"
    imports = ("js/annotation/judging/spans.js", "js/annotation/judging/span-player.js")
    texts = LabelRoom.texts
    script_texts = (
        *LabelRoom.script_texts,
        _("Mark the start and the end of at least one span first."),
        _("The spans overlap. Merge them, or move an edge."),
        _("A span must end after its start. Mark its end."),
        _("Start {seconds} seconds"),
        _("End {seconds} seconds"),
        _("Span {number} of {total}: {start} to {end} seconds"),
        _("Start of span {number}"),
        _("End of span {number}"),
        _("{seconds} seconds"),
        _("Span deleted"),
        _("An answer can have at most {count} spans."),
        _("No span is chosen."),
        _("Split at {seconds} seconds"),
        _("Move to a time inside the span first."),
        _("There is no later span to merge with."),
        _("Merged: {start} to {end} seconds"),
        _("The whole video: {start} to {end} seconds"),
        _("Only the span plays."),
        _("The whole video plays."),
        _("Your marks are shifted by {seconds} seconds."),
        _("Your marks are not shifted."),
        _("Your reaction time: {seconds} s"),
        _("Your reaction time is measured in training."),
        _("{label}, spans: {spans}"),
        _("Wrong: the times overlap by {percent} %, and {needed} % are needed"),
        _("Correct: the times overlap by {percent} %"),
        _("Your spans and the correct spans are on the timeline."),
    )
    actions = {
        _("Marking spans"): (
            Action("mark-start", _("Mark the start of a span"), ("s",)),
            Action("mark-end", _("Mark the end of the span"), ("e",)),
            Action("whole", _("Mark the whole video"), ("w",)),
            Action("edge", _("Choose the other edge"), ("d",)),
            Action("edge-back", _("Move the edge one frame back"), ("a",)),
            Action("edge-on", _("Move the edge one frame forward"), ("f",)),
            Action("edge-earlier", _("Move the edge half a second back"), ("q",)),
            Action("edge-later", _("Move the edge half a second forward"), ("r",)),
            Action("jump", _("Jump to the edge"), ("g",)),
            Action("lock", _("Play only the span, or everything"), ("l",)),
            Action("span-before", _("Choose the span before"), ("ArrowUp",)),
            Action("span-after", _("Choose the span after"), ("ArrowDown",)),
            Action("split", _("Split the span at the current time"), ("v",)),
            Action("merge", _("Merge the span with the next one"), ("o",)),
            Action("delete", _("Delete the span"), ("Delete",)),
            Action("shift", _("Shift marks by your reaction time, or not"), ("t",)),
        )
    }

    def keys(self, campaign: Campaign, own: Keys) -> Keys:
        """Enter always confirms the spans."""
        found = super().keys(campaign, own)
        return found | {
            "answer-0": own[LOW.name],
            "confirm": ("Enter", *own[HIGH.name]),
        }

    def key_texts(self, campaign: Campaign) -> dict[str, str]:
        from django.utils.translation import gettext

        answers = {
            "answer-0": gettext("Not relevant"),
            "confirm": gettext("Relevant at these times: confirm the spans"),
        }
        return answers | super().key_texts(campaign)

    def context(self, campaign: Campaign, shown: dict[str, list[str]]) -> dict[str, Any]:
        return {"answer_keys": shown["answer-0"]}

    def of_person(self, annotator: Annotator) -> dict[str, Any]:
        from annotation.questions.spans.reaction import reaction_time

        measured = reaction_time(annotator)
        return {"reaction": "" if measured is None else f"{measured:.2f}"}


ROOM = SpansRoom()

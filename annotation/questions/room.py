"""What the judging room needs of a kind of question: its script, its keys and its sentences.

All texts are marked here and translated where they are shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from django.utils.translation import gettext_noop as _

from annotation.core.keys import OTHERS, Action, Keys
from annotation.texts import action_text

if TYPE_CHECKING:
    from annotation.models import Annotator, Campaign


@dataclass(frozen=True, kw_only=True)
class RoomTexts:
    """The sentences in which kinds differ. The defaults fit any question about a video."""

    title: str = _("Judging")
    shown: str = _("Video to judge")
    # What the digits do, on the page on which people choose their keys.
    digits: str | None = None
    loading: str = _("Loading the next video …")
    nothing_loaded: str = _(
        "No further video is loaded. The next one appears when the connection is back."
    )
    undo: str = _("Undo: back to the last video")
    escalate: str = _("Send this video to a lead")
    advice: str = _("Send the video to a lead only if the guidelines do not help you.")
    report: str = _(
        "The page has found no error in the video. If you report the video, it is hidden from all "
        "annotators until a lead reviews it."
    )
    empty: str = _("No videos for you at the moment")
    done: str = _(
        "You have answered the question about every video of this campaign, or enough other "
        "annotators have done so or are doing so."
    )


class Room:
    """How the judging room asks one kind of question.

    Its page is the template `annotation/questions/<name>/room.html`, which extends
    `annotation/judging/judge.html`.
    """

    # Addresses of static files: the JavaScript module, and the modules that only it imports.
    script: ClassVar[str]
    imports: ClassVar[Sequence[str]] = ()
    # The texts that the script translates, apart from those of all kinds.
    script_texts: ClassVar[Sequence[str]] = ()
    texts: ClassVar[RoomTexts] = RoomTexts()
    # The actions whose keys a person can choose, in tables with titles.
    actions: ClassVar[Mapping[str, tuple[Action, ...]]] = {}

    def keys(self, campaign: Campaign, own: Keys) -> Keys:
        """Return the keys of all actions in a campaign. `own`: the person's keys."""
        return {action.name: own[action.name] for action in (*self._own_actions(), *OTHERS)}

    def key_texts(self, campaign: Campaign) -> dict[str, str]:
        """Return the texts of the question's own actions, in the order of the list of keys."""
        return {action.name: action_text(action) for action in self._own_actions()}

    def context(self, campaign: Campaign, shown: dict[str, list[str]]) -> dict[str, Any]:
        """Return what only the page of this kind contains. `shown`: the keys of each action."""
        return {}

    def of_person(self, annotator: Annotator) -> dict[str, Any]:
        """Return what the page of this kind shows of the person who judges."""
        return {}

    def _own_actions(self) -> list[Action]:
        return [action for actions in self.actions.values() for action in actions]

"""The judging room of studies in which people describe scenes."""

from __future__ import annotations

from django.utils.translation import gettext_noop as _

from annotation.questions.room import Room, RoomTexts


class SceneRoom(Room):
    script = "js/annotation/questions/scene.js"
    imports = ("js/annotation/judging/span-player.js",)
    texts = RoomTexts(
        title=_("Describing scenes"),
        shown=_("Scene to describe"),
        loading=_("Loading the next scene …"),
        nothing_loaded=_(
            "No further scene is loaded. The next one appears when the connection is back."
        ),
        undo=_("Undo: back to the last scene"),
        escalate=_("Send this scene to a lead"),
        advice=_("Send the scene to a lead only if the guidelines do not help you."),
        empty=_("No scenes for you at the moment"),
        done=_(
            "You have described every scene of this campaign, or enough other annotators have done "
            "so or are doing so."
        ),
    )
    script_texts = (
        _("Scene from {start} to {end} seconds"),
        _("Next scene."),
        _("You have described this scene in another tab. Next scene."),
    )


ROOM = SceneRoom()

"""Texts for annotators that are used in scripts or in modules without Django.

They are listed here because `gettext_noop` must mark each text for translation. The translation
is looked up when the text is shown.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_noop as _

from annotation.core.keys import Action, KeyProblem, normal_key, shown_key

# The texts of the modules in static/js/annotation/judging. Kinds of questions have others as well.
ROOM_TEXTS = (
    _("Answer again"),
    _("Correct"),
    _("Correct so far: {count} of {total}"),
    _("Eight frames of the video, from start to end"),
    _("Next video."),
    _("No longer escalated. You can answer it now."),
    _("Pause"),
    _("Play"),
    _("Sent to a lead."),
    _("The images of this video cannot be shown."),
    _("The page found no problem."),
    _(
        "The video cannot be loaded because the server cannot be reached. It will load when the "
        "connection is back."
    ),
    _("The video does not load."),
    _("This pair has no video."),
    _("This video cannot be played."),
    _("This video no longer exists."),
    _("Video reported."),
    _("Wrong"),
    _("You have answered this video in another tab. Next video."),
    _("You have been judging for {minutes} minutes. Consider taking a short break."),
    _("Your answer: {label}"),
    _("Your earlier answer: {label}"),
    _("about {left} left"),
    _("about {left} left, ≈ {time} at your pace"),
    _("{count} unsent"),
    _("{name} is now open to you."),
)
# The texts of annotation.core.keys, which does not depend on Django.
ACTION_TEXTS = (
    _("Not relevant"),
    _("Relevant"),
    _("Step {step}"),
    _("Undo: back to the last pair"),
    _("Unsure: send to a lead"),
    _("The video cannot play"),
    _("Play or pause"),
    _("One frame back"),
    _("One frame forward"),
    _("One second back"),
    _("One second forward"),
    _("Sound on or off"),
    _("Slower"),
    _("Faster"),
    _("Contact sheet"),
    _("Guidelines"),
    _("List of keys"),
)
KEY_NAMES = {
    "Space": pgettext_lazy("key", "Space"),
    "Backspace": pgettext_lazy("key", "Backspace"),
    "Delete": pgettext_lazy("key", "Delete"),
    "Insert": pgettext_lazy("key", "Insert"),
    "Home": pgettext_lazy("key", "Home"),
    "End": pgettext_lazy("key", "End"),
    "PageUp": pgettext_lazy("key", "Page up"),
    "PageDown": pgettext_lazy("key", "Page down"),
}
PROBLEM_TEXTS = (
    _("Tab, Enter and Escape do the same on every page."),
    _("Digits have fixed functions, so you cannot choose them."),
    _("{key} is not a key. Enter one letter or punctuation mark, or one of these: {names}."),
    _("{key} is chosen twice."),
)


def room_texts(more: Iterable[str]) -> dict[str, str]:
    """Return the texts of the room's scripts and `more` texts, each with its translation."""
    return {text: gettext(text) for text in (*ROOM_TEXTS, *more)}


def action_text(action: Action) -> str:
    return gettext(action.text).format(step=action.step)


def key_text(key: str) -> str:
    """Return a key as it is shown."""
    return str(KEY_NAMES.get(key) or shown_key(key))


def typed_key(text: str) -> str:
    """Return the stored name of a key that was typed as `key_text` shows it, or in English."""
    name = text.strip().casefold()
    named = (key for key, shown in KEY_NAMES.items() if name == str(shown).casefold())
    return next(named, None) or normal_key(text)


def problem_text(problem: KeyProblem) -> str:
    return gettext(problem.text).format(key=problem.key, names=problem.names)

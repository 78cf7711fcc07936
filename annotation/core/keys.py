"""The keys of the judging room and the desk: their actions, and the keys that can be chosen.

Keys have the names that browsers give them (`KeyboardEvent.key`), with two exceptions. The name of
the space bar is `Space`. Letters are lower case, so a key is the same with and without Shift.

A longer scale is a scale with more than two labels.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

# The keys with a name, each with the text that is shown for it.
NAMED = {
    "Space": "Space",
    "Backspace": "Backspace",
    "Delete": "Delete",
    "Insert": "Insert",
    "Home": "Home",
    "End": "End",
    "PageUp": "Page up",
    "PageDown": "Page down",
    "ArrowLeft": "←",
    "ArrowRight": "→",
    "ArrowUp": "↑",
    "ArrowDown": "↓",
}
# On every page, these keys move the focus, press the focused button and close dialogs.
RESERVED = ("tab", "enter", "return", "escape", "esc")
DIGITS = "123456789"
# The number of keys that a person can choose for an action.
KEYS_EACH = 2
PLAIN_CATEGORIES = ("L", "P", "S")  # letters, punctuation, symbols


@dataclass(frozen=True, slots=True)
class Action:
    """An action with its default keys.

    `step` is the place of the step that the action chooses on a longer scale, from 1. It is 0 for
    all other actions.
    """

    name: str
    text: str
    keys: tuple[str, ...]
    step: int = 0


@dataclass(frozen=True, slots=True)
class KeyProblem:
    """Why a key cannot be chosen. `text` can contain the placeholders `{key}` and `{names}`."""

    text: str
    key: str = ""
    names: str = ""

    def __str__(self) -> str:
        return self.text.format(key=self.key, names=self.names)


# A person cannot choose digits. In campaigns with a checklist, digits mark elements of the caption.
# Other kinds of questions use them for what they show. Otherwise, they choose the step of a
# longer scale. The letters of `STEPS` choose a step in every campaign with a longer scale.
TWO_STEPS = (
    Action("low", "Not relevant", ("j", "ArrowLeft")),
    Action("high", "Relevant", ("k", "ArrowRight")),
)
STEPS = tuple(
    Action(f"step-{step}", "Step {step}", (key,), step)
    for step, key in enumerate("asdfgqwer", start=1)
)
OTHERS = (
    Action("undo", "Undo: back to the last pair", ("z", "Backspace")),
    Action("unsure", "Unsure: send to a lead", ("u",)),
    Action("cannot-play", "The video cannot play", ("x",)),
    Action("play", "Play or pause", ("Space",)),
    Action("frame-back", "One frame back", (",",)),
    Action("frame-on", "One frame forward", (".",)),
    Action("second-back", "One second back", ("b",)),
    Action("second-on", "One second forward", ("n",)),
    Action("sound", "Sound on or off", ("m",)),
    Action("slower", "Slower", ("[",)),
    Action("faster", "Faster", ("]",)),
    Action("sheet", "Contact sheet", ("c",)),
    Action("guidelines", "Guidelines", ("h",)),
    Action("keys", "List of keys", ("?",)),
)
_PLAYING = (
    "cannot-play",
    "play",
    "frame-back",
    "frame-on",
    "second-back",
    "second-on",
    "sound",
    "slower",
    "faster",
)
# The actions that need a video.
OF_VIDEO = (*_PLAYING, "sheet")
# Actions of the room that the desk also has. "cannot-play" excludes a pair there.
ON_DESK = ("undo", *_PLAYING, "keys")
# The desk's own actions. A person cannot choose other keys for them.
DESK_ONLY = (
    Action("previous", "Previous pair", ("i",)),
    Action("next", "Next pair", ("o",)),
    Action("reopen", "Return the pair to the queue", ("t",)),
)
DESK_TEXTS = {"undo": "Undo your last ruling", "cannot-play": "Exclude the pair"}

Keys = dict[str, tuple[str, ...]]
# The only room of an action, by its name, for actions that not all rooms have. Two actions can have
# the same key if no room has both.
Rooms = Mapping[str, int]


def normal_key(text: str) -> str:
    """Return the stored name of a key that a person typed, such as `J`, ` `, `page up` or `←`."""
    name = text.strip().replace(" ", "").casefold()
    if not name:
        return "Space" if text else ""
    for key, shown in NAMED.items():
        if name in (key.casefold(), shown.casefold()):
            return key
    return text.strip().lower()


def shown_key(key: str) -> str:
    """Return a key as it is shown."""
    upper = key.upper()
    # The upper case of ß is SS, which is not one letter.
    return NAMED.get(key) or (upper if len(upper) == 1 else key)


def key_problem(key: str) -> KeyProblem | None:
    """Return why a key, as `normal_key` returns it, cannot be chosen, or None if it can."""
    if key in NAMED:
        return None
    if key in RESERVED:
        return KeyProblem("Tab, Enter and Escape do the same on every page.")
    if key.isdigit():
        return KeyProblem("Digits have fixed functions, so you cannot choose them.")
    if len(key) != 1 or not unicodedata.category(key).startswith(PLAIN_CATEGORIES):
        text = "{key} is not a key. Enter one letter or punctuation mark, or one of these: {names}."
        return KeyProblem(text, key[:20], ", ".join(NAMED))
    return None


def keys_problems(
    keys: Mapping[str, Iterable[str]], rooms: Rooms | None = None
) -> dict[tuple[str, int], KeyProblem]:
    """Return why actions cannot have these keys. Empty if all actions can.

    Each problem is stored under the name of the action and the place of the key among the action's
    keys, from 0.
    """
    uses = [(name, key) for name, own in keys.items() for key in own]
    problems = {}
    for name, own in keys.items():
        for place, key in enumerate(own):
            problem = key_problem(key)
            used = sum(key == other and _share_room(name, user, rooms) for user, other in uses)
            if problem is None and used > 1:
                problem = KeyProblem("{key} is chosen twice.", shown_key(key))
            if problem:
                problems[name, place] = problem
    return problems


def _share_room(one: str, other: str, rooms: Rooms | None) -> bool:
    """Return whether some room has both actions."""
    own = {(rooms or {}).get(one), (rooms or {}).get(other)}
    return None in own or len(own) == 1


def keys_of(stored: Any, actions: Iterable[Action], rooms: Rooms | None = None) -> Keys:
    """Return the keys of each action: the person's own keys, or else the default keys.

    `stored` may be older than an action or a rule. Keys that are no longer valid are ignored. A
    default key that the person uses for another action is left out.
    """
    actions = list(actions)
    valid = {
        action.name: tuple(key for key in stored[action.name] if not key_problem(key))
        for action in actions
        if isinstance(stored, dict) and _is_list_of_keys(stored.get(action.name))
    }

    def is_used(key: str, by: str) -> bool:
        return any(key in keys and _share_room(by, name, rooms) for name, keys in valid.items())

    return {
        action.name: valid.get(
            action.name, tuple(key for key in action.keys if not is_used(key, action.name))
        )
        for action in actions
    }


def room_keys(keys: Keys, *, steps: int, checklist: bool) -> Keys:
    """Return the keys of all actions in the room of a campaign in which pairs get labels.

    The action `answer-N` gives the label N, from 0. The action `mark-N` marks element N of the
    caption, from 1.
    """
    found = {f"answer-{step}": keys[action.name] for step, action in enumerate(_answers(steps))}
    if checklist:
        found |= {f"mark-{digit}": (digit,) for digit in DIGITS}
    elif steps > len(TWO_STEPS):
        digits = zip(found.items(), DIGITS, strict=False)
        found = {name: (digit, *own) for (name, own), digit in digits}
    return found | {action.name: keys[action.name] for action in OTHERS}


def without_characters(keys: Keys) -> Keys:
    """Return the keys that type no character, such as Space and the arrows (WCAG 2.1.4)."""
    kept = (*NAMED, "Enter")
    return {name: tuple(key for key in own if key in kept) for name, own in keys.items()}


def desk_keys(keys: Keys, *, steps: int, characters: bool = True) -> Keys:
    """Return the keys of each action of the desk.

    The room's actions have the person's own keys. If a person uses one of the desk's own keys for
    such an action, the desk's own action has no key.
    """
    found = {
        name: own
        for name, own in room_keys(keys, steps=steps, checklist=False).items()
        if name in ON_DESK or name.startswith("answer-")
    }
    found = found if characters else without_characters(found)
    used = set(bindings(found))
    for action in DESK_ONLY:
        free = (key for key in action.keys if characters and key not in used)
        found[action.name] = tuple(free)
    return found


def desk_texts() -> dict[str, str]:
    """Return the text of each action of the desk, except for answers, in display order."""
    texts = {action.name: action.text for action in OTHERS + DESK_ONLY}
    names = [*ON_DESK[:2], *(action.name for action in DESK_ONLY), *ON_DESK[2:]]
    return {name: DESK_TEXTS.get(name, texts[name]) for name in names}


def bindings(keys: Keys) -> dict[str, str]:
    """Return the action of each key."""
    return {key: name for name, own in keys.items() for key in own}


def _answers(steps: int) -> tuple[Action, ...]:
    return TWO_STEPS if steps == len(TWO_STEPS) else STEPS[:steps]


def _is_list_of_keys(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(key, str) for key in value)

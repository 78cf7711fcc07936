"""The keys of the judging room and the desk, and the keys that a person can choose.

Keys have the names of `KeyboardEvent.key`, with two exceptions. The space bar is `Space`. Letters
are in lower case, because a letter with and without Shift is the same key.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

# Keys that write no character, and how they are shown.
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
# These keys move the focus, press buttons and close dialogs on every page.
RESERVED = ("tab", "enter", "return", "escape", "esc")
DIGITS = "123456789"
KEYS_EACH = 2
PLAIN_CATEGORIES = ("L", "P", "S")  # letters, punctuation, symbols


@dataclass(frozen=True, slots=True)
class Action:
    """Something that keys do, with its default keys."""

    name: str
    text: str
    keys: tuple[str, ...]


# Digits belong to no action. They mark elements of the caption if a campaign has a checklist, and
# answer with a step of a longer scale if it has none. The letters of steps work in both cases.
TWO_STEPS = (
    Action("low", "Not relevant", ("j", "ArrowLeft")),
    Action("high", "Relevant", ("k", "ArrowRight")),
)
STEPS = tuple(
    Action(f"step-{step}", f"Step {step}", (key,)) for step, key in enumerate("asdfgqwer", start=1)
)
OTHERS = (
    Action("undo", "Undo: back to the last pair", ("z", "Backspace")),
    Action("unsure", "Unsure: send to a lead", ("u",)),
    Action("cannot-play", "The video cannot play", ("x",)),
    Action("play", "Play or pause", ("Space",)),
    Action("frame-back", "A frame back", (",",)),
    Action("frame-on", "A frame on", (".",)),
    Action("second-back", "A second back", ("b",)),
    Action("second-on", "A second on", ("n",)),
    Action("sound", "Sound on or off", ("m",)),
    Action("slower", "Slower", ("[",)),
    Action("faster", "Faster", ("]",)),
    Action("sheet", "Contact sheet", ("c",)),
    Action("guidelines", "Guidelines", ("h",)),
    Action("keys", "List of keys", ("?",)),
)
ACTIONS = TWO_STEPS + STEPS + OTHERS
# The room's actions that the desk has as well. "cannot-play" excludes a pair there.
ON_DESK = (
    "undo",
    "cannot-play",
    "play",
    "frame-back",
    "frame-on",
    "second-back",
    "second-on",
    "sound",
    "slower",
    "faster",
    "keys",
)
# The desk's own actions. A person cannot choose other keys for them.
DESK_ONLY = (
    Action("previous", "Previous pair", ("i",)),
    Action("next", "Next pair", ("o",)),
    Action("reopen", "Return the pair to the queue", ("t",)),
)
DESK_TEXTS = {"undo": "Undo your last ruling", "cannot-play": "Exclude the pair"}

Keys = dict[str, tuple[str, ...]]


def normal_key(text: str) -> str:
    """Return the stored form of a key that a person typed, such as `J`, ` `, `page up` or `←`."""
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
    return NAMED.get(key) or (
        upper if len(upper) == 1 else key
    )  # ß has no upper case of one letter


def key_problem(key: str) -> str:
    """Return why a stored key cannot be chosen, or an empty text."""
    if key in NAMED:
        return ""
    if key in RESERVED:
        return "Tab, Enter and Escape have a fixed meaning on every page."
    if key.isdigit():
        return "Digits mark elements of captions and answer on longer scales."
    if len(key) != 1 or not unicodedata.category(key).startswith(PLAIN_CATEGORIES):
        return f"{key[:20]} is not a key. Enter one letter or sign, or one of {', '.join(NAMED)}."
    return ""


def keys_problems(options: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Return why actions cannot have these keys, by the action's name. Empty if all are valid."""
    uses = Counter(key for keys in options.values() for key in keys)
    problems = {}
    for name, keys in options.items():
        wrong = [key_problem(key) for key in keys] + [
            f"{shown_key(key)} is used twice." for key in keys if uses[key] > 1
        ]
        if any(wrong):
            problems[name] = next(filter(None, wrong))
    return problems


def keys_of(stored: Any) -> Keys:
    """Return the keys of every action: the person's own keys, or else the defaults.

    `stored` can come from an earlier version. Keys that are no longer valid are ignored. A default
    key that the person uses for another action is removed.
    """
    valid = {
        action.name: tuple(key for key in stored[action.name] if not key_problem(key))
        for action in ACTIONS
        if isinstance(stored, dict) and _is_list_of_keys(stored.get(action.name))
    }
    taken = {key for keys in valid.values() for key in keys}
    defaults = {
        action.name: tuple(key for key in action.keys if key not in taken) for action in ACTIONS
    }
    return {action.name: valid.get(action.name, defaults[action.name]) for action in ACTIONS}


def room_keys(keys: Keys, *, steps: int, checklist: bool, characters: bool = True) -> Keys:
    """Return the keys of every action in one campaign's judging room.

    An answer is named `answer-N` after its label, an element of the caption `mark-N`, from 1.
    Without `characters`, only keys that write no character are left (WCAG 2.1.4).
    """
    found = {f"answer-{step}": keys[action.name] for step, action in enumerate(_answers(steps))}
    if checklist:
        found |= {f"mark-{digit}": (digit,) for digit in DIGITS}
    elif steps > len(TWO_STEPS):
        digits = zip(found.items(), DIGITS, strict=False)
        found = {name: (digit, *own) for (name, own), digit in digits}
    found |= {action.name: keys[action.name] for action in OTHERS}
    if characters:
        return found
    return {name: tuple(key for key in own if key in NAMED) for name, own in found.items()}


def desk_keys(keys: Keys, *, steps: int, characters: bool = True) -> Keys:
    """Return the keys of everything that a lead can do at the desk, by action.

    The room's actions have the person's own keys. If a person uses one of the desk's own keys for
    such an action, the desk's own action has no key.
    """
    found = {
        name: own
        for name, own in room_keys(
            keys, steps=steps, checklist=False, characters=characters
        ).items()
        if name in ON_DESK or name.startswith("answer-")
    }
    used = set(bindings(found))
    for action in DESK_ONLY:
        free = (key for key in action.keys if characters and key not in used)
        found[action.name] = tuple(free)
    return found


def desk_texts() -> dict[str, str]:
    """Return what each action of the desk does, except for answers, in the order of the list."""
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

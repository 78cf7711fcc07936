"""What a key and a number may look like, and how a bad one is shown to a person.

A key is the external identifier of a caption or a video. It is stored as it is written (no
normalising, so NFC and NFD twins are two keys) and has to survive a TREC file, whose columns are
separated by blanks and whose lines end at a newline.
"""

from __future__ import annotations

import re

MAX_KEY = 255
SHOWN = 60

# Cc (C0, DEL, C1 with NEL) and the two separators at which some readers end a line.
_BREAKING = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_SURROGATE = re.compile("[\ud800-\udfff]")

# ASCII only: float() and int() would also take "nan", "1_0", other scripts' digits and blanks.
NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def shown(value: str | bytes) -> str:
    """`value` in quotes for a message: cut short, and nothing in it can act on a terminal."""
    text = value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else value
    return repr(text) if len(text) <= SHOWN else repr(text[:SHOWN]) + "…"


def text_fault(text: str, what: str, *, longest: int) -> str | None:
    """Why `text` cannot be stored as a `what`, or None."""
    if not text or text.isspace():
        return f"the {what} is empty"
    if len(text) > longest:
        return f"the {what} has {len(text):,} characters, {longest:,} are allowed"
    if "\0" in text:
        return f"the {what} has a NUL character"
    if _SURROGATE.search(text):
        return f"the {what} {shown(text)} has a lone surrogate"
    return None


def name_fault(name: str, what: str, *, longest: int = MAX_KEY) -> str | None:
    """Why `name` cannot be a name in one line of text, or None. Blanks inside are allowed."""
    fault = text_fault(name, what, longest=longest)
    if fault is None and _BREAKING.search(name):
        return f"the {what} {shown(name)} has a control character or line separator"
    return fault


def key_fault(key: str, what: str) -> str | None:
    """Why `key` cannot be the key of a `what` (caption, video), or None."""
    fault = name_fault(key, f"{what} key")
    if fault is None and " " in key:
        return f"the {what} key {shown(key)} has a blank, which separates columns in a TREC file"
    return fault

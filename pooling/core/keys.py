"""Rules for keys, names, texts and numbers in files, and how messages quote them.

A key is the external identifier of a caption or a video. It is stored unchanged, without Unicode
normalisation. It must be valid in a TREC file, in which spaces separate columns and a newline ends
a line.
"""

from __future__ import annotations

import re

MAX_KEY = 255
SHOWN = 60

# Control characters, and the two Unicode separators at which some programs end a line.
_BREAKING = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_SURROGATE = re.compile("[\ud800-\udfff]")

# Stricter than float() and int(), which accept "nan", "1_0", spaces and digits of other scripts.
NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def shown(value: str | bytes) -> str:
    """Return `value` in quotes for a message, shortened and without control characters."""
    text = value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else value
    return repr(text) if len(text) <= SHOWN else repr(text[:SHOWN]) + "…"


def text_fault(text: str, noun: str, *, longest: int) -> str | None:
    """Return why `text` cannot be stored, or None. `noun` names it in the message."""
    if not text or text.isspace():
        return f"the {noun} is empty"
    if len(text) > longest:
        return f"the {noun} has {len(text):,} characters; the maximum is {longest:,}"
    if "\0" in text:
        return f"the {noun} has a NUL character"
    if _SURROGATE.search(text):
        return f"the {noun} {shown(text)} has a lone surrogate"
    return None


def name_fault(name: str, noun: str, *, longest: int = MAX_KEY) -> str | None:
    """Return why `name` cannot be a name in one line of text, or None. Spaces are allowed."""
    fault = text_fault(name, noun, longest=longest)
    if fault is None and _BREAKING.search(name):
        return f"the {noun} {shown(name)} has a control character or line separator"
    return fault


def key_fault(key: str, noun: str) -> str | None:
    """Return why `key` cannot be the key of a `noun` (caption or video), or None."""
    fault = name_fault(key, f"{noun} key")
    if fault is None and " " in key:
        return f"the {noun} key {shown(key)} has a space, which separates columns in a TREC file"
    return fault

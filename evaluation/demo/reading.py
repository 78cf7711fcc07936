"""How the demo systems read a caption: from its text only, with a limited vocabulary."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import StrEnum

from evaluation.demo.captions import Meaning, Phrase
from evaluation.demo.shapes import Background, Colour, Form, Motion, Relation, Size
from evaluation.demo.wording import SHAPE_WORDS, WORDINGS


class Noun(StrEnum):
    """The meaning of a noun that does not name a form."""

    ANY = "shape"


Vocabulary = Mapping[str, StrEnum]
"""The meaning of each wording."""


def vocabulary(wordings_known: int) -> Vocabulary:
    """Return a vocabulary with the first `wordings_known` wordings of each meaning."""
    known: dict[str, StrEnum] = dict.fromkeys(SHAPE_WORDS, Noun.ANY)
    for meaning, wordings in WORDINGS.items():
        known.update(dict.fromkeys(wordings[:wordings_known], meaning))
    return known


def read(text: str, known: Vocabulary) -> Meaning:
    """Return the meaning that a reader with this vocabulary finds in a caption.

    Adjectives belong to the next noun, and verbs to the previous one. Unknown words are ignored, so
    two figures can become one. Numbers are not understood.
    """
    phrases: list[Phrase] = []
    next_phrase = Phrase()
    relation: Relation | None = None
    background: Background | None = None
    for meaning in _meanings(text, known):
        match meaning:
            case Colour():
                next_phrase = replace(next_phrase, colour=meaning)
            case Size():
                next_phrase = replace(next_phrase, size=meaning)
            case Form() | Noun():
                form = meaning if isinstance(meaning, Form) else None
                phrases.append(replace(next_phrase, form=form))
                next_phrase = Phrase()
            case Motion() if phrases:
                phrases[-1] = replace(phrases[-1], motion=meaning)
            case Relation() if len(phrases) == 1:
                relation = meaning
            case Background():
                background = meaning
    if next_phrase != Phrase():
        phrases.append(next_phrase)
    return Meaning(tuple(phrases), relation if len(phrases) > 1 else None, background)


def _meanings(text: str, known: Vocabulary) -> Iterator[StrEnum]:
    # Longest first: "five-pointed star" before "star".
    longest_first = sorted(known, key=lambda wording: (-len(wording), wording))
    pattern = rf"\b(?:{'|'.join(map(re.escape, longest_first))})\b"
    return (known[match.group()] for match in re.finditer(pattern, text))

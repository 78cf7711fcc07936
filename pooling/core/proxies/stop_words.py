"""Lists of words that the proxy BoW leaves out.

spaCy's list contains put, take, get, give, make, move, show, empty, full, top, back and can, which
are common words in kitchens. `StopWords.name` is therefore stored with each result.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

_FILE: Final = Path(__file__).with_name("stop_words_spacy.txt")


@dataclass(frozen=True, slots=True)
class StopWords:
    """A list of stop words. Words are compared as they are written, so case matters."""

    name: str
    words: frozenset[str]

    def __str__(self) -> str:
        return f"{self.name} ({len(self.words)} words)"


NO_STOP_WORDS: Final = StopWords("none", frozenset())


@cache
def spacy_stop_words() -> StopWords:
    """Return spaCy's 326 English stop words. The file states their licence, MIT."""
    lines = _FILE.read_text(encoding="utf-8").splitlines()
    return StopWords("spaCy 3.8.18", frozenset(line for line in lines if line[:1] != "#"))


def own_stop_words(words: Iterable[str]) -> StopWords:
    """Return a list of stop words that a person supplied."""
    return StopWords("own", frozenset(words))

"""Captions with equal texts, which can share one judgment per video."""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from pooling.core.arrays import Int64s
from pooling.core.pair_space import PairSpace

FOLDED, EXACT, OFF = "folded", "exact", "off"
"""The rules for equal texts. `pooling.enums.EqualTexts` describes them."""

_ASCII_AT_END = "".join(c for c in string.punctuation if unicodedata.category(c)[0] == "P") + " "


def first_equal(texts: Sequence[str], rule: str) -> Int64s:
    """Return the number of the first text that equals each text, int64 [n].

    A text without an earlier equal text has its own number. With the rule `OFF`, every text
    has its own number.
    """
    if rule == OFF:
        return np.arange(len(texts), dtype=np.int64)
    keys: Iterable[str] = texts
    if rule == FOLDED:
        # Many captions of a benchmark have the same text.
        forms = {text: folded(text) for text in dict.fromkeys(texts)}
        keys = map(forms.__getitem__, texts)
    first: dict[str, int] = {}
    numbers = (first.setdefault(key, number) for number, key in enumerate(keys))
    return np.fromiter(numbers, np.int64, len(texts))


def text_pair_codes(codes: Int64s, first_equal: Int64s, space: PairSpace) -> Int64s:
    """Return the code of the text pair of each pair, int64 [n].

    Pairs of the same video whose captions have equal texts have the same text pair. Its code is the
    code of the pair of the first such caption. codes: int64 [n]; first_equal: int64 [n_queries].
    """
    queries, videos = space.decode(codes)
    return space.encode(first_equal[queries], videos)


def expand_text_pairs(
    text_pairs: Int64s, first_equal: Int64s, space: PairSpace
) -> tuple[npt.NDArray[np.intp], Int64s]:
    """Return the pairs of each text pair: one for each caption with the text.

    text_pairs: int64 [n], as `text_pair_codes` returns them. Returns for each pair the index of its
    text pair, ascending, and the code of the pair, [m] each.
    """
    captions = np.argsort(first_equal, kind="stable")
    sizes = np.bincount(first_equal, minlength=len(first_equal))
    starts = np.cumsum(sizes) - sizes
    firsts, videos = space.decode(text_pairs)
    times = sizes[firsts]
    index = np.repeat(np.arange(len(text_pairs)), times)
    within = np.arange(len(index)) - np.repeat(np.cumsum(times) - times, times)
    return index, space.encode(captions[starts[firsts][index] + within], videos[index])


def folded(text: str) -> str:
    """Return the text in the form in which the rule `FOLDED` compares it.

    The form is in Unicode NFC and case folded. White space becomes single spaces, and punctuation
    at the end is removed. A text that is only punctuation keeps it: "?" and "!" are different
    texts.
    """
    if text.isascii():  # ASCII needs no normalisation, which takes most of the time
        words = " ".join(text.lower().split())
        return words.rstrip(_ASCII_AT_END) or words
    words = " ".join(unicodedata.normalize("NFC", text).casefold().split())
    # Case folding can undo the composition ("ΐ" becomes three characters), so compose again.
    composed = unicodedata.normalize("NFC", words)
    return _without_final_punctuation(composed) or composed


def _without_final_punctuation(text: str) -> str:
    end = len(text)
    while end and (text[end - 1].isspace() or unicodedata.category(text[end - 1])[0] == "P"):
        end -= 1
    return text[:end]

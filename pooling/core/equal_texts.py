"""Captions with equal texts, which can share one judgment per video."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pooling.core.arrays import Int64s

FOLDED, EXACT, OFF = "folded", "exact", "off"
"""The rules, which `pooling.enums.EqualTexts` describes."""


def first_equal(texts: Sequence[str], rule: str) -> Int64s:
    """Return the number of the first text that equals each text, int64 [n].

    A text without an earlier equal text has its own number. With the rule `OFF` all texts have.
    """
    if rule == OFF:
        return np.arange(len(texts), dtype=np.int64)
    keys = texts if rule == EXACT else map(folded, texts)
    first: dict[str, int] = {}
    numbers = (first.setdefault(key, number) for number, key in enumerate(keys))
    return np.fromiter(numbers, np.int64, len(texts))


def unit_codes(codes: Int64s, first_equal: Int64s, n_videos: int) -> Int64s:
    """Return the code of the text and the video of each pair, int64 [n].

    Pairs whose captions have equal texts, and that have the same video, get the same code: that of
    the pair of the first such caption. codes: int64 [n]; first_equal: int64 [n_queries].
    """
    queries, videos = np.divmod(codes, n_videos)
    units: Int64s = first_equal[queries] * n_videos + videos
    return units


def pairs_of_units(
    units: Int64s, first_equal: Int64s, n_videos: int
) -> tuple[npt.NDArray[np.intp], Int64s]:
    """Return all pairs that share a text and a video with the given ones.

    units: int64 [n], as `unit_codes` returns them. Returns the place in `units` of each pair,
    ascending, and its code, [m] each: one pair for each caption with the text.
    """
    captions = np.argsort(first_equal, kind="stable")
    sizes = np.bincount(first_equal, minlength=len(first_equal))
    starts = np.cumsum(sizes) - sizes
    firsts, videos = np.divmod(units, n_videos)
    times = sizes[firsts]
    place = np.repeat(np.arange(len(units)), times)
    within = np.arange(len(place)) - np.repeat(np.cumsum(times) - times, times)
    codes = captions[starts[firsts][place] + within] * n_videos + videos[place]
    return place, codes.astype(np.int64, copy=False)


def folded(text: str) -> str:
    """Return the text in the form in which the rule `FOLDED` compares it.

    The form is in Unicode NFC and case folded. White space becomes single spaces, and punctuation
    at the end is removed. A text of punctuation alone keeps it: "?" and "!" are different texts.
    """
    words = " ".join(unicodedata.normalize("NFC", text).casefold().split())
    # Case folding can undo the composition ("ΐ" becomes three characters), so compose again.
    composed = unicodedata.normalize("NFC", words)
    return _without_final_punctuation(composed) or composed


def _without_final_punctuation(text: str) -> str:
    end = len(text)
    while end and (text[end - 1].isspace() or unicodedata.category(text[end - 1])[0] == "P"):
        end -= 1
    return text[:end]

"""The elements of a caption that annotators look for in the video. Each element has its own key."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, TypeAlias

Span: TypeAlias = tuple[int, int]

KEYS: Final = 9
"""Each of the keys 1 to 9 marks one element."""

# Punctuation, including that of other scripts, and invisible direction marks. Zero-width joiners
# are not included, because they join emoji and Persian words. % and $ are not included, because
# "50%" is one element.
_BREAKS = (
    r'!"#()*,./:;<=>?@\[\\\]^`{|}~¡§«¶·»¿־،؛؟۔।॥'
    r"\u2010-\u2027\u2030-\u205e\u3001-\u3003\u3008-\u3011\u3014-\u301f・"
    r"\uff01-\uff0f\uff1a-\uff20\uff3b-\uff3d\uff5b-\uff65"
    r"\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff"
)
_LETTERS = rf"[^\s'\u2019\-{_BREAKS}]+"
_WORD = re.compile(
    r"\b(?:in\s+front\s+of|next\s+to|on\s+top\s+of|close\s+to)\b"
    rf"|{_LETTERS}(?:['\u2019\-]{_LETTERS})*",
    re.IGNORECASE,
)

# Words that separate elements. Numbers ("one", "several"), spatial words ("left", "above", "into")
# and words for people ("someone") are not included, because what they describe can be missing in a
# video.
_FUNCTION_WORDS = frozenset(
    """
    a an the this that these those some any each every all both other another such same own
    am is are was were be been being has have had having do does did doing done
    will would could may might must shall should
    i you he she it we they me him her us them my your his its our their mine yours hers ours theirs
    myself yourself himself herself itself ourselves yourselves themselves
    something anything everything who whom whose which what there here
    it's he's she's that's there's who's i'm you're we're they're i've we've they've
    and or but nor so if then than because as while when where why how whether though although since
    until whilst
    of in on at to from with for by about during like using via upon
    very just also too quite really kind sort type lot bit s t etc
    video videos clip clips footage
    """.split()
)
# At the start of a caption, one of these words is an element, because it is the only mention of a
# person: "she is dancing".
_FIRST_PERSONS = frozenset("he she they he's she's they're".split())
# These words negate the next word: "without a shirt" is one element.
_NEGATIONS = frozenset("no not never without cannot".split())
# These words belong to the previous word: "falls down". "on" is not included because of "puts on
# make-up".
_PARTICLES = frozenset("up down off out away back apart together".split())
# Directly before one of these words, a word that ends in -ing names no action: "swimming pool".
_NAMED_BY_USE = frozenset(
    "board cart glasses lot machine mall pan pin pool range ring rink room track".split()
)


def split_elements(caption: str, limit: int = KEYS) -> list[str]:
    """Return the elements of a caption: at most `limit` verbatim pieces, in order.

    Each word that can be missing on its own is an element. An adjective or a number is separate
    from its noun, so that one key can mark "red" as missing if the circle is blue. Phrases
    ("large red circle") are not kept together, because only a parser could find them. Words stay
    together if they make no sense separately: "falls down", "in front of", "swimming pool",
    "without a shirt". English function words separate elements. Other languages are split into
    words, and scripts without spaces into clauses.

    If there are more elements than `limit`, neighbours are joined in pairs, with the text between
    them. Neighbours with little text between them are joined first. If that is not enough, the
    elements are divided into `limit` groups of similar size. The result is empty only for a caption
    without a visible character. Raises ValueError for a limit below 1. The time is linear in the
    length of the caption.
    """
    if limit < 1:
        raise ValueError("limit must be at least 1")
    spans = _joined(caption, _content(caption) or _everything(caption), limit)
    return [caption[start:end] for start, end in spans]


def _content(caption: str) -> list[Span]:
    """Return the spans of the content words, with the words that belong to them."""
    spans: list[Span] = []
    negation: Span | None = None
    last_end = 0
    for match in _WORD.finditer(caption):
        start, end = match.span()
        word = match[0].casefold().replace("\u2019", "'")
        follows = caption[last_end:start].isspace()
        last_end = end
        if negation and not follows:  # punctuation separates them
            spans.append(negation)
            negation = None
        if word in _NEGATIONS or word.endswith("n't"):
            negation = negation or (start, end)
        elif _is_skipped(word, first=not spans):
            continue
        elif negation:
            spans.append((negation[0], end))
            negation = None
        elif spans and follows and _belongs(word, caption, spans[-1], start):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return [*spans, negation] if negation else spans


def _is_skipped(word: str, *, first: bool) -> bool:
    """Return whether the word names nothing that can be visible."""
    if word in _FUNCTION_WORDS:
        return not (first and word in _FIRST_PERSONS)
    return not _is_visible(word)


def _belongs(word: str, caption: str, before: Span, start: int) -> bool:
    """Return whether the word at `start` belongs to the element directly before it."""
    if not caption[before[1] : start].isspace():
        return False
    ing = caption[max(before[0], before[1] - 3) : before[1]].casefold() == "ing"
    return word in _PARTICLES or (ing and word in _NAMED_BY_USE)


def _is_visible(word: str) -> bool:
    """Return whether a word contains a letter, a digit or an emoji."""
    return any(c.isalnum() or (c > "\x7f" and c.isprintable()) for c in word)


def _everything(caption: str) -> list[Span]:
    """Return the span from the first visible character to the last."""
    seen = [at for at, c in enumerate(caption) if c.isprintable() and not c.isspace()]
    return [(seen[0], seen[-1] + 1)] if seen else []


def _joined(caption: str, spans: Sequence[Span], limit: int) -> list[Span]:
    """Return at most `limit` spans by joining neighbours."""
    if len(spans) <= limit:
        return list(spans)
    edges = _edges_of_pairs(caption, spans, len(spans) - limit) or [
        len(spans) * group // limit for group in range(limit + 1)
    ]
    return [(spans[first][0], spans[after - 1][1]) for first, after in pairwise(edges)]


def _edges_of_pairs(caption: str, spans: Sequence[Span], count: int) -> list[int]:
    """Return the edges of the groups that result when `count` pairs of neighbours are joined.

    The edges are indices into `spans`. The result is empty if there are not `count` separate pairs.
    Words of one phrase ("small yellow") are joined first, then words of two phrases ("dog on his
    face"). Words that punctuation separates are joined last.
    """
    if 2 * count > len(spans):
        return []
    gaps = [caption[left[1] : right[0]] for left, right in pairwise(spans)]
    joined: set[int] = set()  # positions of the spans that are joined to the previous span
    for gap in sorted(range(len(gaps)), key=lambda at: (_has_mark(gaps[at]), len(gaps[at]))):
        if len(joined) < count and not joined & {gap, gap + 1, gap + 2}:
            joined.add(gap + 1)
    if len(joined) < count:
        return []
    return [at for at in range(len(spans) + 1) if at not in joined]


def _has_mark(gap: str) -> bool:
    return any(not (c.isalnum() or c.isspace()) for c in gap)

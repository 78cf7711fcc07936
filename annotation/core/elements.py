"""The parts of a caption that a judge looks for in the video, one key each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, TypeAlias

Span: TypeAlias = tuple[int, int]

KEYS: Final = 9
"""The keys 1 to 9 name one element each."""

# Punctuation, also of other scripts, and invisible marks of direction. Not zero-width joiners,
# which hold emoji and Persian words together, and not % and $: "50%" is looked for as it stands.
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

# What separates. Numbers ("one", "several") and spatial words ("left", "above", "into") are not
# here, nor are words for people ("someone"): all of these can be missing in a video.
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
# People that nobody has been said to be yet: "she is dancing". Later they are known already.
_FIRST_PERSONS = frozenset("he she they he's she's they're".split())
# These turn what follows around: "without a shirt" is one thing to look for.
_NEGATIONS = frozenset("no not never without cannot".split())
# These belong to the word right before them: "falls down", "puts on make-up" is left alone.
_PARTICLES = frozenset("up down off out away back apart together".split())
# A word in -ing right before these tells which it is and is not done: "swimming pool".
_NAMED_BY_USE = frozenset(
    "board cart glasses lot machine mall pan pin pool range ring rink room track".split()
)


def split_elements(caption: str, limit: int = KEYS) -> list[str]:
    """What the caption says there is to see: verbatim pieces of it, in its order, `limit` at most.

    Each word that can be missing on its own stands on its own. An adjective or a number is apart
    from its noun, since "red" is missing where the circle is blue, and one key should say so; and
    to find where a noun ends and a verb begins ("large red circle moves left") takes a parser,
    while words need none. Together stay only what makes no sense apart: "falls down", "in front
    of", "swimming pool", "without a shirt". Function words of English separate; other languages
    come word by word, scripts without spaces clause by clause.

    Above the limit neighbours are joined, with what is between them: two by two, and first those
    with the least between; from twice the limit on in even groups. Empty only for a caption
    without any visible character; raises ValueError for a limit below 1. Takes time linear in the
    length of the caption.
    """
    if limit < 1:
        raise ValueError("limit must be at least 1")
    spans = _joined(caption, _content(caption) or _everything(caption), limit)
    return [caption[start:end] for start, end in spans]


def _content(caption: str) -> list[Span]:
    """Where the words are that are no function words, with what belongs to them."""
    spans: list[Span] = []
    negation: Span | None = None
    last_end = 0
    for match in _WORD.finditer(caption):
        start, end = match.span()
        word = match[0].casefold().replace("\u2019", "'")
        follows = caption[last_end:start].isspace()
        last_end = end
        if negation and not follows:  # a comma is between them
            spans.append(negation)
            negation = None
        if word in _NEGATIONS or word.endswith("n't"):
            negation = negation or (start, end)
        elif _is_passed_over(word, first=not spans):
            continue
        elif negation:
            spans.append((negation[0], end))
            negation = None
        elif spans and follows and _belongs(word, caption, spans[-1], start):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return [*spans, negation] if negation else spans


def _is_passed_over(word: str, *, first: bool) -> bool:
    """Whether there is nothing to look for by this word."""
    if word in _FUNCTION_WORDS:
        return not (first and word in _FIRST_PERSONS)
    return not _is_visible(word)


def _belongs(word: str, caption: str, before: Span, start: int) -> bool:
    """Whether the word at `start` is one element with the one before, if nothing is between."""
    if not caption[before[1] : start].isspace():
        return False
    ing = caption[max(before[0], before[1] - 3) : before[1]].casefold() == "ing"
    return word in _PARTICLES or (ing and word in _NAMED_BY_USE)


def _is_visible(word: str) -> bool:
    """Whether it holds a letter, a digit or a picture, rather than stray signs like + or &."""
    return any(c.isalnum() or (c > "\x7f" and c.isprintable()) for c in word)


def _everything(caption: str) -> list[Span]:
    """From the first visible character to the last."""
    seen = [at for at, c in enumerate(caption) if c.isprintable() and not c.isspace()]
    return [(seen[0], seen[-1] + 1)] if seen else []


def _joined(caption: str, spans: Sequence[Span], limit: int) -> list[Span]:
    """Neighbours as one until `limit` are left: twos, nearest first, or else even groups."""
    if len(spans) <= limit:
        return list(spans)
    edges = _edges_of_pairs(caption, spans, len(spans) - limit) or [
        len(spans) * group // limit for group in range(limit + 1)
    ]
    return [(spans[first][0], spans[after - 1][1]) for first, after in pairwise(edges)]


def _edges_of_pairs(caption: str, spans: Sequence[Span], count: int) -> list[int]:
    """Where groups begin and end if `count` neighbours are joined; none where that many cannot be.

    Words of one phrase ("small yellow") come before words of two ("dog on his face"), and these
    before words with a comma between.
    """
    if 2 * count > len(spans):
        return []
    gaps = [caption[left[1] : right[0]] for left, right in pairwise(spans)]
    joined: set[int] = set()  # numbers of the spans that one is joined to from the left
    for gap in sorted(range(len(gaps)), key=lambda at: (_has_mark(gaps[at]), len(gaps[at]))):
        if len(joined) < count and not joined & {gap, gap + 1, gap + 2}:
            joined.add(gap + 1)
    if len(joined) < count:
        return []
    return [at for at in range(len(spans) + 1) if at not in joined]


def _has_mark(gap: str) -> bool:
    return any(not (c.isalnum() or c.isspace()) for c in gap)

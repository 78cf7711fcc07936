"""The parts of captions that a detector compares: the caption, its verb phrases, or noun and verb.

Verb phrases follow from rules over the tags of HanTa. A verb phrase is a verb with its auxiliaries
and particles, and what follows up to the next boundary of a clause: punctuation, a conjunction
before a verb, or a subordinating word. Nested phrases are phrases, too: "start dancing" contains
"dancing". The nouns of a verb phrase are those between the preceding boundary and the phrase. If
there are none, as in "opens a door and leaves", or the phrase is nested, they are those of the
preceding verb phrase.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Final

import numpy as np

from hearth.shared.progress import Progress, no_progress
from pooling.core.arrays import Int64s
from pooling.core.proxies.parsing import TAGGING, Tagger, Token

# Prefixes of the tags of the British National Corpus.
_AUXILIARIES: Final = ("VB", "VD", "VH", "VM")
_SUBORDINATING: Final = ("CJS", "CJT", "PNQ", "DTQ", "AVQ")
_NOUNS: Final = ("NN", "NP")
_BETWEEN: Final = ("XX", "AV0")  # "not" and adverbs, between auxiliaries and verb
# The tagger often takes a verb in the base form for a noun or an adjective: "person open a door".
_BEFORE_VERB: Final = (*_NOUNS, "PNP", "PNI")
_AFTER_VERB: Final = ("AT", "DPS", "DT0", "PNP", "AVP", "VVG")
_NO_GERUND_AFTER: Final = ("AT", "DPS", "DT0", "AJ", "PRP", "PRF")


class Detector(StrEnum):
    """Which parts of captions are compared. Every detector compares the whole captions, too."""

    SENT = "sent"
    VP = "vp"
    NP_VP = "np-vp"


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """The parts of captions.

    texts: the different parts. of: the numbers of the parts of all captions, one caption after the
    other, each beginning with the caption itself, int64 [n]. starts: where the parts of each
    caption begin in `of`, int64 [n_captions].
    """

    texts: list[str]
    of: Int64s
    starts: Int64s


def parts_of_captions(
    captions: Sequence[str], detector: Detector, progress: Progress = no_progress
) -> Parts:
    numbers: dict[str, int] = {}
    of: list[int] = []
    starts: list[int] = []
    tagger = None if detector is Detector.SENT else Tagger()
    for place, caption in enumerate(captions):
        if place % 100 == 0:
            progress(place, len(captions), TAGGING)
        starts.append(len(of))
        parts = [caption] if tagger is None else parts_of(caption, detector, tagger)
        of += [numbers.setdefault(part, len(numbers)) for part in parts]
    return Parts(list(numbers), np.array(of, np.int64), np.array(starts, np.int64))


def parts_of(caption: str, detector: Detector, tagger: Tagger) -> list[str]:
    """Return the caption and its parts, each once."""
    parts = [caption]
    if detector is not Detector.SENT:
        for nouns, phrase in verb_phrases(caption, tagger):
            parts += [phrase] if detector is Detector.VP else [f"{n} {phrase}" for n in nouns]
    return list(dict.fromkeys(parts))


def verb_phrases(caption: str, tagger: Tagger) -> list[tuple[list[str], str]]:
    """Return each verb phrase with its nouns, in the order of the caption."""
    tokens = tagger.tokens(caption)
    tags = _corrected(tokens, tagger)
    found: list[tuple[list[str], str]] = []
    nouns: list[str] = []
    clause, end = 0, -1  # where nouns may begin; the last token of the latest phrase
    for verb in _main_verbs(tags):
        start = _first_auxiliary(tags, verb)
        if verb > end:
            between = range(clause, start)
            own = [tokens[at].text for at in between if tags[at].startswith(_NOUNS)]
            nouns = own or nouns
            end = next((at for at in range(verb + 1, len(tags)) if _is_boundary(tags, at)), -1)
            end = len(tags) - 1 if end < 0 else end - 1
            clause = end + 1
        found.append((nouns, caption[tokens[start].start : tokens[end].end]))
    return found


def _main_verbs(tags: Sequence[str]) -> list[int]:
    """Return the verbs that begin a phrase. An auxiliary is one if no verb follows it."""
    return [
        at
        for at, tag in enumerate(tags)
        if tag.startswith("VV") or (tag.startswith(_AUXILIARIES) and not _has_verb(tags, at))
    ]


def _has_verb(tags: Sequence[str], auxiliary: int) -> bool:
    following = (tag for tag in tags[auxiliary + 1 :] if not tag.startswith(_BETWEEN))
    return next(following, "").startswith("V")


def _first_auxiliary(tags: Sequence[str], verb: int) -> int:
    first = at = verb
    while at and tags[at - 1].startswith((*_AUXILIARIES, *_BETWEEN)):
        at -= 1
        if tags[at].startswith(_AUXILIARIES):
            first = at
    return first


def _is_boundary(tags: Sequence[str], at: int) -> bool:
    if tags[at].startswith(("PUN", "PUQ", *_SUBORDINATING)):
        return True
    following = (tag for tag in tags[at + 1 :] if not tag.startswith(_BETWEEN))
    return tags[at] == "CJC" and next(following, "").startswith("V")


def _corrected(tokens: Sequence[Token], tagger: Tagger) -> list[str]:
    """Return the tags, with verbs that the tagger took for nouns or adjectives."""
    tags = [token.tag for token in tokens]
    for at, token in enumerate(tokens):
        before = tags[at - 1] if at else ""
        if (
            tags[at] == "NN1"
            and token.text.lower().endswith("ing")
            and before
            and not before.startswith(_NO_GERUND_AFTER)
        ):
            tags[at] = "VVG"
    for at in range(1, len(tokens)):
        following = tags[at + 1] if at + 1 < len(tags) else ""
        if following.startswith(_AFTER_VERB) and _may_be_verb(tokens, tags, at, tagger):
            tags[at] = "VVB"
    bounds = [-1, *(at for at in range(len(tags)) if _is_boundary(tags, at)), len(tags)]
    for start, end in pairwise(bounds):
        if not any(tag.startswith("V") for tag in tags[start + 1 : end]):
            places = range(start + 2, end)
            verb = next((at for at in places if _may_be_verb(tokens, tags, at, tagger)), None)
            if verb is not None:
                tags[verb] = "VVB"
    return tags


def _may_be_verb(tokens: Sequence[Token], tags: Sequence[str], at: int, tagger: Tagger) -> bool:
    """Return whether a word after a noun or pronoun can be a verb in the present tense."""
    if not (tags[at].startswith(("NN", "AJ0", "AV0")) and tags[at - 1].startswith(_BEFORE_VERB)):
        return False
    return not tagger.tags_of(tokens[at].text).isdisjoint({"VVB", "VVI", "VVZ"})

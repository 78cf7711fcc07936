"""The word sets of the proxies BoW, PoS and SYN.

A row or column of a proxy's matrix stands for a group of captions: all captions of a video, or a
single caption. BoW has one set of words per group, and PoS and SYN have two, one of verbs and one
of nouns. A set contains the words that are in at least `percent` % of the captions of the group
(see `frequent_words`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final, TypeAlias

from pooling.core.proxies.parsing import ParsedCaption, Word
from pooling.core.proxies.senses import Senses
from pooling.core.proxies.stop_words import StopWords
from pooling.core.proxies.word_sets import Words, WordSets, frequent_words
from pooling.core.proxies.wordnet import Part

CaptionGroups: TypeAlias = Sequence[Sequence[str]]
ParsedGroups: TypeAlias = Sequence[Sequence[ParsedCaption]]
VerbsAndNouns: TypeAlias = tuple[WordSets, WordSets]

PERCENT: Final = 25
"""A video with 20 captions keeps the words that at least 5 of them contain."""

_NOUN_SEPARATOR: Final = ":"


class Split(StrEnum):
    """The rule by which captions are split into words.

    SPACES is the rule of the published code: two spaces in a row give an empty word.
    """

    SPACES = "single spaces"
    WHITE_SPACE = "white space"

    def words(self, caption: str) -> list[str]:
        return caption.split(" ") if self is Split.SPACES else caption.split()


def bag_of_words(
    groups: CaptionGroups,
    stop_words: StopWords,
    *,
    split: Split = Split.SPACES,
    percent: int = PERCENT,
) -> tuple[WordSets]:
    """Return the words of each group, without stop words. Case and punctuation are kept."""
    return (
        [
            frequent_words([set(split.words(c)) - stop_words.words for c in group], percent)
            for group in groups
        ],
    )


def parts_of_speech(
    groups: ParsedGroups, *, split_nouns: bool = False, percent: int = PERCENT
) -> VerbsAndNouns:
    """Return the verbs and the nouns of each group, as they are written.

    split_nouns: divide nouns such as "spoon:wooden" of EPIC-KITCHENS at the colon.
    """
    separator = _NOUN_SEPARATOR if split_nouns else None
    return (
        [frequent_words([_texts(c.verbs) for c in group], percent) for group in groups],
        [frequent_words([_texts(c.nouns, separator) for c in group], percent) for group in groups],
    )


def word_senses(groups: ParsedGroups, senses: Senses, *, percent: int = PERCENT) -> VerbsAndNouns:
    """Return the senses of the verbs and of the nouns of each group.

    Wray et al. (see `pooling.core.proxies`) do not define the context of a word in several
    captions. Here it is the words of all captions of the group, split at white space.
    """
    verbs, nouns = [], []
    for group in groups:
        context = frozenset(word for caption in group for word in caption.text.split())
        kept = frequent_words([caption.verbs for caption in group], percent)
        verbs.append(_senses(kept, Part.VERB, context, senses))
        kept = frequent_words([caption.nouns for caption in group], percent)
        nouns.append(_senses(kept, Part.NOUN, context, senses))
    return verbs, nouns


def _texts(words: Iterable[Word], separator: str | None = None) -> set[str]:
    texts = {word.text for word in words}
    return {piece for text in texts for piece in text.split(separator)} if separator else texts


def _senses(words: frozenset[Word], part: Part, context: frozenset[str], senses: Senses) -> Words:
    return frozenset(senses.sense(word, part, context) for word in words)

"""The senses of verbs and nouns for the proxy SYN: classes of a table, or synsets of WordNet."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, Protocol, TypeAlias, TypeVar

from pooling.core.lines import TextBlocks
from pooling.core.proxies.parsing import Word
from pooling.core.proxies.wordnet import Part, Sense, WordNet
from pooling.core.table import CsvTable

Item = TypeVar("Item", str, int)


def read_list(text: str | None, kind: type[Item]) -> list[Item] | None:
    """Return the list that a cell contains, or None if it contains anything else."""
    try:
        found = ast.literal_eval(text or "")
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    is_list = isinstance(found, list) and all(type(item) is kind for item in found)
    return found if is_list else None


Lemma: TypeAlias = Callable[[Word, Part], str]
"""A function that returns the lemma of a word."""

_COLUMNS: Final = ("id", "instances")


class Senses(Protocol):
    """The senses of words in a context, which is the set of the words around them."""

    @property
    def name(self) -> str: ...

    def sense(self, word: Word, part: Part, context: frozenset[str]) -> Hashable:
        """Return the sense of a word. A word without a known sense is its own sense, as text."""
        ...


def lemma_of_tagger(word: Word, part: Part) -> str:
    """Return the lemma that the tagger found."""
    return word.lemma


def lemma_of_wordnet(wordnet: WordNet) -> Lemma:
    """Return a function that looks lemmas up in WordNet, as the published code does."""
    return cache(lambda word, part: wordnet.lemma(word.text, part))


@dataclass(frozen=True, slots=True, eq=False)
class ClassTable:
    """The classes of verbs and nouns of a data set, such as EPIC-KITCHENS.

    A word without a class forms its own class.
    """

    classes: Mapping[Part, Mapping[str, int]]
    lemma: Lemma = lemma_of_tagger
    name: str = "table of classes"

    def sense(self, word: Word, part: Part, context: frozenset[str]) -> Hashable:
        lemma = self.lemma(word, part)
        return self.classes[part].get(lemma, lemma)


def read_classes(blocks: TextBlocks) -> dict[str, int]:
    """Return the class of each word of a table with the columns `id` and `instances`.

    `instances` is a list of words in Python's notation, as in EPIC-KITCHENS-100. Raises
    InvalidInput if a column is missing, a row cannot be read, or a word is in two classes.
    """
    table = CsvTable(blocks, _COLUMNS)
    classes: dict[str, int] = {}
    for line, (number, instances) in table:
        words = read_list(instances, str)
        if words is None or not number.isdecimal():
            reason = "expected a whole number as id, and a list of words as instances"
            table.refuse(reason, line)
        for word in words:
            if classes.setdefault(word, int(number)) != int(number):
                reason = f"{word!r} is in the classes {classes[word]} and {int(number)}"
                table.refuse(reason, line)
    return classes


@dataclass(frozen=True, slots=True, eq=False)
class Lesk:
    """Synsets of WordNet, chosen by simplified Lesk.

    The sense of a word is the synset whose definition contains the most distinct words of the
    context. Among equal synsets, the first one is used. Kilgarriff and Rosenzweig, "English
    SENSEVAL", LREC 2000. A word without a synset forms its own sense.
    """

    wordnet: WordNet
    lemma: Lemma
    _definition: Callable[[Sense], frozenset[str]]

    @classmethod
    def of(cls, wordnet: WordNet) -> Lesk:
        """Return Lesk with WordNet's own lemmas."""
        definition = cache(lambda sense: frozenset(wordnet.definition(sense).split()))
        return cls(wordnet, lemma_of_wordnet(wordnet), definition)

    @property
    def name(self) -> str:
        return f"{self.wordnet.version}, simplified Lesk"

    def sense(self, word: Word, part: Part, context: frozenset[str]) -> Hashable:
        senses = self.wordnet.senses(self.lemma(word, part), part)
        # `max` returns the first of equal ones.
        return max(senses, key=lambda s: len(context & self._definition(s)), default=word.text)

"""Search for words in many texts, without reading the texts again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pooling.core.arrays import Int32s, Int64s


@dataclass(frozen=True, slots=True, eq=False)
class WordIndex:
    """The different words of n texts, each with the numbers of the texts that contain it.

    words: case folded. starts: int64 [n_words + 1], so that `numbers[starts[i]:starts[i + 1]]` are
    the texts with the word i. numbers: int32, ascending for each word.
    """

    words: Sequence[str]
    starts: Int64s
    numbers: Int32s
    n_texts: int

    @classmethod
    def of(cls, texts: Iterable[str]) -> WordIndex:
        """Index texts by their words, which white space separates."""
        found: dict[str, list[int]] = {}
        n_texts = 0
        for number, text in enumerate(texts):
            n_texts = number + 1
            for word in set(text.casefold().split()):
                found.setdefault(word, []).append(number)
        sizes = np.fromiter(map(len, found.values()), np.int64, len(found))
        numbers = [number for of_word in found.values() for number in of_word]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return cls(list(found), starts, np.array(numbers, np.int32), n_texts)

    def containing(self, search: str) -> Int64s:
        """Return the numbers of the texts that contain all parts of `search`, int64 [n], ascending.

        search: parts of words, separated by white space, in upper or lower case. For each
        part, the time is at most linear in the size of the index.
        """
        is_found = np.ones(self.n_texts, np.bool_)
        for part in search.casefold().split():
            has_part = np.zeros(self.n_texts, np.bool_)
            for place, word in enumerate(self.words):
                if part in word:
                    has_part[self.numbers[self.starts[place] : self.starts[place + 1]]] = True
            is_found &= has_part
        return np.flatnonzero(is_found)

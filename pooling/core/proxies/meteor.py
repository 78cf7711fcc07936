"""The proxy METEOR, for all pairs of captions.

Banerjee and Lavie, "METEOR: An automatic metric for MT evaluation", ACL workshop 2005. The
weights are those of NLTK's `single_meteor_score`. The caption of the row is the reference, and the
caption of the column is the hypothesis. Both are in lower case and split at white space.

Words are matched in three stages: equal words, equal stems (Porter, with NLTK's extensions), and
synonyms of WordNet. Each stage goes through the unmatched words of the hypothesis, from the last to
the first. Each of them takes the last matching word of the reference that is still free.

All references are matched with a hypothesis at once. Bit b of an integer stands for the word b of a
reference, counted from its end. The lowest bit of a set of free words is therefore the last word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from functools import cache, lru_cache
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from hearth.shared.progress import Progress, no_progress
from pooling.core.arrays import Bools, Float64s, Int64s
from pooling.core.proxies.word_sets import COMPARING, Matrix, distinct
from pooling.core.proxies.wordnet import WordNet
from pooling.core.proxies.words import CaptionGroups

Bits: TypeAlias = npt.NDArray[Any]
"""int64, or Python integers as objects for references of more than `_BITS` words."""

Found: TypeAlias = tuple[Int64s, Bits]
"""The numbers of some references, and the bits of the positions in each."""

# The weight of recall in the harmonic mean of precision and recall. Precision has the rest.
ALPHA: Final = 0.9
# The score is this mean * (1 - GAMMA * fragmentation^BETA). The fragmentation is the number of
# chunks (see `_chunks`) divided by the number of matched words.
BETA: Final = 3
GAMMA: Final = 0.5

# The number of words whose positions fit an int64, which has a sign.
_BITS: Final = 63
# The number of hypothesis words whose matches of the third stage stay in memory.
_CACHED: Final = 4096
# The number of columns of the matrix that are computed and written at once.
_BLOCK_COLUMNS: Final = 128


class Synonyms(StrEnum):
    """The words whose synonyms are looked up in the third stage.

    OF_STEMS is the rule of NLTK. It loses synonyms, because many stems, such as "automobil", are
    not in WordNet. OF_WORDS looks up the words before they are stemmed.
    """

    OF_STEMS = "of stems (as NLTK)"
    OF_WORDS = "of words"


def fill_meteor(
    out: Matrix,
    rows: CaptionGroups,
    columns: CaptionGroups,
    wordnet: WordNet,
    synonyms: Synonyms = Synonyms.OF_STEMS,
    progress: Progress = no_progress,
) -> None:
    """Write METEOR of all pairs of caption groups into `out`, [n_rows, n_columns].

    Groups with several captions are compared by the match kernel (Lyu, "Mercer kernels for object
    recognition with local features", CVPR 2005). Each caption of a group has a highest score with
    the captions of the other group. The kernel is the mean of two numbers: the mean of these scores
    over the captions of the row's group, and their mean over those of the column's group. It is 0
    if a group is empty. Raises ValueError if `out` has another shape.
    """
    if out.shape != (len(rows), len(columns)):
        raise ValueError("the matrix must have a cell for each row and column")
    row_groups, row_numbers = distinct([tuple(group) for group in rows])
    column_groups, column_numbers = distinct([tuple(group) for group in columns])
    texts, members = distinct([text for group in row_groups for text in group])
    references = _References(texts, _Words(wordnet, synonyms))
    kernel = _Kernel(members, np.array([len(group) for group in row_groups], np.int64))
    order = np.argsort(column_numbers, kind="stable")
    for start in range(0, len(order), _BLOCK_COLUMNS):
        places = order[start : start + _BLOCK_COLUMNS]
        progress(start, len(order), COMPARING)
        numbers = column_numbers[places]
        first = int(numbers[0]) if len(numbers) else 0
        scores = [
            kernel.compare(np.array([references.scores(text) for text in group]))
            for group in column_groups[first : int(numbers[-1]) + 1]
        ]
        out[:, places] = np.array(scores)[numbers - first][:, row_numbers].T


class _Kernel:
    """The match kernel of the groups of all rows with the group of one column.

    members: the numbers of the captions of all groups, group after group, int64 [m]. sizes: the
    number of captions of each group, int64 [n_rows].
    """

    def __init__(self, members: Int64s, sizes: Int64s) -> None:
        self._members, self._sizes = members, sizes
        self._filled = np.flatnonzero(sizes)
        self._starts = (np.cumsum(sizes) - sizes)[self._filled]

    def compare(self, scores: Float64s) -> Float64s:
        """Return the kernel of each row with a column, float64 [n_rows].

        scores: METEOR of the captions of the column's group, [n_captions, n_references].
        """
        kernels = np.zeros(len(self._sizes))
        if scores.size:
            of_rows = np.add.reduceat(scores.max(axis=0)[self._members], self._starts)
            highest = np.maximum.reduceat(scores[:, self._members], self._starts, axis=1)
            means = of_rows / self._sizes[self._filled]
            kernels[self._filled] = (means + highest.mean(axis=0)) / 2
        return kernels


class _Words:
    """Stems and synonyms of words."""

    def __init__(self, wordnet: WordNet, synonyms: Synonyms) -> None:
        from nltk.stem.porter import PorterStemmer  # slow to import

        self.stem = cache(PorterStemmer().stem)
        self._synonyms = cache(wordnet.synonyms)
        self._of_stems = synonyms is Synonyms.OF_STEMS

    def looked_up(self, word: str) -> str:
        """Return the form in which a word is looked up in WordNet and compared with synonyms."""
        return str(self.stem(word)) if self._of_stems else word

    def synonyms(self, word: str) -> frozenset[str]:
        """Return the forms that match a word of the hypothesis in the third stage."""
        return self._synonyms(self.looked_up(word))


class _References:
    """The captions of the rows, with the positions of their words."""

    def __init__(self, texts: Sequence[str], words: _Words) -> None:
        tokens = [text.lower().split() for text in texts]
        is_long = np.array([len(line) > _BITS for line in tokens], np.bool_)
        self._count = len(texts)
        self._by_length = [
            (places, _Positions([tokens[place] for place in places.tolist()], words))
            for places in (np.flatnonzero(~is_long), np.flatnonzero(is_long))
            if len(places)
        ]

    def scores(self, hypothesis: str) -> Float64s:
        """Return METEOR of a hypothesis for each reference, float64 [n_references]."""
        scores = np.zeros(self._count)
        for places, positions in self._by_length:
            scores[places] = positions.scores(hypothesis.lower().split())
        return scores


class _Index:
    """The positions of words in n references, as the bits of an integer for each reference."""

    def __init__(self, references: Iterable[Iterable[str]], n: int, dtype: type[Any]) -> None:
        self._n, self._dtype = n, dtype
        found: dict[str, dict[int, int]] = {}
        for number, words in enumerate(references):
            for bit, word in enumerate(words):
                bits = found.setdefault(word, {})
                bits[number] = bits.get(number, 0) | 1 << bit
        self._found = {
            word: (np.fromiter(bits, np.int64, len(bits)), np.array([*bits.values()], dtype))
            for word, bits in found.items()
        }

    def find(self, words: frozenset[str]) -> Found | None:
        """Return the references with any of the words, and the positions; None if none matches."""
        found = [self._found[word] for word in words if word in self._found]
        if len(found) < 2:
            return found[0] if found else None
        bits = np.zeros(self._n, self._dtype)
        for numbers, positions in found:
            bits[numbers] |= positions
        numbers = np.flatnonzero(bits)
        return numbers, bits[numbers]


class _Positions:
    """Some references. Either all or none of them have more than `_BITS` words."""

    def __init__(self, references: Sequence[Sequence[str]], words: _Words) -> None:
        sizes = [len(line) for line in references]
        self._dtype = object if max(sizes) > _BITS else np.int64
        self._sizes = np.array(sizes, np.float64)
        self._all = np.array([(1 << size) - 1 for size in sizes], self._dtype)
        exact = self._index(references, str)
        stems = self._index(references, words.stem)
        others = self._index(references, words.looked_up)
        # One function per stage, which returns the references with matches of a word.
        self._stages: tuple[Callable[[str], Found | None], ...] = (
            lambda word: exact.find(frozenset([word])),
            lambda word: stems.find(frozenset([words.stem(word)])),
            lru_cache(_CACHED)(lambda word: others.find(words.synonyms(word))),
        )

    def _index(self, references: Sequence[Sequence[str]], form: Callable[[str], str]) -> _Index:
        lines = (map(form, reversed(line)) for line in references)
        return _Index(lines, len(references), self._dtype)

    def scores(self, hypothesis: Sequence[str]) -> Float64s:
        """Return METEOR of a hypothesis for each reference, float64 [n]."""
        matched = self._match(hypothesis)
        is_matched = matched != 0
        matches = is_matched.sum(axis=0).astype(np.float64)
        precision = matches / max(1, len(hypothesis))
        recall = matches / np.maximum(self._sizes, 1)
        weighted = ALPHA * precision + (1 - ALPHA) * recall
        mean = np.divide(precision * recall, weighted, out=np.zeros_like(recall), where=matches > 0)
        fragments = _chunks(matched, is_matched) / np.maximum(matches, 1)
        scores: Float64s = mean * (1 - GAMMA * fragments**BETA)
        return scores

    def _match(self, hypothesis: Sequence[str]) -> Bits:
        """Return the bit of each match, [n_words, n]; 0 if a word has no match in a reference."""
        matched = np.zeros((len(hypothesis), len(self._sizes)), self._dtype)
        free = self._all.copy()
        for stage in self._stages:
            for place in reversed(range(len(hypothesis))):
                found = stage(hypothesis[place])
                if found is not None:
                    _match_last(matched[place], free, *found)
        return matched


def _match_last(matched: Bits, free: Bits, numbers: Int64s, positions: Bits) -> None:
    """Match a word with its last free position in each reference in which it is unmatched."""
    unmatched = matched[numbers] == 0
    numbers = numbers[unmatched]
    candidates = positions[unmatched] & free[numbers]
    last = candidates & -candidates
    matched[numbers] = last
    free[numbers] ^= last


def _chunks(matched: Bits, is_matched: Bools) -> Float64s:
    """Return the number of chunks: sequences of matched words that are adjacent in both captions.

    The result is float64 [n], with a number for each reference. A word continues a chunk if the
    previous word matches the previous position. Positions count from the end, so the bit of the
    previous position is twice the bit of this one.
    """
    continues = is_matched[1:] & (matched[:-1] == matched[1:] * 2)
    chunks: Float64s = (is_matched.sum(axis=0) - continues.sum(axis=0)).astype(np.float64)
    return chunks

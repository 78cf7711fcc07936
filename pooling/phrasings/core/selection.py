"""Selection of few phrasings that differ much from each other, the original first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from hearth.shared.progress import Progress, no_progress
from pooling.core.arrays import Float64s
from pooling.core.sentences import embed

Vectors = npt.NDArray[np.floating[Any]]

# A smaller gain of the determinant is rounding: the vectors left depend on those selected.
_LEAST_GAIN: Final = 1e-10


class Selector(StrEnum):
    FQS = "fqs"
    KDPP = "kdpp"
    RANDOM = "random"


class VectorKind(StrEnum):
    """What the distance of two texts is computed from."""

    TF_IDF = "tf-idf"
    SENTENCES = "sentences"
    UPLOADED = "uploaded"

    @property
    def label(self) -> str:
        return _LABELS[self]


_LABELS: Final = {
    VectorKind.TF_IDF: "TF-IDF vectors of the texts of each caption",
    VectorKind.SENTENCES: "Sentence embeddings",
    VectorKind.UPLOADED: "Uploaded embeddings",
}
SELECTORS: Final = {
    Selector.FQS: "Farthest query sampling",
    Selector.KDPP: "Greedy k-DPP",
    Selector.RANDOM: "Random",
}


def vectors_of_groups(
    groups: Sequence[Sequence[str]], kind: VectorKind, progress: Progress = no_progress
) -> Iterator[Vectors]:
    """Yield the vectors of the texts of each group, of length 1, the original text first.

    Raises InvalidInput if sentence embeddings are not installed. Uploaded embeddings belong to
    stored texts, so this function does not know them.
    """
    if kind is VectorKind.TF_IDF:
        yield from map(tf_idf, groups)
    elif kind is VectorKind.SENTENCES:
        embedded = embed([text for texts in groups for text in texts], progress=progress)
        start = 0
        for texts in groups:
            yield embedded[start : start + len(texts)]
            start += len(texts)
    else:
        raise ValueError("uploaded embeddings belong to stored texts")


def select(
    vectors: Vectors, count: int, selector: Selector, rng: np.random.Generator | None = None
) -> list[int]:
    """Return the numbers of the selected phrasings, the original (0) first.

    vectors: [n, d] of length 1, the original first. count: the number of phrasings to select beside
    the original. `kdpp` may find fewer. rng: needed by `random`.
    """
    if selector is Selector.FQS:
        return farthest(vectors, count)
    if selector is Selector.KDPP:
        return k_dpp(vectors @ vectors.T, count + 1)
    if rng is None:
        raise ValueError("a random selection needs a random generator")
    others = rng.permutation(np.arange(1, len(vectors)))[:count]
    return [0, *others.tolist()]


def farthest(vectors: Vectors, count: int) -> list[int]:
    """Farthest query sampling: add the vector whose least distance to the selected ones is largest.

    vectors: [n, d] of length 1. For them, cosine and Euclidean distance select the same. Of equally
    far vectors the first one is taken.
    """
    wide = np.asarray(vectors, np.float64)
    selected = [0]
    least = _distances(wide, 0)
    for _ in range(min(count, len(wide) - 1)):
        least[selected] = -np.inf
        selected.append(int(np.argmax(least)))
        least = np.minimum(least, _distances(wide, selected[-1]))
    return selected


def _distances(vectors: Float64s, number: int) -> Float64s:
    """Return 1 - cosine. Rounding does not separate vectors that are equally far."""
    return np.asarray(np.round(1 - vectors @ vectors[number], 12), np.float64)


def k_dpp(kernel: Vectors, count: int) -> list[int]:
    """Return the greedy MAP of a determinantal point process (Chen et al., NeurIPS 2018).

    kernel: [n, n], cosines, perhaps times the quality of both items. Each step adds the item by
    which the determinant of the selected part grows most, until `count` items are selected or the
    gain is below 1e-10, the rank of the kernel. The first item is the one with the largest diagonal
    entry, of equal ones the first.
    """
    gains = np.round(np.diag(kernel).astype(np.float64), 12)
    factors = np.zeros((count, len(gains)))
    selected: list[int] = []
    while len(selected) < min(count, len(gains)):
        best = int(np.argmax(gains))
        if gains[best] < _LEAST_GAIN:
            break
        done = factors[: len(selected)]
        row = (kernel[best] - done[:, best] @ done) / np.sqrt(gains[best])
        factors[len(selected)] = row
        gains = np.round(gains - row**2, 12)
        selected.append(best)
        gains[selected] = -np.inf
    return selected


def tf_idf(texts: Sequence[str]) -> Float64s:
    """Return the TF-IDF vectors of texts, float64 [n, words], of length 1.

    Words are split at white space, in lower case. A word of m texts has the weight
    ln((1 + n) / (1 + m)) + 1. A text without words has zeros.
    """
    counts = [Counter(text.lower().split()) for text in texts]
    words = {word: number for number, word in enumerate(sorted(set().union(*counts)))}
    vectors = np.zeros((len(texts), len(words)))
    for row, count in zip(vectors, counts, strict=True):
        for word, times in count.items():
            row[words[word]] = times
    vectors *= np.log((1 + len(texts)) / (1 + np.count_nonzero(vectors, axis=0))) + 1
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), np.float64)

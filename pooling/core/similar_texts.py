"""Candidate pairs from captions with similar texts.

Two captions that use the same rare words often describe each other's videos as well. The similarity
of two texts is the cosine of their TF-IDF vectors: Salton & Buckley, "Term-weighting approaches in
automatic text retrieval", Information Processing & Management 24, 1988.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from pooling.core.arrays import Float64s, Int64s
from pooling.core.equal_texts import expand_text_pairs, text_pair_codes
from pooling.core.lines import Progress
from pooling.core.pair_space import PairSpace
from pooling.core.pool import new_codes, union_codes

Vectors: TypeAlias = Any
"""A scipy `csr_array` of float64 with one row for each text. scipy has no type annotations."""

# Similarities are rounded to this number of decimals. Machines therefore select the same texts even
# if their arithmetic differs in the last bit.
DECIMALS = 5
# The number of texts that are compared with all others at once. More texts need more memory.
BLOCK = 250
# The weights of words in more than this share of the texts are in a dense array. With words such as
# "a" in a sparse array, the multiplication would take minutes.
COMMON = 0.01

_WORD = re.compile(r"\w+")


def similar_texts(
    texts: Sequence[str], count: int, lowest: float, progress: Progress | None = None
) -> tuple[Int64s, Int64s]:
    """Return pairs of a text and one of its `count` most similar texts, int64 [m] each.

    Only pairs with a similarity above 0 and at least `lowest` are returned. Among equally similar
    texts, the first ones are taken. The pairs are ordered by the first text.
    """
    vectors = tf_idf(texts)
    is_common = np.bincount(vectors.indices, minlength=vectors.shape[1]) > COMMON * len(texts)
    common = vectors[:, np.flatnonzero(is_common)].toarray()
    rare = vectors[:, np.flatnonzero(~is_common)]
    rare_of_others = rare.T.tocsr()
    found = [(np.empty(0, np.int64), np.empty(0, np.int64))]
    for start in range(0, len(texts), BLOCK):
        if progress:
            progress(start, len(texts))
        block = slice(start, start + BLOCK)
        cosines = common[block] @ common.T
        some = (rare[block] @ rare_of_others).tocoo()
        cosines[some.row, some.col] += some.data
        found.append(_nearest(cosines, start, count, lowest))
    return np.concatenate([rows for rows, _ in found]), np.concatenate([near for _, near in found])


def tf_idf(texts: Sequence[str]) -> Vectors:
    """Return one row per text, float64 [n_texts, n_words].

    The weight of a word is its count in the text times 1 + ln((1 + n_texts) / (1 + m)), where m is
    the number of texts with the word. Rows are divided by their Euclidean norm. The row of a text
    without words is 0.
    """
    from scipy import sparse  # type: ignore[import-untyped]  # slow to import

    numbers: dict[str, int] = {}
    words = [
        [numbers.setdefault(word, len(numbers)) for word in _WORD.findall(text.casefold())]
        for text in texts
    ]
    rows = np.repeat(np.arange(len(texts)), [len(line) for line in words])
    columns = np.array([number for line in words for number in line], dtype=np.int64)
    shape = (len(texts), len(numbers))
    counts = sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=shape).tocsr()
    texts_of_word = np.bincount(counts.indices, minlength=len(numbers))
    counts.data *= 1 + np.log((1 + len(texts)) / (1 + texts_of_word[counts.indices]))
    row_of = np.repeat(np.arange(len(texts)), np.diff(counts.indptr))
    lengths = np.sqrt(np.bincount(row_of, weights=counts.data**2, minlength=len(texts)))
    counts.data /= lengths[row_of]
    return counts


def _nearest(cosines: Float64s, start: int, count: int, lowest: float) -> tuple[Int64s, Int64s]:
    """Return pairs of texts as `similar_texts` does, for one block of texts.

    cosines: [n_rows, n_texts], the similarities of the texts from number `start` to all texts.
    """
    # A lower bound selects candidates, because a similarity just below `lowest` may be rounded up.
    rows, near = np.nonzero(cosines >= lowest - 0.5 * 10.0**-DECIMALS)
    similar = np.round(cosines[rows, near], DECIMALS)
    kept = (near != rows + start) & (similar >= lowest) & (similar > 0)
    rows, near, similar = rows[kept], near[kept], similar[kept]
    order = np.lexsort((near, -similar, rows))
    rows, near = rows[order], near[order]
    sizes = np.bincount(rows, minlength=len(cosines))
    place = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return rows[place < count] + start, near[place < count]


def matched_pairs(
    texts: Sequence[str],
    first_equal: Int64s,
    originals: Int64s,
    space: PairSpace,
    *,
    count: int,
    lowest: float,
    progress: Progress | None = None,
) -> Int64s:
    """Return the pairs of each caption with the original positives of similar texts, ascending.

    Equal captions count as similar. Pairs that are original positives themselves are left out.

    texts: all captions. first_equal: int64 [n_queries], see `equal_texts.first_equal`. originals:
    ascending codes of the original positives. count, lowest: see `similar_texts`.
    """
    firsts = np.flatnonzero(first_equal == np.arange(len(first_equal)))
    rows, near = similar_texts(
        [texts[number] for number in firsts.tolist()], count, lowest, progress
    )
    own = union_codes([text_pair_codes(originals, first_equal, space)])
    owners, videos = space.decode(own)
    starts = np.searchsorted(owners, firsts[near])
    sizes = np.searchsorted(owners, firsts[near], side="right") - starts
    within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    found = space.encode(np.repeat(firsts[rows], sizes), videos[np.repeat(starts, sizes) + within])
    _, pairs = expand_text_pairs(union_codes([found, own]), first_equal, space)
    return new_codes(union_codes([pairs]), originals)

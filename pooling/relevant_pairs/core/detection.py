"""Detecting pairs of captions that share an action (Maeoki et al., equations 5 to 8)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from hearth.shared.progress import Progress, no_progress
from pooling.core.arrays import Bools, Float32s, Int64s
from pooling.core.proxies.word_sets import COMPARING, Matrix
from pooling.relevant_pairs.core.phrases import Parts

_BLOCK_CELLS: Final = 4 << 20
ROW: Final = np.dtype(
    [("caption", "<i4"), ("other", "<i4"), ("similarity", "<f4"), ("confidence", "<f4")]
)
"""A detected pair of different captions. The pair stands for both directions."""


@dataclass(frozen=True, slots=True, eq=False)
class Detected:
    """Detected pairs of texts, sorted by `first`, then `second`; `first` <= `second`.

    first, second: the places of the texts, int64 [n]. similarity: the highest cosine of a part of
    the one and a part of the other, float32 [n]. confidence: the cosine of the texts themselves,
    0 if it is negative, float32 [n].
    """

    first: Int64s
    second: Int64s
    similarity: Float32s
    confidence: Float32s

    def __len__(self) -> int:
        return len(self.first)

    def at_least(self, threshold: float) -> Detected:
        return self.where(self.similarity >= np.float32(threshold))

    def where(self, kept: Bools) -> Detected:
        return Detected(
            self.first[kept], self.second[kept], self.similarity[kept], self.confidence[kept]
        )


def detect(
    parts: Parts,
    vectors: Float32s,
    threshold: float,
    progress: Progress = no_progress,
    cells: int = _BLOCK_CELLS,
) -> Detected:
    """Return the pairs of different texts with a similarity of at least `threshold`.

    vectors: a vector of length 1 for each different part, float32 [n_parts, d]. cells: the
    number of cosines that are computed at once. Only the detected pairs are kept.
    """
    found = list(_blocks(parts, vectors, np.float32(threshold), progress, cells))
    columns = [np.concatenate(column) for column in zip(*found, strict=True)]
    return Detected(*columns) if found else Detected(*_NO_PAIRS)


_NO_PAIRS: Final = (*(np.empty(0, np.int64),) * 2, *(np.empty(0, np.float32),) * 2)
Columns = tuple[Int64s, Int64s, Float32s, Float32s]


def _blocks(
    parts: Parts, vectors: Float32s, threshold: np.float32, progress: Progress, cells: int
) -> Iterator[Columns]:
    n_texts, ends = len(parts.starts), np.append(parts.starts[1:], len(parts.of))
    rows = vectors[parts.of]
    whole = rows[parts.starts]
    first = 0
    while first < n_texts:
        progress(first, n_texts, COMPARING)
        begin = parts.starts[first]
        most = begin + max(1, cells // (len(rows) - begin))
        last = max(first + 1, int(np.searchsorted(ends, most, side="right")))
        cosines = rows[begin : ends[last - 1]] @ rows[begin:].T
        similarity = maxima(cosines, parts.starts[first:last] - begin, parts.starts[first:] - begin)
        is_later = np.arange(n_texts - first) > np.arange(last - first)[:, None]
        own, other = np.nonzero((similarity >= threshold) & is_later)
        confidence = (whole[first:last] @ whole[first:].T)[own, other]
        yield own + first, other + first, similarity[own, other], np.clip(confidence, 0, 1)
        first = last


def maxima(cosines: Matrix, row_starts: Int64s, column_starts: Int64s) -> Float32s:
    """Return the highest cosine of each pair of texts, float32 [n_row_texts, n_column_texts].

    cosines: those of the parts, [n_row_parts, n_column_parts]. row_starts, column_starts: where the
    parts of each text begin, from 0 and ascending.
    """
    highest: Float32s = np.maximum.reduceat(cosines, row_starts, axis=0)
    return np.maximum.reduceat(highest, column_starts, axis=1)


def with_equal_texts(detected: Detected, first_equal: Int64s) -> Detected:
    """Name texts by their first captions, and add the pairs of captions with the same text.

    first_equal: the first caption with the text of each caption, int64 [n_captions]. The texts are
    in the order of these first captions. A text with several captions is a pair with itself, of
    similarity and confidence 1.
    """
    captions, sizes = np.unique(first_equal, return_counts=True)
    equal = captions[sizes > 1]
    first = np.concatenate([captions[detected.first], equal])
    second = np.concatenate([captions[detected.second], equal])
    ones = np.ones(len(equal), np.float32)
    order = np.lexsort((second, first))
    return Detected(
        first[order],
        second[order],
        np.concatenate([detected.similarity, ones])[order],
        np.concatenate([detected.confidence, ones])[order],
    )


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Pairs of captions in one direction: the moment of `other` is a candidate for `query`.

    index: the place of the pair in `Detected`. All are int64 [n].
    """

    query: Int64s
    other: Int64s
    index: Int64s


def candidates_of(detected: Detected, first_equal: Int64s, queries: Int64s) -> Candidates:
    """Return the candidates for some captions, in the order of `queries`, then of `other`."""
    n_captions = len(first_equal)
    rows = np.concatenate([detected.first, detected.second])
    columns = np.concatenate([detected.second, detected.first])
    index = np.tile(np.arange(len(detected)), 2)
    is_double = np.concatenate([np.zeros(len(detected), bool), detected.first == detected.second])
    wanted = np.zeros(n_captions, bool)
    wanted[first_equal[queries]] = True
    kept = np.flatnonzero(wanted[rows] & ~is_double)
    kept = kept[np.argsort(rows[kept], kind="stable")]
    pair, at = expand(rows[kept], n_captions, first_equal[queries])
    text, other = expand(np.asarray(first_equal), n_captions, columns[kept][at])
    query, place, others = queries[pair[text]], index[kept][at][text], other
    order = np.lexsort((others, pair[text]))
    query, place, others = query[order], place[order], others[order]
    is_other = query != others
    return Candidates(query[is_other], others[is_other], place[is_other])


def expand(groups: Int64s, n_groups: int, wanted: Int64s) -> tuple[Int64s, Int64s]:
    """Return all members of the wanted groups.

    groups: the group of each member, int64 [n]. Returns for each member the place in `wanted`, and
    the member, int64 [m] each.
    """
    members = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups, minlength=n_groups)
    starts = np.cumsum(sizes) - sizes
    times = sizes[wanted]
    place = np.repeat(np.arange(len(wanted)), times)
    within = np.arange(len(place)) - np.repeat(np.cumsum(times) - times, times)
    return place, members[starts[wanted][place] + within]


def fill_confidence(
    out: Matrix,
    detected: Detected,
    first_equal: Int64s,
    positives: tuple[Int64s, Int64s],
    progress: Progress = no_progress,
) -> None:
    """Write the highest confidence of a candidate for each caption and video into `out`.

    out: zeros, [n_captions, n_videos]. positives: the captions and videos of the original
    positives, int64 [n] each. The candidates of a caption are in the videos of other captions.
    """
    n_captions, n_videos = out.shape
    step = max(1, _BLOCK_CELLS // max(n_captions, n_videos))
    for start in range(0, n_captions, step):
        progress(start, n_captions, "storing candidates")
        queries = np.arange(start, min(start + step, n_captions))
        found = candidates_of(detected, first_equal, queries)
        of, at = expand(positives[0], n_captions, found.other)
        cells = (found.query[of] - start) * n_videos + positives[1][at]
        block = np.zeros(len(queries) * n_videos, np.float32)
        np.maximum.at(block, cells, detected.confidence[found.index[of]])
        out[start : start + step] = block.reshape(-1, n_videos)

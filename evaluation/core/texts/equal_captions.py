"""Original positives that are shared among captions with equal texts.

A captioning data set marks only the video for which a caption was written. If the same text was
also written for another video, the text matches both videos.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import BoolArray, GainArray, IntArray, dense_groups
from evaluation.core.relevance.judged import Judged, with_positives
from pooling.core.pair_space import PairSpace


def share_positives(original: Judged, groups: npt.ArrayLike) -> Judged:
    """Return `original` with the positives of each caption added to all captions of its group.

    groups: integers [n_queries]; captions with equal texts have the same number. If several
    captions of a group have the same video as a positive, the highest gain counts.
    Raises ValueError if there is not one group number for each query.
    """
    group = dense_groups(groups, original.n_queries, "groups")
    positives, gains = original.positives()
    if not len(positives):
        return original
    space = original.space
    query, video = space.decode(positives)
    merged, best = _merge(space.encode(group[query], video), gains)
    # The pairs of each group are a slice of `merged`; each caption takes the slice of its group.
    edges = space.encode(np.arange(int(group.max()) + 2), 0)
    bounds = np.searchsorted(merged, edges)
    counts = np.diff(bounds)[group]
    starts = np.cumsum(counts) - counts
    places = np.repeat(bounds[group] - starts, counts) + np.arange(counts.sum())
    captions = np.repeat(np.arange(original.n_queries, dtype=np.int64), counts)
    codes = space.encode(captions, space.videos(merged[places]))
    shared = Judged(codes, best[places], original.n_queries, original.n_videos)
    return with_positives(original, shared)


def _merge(codes: IntArray, gains: GainArray) -> tuple[IntArray, GainArray]:
    """Return each code once, ascending, with its highest gain."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    return ordered[starts], np.maximum.reduceat(gains[order], starts)


def added_codes(original: Judged, shared: Judged) -> IntArray:
    """Return the codes of the positives of `shared` that `original` does not have, ascending."""
    before, _ = original.positives()
    after, _ = shared.positives()
    return after[~np.isin(after, before, assume_unique=True)]


@dataclass(frozen=True, slots=True)
class EqualCaptions:
    """Captions with the same text.

    first: number of the first caption. captions: number of captions. videos: number of different
    videos that are positives of these captions. added: number of positives that the captions gain.
    """

    first: int
    captions: int
    videos: int
    added: int


def frequent_texts(
    original: Judged, shared: Judged, groups: npt.ArrayLike, count: int
) -> Sequence[EqualCaptions]:
    """Return the `count` groups with the most captions among those that gain positives.

    groups: as in `share_positives`. Groups with the same number of captions are in the order of
    their first captions.
    """
    group = dense_groups(groups, original.n_queries, "groups")
    n_groups = int(group.max(initial=-1)) + 1
    captions = np.bincount(group, minlength=n_groups)
    added = _count(group, added_codes(original, shared), shared.space, n_groups)
    first = np.full(n_groups, original.n_queries, dtype=np.int64)
    np.minimum.at(first, group, np.arange(original.n_queries))
    order = np.lexsort((first, -captions))
    selected = order[added[order] > 0][:count]
    positives, _ = shared.positives()
    # All captions of a group have the same positives, so those of the first caption are enough.
    is_first = np.zeros(original.n_queries, dtype=np.bool_)
    is_first[first] = True
    of_first = positives[is_first[shared.space.queries(positives)]]
    videos = _count(group, of_first, shared.space, n_groups)
    return [
        EqualCaptions(
            int(first[place]), int(captions[place]), int(videos[place]), int(added[place])
        )
        for place in selected.tolist()
    ]


def _count(group: IntArray, codes: IntArray, space: PairSpace, n_groups: int) -> IntArray:
    """Return the number of pairs in each group, int64 [n_groups]."""
    return np.bincount(group[space.queries(codes)], minlength=n_groups)


def captions_with_equals(original: Judged, shared: Judged) -> BoolArray:
    """Return which captions gain a positive, bool [n_queries]."""
    gaining = np.zeros(original.n_queries, dtype=np.bool_)
    gaining[original.space.queries(added_codes(original, shared))] = True
    return gaining

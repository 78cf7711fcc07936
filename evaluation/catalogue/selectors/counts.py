"""Numbers of pooled, labelled and relevant pairs of each caption and each video."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annotation.core.consensus import NO_LABEL
from config.shared.caches import process_cache as cache
from evaluation.core.arrays import IntArray
from evaluation.models import LabelSource
from evaluation.release.selectors import label_set_labels
from pooling.models import Benchmark
from pooling.selectors.catalogue import pools_fingerprint
from pooling.selectors.pools import pair_arrays

CACHE_SECONDS = 24 * 3600


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """The numbers of each caption, or of each video; int64 [n] each.

    pairs: pooled pairs. judged: pooled pairs that have a label. relevant: pairs whose label is
    relevant. Equal captions share labels, so these can include pairs outside the pools.
    """

    pairs: IntArray
    judged: IntArray
    relevant: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class PairCounts:
    captions: Counts
    videos: Counts


def pair_counts(benchmark: Benchmark, source: LabelSource | None) -> PairCounts:
    """Return the counts under a label set or draft; None: nothing is judged.

    They are cached until a pool is built. Counting reads all pooled pairs, which takes a second for
    MSVD.
    """
    labels = source.sha256 if source else ""
    key = f"pair-counts-{benchmark.pk}-{pools_fingerprint(benchmark)}-{labels}"
    found: PairCounts | None = cache.get(key)
    if found is None:
        found = _count(benchmark, source)
        cache.set(key, found, CACHE_SECONDS)
    return found


def _count(benchmark: Benchmark, source: LabelSource | None) -> PairCounts:
    pairs = pair_arrays(benchmark).codes
    judged = relevant = np.empty(0, np.int64)
    if source is not None:
        known = label_set_labels(source)
        labelled = known.codes[known.labels != NO_LABEL]
        judged = pairs[np.isin(pairs, labelled, assume_unique=True)]
        relevant = known.codes[known.labels >= 1]
    space, sets = benchmark.pair_space, (pairs, judged, relevant)
    return PairCounts(
        captions=Counts(
            *(np.bincount(space.queries(codes), minlength=space.n_queries) for codes in sets)
        ),
        videos=Counts(
            *(np.bincount(space.videos(codes), minlength=space.n_videos) for codes in sets)
        ),
    )

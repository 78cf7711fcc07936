"""Numbers of pooled, labelled and relevant pairs of each caption and each video."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from django.db.models import Count

from annotation.core.consensus import NO_LABEL
from evaluation.core.arrays import IntArray
from evaluation.models import LabelSource
from evaluation.release.selectors import label_set_labels
from hearth.shared.bulk import read_columns
from hearth.shared.caches import process_cache as cache
from pooling.models import Benchmark, Pair
from pooling.selectors.arrays import numbers_of
from pooling.selectors.catalogue import catalogue_of, pools_fingerprint

CACHE_SECONDS = 24 * 3600


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """The numbers of pairs of each caption, or of each video; int64 [n] each.

    pairs: pooled pairs. judged: pooled pairs that have a label. relevant: pairs whose label is
    relevant. Equal captions share labels, so the relevant pairs can include pairs outside the
    pools.
    """

    pairs: IntArray
    judged: IntArray
    relevant: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class PairCounts:
    captions: Counts
    videos: Counts


def pair_counts(benchmark: Benchmark, source: LabelSource | None) -> PairCounts:
    """Return the counts under a label set or draft. If `source` is None, no pair is judged.

    They are cached for a day, or until a pool is built. Counting reads all pooled pairs, which
    takes half a second for MSVD.
    """
    labels = source.sha256 if source else ""
    key = f"pair-counts-{benchmark.pk}-{pools_fingerprint(benchmark)}-{labels}"
    found: PairCounts | None = cache.get(key)
    if found is None:
        found = _count(benchmark, source)
        cache.set(key, found, CACHE_SECONDS)
    return found


def _count(benchmark: Benchmark, source: LabelSource | None) -> PairCounts:
    pairs = _pooled_codes(benchmark)
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


def _pooled_codes(benchmark: Benchmark) -> IntArray:
    """Return the codes of all pooled pairs, in no order."""
    catalogue = catalogue_of(benchmark)
    pairs = Pair.objects.filter(query__benchmark=benchmark)
    queries, videos = read_columns(pairs, "query_id", "video_id")
    return benchmark.pair_space.encode(
        numbers_of(catalogue.query_ids, queries), numbers_of(catalogue.video_ids, videos)
    )


def pooled_pairs_per_caption(benchmark: Benchmark) -> IntArray:
    """Return the number of pooled pairs of each caption, int64 [n_queries].

    The database counts the pairs, so that no pair is read. The counts are cached for a day, or
    until a pool is built.
    """
    key = f"pairs-per-caption-{benchmark.pk}-{pools_fingerprint(benchmark)}"
    found: IntArray | None = cache.get(key)
    if found is None:
        found = _count_pairs_per_caption(benchmark)
        cache.set(key, found, CACHE_SECONDS)
    return found


def _count_pairs_per_caption(benchmark: Benchmark) -> IntArray:
    pairs = Pair.objects.filter(query__benchmark=benchmark).order_by()
    queries, sizes = read_columns(pairs.values("query_id").annotate(n=Count("pk")), "query_id", "n")
    counts = np.zeros(benchmark.n_queries, np.int64)
    counts[numbers_of(catalogue_of(benchmark).query_ids, queries)] = sizes
    return counts

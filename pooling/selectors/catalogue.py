"""The captions and videos of a benchmark as cached columns, for lists and searches."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from django.db.models import Count, Max, Sum

from pooling.core.word_index import WordIndex
from pooling.models import Benchmark, Pool
from pooling.selectors.arrays import (
    Int32Array,
    Int64Array,
    original_positives,
    query_ids,
    query_keys,
    query_texts,
    video_ids,
    video_keys,
)

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Catalogue:
    """The captions and videos of a benchmark as columns, indexed by their numbers.

    query_ids, video_ids: primary keys, int64. words: int64 [n_queries], the length of each caption.
    original_queries, original_videos: the original positives, int64 [n] each, in the order of their
    captions and then of their videos.
    """

    query_ids: Int64Array
    video_ids: Int64Array
    words: Int64Array
    original_queries: Int64Array
    original_videos: Int64Array

    @property
    def positives_per_query(self) -> Int64Array:
        return np.bincount(self.original_queries, minlength=len(self.query_ids))

    @property
    def positives_per_video(self) -> Int64Array:
        return np.bincount(self.original_videos, minlength=len(self.video_ids))

    def original_videos_of(self, query: int) -> list[int]:
        """Return the numbers of the videos that are original positives of a caption, ascending."""
        start, stop = np.searchsorted(self.original_queries, [query, query + 1])
        videos: list[int] = self.original_videos[start:stop].tolist()
        return videos

    def original_queries_of(self, video: int) -> list[int]:
        """Return the numbers of the captions of which a video is an original positive."""
        queries: list[int] = self.original_queries[self.original_videos == video].tolist()
        return queries

    def videos_of_queries(self, queries: Int32Array) -> BoolArray:
        """Return which videos are an original positive of one of these captions, [n_videos]."""
        is_found = np.zeros(len(self.video_ids), np.bool_)
        is_found[self.original_videos[np.isin(self.original_queries, queries)]] = True
        return is_found


def catalogue_of(benchmark: Benchmark) -> Catalogue:
    """Return the columns of a benchmark.

    They are cached in the process until the hash of the captions changes. The first call reads
    all captions, which takes a tenth of a second for MSVD.
    """
    return _catalogue(*_version(benchmark))


def captions_containing(benchmark: Benchmark, search: str) -> Int64Array:
    """Return the numbers of the captions that match a search, ascending.

    search: parts of words. The text or the key must contain each of them. The index of the words is
    cached like the columns.
    """
    return _caption_words(*_version(benchmark)).containing(search)


def videos_containing(benchmark: Benchmark, search: str) -> Int64Array:
    """Return the numbers of the videos whose key contains each part of `search`, ascending."""
    return _video_words(*_version(benchmark)).containing(search)


def _version(benchmark: Benchmark) -> tuple[int, str, tuple[int, int]]:
    return benchmark.pk, benchmark.captions_sha256, (benchmark.n_queries, benchmark.n_videos)


@lru_cache(maxsize=8)
def _catalogue(pk: int, captions_sha256: str, sizes: tuple[int, int]) -> Catalogue:
    benchmark = Benchmark.objects.get(pk=pk)
    queries, videos = original_positives(benchmark)
    return Catalogue(
        query_ids=query_ids(benchmark),
        video_ids=video_ids(benchmark),
        words=np.array([len(text.split()) for text in query_texts(benchmark)], np.int64),
        original_queries=queries,
        original_videos=videos,
    )


@lru_cache(maxsize=8)
def _caption_words(pk: int, captions_sha256: str, sizes: tuple[int, int]) -> WordIndex:
    benchmark = Benchmark.objects.get(pk=pk)
    keys, texts = query_keys(benchmark), query_texts(benchmark)
    return WordIndex.of(f"{text} {key}" for text, key in zip(texts, keys, strict=True))


@lru_cache(maxsize=8)
def _video_words(pk: int, captions_sha256: str, sizes: tuple[int, int]) -> WordIndex:
    return WordIndex.of(video_keys(Benchmark.objects.get(pk=pk)))


def pools_fingerprint(benchmark: Benchmark) -> str:
    """Return a text that changes whenever the pooled pairs of the benchmark change."""
    pools = Pool.objects.filter(benchmark=benchmark)
    found = pools.aggregate(newest=Max("pk"), pools=Count("pk"), pairs=Sum("n_new_pairs"))
    return f"{found['newest']}-{found['pools']}-{found['pairs']}"

"""Reading keys, texts and original positives as whole columns, by number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hearth.shared.bulk import read_columns
from pooling.core.lines import SourceFile
from pooling.core.readers.matrix_keys import MATRIX_KEYS, places_of_keys
from pooling.models import Benchmark, OriginalPositive, Query, Video

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Captions:
    """The numbers and primary keys of some captions, int64 [n] each."""

    numbers: Int64Array
    ids: Int64Array


def query_ids(benchmark: Benchmark) -> Int64Array:
    """Return the primary keys of the queries, int64 [n_queries], indexed by query number."""
    (ids,) = read_columns(Query.objects.filter(benchmark=benchmark).order_by("number"), "pk")
    return ids


def video_ids(benchmark: Benchmark) -> Int64Array:
    """Return the primary keys of the videos, int64 [n_videos], indexed by video number."""
    (ids,) = read_columns(Video.objects.filter(benchmark=benchmark).order_by("number"), "pk")
    return ids


def numbers_of(ids: Int64Array, wanted: Int64Array) -> Int64Array:
    """Return the index in `ids` of each primary key in `wanted`, int64 [n]."""
    order = np.argsort(ids, kind="stable")
    return order[np.searchsorted(ids, wanted, sorter=order)]


def query_numbers(benchmark: Benchmark) -> dict[str, int]:
    """Return the query numbers by key."""
    return dict(Query.objects.filter(benchmark=benchmark).values_list("key", "number"))


def video_numbers(benchmark: Benchmark) -> dict[str, int]:
    """Return the video numbers by key."""
    return dict(Video.objects.filter(benchmark=benchmark).values_list("key", "number"))


def query_keys(benchmark: Benchmark) -> list[str]:
    """Return the query keys in the order of their numbers."""
    return list(benchmark.queries.order_by("number").values_list("key", flat=True))


def query_texts(benchmark: Benchmark) -> list[str]:
    """Return the captions in the order of their numbers."""
    return list(benchmark.queries.order_by("number").values_list("text", flat=True))


def video_keys(benchmark: Benchmark) -> list[str]:
    """Return the video keys in the order of their numbers."""
    return list(benchmark.videos.order_by("number").values_list("key", flat=True))


def places_in_file(benchmark: Benchmark, keys: SourceFile) -> tuple[Int64Array, Int64Array]:
    """Return the place of each caption and of each video in a file of keys, int64 [n] each.

    Raises `InvalidInput` if the file does not name each of them once.
    """
    found = MATRIX_KEYS.choose(keys).read(keys)
    return (
        places_of_keys(found["captions"], query_keys(benchmark), "caption", keys.source),
        places_of_keys(found["videos"], video_keys(benchmark), "video", keys.source),
    )


def original_positives(benchmark: Benchmark) -> tuple[Int64Array, Int64Array]:
    """Return the query numbers and video numbers of the original positives, int64 [n] each.

    The pairs are in the order of their queries and then of their videos.
    """
    queries, videos = read_columns(
        OriginalPositive.objects.filter(query__benchmark=benchmark).order_by(
            "query__number", "video__number"
        ),
        "query__number",
        "video__number",
    )
    return queries, videos


def codes_of(benchmark: Benchmark, queries: Int64Array, videos: Int64Array) -> Int64Array:
    """Return the codes of pairs from the primary keys of queries and videos; int64 [n] each."""
    return benchmark.pair_space.encode(
        numbers_of(query_ids(benchmark), queries), numbers_of(video_ids(benchmark), videos)
    )

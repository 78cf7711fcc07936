"""Reading benchmarks, runs and pools. Whole columns are returned as numpy arrays."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

import numpy as np
import numpy.typing as npt
from django.db.models import QuerySet, Sum
from django.urls import reverse

from config.shared.bulk import Among, read_columns
from config.shared.errors import InvalidInput
from pooling.core.equal_texts import first_equal, text_pair_codes
from pooling.core.packing import unpack_into, unpack_list, unpack_numbers, unpack_texts
from pooling.core.pool import union_codes
from pooling.enums import EqualTexts
from pooling.models import (
    Benchmark,
    OriginalPositive,
    Pair,
    Pool,
    Query,
    RankedList,
    Run,
    Tag,
    TrainSplit,
    Video,
)

# A run is read in parts of this number of predictions, to save memory.
PART_PREDICTIONS = 1 << 20

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]


def get_benchmark(key: str) -> Benchmark:
    try:
        return Benchmark.objects.get(key=key)
    except Benchmark.DoesNotExist:
        known = ", ".join(Benchmark.objects.values_list("key", flat=True)) or "none"
        raise InvalidInput(f"There is no benchmark {key!r}. The benchmarks are: {known}.") from None


def find_runs(benchmark: Benchmark, names: Sequence[str] | None = None) -> list[Run]:
    """Return the named runs in the order of `names`, or all runs in the order of their names."""
    runs = {run.name: run for run in benchmark.runs.select_related("system")}
    if not names:
        return [runs[name] for name in sorted(runs)]
    unknown = [name for name in names if name not in runs]
    if unknown:
        known = ", ".join(sorted(runs)) or "none"
        raise InvalidInput(
            f"There is no run {unknown[0]!r} in {benchmark.key}. The runs are: {known}."
        )
    return [runs[name] for name in names]


def get_latest_pool(benchmark: Benchmark) -> Pool:
    pool = benchmark.pools.filter(depth__isnull=False).first()
    if pool is None:
        raise InvalidInput(f"{benchmark.key} has no pool yet. Build one with build_pool.")
    return pool


def get_run(benchmark: Benchmark, name: str) -> Run:
    (run,) = find_runs(benchmark, [name])
    return run


def train_splits_of(benchmark: Benchmark) -> QuerySet[TrainSplit]:
    """Return the train splits in the order of their names. Their texts are loaded on access."""
    return TrainSplit.objects.filter(benchmark=benchmark).defer("texts")


def get_train_split(benchmark: Benchmark, name: str) -> TrainSplit:
    """Return the train split of this name. Raises `TrainSplit.DoesNotExist` if there is none."""
    return train_splits_of(benchmark).get(name=name)


def train_texts(split: TrainSplit) -> list[str]:
    """Return the captions of a split in the order of its file."""
    return unpack_texts(bytes(split.texts))


def tags_of(benchmark: Benchmark) -> QuerySet[Tag]:
    """Return the tags, the most frequent first. Their captions are loaded on access."""
    return Tag.objects.filter(benchmark=benchmark).defer("queries")


def tagged_queries(benchmark: Benchmark) -> dict[str, Int32Array]:
    """Return the query numbers of each tag by its name, int32 [n], ascending."""
    rows = Tag.objects.filter(benchmark=benchmark).values_list("name", "queries")
    return {name: unpack_numbers(bytes(packed)) for name, packed in rows.iterator(100)}


def tags_sha256(benchmark: Benchmark) -> str:
    """Return a hash of all tags with their captions. It does not depend on primary keys."""
    rows = Tag.objects.filter(benchmark=benchmark).values_list("name", "sha256")
    lines = sorted(f"{sha256} {name}\n" for name, sha256 in rows)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def query_ids(benchmark: Benchmark) -> Int64Array:
    """Return the primary keys of the queries, int64 [n_queries], indexed by query number."""
    (ids,) = read_columns(Query.objects.filter(benchmark=benchmark).order_by("number"), "pk")
    return ids


def video_ids(benchmark: Benchmark) -> Int64Array:
    """Return the primary keys of the videos, int64 [n_videos], indexed by video number."""
    (ids,) = read_columns(Video.objects.filter(benchmark=benchmark).order_by("number"), "pk")
    return ids


def numbers_of(ids: Int64Array, wanted: Int64Array) -> Int64Array:
    """Return the number of each primary key in `wanted`, which is its index in `ids`; int64 [n]."""
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


def first_equal_captions(benchmark: Benchmark) -> Int64Array:
    """Return the number of the first caption with an equal text for each caption.

    The benchmark's rule decides which texts are equal. The result, int64 [n_queries], is cached,
    because captions never change.
    """
    return _first_equal(benchmark.pk, benchmark.captions_sha256, benchmark.equal_texts)


@lru_cache(maxsize=8)
def _first_equal(benchmark_id: int, captions_sha256: str, rule: str) -> Int64Array:
    texts = Query.objects.filter(benchmark=benchmark_id).order_by("number")
    found = first_equal(list(texts.values_list("text", flat=True)), rule)
    found.setflags(write=False)
    return found


@dataclass(frozen=True, slots=True)
class EqualTextCount:
    """The numbers of different texts, pooled pairs and tasks under one rule for equal texts."""

    rule: EqualTexts
    texts: int
    pairs: int
    tasks: int
    is_used: bool

    @property
    def saved(self) -> int:
        return self.pairs - self.tasks


def equal_text_counts(benchmark: Benchmark) -> list[EqualTextCount]:
    """Return one row per rule. Pairs and tasks are those of all pools."""
    codes = pair_arrays(benchmark).codes
    rows = []
    for rule in EqualTexts:
        first = _first_equal(benchmark.pk, benchmark.captions_sha256, rule)
        texts = int((first == np.arange(len(first))).sum())
        tasks = len(union_codes([text_pair_codes(codes, first, benchmark.pair_space)]))
        rows.append(EqualTextCount(rule, texts, len(codes), tasks, rule == benchmark.equal_texts))
    return rows


def video_keys(benchmark: Benchmark) -> list[str]:
    """Return the video keys in the order of their numbers."""
    return list(benchmark.videos.order_by("number").values_list("key", flat=True))


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


def ranked_matrix(run: Run, depth: int | None = None) -> Int32Array:
    """Return the run's video numbers, int32 [n_queries, width], best first, padded with -1.

    A query without a list has a row of -1. The width is the depth of the run, or `depth` if that is
    less. The time is linear in the number of stored predictions.
    """
    numbers = np.arange(run.benchmark.n_queries)
    return _ranked_rows(RankedList.objects.filter(run=run), run, depth, numbers)


def ranked_rows(run: Run, depth: int | None, captions: Captions) -> Int32Array:
    """Return the rows of `ranked_matrix` for some captions, int32 [len(captions), width]."""
    lists = RankedList.objects.filter(Among("query_id", captions.ids), run=run)
    return _ranked_rows(lists, run, depth, captions.numbers)


def _ranked_rows(
    lists: QuerySet[RankedList], run: Run, depth: int | None, captions: Int64Array
) -> Int32Array:
    width = min(run.depth, depth) if depth else run.depth
    ranked = np.full((len(captions), width), -1, dtype=np.int32)
    rows = lists.values_list("query__number", "videos").iterator(1000)
    while part := list(islice(rows, 1 + PART_PREDICTIONS // run.depth)):
        numbers = np.array([number for number, _ in part], dtype=np.int64)
        unpack_into(ranked, [bytes(v) for _, v in part], numbers_of(captions, numbers))
    return ranked


def top_videos(runs: Sequence[Run], number: int, depth: int) -> dict[int, list[int]]:
    """Return the numbers of the top `depth` videos of one query by the primary key of the run.

    A run without a list for the query is not in the result.
    """
    rows = RankedList.objects.filter(run__in=runs, query__number=number)
    return {
        run: unpack_list(bytes(videos), b"")[0][:depth].tolist()
        for run, videos in rows.values_list("run_id", "videos")
    }


@dataclass(frozen=True, slots=True)
class PairArrays:
    """The primary keys and codes of pairs of a benchmark, int64 [n] each, ascending by code."""

    ids: Int64Array
    codes: Int64Array


def pair_arrays(benchmark: Benchmark) -> PairArrays:
    """Return the pairs of all pools of the benchmark. The time is linear in their number."""
    ids, queries, videos = read_columns(
        Pair.objects.filter(query__benchmark=benchmark), "pk", "query_id", "video_id"
    )
    codes = codes_of(benchmark, queries, videos)
    order = np.argsort(codes, kind="stable")
    return PairArrays(ids=ids[order], codes=codes[order])


@dataclass(frozen=True, slots=True, eq=False)
class Captions:
    """The numbers and primary keys of some captions, int64 [n] each."""

    numbers: Int64Array
    ids: Int64Array


def caption_parts(benchmark: Benchmark, pairs_per_part: int) -> Iterator[Captions]:
    """Return all captions in parts of about this number of pooled pairs.

    Captions with equal texts are in one part, and the parts are in the order of their texts.
    """
    first_equal, ids = first_equal_captions(benchmark), query_ids(benchmark)
    order = np.argsort(first_equal, kind="stable")
    n_pairs = benchmark.pools.aggregate(n=Sum("n_new_pairs"))["n"] or 0
    width = max(1, pairs_per_part * benchmark.n_queries // max(1, n_pairs))
    ends = np.arange(width, benchmark.n_queries + width, width)
    for part in np.split(order, np.searchsorted(first_equal[order], ends)):
        if len(part):
            yield Captions(part, ids[part])


def pairs_of_captions(benchmark: Benchmark, captions: Captions, videos: Int64Array) -> PairArrays:
    """Return the pairs of all pools with these captions. videos: the result of `video_ids`."""
    pairs = Pair.objects.filter(Among("query_id", captions.ids))
    ids, of_query, of_video = read_columns(pairs, "pk", "query_id", "video_id")
    queries = captions.numbers[numbers_of(captions.ids, of_query)]
    codes = benchmark.pair_space.encode(queries, numbers_of(videos, of_video))
    order = np.argsort(codes, kind="stable")
    return PairArrays(ids=ids[order], codes=codes[order])


def codes_of(benchmark: Benchmark, queries: Int64Array, videos: Int64Array) -> Int64Array:
    """Return the codes of pairs from the primary keys of queries and videos; int64 [n] each."""
    return benchmark.pair_space.encode(
        numbers_of(query_ids(benchmark), queries), numbers_of(video_ids(benchmark), videos)
    )


def playable_address(video: Video) -> str | None:
    """Return the address of the stored file, or the URL of the video, or None without either."""
    if video.file:
        return reverse("video-file", args=[video.public_id])
    return video.url or None

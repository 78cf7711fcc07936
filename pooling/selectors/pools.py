"""Reading pools and their pairs."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

import numpy as np

from hearth.shared.bulk import Among, read_columns
from hearth.shared.errors import InvalidInput
from pooling.core.strata import Stratum, unpack_stratum
from pooling.models import Benchmark, Pair, Pool, PoolStratum
from pooling.selectors.arrays import Captions, Int64Array, codes_of, numbers_of

NO_POOL = "{benchmark} has no pool yet. Build one with build_pool."


def get_latest_pool(benchmark: Benchmark) -> Pool:
    """Return the latest pool of runs, or else the latest pool of imported judgments."""
    pool = benchmark.pools.filter(depth__isnull=False).first() or benchmark.pools.first()
    if pool is None:
        raise InvalidInput(NO_POOL.format(benchmark=benchmark.key))
    return pool


def strata_of(pool: Pool) -> list[Stratum]:
    """Return the strata of a pool in their order; none if all its pairs are to be judged."""
    return [
        unpack_stratum(row.name, row.ranks, row.n_pairs, bytes(row.codes), bytes(row.drawn))
        for row in pool.drawn_strata.all()
    ]


def pool_with_strata(benchmark: Benchmark, until: datetime.datetime | None = None) -> Pool | None:
    """Return the newest pool with strata that was built until a time, or None."""
    pools = Pool.objects.filter(benchmark=benchmark, drawn_strata__isnull=False)
    if until is not None:
        pools = pools.filter(created_at__lte=until)
    return pools.order_by("-pk").first()


@dataclass(frozen=True, slots=True)
class PairArrays:
    """The primary keys and codes of pairs of a benchmark, int64 [n] each, ascending by code."""

    ids: Int64Array
    codes: Int64Array


def pair_arrays(
    benchmark: Benchmark, until: Pool | None = None, *, whole: bool = False
) -> PairArrays:
    """Return the pairs of all pools of the benchmark, or of those up to and including `until`.

    whole: only those of pools without strata. The time is linear in the number of pairs.
    """
    pairs = Pair.objects.filter(query__benchmark=benchmark)
    if whole:
        pairs = pairs.exclude(pool__in=PoolStratum.objects.values("pool"))
    if until is not None:
        pairs = pairs.filter(pool_id__lte=until.pk)
    ids, queries, videos = read_columns(pairs, "pk", "query_id", "video_id")
    codes = codes_of(benchmark, queries, videos)
    order = np.argsort(codes, kind="stable")
    return PairArrays(ids=ids[order], codes=codes[order])


def pairs_of_captions(benchmark: Benchmark, captions: Captions, videos: Int64Array) -> PairArrays:
    """Return the pooled pairs of these captions. videos: the result of `video_ids`."""
    pairs = Pair.objects.filter(Among("query_id", captions.ids))
    ids, of_query, of_video = read_columns(pairs, "pk", "query_id", "video_id")
    queries = captions.numbers[numbers_of(captions.ids, of_query)]
    codes = benchmark.pair_space.encode(queries, numbers_of(videos, of_video))
    order = np.argsort(codes, kind="stable")
    return PairArrays(ids=ids[order], codes=codes[order])

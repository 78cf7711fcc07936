"""The pairs that a pool would contain, computed in arrays. Nothing is stored."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hearth.shared.errors import InvalidInput
from hearth.shared.limits import check_depth, check_seed
from hearth.shared.progress import Progress, no_progress
from pooling.core import pool_options
from pooling.core.arrays import Bools, Int64s
from pooling.core.equal_texts import text_pair_codes
from pooling.core.pool import NOT_RANKED, new_codes, union_codes
from pooling.core.similar_texts import matched_pairs
from pooling.core.strata import Stratum, draw_strata, drawn_codes
from pooling.models import Benchmark, Pool, Run
from pooling.selectors.arrays import original_positives, query_texts
from pooling.selectors.captions import first_equal_captions
from pooling.selectors.pools import pair_arrays, strata_of
from pooling.selectors.proxies import candidate_pairs, get_proxy, values_of_proxy
from pooling.selectors.runs import find_runs, pooled_codes_of, ranks_in_run

# A request reads a proxy with this number of values within a second.
VALUES_IN_REQUEST = 20_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The pairs that the options select before the budget is applied.

    codes: the codes of these pairs. ranked: the codes of the pairs in the top of the runs. Both are
    int64, ascending. priority: None without a budget. strata: empty if all pairs are to be judged.
    """

    benchmark: Benchmark
    options: pool_options.PoolOptions
    runs: Sequence[Run]
    codes: Int64s
    ranked: Int64s
    priority: pool_options.Priority | None
    strata: Sequence[Stratum] = ()


@dataclass(frozen=True, slots=True, eq=False)
class PoolPlan:
    """A pool that could be built now.

    codes: the codes of all its pairs. new: the codes of the pairs that no earlier pool contains.
    Both are int64, ascending. n_tasks: number of different text pairs among `codes`. n_left_out:
    number of new pairs that the budget leaves out. n_unranked: number of new pairs that are not in
    the top `depth` of any pooled run. They come only from a proxy, similar texts or original
    positives. strata: if there are any, `codes` has only their drawn pairs.
    """

    runs: Sequence[Run]
    codes: Int64s
    new: Int64s
    n_tasks: int
    n_left_out: int
    n_unranked: int
    strata: Sequence[Stratum] = ()

    @property
    def sha256(self) -> str:
        """A hash of the new pairs, which identifies what a preview showed."""
        return hashlib.sha256(self.new.astype("<i8").tobytes()).hexdigest()


def takes_long(benchmark: Benchmark, options: pool_options.PoolOptions) -> bool:
    """Return whether a preview takes too long for a request, so that a job must compute it."""
    is_large = benchmark.pair_space.n_pairs > VALUES_IN_REQUEST
    return options.similar is not None or (bool(options.proxy) and is_large)


def plan_pool(
    benchmark: Benchmark, options: pool_options.PoolOptions, progress: Progress = no_progress
) -> PoolPlan:
    """Return the pool that these options would build now. Raises `InvalidInput`."""
    return plan_of(find_candidates(benchmark, options, progress))


def find_candidates(
    benchmark: Benchmark, options: pool_options.PoolOptions, progress: Progress = no_progress
) -> Candidates:
    """Check the options and select the pairs. Raises `InvalidInput` for an invalid option."""
    check_options(benchmark, options)
    runs = find_runs(benchmark, options.runs)
    if not runs and options.needs_runs:
        raise InvalidInput(f"{benchmark.key} has no run to pool. Import a run first.")
    if withdrawn := next((run.name for run in runs if run.is_withdrawn), None):
        raise InvalidInput(f"The run {withdrawn!r} is withdrawn, so it cannot be pooled.")
    ranked = _ranked_codes(benchmark, runs, options, progress)
    codes = _with_candidates(benchmark, ranked, options, progress)
    priority = None if options.budget is None else _priority(benchmark, runs, options, codes)
    strata = _strata(benchmark, runs, options, codes, progress) if options.strata else ()
    return Candidates(benchmark, options, runs, codes, ranked, priority, strata)


def check_options(benchmark: Benchmark, options: pool_options.PoolOptions) -> None:
    check_depth(options.depth)
    options.check()
    check_seed(options.seed)
    _check_size("number of sampled captions", options.sample, benchmark.n_queries)
    _check_size("number of sampled videos", options.video_sample, benchmark.n_videos)
    _check_size("number of similar texts", options.similar, pool_options.SIMILAR_MAX)
    _check_size("maximum number of new pairs", options.budget, 2**31 - 1)
    if options.originals not in pool_options.ORIGINALS:
        names = ", ".join(pool_options.ORIGINALS)
        raise InvalidInput(f"The option for original positives must be one of {names}.")
    if not 0 < options.similar_from <= 1:
        raise InvalidInput(
            f"The lowest similarity must be above 0 and at most 1, not {options.similar_from}."
        )
    if not 0 < options.proxy_from <= 1:
        raise InvalidInput(
            "The lowest value of the proxy must be above 0 and at most 1, not "
            f"{options.proxy_from}."
        )


def _check_size(name: str, size: int | None, most: int) -> None:
    if size is not None and not 1 <= size <= most:
        raise InvalidInput(f"The {name} must be from 1 to {most:,}, not {size:,}.")


def select_codes(
    benchmark: Benchmark, runs: Sequence[Run], options: pool_options.PoolOptions, progress: Progress
) -> Int64s:
    """Return the pairs of a pool without a budget, int64 [n], ascending codes."""
    ranked = _ranked_codes(benchmark, runs, options, progress)
    return _with_candidates(benchmark, ranked, options, progress)


def _ranked_codes(
    benchmark: Benchmark, runs: Sequence[Run], options: pool_options.PoolOptions, progress: Progress
) -> Int64s:
    """Return the pairs in the top of the runs."""
    space, found = benchmark.pair_space, []
    for number, run in enumerate(runs):
        progress(number, len(runs), "pooling runs")
        codes = pooled_codes_of(run, options.depth)
        found.append(codes[pool_options.is_drawn(codes, space, options)])
    return union_codes(found)


def _with_candidates(
    benchmark: Benchmark, ranked: Int64s, options: pool_options.PoolOptions, progress: Progress
) -> Int64s:
    """Add the pairs of similar texts and of a proxy, and follow the rule for original positives."""
    space, found = benchmark.pair_space, [ranked]
    originals = space.encode(*original_positives(benchmark))
    if options.similar is not None:
        similar = matched_pairs(
            query_texts(benchmark),
            first_equal_captions(benchmark),
            originals,
            space,
            count=options.similar,
            lowest=options.similar_from,
            progress=lambda done, total: progress(done, total, "comparing captions"),
        )
        found.append(similar[pool_options.is_drawn(similar, space, options)])
    if options.proxy:
        progress(0, None, "reading the proxy")
        pairs = candidate_pairs(get_proxy(benchmark, options.proxy), options.proxy_from)
        found.append(pairs[pool_options.is_drawn(pairs, space, options)])
    drawn = originals[pool_options.is_drawn(originals, space, options)]
    return pool_options.in_or_out(union_codes(found), drawn, options.originals)


def _priority(
    benchmark: Benchmark, runs: Sequence[Run], options: pool_options.PoolOptions, codes: Int64s
) -> pool_options.Priority:
    priority = pool_options.Priority(codes)
    for system in sorted({run.system_id for run in runs}):
        priority.add_system(
            [
                ranks_in_run(run, codes, options.depth, all_rows=True)
                for run in runs
                if run.system_id == system
            ]
        )
    if options.proxy:
        values = values_of_proxy(get_proxy(benchmark, options.proxy))
        priority.values[:] = values[benchmark.pair_space.decode(codes)]
    return priority


def _strata(
    benchmark: Benchmark,
    runs: Sequence[Run],
    options: pool_options.PoolOptions,
    codes: Int64s,
    progress: Progress,
) -> list[Stratum]:
    best = np.full(len(codes), NOT_RANKED, np.int32)
    for number, run in enumerate(runs):
        progress(number, len(runs), "ranking pairs")
        best = np.minimum(best, ranks_in_run(run, codes, options.depth, all_rows=True))
    whole = pair_arrays(benchmark, whole=True).codes
    return draw_strata(codes, best, whole, options.ranks, benchmark.pair_space, options.seed)


def plan_of(found: Candidates) -> PoolPlan:
    """Apply the budget or the strata to the pairs that no stored pool contains."""
    options, known = found.options, pair_arrays(found.benchmark).codes
    codes = drawn_codes(found.strata) if found.strata else found.codes
    fresh = new = new_codes(codes, known)
    if found.priority is not None and options.budget is not None:
        new = found.priority.first(fresh, options.budget, options.seed)
        codes = new_codes(codes, new_codes(fresh, new))
    return PoolPlan(
        runs=found.runs,
        codes=codes,
        new=new,
        n_tasks=len(text_pairs_of(found.benchmark, codes)),
        n_left_out=len(fresh) - len(new),
        n_unranked=len(new_codes(new, found.ranked)),
        strata=found.strata,
    )


def text_pairs_of(benchmark: Benchmark, codes: Int64s) -> Int64s:
    """Return the codes of the text pairs to which these pairs belong, int64, ascending."""
    text_pairs = text_pair_codes(codes, first_equal_captions(benchmark), benchmark.pair_space)
    return union_codes([text_pairs])


def options_of(pool: Pool) -> pool_options.PoolOptions:
    """Return the options that a pool was built with, without the names of its runs."""
    return pool_options.PoolOptions(
        depth=pool.depth or 0,
        sample=pool.sample_size,
        video_sample=pool.video_sample,
        seed=pool.seed,
        originals=pool.originals,
        similar=pool.similar,
        similar_from=pool.similar_from,
        proxy="" if pool.proxy is None else pool.proxy.name,
        proxy_from=pool.proxy_from,
        budget=pool.budget,
        strata=tuple(pool.strata.split()),
    )


def codes_of_pool(pool: Pool) -> Int64s | None:
    """Return the pairs of a stored pool, int64, ascending.

    A pool of imported judgments has no options that determine its pairs, so the result is None.
    """
    if pool.depth is None:
        return None
    runs = list(pool.runs.all())
    codes = select_codes(pool.benchmark, runs, options_of(pool), no_progress)
    return codes[allows(pool, codes)]


def allows(pool: Pool, codes: Int64s) -> Bools:
    """Return which pairs a pool allows by its samples, budget and rule for original positives.

    codes: int64 [n]. A budget allows the pairs that this pool or an earlier one stored.
    """
    options, space = options_of(pool), pool.benchmark.pair_space
    allowed = pool_options.is_drawn(codes, space, options)
    if options.originals == pool_options.LEFT_OUT:
        allowed &= ~np.isin(codes, space.encode(*original_positives(pool.benchmark)))
    if options.budget is not None:
        allowed &= np.isin(codes, pair_arrays(pool.benchmark, until=pool).codes)
    if options.strata:
        allowed &= np.isin(codes, drawn_codes(strata_of(pool)))
    return allowed

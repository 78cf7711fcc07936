"""The tasks of campaigns, and those that a new campaign would have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from django.db.models import Count, Max, Q, QuerySet, Value
from django.db.models.functions import Coalesce

from annotation.enums import CampaignKind, CampaignState, TaskState
from annotation.models import Campaign, JudgmentTask, Withdrawal
from annotation.selectors.progress import task_groups
from config.shared.bulk import read_columns
from config.shared.caches import process_cache as cache
from pooling.core.equal_texts import text_pair_codes
from pooling.core.pool import union_codes
from pooling.models import Benchmark, Pool
from pooling.selectors.arrays import codes_of
from pooling.selectors.captions import first_equal_captions
from pooling.selectors.pools import pair_arrays

Int64Array = npt.NDArray[np.int64]

OWN_CAPTION = -1
NEW_COUNTS_SECONDS = 24 * 3600


def taken_pairs(benchmark: Benchmark) -> QuerySet[JudgmentTask]:
    """Return the tasks whose pairs a new campaign does not contain.

    Unlabelled tasks of closed campaigns are not among them, because they will never be judged
    there.
    """
    tasks = JudgmentTask.objects.filter(campaign__benchmark=benchmark, pair__isnull=False)
    return tasks.exclude(campaign__state=CampaignState.CLOSED, state=TaskState.OPEN, labels_live=0)


@dataclass(frozen=True, slots=True, eq=False)
class NewTasks:
    """The tasks that a campaign would have if it opened now, [n_tasks] each, ascending by `units`.

    pair_ids, codes: the pair that represents the task; annotators read its caption. units: the text
    and the video. n_pairs: the number of pairs that would share a label. pairs: codes of all
    pooled pairs that would be judged, [n_pairs]. pair_task: the task of each.
    """

    pair_ids: Int64Array
    codes: Int64Array
    units: Int64Array
    n_pairs: Int64Array
    pairs: Int64Array
    pair_task: Int64Array


def new_tasks(benchmark: Benchmark) -> NewTasks:
    """Return one task for each text and video among the pooled pairs that no campaign contains.

    A campaign contains a pair if it has a task for the pair, or for an equal caption and the same
    video.
    """
    space, first_equal = benchmark.pair_space, first_equal_captions(benchmark)
    pairs = pair_arrays(benchmark)
    taken = taken_pairs(benchmark).annotate(held=Coalesce("unit", Value(OWN_CAPTION)))
    taken_ids, taken_units = read_columns(taken, "pair_id", "held")
    units = text_pair_codes(pairs.codes, first_equal, space)
    is_new = ~(np.isin(pairs.ids, taken_ids) | np.isin(units, taken_units))
    codes, units = pairs.codes[is_new], units[is_new]
    order = np.argsort(units, kind="stable")
    firsts = np.flatnonzero(np.diff(units[order], prepend=-1))
    chosen = order[firsts]  # the pair of the first pooled caption of each unit
    return NewTasks(
        pair_ids=pairs.ids[is_new][chosen],
        codes=codes[chosen],
        units=units[chosen],
        n_pairs=pairs_per_unit(benchmark, units[chosen]),
        pairs=codes,
        pair_task=np.searchsorted(units[chosen], units),
    )


def pairs_per_unit(benchmark: Benchmark, units: Int64Array) -> Int64Array:
    """Return the number of pairs that share a label of each text pair, int64 [n].

    There is one pair for each caption with the text, except for captions with a task of their own.

    units: int64 [n], as `text_pair_codes` returns them.
    """
    space, first_equal = benchmark.pair_space, first_equal_captions(benchmark)
    sizes = np.bincount(first_equal, minlength=benchmark.n_queries)
    single = taken_pairs(benchmark).filter(unit=None)
    queries, videos = read_columns(single, "pair__query_id", "pair__video_id")
    codes = union_codes([codes_of(benchmark, queries, videos)])
    held = np.sort(text_pair_codes(codes, first_equal, space))
    n_held = np.searchsorted(held, units, "right") - np.searchsorted(held, units)
    return sizes[space.queries(units)] - n_held


@dataclass(frozen=True, slots=True)
class NewCounts:
    """The number of tasks that a campaign would have if it opened now, and of their pairs."""

    tasks: int
    pairs: int


def count_new_tasks(benchmark: Benchmark) -> NewCounts:
    return new_counts([benchmark])[benchmark.pk]


def new_counts(benchmarks: Iterable[Benchmark]) -> dict[int, NewCounts]:
    """Return the counts of many benchmarks, by primary key. Cached counts need three queries.

    The counts are cached until a pool, a campaign or the end of a campaign changes them.
    """
    keys = _keys_of_new_counts(benchmarks)
    cached: dict[str, NewCounts] = cache.get_many(keys.values())
    missing = [benchmark for benchmark, key in keys.items() if key not in cached]
    if missing:
        complete = _benchmarks_without_new_tasks(missing)
        counted = {
            keys[benchmark]: NewCounts(0, 0) if benchmark.pk in complete else _counted(benchmark)
            for benchmark in missing
        }
        cache.set_many(counted, NEW_COUNTS_SECONDS)
        cached |= counted
    return {benchmark.pk: cached[key] for benchmark, key in keys.items()}


def _counted(benchmark: Benchmark) -> NewCounts:
    """Return the numbers of new tasks and pairs. All pairs and tasks are read into memory."""
    tasks = new_tasks(benchmark)
    return NewCounts(len(tasks.codes), int(tasks.n_pairs.sum()))


def _benchmarks_without_new_tasks(benchmarks: Sequence[Benchmark]) -> set[int]:
    """Return the primary keys of benchmarks whose pooled pairs are certainly all in campaigns.

    A new campaign takes all pairs of the newest pool and of earlier pools. Until another pool is
    built, no task is new, unless a closed campaign has tasks without a label. The pairs of an
    imported file are in the campaign of that file.
    """
    pools = Pool.objects.filter(benchmark__in=benchmarks, depth__isnull=False).order_by()
    newest = dict(pools.values_list("benchmark").annotate(Max("pk")))
    campaigns = list(
        Campaign.objects.filter(benchmark__in=benchmarks, kind=CampaignKind.JUDGING).order_by()
    )
    opened = {
        campaign.pool_id
        for campaign in campaigns
        if not campaign.is_imported and not campaign.confirms
    }
    closed = [campaign for campaign in campaigns if campaign.state == CampaignState.CLOSED]
    groups = task_groups(closed)
    freeing = {
        campaign.benchmark_id
        for campaign in closed
        if any(group.is_unlabelled for group in groups[campaign.pk])
    }
    return {pk for pk, pool in newest.items() if pool in opened and pk not in freeing}


def _keys_of_new_counts(benchmarks: Iterable[Benchmark]) -> dict[Benchmark, str]:
    """Return a cache key for each benchmark, which changes whenever its new tasks may change."""
    is_closed = Q(state=CampaignState.CLOSED)
    campaigns = (
        Campaign.objects.order_by()
        .values_list("benchmark")
        .annotate(newest=Max("pk"), closed=Count("pk", filter=is_closed))
    )
    pools = dict(Pool.objects.order_by().values_list("benchmark").annotate(Max("pk")))
    done = Withdrawal.objects.filter(done_at__isnull=False).order_by()
    withdrawn = dict(done.values_list("campaign__benchmark").annotate(Count("pk")))
    rounds = {pk: f"{newest}-{closed}" for pk, newest, closed in campaigns}
    return {
        benchmark: f"new-{benchmark.pk}-{benchmark.equal_texts}-{pools.get(benchmark.pk)}"
        f"-{rounds.get(benchmark.pk)}-{withdrawn.get(benchmark.pk)}"
        for benchmark in benchmarks
    }

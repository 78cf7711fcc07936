"""The tasks of campaigns, and those that a new campaign would have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from django.core.cache import cache as shared_cache
from django.db.models import Count, F, Max, Q, QuerySet, Sum

from annotation.enums import CampaignState, TaskState
from annotation.models import Campaign, JudgmentTask, Withdrawal, of_labels
from annotation.selectors.progress import TaskGroup, task_groups
from hearth.shared.bulk import Among, read_columns
from hearth.shared.caches import process_cache as cache
from hearth.shared.words import tasks_to_judge
from pooling.core.equal_texts import text_pair_codes
from pooling.core.pool import union_codes
from pooling.enums import EqualTexts
from pooling.models import Benchmark, Pool, Run
from pooling.policies import POOLED_DEPTH
from pooling.selectors.arrays import Captions, codes_of, video_ids
from pooling.selectors.captions import caption_parts, first_equal_captions
from pooling.selectors.pools import pairs_of_captions
from pooling.selectors.runs import find_runs, pooled_codes_of

Int64Array = npt.NDArray[np.int64]

# This value replaces the text pair of a label that applies only to its own caption.
OWN_CAPTION = -1
NEW_COUNTS_SECONDS = 24 * 3600
# New tasks are computed part by part. Each part needs about 150 bytes of memory for each pair.
PAIRS_PER_PART = 200_000
# A page counts new tasks itself up to this number of pairs, which it reads in about a second.
PAIRS_PER_PAGE = 100_000


def taken_pairs(benchmark: Benchmark) -> QuerySet[JudgmentTask]:
    """Return the tasks whose pairs a new campaign would not contain.

    Unlabelled tasks of closed campaigns are not among them, because they will never be judged
    there.
    """
    tasks = JudgmentTask.objects.filter(campaign__benchmark=benchmark, pair__isnull=False)
    return tasks.exclude(campaign__state=CampaignState.CLOSED, state=TaskState.OPEN, labels_live=0)


@dataclass(frozen=True, slots=True, eq=False)
class NewTasks:
    """Tasks that a campaign would have if it opened now, ascending by `units`.

    captions: the captions of all pairs. pair_ids: [n], the pair that represents each task;
    annotators read its caption. units: [n], the text pair of each task. n_pairs: [n], the number of
    pairs that would share the label of each task. pairs: [m], the codes of all pooled pairs that
    would be judged. pair_task: [m], the index of the task of each pair.
    """

    captions: Captions
    pair_ids: Int64Array
    units: Int64Array
    n_pairs: Int64Array
    pairs: Int64Array
    pair_task: Int64Array


def new_task_parts(
    benchmark: Benchmark,
    taken: QuerySet[JudgmentTask] | None = None,
    wanted: Int64Array | None = None,
) -> Iterator[NewTasks]:
    """Yield the tasks of a new campaign, part by part.

    There is one task for each text pair among the pooled pairs that no campaign contains, see
    `_is_taken`. The units ascend from part to part. Only one part is in memory at a time. taken:
    the tasks whose pairs are left out; None for `taken_pairs`. wanted: the only text pairs that can
    be contained, ascending; None for all.
    """
    videos = video_ids(benchmark)
    taken = taken_pairs(benchmark) if taken is None else taken
    for captions in caption_parts(benchmark, PAIRS_PER_PART):
        yield _new_tasks(benchmark, captions, videos, taken, wanted)


def _new_tasks(
    benchmark: Benchmark,
    captions: Captions,
    videos: Int64Array,
    taken: QuerySet[JudgmentTask],
    wanted: Int64Array | None,
) -> NewTasks:
    space, first_equal = benchmark.pair_space, first_equal_captions(benchmark)
    pairs = pairs_of_captions(benchmark, captions, videos)
    texts = first_equal[captions.numbers]
    first, end = space.encode(np.array([texts.min(), texts.max() + 1]), 0).tolist()
    (taken_ids,) = read_columns(taken.filter(Among("pair__query_id", captions.ids)), "pair_id")
    (taken_units,) = read_columns(taken.filter(unit__gte=first, unit__lt=end), "unit")
    units = text_pair_codes(pairs.codes, first_equal, space)
    is_new = ~_is_taken(pairs.ids, units, taken_ids, taken_units)
    if wanted is not None:
        is_new &= np.isin(units, wanted)
    codes, units = pairs.codes[is_new], units[is_new]
    order = np.argsort(units, kind="stable")
    firsts = np.flatnonzero(np.diff(units[order], prepend=-1))
    chosen = order[firsts]  # the pair of the first pooled caption of each unit
    return NewTasks(
        captions=captions,
        pair_ids=pairs.ids[is_new][chosen],
        units=units[chosen],
        n_pairs=pairs_per_unit(benchmark, units[chosen], captions, taken),
        pairs=codes,
        pair_task=np.searchsorted(units[chosen], units),
    )


def _is_taken(
    pairs: Int64Array, units: Int64Array, taken_pairs: Int64Array, taken_units: Int64Array
) -> npt.NDArray[np.bool_]:
    """Return which pairs a campaign contains, bool [n].

    A campaign contains a pair if it has a task for the pair, or for an equal caption and the same
    video. pairs, taken_pairs: primary keys, or codes. units: the text pair of each pair, [n].
    """
    return np.isin(pairs, taken_pairs) | np.isin(units, taken_units)


def pairs_per_unit(
    benchmark: Benchmark,
    units: Int64Array,
    captions: Captions | None = None,
    taken: QuerySet[JudgmentTask] | None = None,
) -> Int64Array:
    """Return the number of pairs that share the label of each text pair, int64 [n].

    There is one pair for each caption with the text, except for captions that have their own task.

    units: int64 [n], as `text_pair_codes` returns them. captions: all captions with these texts, or
    None for all captions of the benchmark. taken: as for `new_task_parts`.
    """
    space, first_equal = benchmark.pair_space, first_equal_captions(benchmark)
    sizes = np.bincount(first_equal, minlength=benchmark.n_queries)
    taken = taken_pairs(benchmark) if taken is None else taken
    single = taken.filter(unit=None)
    if captions is not None:
        single = single.filter(Among("pair__query_id", captions.ids))
    queries, videos = read_columns(single, "pair__query__number", "pair__video__number")
    codes = union_codes([space.encode(queries, videos)])
    held = np.sort(text_pair_codes(codes, first_equal, space))
    n_held = np.searchsorted(held, units, "right") - np.searchsorted(held, units)
    return sizes[space.queries(units)] - n_held


@dataclass(frozen=True, slots=True)
class NewCounts:
    """The number of tasks that no campaign contains, and of the pairs that share their labels.

    All pages, commands and results of jobs write both as `str` returns them.
    """

    tasks: int
    pairs: int

    def __str__(self) -> str:
        return tasks_to_judge(self.tasks, self.pairs)

    def __sub__(self, other: NewCounts) -> NewCounts:
        return NewCounts(self.tasks - other.tasks, self.pairs - other.pairs)


NO_TASKS = NewCounts(0, 0)


def count_new_tasks(benchmark: Benchmark) -> NewCounts:
    """Return the counts of a campaign that would open now."""
    return new_counts([benchmark])[benchmark.pk]


class TaskCounter:
    """Counts the tasks that a campaign would have for any pairs, pooled or not.

    The tasks of all campaigns are read once. For the pooled pairs, the counts equal those of
    `count_new_tasks`.
    """

    def __init__(self, benchmark: Benchmark) -> None:
        self._benchmark = benchmark
        taken = taken_pairs(benchmark).order_by()
        queries, videos = read_columns(taken, "pair__query_id", "pair__video_id")
        self._codes = codes_of(benchmark, queries, videos)
        (self._units,) = read_columns(taken.filter(unit__isnull=False), "unit")

    def count(self, codes: Int64Array) -> NewCounts:
        """Count the tasks of pairs. codes: int64 [n], in any order."""
        benchmark = self._benchmark
        found = text_pair_codes(codes, first_equal_captions(benchmark), benchmark.pair_space)
        units = np.unique(found[~_is_taken(codes, found, self._codes, self._units)])
        return NewCounts(len(units), int(pairs_per_unit(benchmark, units).sum()))


def count_run_tasks(runs: Sequence[Run]) -> dict[int, NewCounts]:
    """Return the counts of the tops of runs of one benchmark, by the run's primary key.

    The top of a run is what `POOLED_DEPTH` pools of it.
    """
    if not runs:
        return {}
    keys = _keys_of_run_tasks(runs)
    stored = shared_cache.get_many(list(keys.values()))
    found = {pk: NewCounts(*stored[key]) for pk, key in keys.items() if key in stored}
    missing = [run for run in runs if run.pk not in found]
    if missing:
        counter = TaskCounter(missing[0].benchmark)
        for run in missing:
            counts = counter.count(pooled_codes_of(run, POOLED_DEPTH))
            shared_cache.set(keys[run.pk], [counts.tasks, counts.pairs], NEW_COUNTS_SECONDS)
            found[run.pk] = counts
    return found


def run_tasks_for_page(run: Run) -> NewCounts | None:
    """Return the counts of the top of a run, or None in large benchmarks while they are counted."""
    if not _are_large([run]):
        return count_run_tasks([run])[run.pk]
    stored = shared_cache.get(_keys_of_run_tasks([run])[run.pk])
    return None if stored is None else NewCounts(*stored)


def count_tasks_of_large_runs(benchmark: Benchmark) -> None:
    """Count the tasks of the tops of all runs whose pages do not count them, and cache them."""
    runs = find_runs(benchmark)
    if runs and _are_large(runs):
        count_run_tasks(runs)


def _are_large(runs: Sequence[Run]) -> bool:
    """Return whether counting reads more than `PAIRS_PER_PAGE` pairs of a run, or tasks."""
    if any(run.n_queries * min(run.depth, POOLED_DEPTH) > PAIRS_PER_PAGE for run in runs):
        return True
    campaigns = Campaign.objects.filter(of_labels(), benchmark=runs[0].benchmark_id)
    n_tasks: int = campaigns.aggregate(n=Sum("n_tasks"))["n"] or 0
    return n_tasks > PAIRS_PER_PAGE


def _keys_of_run_tasks(runs: Sequence[Run]) -> dict[int, str]:
    (key,) = _keys_of_new_counts([runs[0].benchmark]).values()
    return {run.pk: f"{key}-run-{run.pk}" for run in runs}


def new_counts(benchmarks: Iterable[Benchmark]) -> dict[int, NewCounts]:
    """Return the counts of many benchmarks, by primary key.

    If a count is not cached, all pairs may have to be read, which takes long.
    """
    keys = _keys_of_new_counts(benchmarks)
    found = _known_counts(keys)
    for benchmark, key in keys.items():
        if benchmark.pk not in found:
            found[benchmark.pk] = _count_and_store(benchmark, key)
    return found


def new_counts_for_page(benchmarks: Iterable[Benchmark]) -> dict[int, NewCounts | None]:
    """Return the counts, or None for large benchmarks while they are being counted.

    A worker counts the pairs within a minute after a change. Cached counts need three database
    queries.
    """
    keys = _keys_of_new_counts(benchmarks)
    found: dict[int, NewCounts | None] = {**_known_counts(keys)}
    missing = [benchmark for benchmark in keys if benchmark.pk not in found]
    pools = Pool.objects.filter(benchmark__in=missing).order_by().values_list("benchmark")
    sizes = dict(pools.annotate(Sum("n_new_pairs"))) if missing else {}
    for benchmark in missing:
        is_small = sizes.get(benchmark.pk, 0) <= PAIRS_PER_PAGE
        found[benchmark.pk] = _count_and_store(benchmark, keys[benchmark]) if is_small else None
    return found


def _known_counts(keys: dict[Benchmark, str]) -> dict[int, NewCounts]:
    """Return the counts that are known without reading pairs, by primary key.

    They come from the cache of the process, from the cache that all processes share, or from the
    states of the campaigns. The keys of the caches change whenever the counts may change.
    """
    cached: dict[str, NewCounts] = cache.get_many(keys.values())
    missing = [benchmark for benchmark, key in keys.items() if key not in cached]
    if missing:
        by_campaigns = _counts_by_campaigns(missing)
        stored = shared_cache.get_many([keys[benchmark] for benchmark in missing])
        known = {key: NewCounts(*numbers) for key, numbers in stored.items()}
        known |= {
            keys[benchmark]: by_campaigns[benchmark.pk]
            for benchmark in missing
            if benchmark.pk in by_campaigns
        }
        cache.set_many(known, NEW_COUNTS_SECONDS)
        cached |= known
    return {benchmark.pk: cached[key] for benchmark, key in keys.items() if key in cached}


def _count_and_store(benchmark: Benchmark, key: str) -> NewCounts:
    counts = _counted(benchmark)
    shared_cache.set(key, [counts.tasks, counts.pairs], NEW_COUNTS_SECONDS)
    cache.set(key, counts, NEW_COUNTS_SECONDS)
    return counts


def _counted(benchmark: Benchmark) -> NewCounts:
    """Return the numbers of new tasks and pairs. All pairs and tasks are read."""
    sizes = [(len(part.units), int(part.n_pairs.sum())) for part in new_task_parts(benchmark)]
    return NewCounts(sum(tasks for tasks, _ in sizes), sum(pairs for _, pairs in sizes))


def _counts_by_campaigns(benchmarks: Sequence[Benchmark]) -> dict[int, NewCounts]:
    """Return the counts that follow from the campaigns, without reading pairs.

    Benchmarks whose counts do not follow from them are left out.

    When a campaign opens, it includes all pooled pairs that no other campaign contains, unless it
    repeats pairs. Until another pool is built, no task is new, unless a closed campaign has
    unlabelled tasks. If the newest campaign is the only such campaign, its unlabelled tasks are the
    new tasks. The pool of an imported file adds no new tasks, because its pairs are in the campaign
    of that file.
    """
    campaigns = _campaigns_with_newest_pool(benchmarks)
    closed = [
        campaign
        for of_benchmark in campaigns.values()
        for campaign in of_benchmark
        if campaign.state == CampaignState.CLOSED
    ]
    freed = {
        pk: unlabelled
        for pk, groups in task_groups(closed).items()
        if (unlabelled := _unlabelled(groups)).tasks
    }
    counts: dict[int, NewCounts] = {}
    for pk, of_benchmark in campaigns.items():
        freeing = [campaign for campaign in of_benchmark if campaign.pk in freed]
        if not freeing:
            counts[pk] = NewCounts(0, 0)
        elif freeing == of_benchmark[-1:] and _keeps_tasks(freeing[0]):
            counts[pk] = freed[freeing[0].pk]
    return counts


def _campaigns_with_newest_pool(benchmarks: Sequence[Benchmark]) -> dict[int, list[Campaign]]:
    """Return the judging campaigns of benchmarks whose newest pool is completely in a campaign.

    Keys are primary keys of benchmarks. The oldest campaign is the first.
    """
    pools = Pool.objects.filter(benchmark__in=benchmarks, depth__isnull=False).order_by()
    newest_pools = dict(pools.values_list("benchmark").annotate(Max("pk")))
    found = Campaign.objects.filter(of_labels(), benchmark__in=benchmarks)
    campaigns: dict[int, list[Campaign]] = {}
    for campaign in found.order_by("pk").select_related("benchmark", "pool"):
        campaigns.setdefault(campaign.benchmark_id, []).append(campaign)
    return {
        pk: campaigns[pk]
        for pk, pool in newest_pools.items()
        if any(not one.repeats_pairs and one.pool_id == pool for one in campaigns.get(pk, []))
    }


def _unlabelled(groups: Sequence[TaskGroup]) -> NewCounts:
    found = [group for group in groups if group.is_unlabelled]
    return NewCounts(sum(group.tasks for group in found), sum(group.pairs for group in found))


def _keeps_tasks(campaign: Campaign) -> bool:
    """Return whether a new campaign would have the same tasks for the campaign's pairs.

    The rule for equal captions may have changed since the campaign opened.
    """
    if campaign.repeats_pairs:
        return False
    return campaign.benchmark.equal_texts == EqualTexts.OFF or (
        JudgmentTask.objects.filter(campaign=campaign, unit__isnull=False).exists()
    )


def _keys_of_new_counts(benchmarks: Iterable[Benchmark]) -> dict[Benchmark, str]:
    """Return a cache key for each benchmark, which changes whenever its new tasks may change."""
    is_closed = Q(state=CampaignState.CLOSED)
    campaigns = (
        Campaign.objects.filter(of_labels())
        .order_by()
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


def relevant_text_pairs(benchmark: Benchmark) -> Int64Array:
    """Return the text pairs that a task of the benchmark has settled as relevant, ascending."""
    tasks = JudgmentTask.objects.filter(
        of_labels("campaign__"),
        campaign__benchmark=benchmark,
        pair__isnull=False,
        label__gte=F("campaign__threshold"),
    )
    codes = codes_of(benchmark, *read_columns(tasks, "pair__query_id", "pair__video_id"))
    return np.unique(text_pair_codes(codes, first_equal_captions(benchmark), benchmark.pair_space))

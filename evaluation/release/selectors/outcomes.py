"""Numbers of settled, pending and conflicted pairs of a benchmark, as all pages count them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from django.db.models import Exists, OuterRef

from annotation.core.consensus import OutcomeCounts
from annotation.enums import CampaignState
from annotation.models import Campaign, JudgmentTask, of_labels
from annotation.selectors.progress import TaskGroup, outcomes_of_groups, task_groups
from annotation.selectors.tasks import new_counts_for_page, new_task_parts, taken_pairs
from evaluation.release.selectors.labels import live_labels
from hearth.shared.bulk import read_columns
from hearth.shared.caches import process_cache as cache
from pooling.core.equal_texts import expand_text_pairs
from pooling.core.pool import union_codes
from pooling.models import Benchmark
from pooling.selectors.captions import first_equal_captions
from pooling.selectors.pools import pair_arrays

# Counting the pairs of MSVD takes a third of a second, so counts may be half a minute old.
CACHE_SECONDS = 30
CACHE_COST_FACTOR = 20
CACHE_KEY = "outcomes-{}"


@dataclass(frozen=True, slots=True)
class BenchmarkOutcomes:
    """Numbers of labelled pairs by outcome.

    pairs: number of pairs that have a label or can get one. These are the pooled pairs, and the
    pairs of equal captions that share their labels. None while a worker counts new pairs.
    """

    counts: OutcomeCounts
    pairs: int | None

    @property
    def has_labels(self) -> bool:
        return self.labelled > 0

    @property
    def labelled(self) -> int:
        """Return the number of pairs with a label or a ruling."""
        return self.counts.settled + self.counts.unsettled

    @property
    def unjudged(self) -> int | None:
        """Return the number of pairs without a label, or None while a worker counts new pairs."""
        return None if self.pairs is None else self.pairs - self.labelled

    @property
    def settled_percent(self) -> str:
        """Return the settled share in %, rounded down, so that 100 means all pairs."""
        if not self.pairs:
            return "0"
        share = 100 * self.counts.settled / self.pairs
        if share >= 1 or not self.counts.settled:
            return f"{int(share)}"
        return f"{int(10 * share) / 10:.1f}"


def benchmark_outcomes(benchmark: Benchmark) -> BenchmarkOutcomes:
    """Return the current counts. They equal those of a label set that is published now."""
    return _count([benchmark])[benchmark.pk]


def recent_outcomes(benchmarks: Sequence[Benchmark]) -> dict[int, BenchmarkOutcomes]:
    """Return counts by the primary key of the benchmark.

    They are at most half a minute old, or 20 times the duration of the count if that is longer. A
    benchmark without settled pairs is counted each time. Counts without the number of pairs are not
    cached.
    """
    keys = {benchmark: CACHE_KEY.format(benchmark.pk) for benchmark in benchmarks}
    cached: dict[str, BenchmarkOutcomes] = cache.get_many(keys.values())
    missing = [
        benchmark
        for benchmark, key in keys.items()
        if key not in cached or not cached[key].counts.settled
    ]
    if missing:
        began = time.monotonic()
        counted = _count(missing)
        seconds = max(CACHE_SECONDS, CACHE_COST_FACTOR * (time.monotonic() - began))
        fresh = {keys[benchmark]: counted[benchmark.pk] for benchmark in missing}
        complete = {key: counts for key, counts in fresh.items() if counts.pairs is not None}
        cache.set_many(complete, seconds)
        cached |= fresh
    return {benchmark.pk: cached[key] for benchmark, key in keys.items()}


def _count(benchmarks: Sequence[Benchmark]) -> dict[int, BenchmarkOutcomes]:
    """Count tasks, or pairs if campaigns of the benchmark can share pairs."""
    shared = _benchmarks_with_shared_pairs(benchmarks)
    counts = {
        benchmark.pk: _count_pairs(benchmark) for benchmark in benchmarks if benchmark.pk in shared
    }
    others = [benchmark for benchmark in benchmarks if benchmark.pk not in shared]
    return counts | (_count_tasks(others) if others else {})


def _benchmarks_with_shared_pairs(benchmarks: Iterable[Benchmark]) -> set[int]:
    """Return the primary keys of benchmarks in which two campaigns may contain the same pair.

    This is possible with campaigns that repeat pairs, and if equal captions share tasks in some
    campaigns only.
    """
    shares_text_pairs = JudgmentTask.objects.filter(campaign=OuterRef("pk"), unit__isnull=False)
    campaigns = (
        Campaign.objects.filter(of_labels(), benchmark__in=benchmarks)
        .order_by()
        .select_related("pool")
        .annotate(shares=Exists(shares_text_pairs))
    )
    several: dict[int, list[tuple[bool, bool]]] = {}
    for campaign in campaigns:
        kind = (campaign.repeats_pairs, campaign.shares)
        several.setdefault(campaign.benchmark_id, []).append(kind)
    return {
        pk
        for pk, kinds in several.items()
        if len(kinds) > 1
        and (any(repeats for repeats, _ in kinds) or len({s for _, s in kinds}) > 1)
    }


def _count_pairs(benchmark: Benchmark) -> BenchmarkOutcomes:
    _, labels = live_labels(benchmark)
    return BenchmarkOutcomes(labels.outcomes, len(_pairs_to_judge(benchmark)))


def _pairs_to_judge(benchmark: Benchmark) -> npt.NDArray[np.int64]:
    """Return the codes of the pooled pairs and of all pairs that share a task, ascending."""
    shared = taken_pairs(benchmark).filter(unit__isnull=False)
    (held,) = read_columns(shared, "unit")
    text_pairs = union_codes([held, *(part.units for part in new_task_parts(benchmark))])
    first_equal = first_equal_captions(benchmark)
    _, codes = expand_text_pairs(text_pairs, first_equal, benchmark.pair_space)
    return union_codes([pair_arrays(benchmark).codes, codes])


def _count_tasks(benchmarks: Sequence[Benchmark]) -> dict[int, BenchmarkOutcomes]:
    campaigns = list(Campaign.objects.filter(of_labels(), benchmark__in=benchmarks).order_by())
    groups: dict[int, list[TaskGroup]] = {benchmark.pk: [] for benchmark in benchmarks}
    new = new_counts_for_page(benchmarks)
    pairs = {pk: counts.pairs for pk, counts in new.items() if counts is not None}
    of_campaigns = task_groups(campaigns)
    for campaign in campaigns:
        groups[campaign.benchmark_id] += of_campaigns[campaign.pk]
        if campaign.benchmark_id not in pairs:
            continue
        # A new campaign can contain the unlabelled tasks of a closed one (`taken_pairs`).
        is_closed = campaign.state == CampaignState.CLOSED
        pairs[campaign.benchmark_id] += sum(
            group.pairs
            for group in of_campaigns[campaign.pk]
            if not (is_closed and group.is_unlabelled)
        )
    return {
        pk: BenchmarkOutcomes(outcomes_of_groups(found), pairs.get(pk))
        for pk, found in groups.items()
    }

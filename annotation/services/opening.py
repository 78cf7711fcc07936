"""Opening a campaign. Tasks are planned and stored part by part, to limit the use of memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from annotation.core.plan import GroupQueue, LabelPlan, Queue, count_plan
from annotation.enums import AnnotationAct, Order, Priority, TaskState
from annotation.models import Campaign, JudgmentTask
from annotation.policies import check_can_lead
from annotation.questions.kind import kinds
from annotation.selectors.groups import Groups, groups_of
from annotation.selectors.guidelines import latest_guideline
from annotation.selectors.tasks import NewTasks, new_task_parts, taken_pairs
from annotation.services.gold import add_gold_tasks
from annotation.services.policy import Policy
from hearth.accounts.actors import Actor, account_of
from hearth.audit.services import record
from hearth.shared.bulk import copy_parts, lock_row, long_transaction, read_columns
from hearth.shared.errors import InvalidInput
from hearth.shared.limits import check_length, check_seed
from hearth.shared.spool import Rows, Spool
from pooling.core.pool import NOT_RANKED
from pooling.core.proxies.distribution import as_stored
from pooling.enums import EqualTexts, MediaState
from pooling.models import Benchmark, Pool, Proxy, Video
from pooling.selectors.pools import NO_POOL, get_latest_pool
from pooling.selectors.proxies import get_ordering_proxy, values_of_proxy
from pooling.selectors.runs import ranks_in_run

# Tiers by best rank: the last rank of each tier. One more tier has all other ranks. Annotators get
# pairs of a lower tier first.
TIER_ENDS = (1, 3, 10)
# Tiers by a proxy: the lowest value of each tier. One more tier has all lower values.
VALUE_TIERS = (0.8, 0.6, 0.4, 0.2)
# The values of a task that are stored until its position is known.
TASK = np.dtype([("pair_id", "i8"), ("unit", "i8"), ("n_pairs", "i4"), ("tier", "i1")])

Int64Array = npt.NDArray[np.int64]


def open_campaign(
    *,
    benchmark: Benchmark,
    by: Actor,
    seed: int = 0,
    name: str = "",
    policy: Policy | None = None,
    proxy: str = "",
    question: str = "label",
    **own: Any,
) -> Campaign:
    """Open a campaign over all pairs of the benchmark that are not in a campaign yet.

    Pairs that had no label when their campaign was closed are included.

    Captions with equal texts share one task for each video, and its label applies to all of them.
    A campaign for a later run contains only the new pairs of that run. proxy: the name of the
    proxy that orders the pairs if the priority is by a proxy. question, own: the question, and the
    options of only some questions, see `CampaignOptions`. Another question than `label` takes the
    pairs that no campaign with this question contains. Raises `InvalidInput` if there is no pool,
    no pair is left, the proxy is missing, or the policy is invalid. Also raises it if the policy
    needs control pairs and there are none.
    """
    check_can_lead(by, benchmark)
    policy = policy or Policy()
    policy.check()
    check_seed(seed)
    check_length(Campaign, "name", name)
    kind = kinds()[question]
    options = kind.opened_with(policy, **own)
    pool = get_latest_pool(benchmark)
    by_proxy = get_ordering_proxy(benchmark, proxy) if policy.priority == Priority.PROXY else None
    with long_transaction(), Spool(TASK) as tasks:
        lock_row(benchmark)
        benchmark.refresh_from_db(fields=["equal_texts"])
        taken = kind.pairs_taken(taken_pairs(benchmark))
        for part in new_task_parts(benchmark, taken, kind.pairs_wanted(benchmark, options)):
            tasks.add(_rows(part, _tiers_of(part, policy.priority, pool, by_proxy)))
        if not len(tasks):
            reason = NO_POOL if pool.depth is None else kind.words.no_pairs
            raise InvalidInput(reason.format(benchmark=benchmark.key))
        plan = _plan(tasks, benchmark, policy, seed)
        campaign = Campaign.objects.create(
            benchmark=benchmark,
            pool=pool,
            name=name or f"{benchmark.key} {Campaign.objects.count() + 1}",
            seed=seed,
            guideline=latest_guideline(benchmark),
            n_tasks=len(tasks),
            in_groups=plan.groups is not None,
            plan=count_plan((plan.labels_of(part["unit"]), part["n_pairs"]) for part in tasks),
            created_by=account_of(by),
            proxy=by_proxy,
            question=question,
            options=options,
            **policy.columns(),
        )
        copy_parts(JudgmentTask, _columns(campaign, tasks, plan))
        if policy.gold_share and not add_gold_tasks(campaign):
            raise InvalidInput(f"{benchmark.key} has no control pairs. Import control pairs first.")
        record(AnnotationAct.CAMPAIGN_OPENED, by=by, on=campaign, after={"tasks": campaign.n_tasks})
    return campaign


@dataclass(frozen=True, slots=True)
class _Plan:
    """groups: which tasks are judged together and get an extra label together; None for none."""

    queue: Queue | GroupQueue
    labels: LabelPlan
    groups: Groups | None = None

    def labels_of(self, units: Int64Array) -> npt.NDArray[np.int16]:
        """Return the planned number of labels of each task, int16 [n]."""
        return self.labels.labels(units if self.groups is None else self.groups.codes(units))


def _plan(tasks: Spool, benchmark: Benchmark, policy: Policy, seed: int) -> _Plan:
    if (groups := groups_of(benchmark)) is not None:
        return _plan_of_groups(tasks, groups, policy, seed)

    def units() -> Iterator[Int64Array]:
        return (part["unit"] for part in tasks)

    return _Plan(
        Queue(
            ((part["unit"], part["tier"]) for part in tasks),
            benchmark.pair_space,
            seed,
            grouped=policy.order == Order.GROUPED,
        ),
        policy.label_plan(units, len(tasks), seed),
    )


def _plan_of_groups(tasks: Spool, groups: Groups, policy: Policy, seed: int) -> _Plan:
    """Plan tasks in groups. Whole groups get an extra label."""
    units = np.concatenate([part["unit"] for part in tasks])
    tiers = np.concatenate([part["tier"].astype(np.int64) for part in tasks])
    codes = groups.codes(units)
    drawn = np.unique(codes)
    return _Plan(
        GroupQueue(units, codes, groups.places_of(units), tiers, seed),
        policy.label_plan(lambda: iter([drawn]), len(drawn), seed),
        groups,
    )


def _rows(part: NewTasks, tiers: Int64Array | int) -> Rows:
    """Return tasks as rows of `TASK`."""
    rows = np.zeros(len(part.units), TASK)
    rows["pair_id"], rows["unit"], rows["n_pairs"] = part.pair_ids, part.units, part.n_pairs
    rows["tier"] = tiers
    return rows


def _tiers_of(
    tasks: NewTasks, priority: Priority, pool: Pool, proxy: Proxy | None
) -> Int64Array | int:
    """Return the tier of each task, int64 [n_tasks], or 0 for all."""
    if proxy is not None:
        return _tiers_by_proxy(proxy, tasks)
    return _tiers_by_rank(pool, tasks) if priority == Priority.RANK else 0


def _tiers_by_proxy(proxy: Proxy, tasks: NewTasks) -> Int64Array:
    """Return the tier of each task by the highest value of its pairs, int64 [n_tasks]."""
    captions, videos = proxy.benchmark.pair_space.decode(tasks.pairs)
    values = values_of_proxy(proxy)[captions, videos].astype(np.float64)
    highest = np.zeros(len(tasks.units))
    np.maximum.at(highest, tasks.pair_task, values)
    lowest = np.array([float(as_stored(value)) for value in VALUE_TIERS])
    tiers: Int64Array = (highest[:, None] < lowest).sum(axis=1)
    return tiers


def _tiers_by_rank(pool: Pool, tasks: NewTasks) -> Int64Array:
    """Return the tier of each task by the best rank of its pairs, int64 [n_tasks].

    The best rank is taken over all runs of the pool.
    """
    codes = tasks.pairs
    best = np.full(len(codes), np.iinfo(np.int32).max, np.int64)
    for run in pool.runs.all():
        ranks = ranks_in_run(run, codes, pool.depth)
        best = np.where(ranks == NOT_RANKED, best, np.minimum(best, ranks + 1))
    best_of_task = np.full(len(tasks.units), np.iinfo(np.int32).max, np.int64)
    np.minimum.at(best_of_task, tasks.pair_task, best)
    return np.searchsorted(TIER_ENDS, best_of_task).astype(np.int64)


def _columns(campaign: Campaign, tasks: Spool, plan: _Plan) -> Iterator[dict[str, Any]]:
    """Yield the columns of the table of tasks, part by part."""
    benchmark = campaign.benchmark
    is_shared = benchmark.equal_texts != EqualTexts.OFF
    is_broken = _broken_videos(benchmark)
    states = np.array([TaskState.OPEN.value, TaskState.UNPLAYABLE.value], object)
    for part in tasks:
        units, labels = part["unit"], plan.labels_of(part["unit"])
        broken = is_broken[benchmark.pair_space.videos(units)]
        yield {
            "campaign_id": campaign.pk,
            "pair_id": part["pair_id"],
            "unit": units if is_shared else None,
            "n_pairs": part["n_pairs"],
            "group": None if plan.groups is None else plan.groups.codes(units),
            "position": plan.queue.positions(units, part["tier"]),
            "labels_planned": labels,
            "labels_required": labels,
            "seats_open": np.where(broken, 0, labels),
            "state": states[broken.astype(int)],
        }


def _broken_videos(benchmark: Benchmark) -> npt.NDArray[np.bool_]:
    """Return whether each video cannot be played, bool [n_videos]."""
    is_broken = np.zeros(benchmark.n_videos, np.bool_)
    videos = Video.objects.filter(benchmark=benchmark, state=MediaState.BROKEN)
    is_broken[read_columns(videos, "number")[0]] = True
    return is_broken

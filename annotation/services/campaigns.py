"""Opening, pausing and closing campaigns."""

from __future__ import annotations

import datetime

import numpy as np
import numpy.typing as npt
from django.db import transaction
from django.utils import timezone

from annotation.core.plan import count_plan, plan_labels, plan_positions
from annotation.enums import AnnotationAct, CampaignState, Order, Priority, TaskState
from annotation.models import HAS_BEGUN, Campaign, CampaignChange, JudgmentTask
from annotation.policies import check_can_lead
from annotation.selectors.guidelines import latest_guideline
from annotation.selectors.tasks import NewTasks, new_tasks
from annotation.services.gold import add_gold_tasks
from annotation.services.policy import Policy
from annotation.services.slots import lock_tasks, update_task_states
from config.accounts.actors import Actor, account_of
from config.accounts.models import User
from config.audit.services import record
from config.shared.bulk import copy_columns, lock_row, long_transaction, read_columns
from config.shared.errors import Conflict, InvalidInput
from config.shared.limits import check_length, check_seed
from config.webhooks.models import Event
from config.webhooks.services import announce
from pooling.core.pool import NOT_RANKED, ranks_of_pairs
from pooling.enums import EqualTexts, MediaState
from pooling.models import Benchmark, Pair, Pool
from pooling.selectors.pools import get_latest_pool
from pooling.selectors.runs import ranked_matrix

# This is longer than a lease, and longer than an answer takes to arrive.
RECENTLY = datetime.timedelta(hours=2)
# Ends of the tiers of best ranks. Annotators get pairs of a lower tier first.
TIER_ENDS = (1, 3, 10)

Int64Array = npt.NDArray[np.int64]


def open_campaign(
    *,
    benchmark: Benchmark,
    by: Actor,
    seed: int = 0,
    name: str = "",
    policy: Policy | None = None,
) -> Campaign:
    """Open a campaign over all pairs of the benchmark that are not in a campaign yet.

    Pairs that had no label when their campaign was closed are included.

    Captions with equal texts share one task for each video, and its label applies to all of them.
    A campaign for a later run contains only the new pairs of that run. Raises `InvalidInput` if
    there is no pool, no pair is left, or the policy is invalid.
    """
    check_can_lead(by, benchmark)
    policy = policy or Policy()
    policy.check()
    check_seed(seed)
    check_length(Campaign, "name", name)
    pool = get_latest_pool(benchmark)
    with long_transaction():
        lock_row(benchmark)
        benchmark.refresh_from_db(fields=["equal_texts"])
        tasks = new_tasks(benchmark)
        if not len(tasks.codes):
            raise InvalidInput(f"Every pair of {benchmark.key} is already in a campaign.")
        labels = plan_labels(tasks.units, policy.double_share, seed, policy.labels_each)
        campaign = Campaign.objects.create(
            benchmark=benchmark,
            pool=pool,
            name=name or f"{benchmark.key} {Campaign.objects.count() + 1}",
            seed=seed,
            guideline=latest_guideline(benchmark),
            n_tasks=len(tasks.codes),
            plan=count_plan(labels, tasks.n_pairs),
            created_by=account_of(by),
            **policy.columns(),
        )
        broken = np.isin(tasks.pair_ids, _unplayable_pairs(benchmark))
        is_shared = benchmark.equal_texts != EqualTexts.OFF
        copy_columns(
            JudgmentTask,
            {
                "campaign_id": campaign.pk,
                "pair_id": tasks.pair_ids,
                "unit": tasks.units if is_shared else None,
                "n_pairs": tasks.n_pairs,
                "position": plan_positions(
                    tasks.units,
                    benchmark.pair_space,
                    seed,
                    grouped=policy.order == Order.GROUPED,
                    tiers=_tiers(pool, tasks) if policy.priority == Priority.RANK else None,
                ),
                "labels_planned": labels,
                "labels_required": labels,
                "seats_open": np.where(broken, 0, labels),
                "state": _states(broken),
            },
        )
        if policy.gold_share and not add_gold_tasks(campaign):
            raise InvalidInput(
                f"{benchmark.key} has no control pairs. Import gold for control first."
            )
        record(AnnotationAct.CAMPAIGN_OPENED, by=by, on=campaign, after={"tasks": campaign.n_tasks})
    return campaign


def _tiers(pool: Pool, tasks: NewTasks) -> Int64Array:
    """Return the tier of each task, int64 [n_tasks].

    It depends on the best rank that any pair of the task has in any run of the pool.
    """
    codes = tasks.pairs
    best = np.full(len(codes), np.iinfo(np.int32).max, np.int64)
    for run in pool.runs.all():
        ranks = ranks_of_pairs(ranked_matrix(run, pool.depth), codes, pool.benchmark.pair_space)
        best = np.where(ranks == NOT_RANKED, best, np.minimum(best, ranks + 1))
    best_of_task = np.full(len(tasks.codes), np.iinfo(np.int32).max, np.int64)
    np.minimum.at(best_of_task, tasks.pair_task, best)
    return np.searchsorted(TIER_ENDS, best_of_task).astype(np.int64)


def _states(broken: npt.NDArray[np.bool_]) -> list[str]:
    names = np.array([TaskState.OPEN.value, TaskState.UNPLAYABLE.value])
    states: list[str] = names[broken.astype(int)].tolist()
    return states


def _unplayable_pairs(benchmark: Benchmark) -> npt.NDArray[np.int64]:
    broken = Pair.objects.filter(video__benchmark=benchmark, video__state=MediaState.BROKEN)
    (ids,) = read_columns(broken, "pk")
    return ids


def set_campaign_state(*, campaign: Campaign, state: CampaignState, by: User) -> Campaign:
    """Pause, reopen or close a campaign. A closed campaign stays closed.

    Closing settles the pending pairs by their labels, because no further label will arrive. Raises
    `Conflict` if the campaign is closed.
    """
    check_can_lead(by, campaign.benchmark)
    with transaction.atomic():
        lock_row(campaign)
        campaign.refresh_from_db()
        if campaign.state == CampaignState.CLOSED:
            raise Conflict("The campaign is closed.")
        if campaign.state != state:
            changes = {"state": [campaign.state, state]}
            CampaignChange.objects.create(campaign=campaign, lead=by, changes=changes)
            before, after = {"state": campaign.state}, {"state": state}
            record(AnnotationAct.CAMPAIGN_STATE_SET, by=by, on=campaign, before=before, after=after)
        campaign.state = state
        campaign.closed_at = timezone.now() if state == CampaignState.CLOSED else None
        campaign.save(update_fields=["state", "closed_at"])
        if state == CampaignState.CLOSED:
            facts = {"campaign": campaign.pk, "name": campaign.name}
            announce(Event.CAMPAIGN_CLOSED, campaign.benchmark.key, facts)
    # This runs after the commit. It waits for answers that arrived earlier, which lock their tasks.
    if state == CampaignState.CLOSED:
        update_closed_campaign(campaign)
    return campaign


def update_closed_campaign(campaign: Campaign) -> int:
    """Settle the labelled open tasks of a closed campaign. Return their number.

    A second call changes nothing.
    """
    with long_transaction():
        unsettled = JudgmentTask.objects.filter(
            HAS_BEGUN, campaign=campaign, state=TaskState.OPEN, labels_live__gt=0
        )
        tasks = lock_tasks(unsettled)
        update_task_states(campaign, tasks)
    return len(tasks.ids)


def update_recently_closed() -> int:
    """Settle tasks whose last answer arrived while their campaign was being closed."""
    since = timezone.now() - RECENTLY
    closed = Campaign.objects.filter(
        state=CampaignState.CLOSED, closed_at__gte=since, source_sha256=""
    )
    return sum(update_closed_campaign(campaign) for campaign in closed)

"""Opening, pausing and closing rounds of judging."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.core.plan import plan_labels, plan_positions
from annotation.enums import (
    LABELS,
    CampaignKind,
    CampaignState,
    Joining,
    Order,
    Priority,
    Scale,
    TaskState,
)
from annotation.models import Campaign, CampaignChange, JudgmentTask
from annotation.policies import Person, check_can_lead
from annotation.selectors import NewTasks, latest_guideline, new_tasks
from annotation.services.gold import bring_gold
from annotation.services.seats import lock_tasks, settle_tasks
from config.accounts.models import User
from config.shared.bulk import copy_columns, lock_row, long_transaction, read_columns
from config.shared.errors import Conflict, InvalidInput
from config.shared.limits import check_length, check_seed
from pooling.core.pool import NOT_RANKED, ranks_of_pairs
from pooling.enums import EqualTexts, MediaState
from pooling.models import Benchmark, Pair, Pool
from pooling.selectors import get_latest_pool, ranked_matrix

STEPS_MAX = 9  # as many as there are digit keys
STEP_LENGTH = 40
LABELS_MOST = 99
# Longer than any answer is on its way, and than a lease lasts.
LATELY = datetime.timedelta(hours=2)
# Pairs whose best rank is 1, up to 3, up to 10, and the others, are handed out in this order.
TIER_ENDS = (1, 3, 10)

Int64Array = npt.NDArray[np.int64]


class PolicyFault(InvalidInput):
    """What cannot be followed; `field` is the one of `Policy` that says so."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(reason)
        self.field = field


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How a campaign is judged. Shares lie between 0 and 1; see `Campaign` for each field."""

    scale: Scale = Scale.BINARY
    steps: list[str] = field(default_factory=list)
    threshold: int = 1
    original_grade: int | None = None
    labels_each: int = 1
    double_share: float = 0.10
    labels_max: int = 3
    order: Order = Order.GROUPED
    priority: Priority = Priority.NONE
    joining: Joining = Joining.EVERYBODY
    ceiling: float = 1
    gate_share: float = 0
    gate_last: int = 0
    gold_share: float = 0
    gold_bar: float = 0
    gold_last: int = 10
    checklist: bool = False
    contact_sheet: bool = False

    def check(self) -> None:
        """Raises `PolicyFault` where the policy cannot be followed."""
        self._check_labels()
        self._check_scale()
        self.check_changeable()

    def check_changeable(self) -> None:
        """What may change while the campaign runs: its plan stays, whatever is asked of new ones.

        Raises `PolicyFault`.
        """
        check_share("gold_share", "share of gold", self.gold_share)
        check_share("gold_bar", "bar for gold", self.gold_bar)
        check_share("gate_share", "gate", self.gate_share)
        if not 0 < self.ceiling <= 1:
            reason = f"the ceiling is a share above 0 and up to 1, not {self.ceiling}"
            raise PolicyFault("ceiling", reason)
        if self.gold_last < 1:
            raise PolicyFault("gold_last", "the bar looks at one or more of the last answers")
        if not 0 <= self.gate_last <= 10_000:
            raise PolicyFault("gate_last", "the gate looks at up to 10,000 of the last answers")

    def _check_labels(self) -> None:
        check_share("double_share", "doubled share", self.double_share)
        if not 1 <= self.labels_each <= self.labels_max <= LABELS_MOST:
            raise PolicyFault(
                "labels_max",
                f"a pair gets 1 to {LABELS_MOST} labels, and at most as many as the maximum, "
                f"not {self.labels_each} with a maximum of {self.labels_max}",
            )
        if self.double_share and self.labels_each == self.labels_max:
            raise PolicyFault(
                "labels_max",
                f"pairs with one label more get {self.labels_each + 1}, which is above the "
                f"maximum of {self.labels_max}",
            )

    def _check_scale(self) -> None:
        names = self.labels
        if len(names) < 2 or len(names) > STEPS_MAX:
            raise PolicyFault("steps", f"a scale has 2 to {STEPS_MAX} steps, not {len(names)}")
        if len({name.casefold() for name in names}) < len(names):
            raise PolicyFault("steps", "two steps of the scale have the same name")
        if any(not 0 < len(name) <= STEP_LENGTH for name in names):
            raise PolicyFault("steps", f"the name of a step has 1 to {STEP_LENGTH} characters")
        if not 1 <= self.threshold < len(names):
            raise PolicyFault(
                "threshold",
                f"the lowest relevant step is one of 1 to {len(names) - 1}, not {self.threshold}",
            )
        grade = self.original_grade
        if grade is not None and not self.threshold <= grade < len(names):
            raise PolicyFault(
                "original_grade",
                f"the label of original positives must be a relevant step, {self.threshold} to "
                f"{len(names) - 1}, not {grade}",
            )

    @property
    def labels(self) -> list[str]:
        return self.steps or list(LABELS[self.scale].values())

    def columns(self) -> dict[str, Any]:
        """The policy as fields of a campaign."""
        shares = ("double_share", "ceiling", "gate_share", "gold_share", "gold_bar")
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return fields | {name: Decimal(str(fields[name])) for name in shares}


def check_share(field: str, what: str, share: float) -> None:
    if not 0 <= share <= 1:
        raise PolicyFault(field, f"the {what} must lie between 0 and 1, not {share}")


def open_campaign(
    *, benchmark: Benchmark, seed: int = 0, name: str = "", policy: Policy | None = None
) -> Campaign:
    """Open a round of judging over all pairs of the benchmark that no campaign holds yet, and those
    that had no label when their campaign was closed.

    Captions with equal texts share one task for each video, and its label holds for all of them.
    The campaign of a later run holds only its own new pairs. Raises `InvalidInput` if there is no
    pool or nothing left to judge, or if the policy cannot be followed.
    """
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
            raise InvalidInput(f"every pair of {benchmark.key} is in a campaign already")
        campaign = Campaign.objects.create(
            benchmark=benchmark,
            pool=pool,
            name=name or f"{benchmark.key} {Campaign.objects.count() + 1}",
            seed=seed,
            guideline=latest_guideline(benchmark),
            n_tasks=len(tasks.codes),
            **policy.columns(),
        )
        labels = plan_labels(tasks.units, policy.double_share, seed, policy.labels_each)
        broken = np.isin(tasks.pair_ids, _pairs_that_cannot_play(benchmark))
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
                    benchmark.n_videos,
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
        if policy.gold_share and not bring_gold(campaign):
            raise InvalidInput(f"{benchmark.key} has no control pairs to mix in; bring some first")
    return campaign


@transaction.atomic
def open_training(*, benchmark: Benchmark, by: Person, name: str = "") -> Campaign:
    """Open the training queue of a benchmark: all gold items that are meant for training.

    Raises `Conflict` where one is open already, `InvalidInput` where there are no such items.
    """
    check_can_lead(by, benchmark)
    check_length(Campaign, "name", name)
    try:
        with transaction.atomic():
            campaign = Campaign.objects.create(
                benchmark=benchmark,
                kind=CampaignKind.TRAINING,
                name=name or f"{benchmark.key} training",
                guideline=latest_guideline(benchmark),
            )
    except IntegrityError:
        raise Conflict("The benchmark has a training queue that is not closed.") from None
    if not bring_gold(campaign):
        raise InvalidInput(f"{benchmark.key} has no training items; bring some first")
    return campaign


def _tiers(pool: Pool, tasks: NewTasks) -> Int64Array:
    """Return the tier of each task by the best rank of one of its pairs in a run of the pool.

    Returns int64 [n_tasks].
    """
    codes = tasks.pairs
    best = np.full(len(codes), np.iinfo(np.int32).max, np.int64)
    for run in pool.runs.all():
        ranks = ranks_of_pairs(ranked_matrix(run, pool.depth), codes, pool.benchmark.n_videos)
        best = np.where(ranks == NOT_RANKED, best, np.minimum(best, ranks + 1))
    best_of_task = np.full(len(tasks.codes), np.iinfo(np.int32).max, np.int64)
    np.minimum.at(best_of_task, tasks.pair_task, best)
    return np.searchsorted(TIER_ENDS, best_of_task).astype(np.int64)


def _states(broken: npt.NDArray[np.bool_]) -> list[str]:
    names = np.array([TaskState.OPEN.value, TaskState.UNPLAYABLE.value])
    states: list[str] = names[broken.astype(int)].tolist()
    return states


def _pairs_that_cannot_play(benchmark: Benchmark) -> npt.NDArray[np.int64]:
    broken = Pair.objects.filter(video__benchmark=benchmark, video__state=MediaState.BROKEN)
    (ids,) = read_columns(broken, "pk")
    return ids


def set_campaign_state(*, campaign: Campaign, state: CampaignState, by: Person) -> Campaign:
    """Pause, reopen or close. A closed campaign stays closed; imported ones always are.

    Closing settles the pending pairs by the labels they have, because no further label will arrive.
    """
    check_can_lead(by, campaign.benchmark)
    with transaction.atomic():
        lock_row(campaign)
        campaign.refresh_from_db()
        if campaign.state == CampaignState.CLOSED:
            raise Conflict("The campaign is closed.")
        if campaign.state != state:
            changes = {"state": [campaign.state, state]}
            CampaignChange.objects.create(campaign=campaign, lead=cast(User, by), changes=changes)
        campaign.state = state
        campaign.closed_at = timezone.now() if state == CampaignState.CLOSED else None
        campaign.save(update_fields=["state", "closed_at"])
    # After the commit: an answer that came before it has its task locked, and is waited for.
    if state == CampaignState.CLOSED:
        settle_closed(campaign)
    return campaign


def settle_closed(campaign: Campaign) -> int:
    """Settle the labelled tasks of a closed campaign that still wait; returns how many there were.

    Done twice, it is done once.
    """
    with long_transaction():
        waiting = JudgmentTask.objects.filter(
            campaign=campaign, state=TaskState.OPEN, labels_live__gt=0
        )
        tasks = lock_tasks(waiting)
        settle_tasks(campaign, tasks)
    return len(tasks.ids)


def settle_lately_closed() -> int:
    """Settle what answers have left open that were on their way while their campaign closed."""
    lately = timezone.now() - LATELY
    closed = Campaign.objects.filter(
        state=CampaignState.CLOSED, closed_at__gte=lately, source_sha256=""
    )
    return sum(settle_closed(campaign) for campaign in closed)

"""How many items an annotator can still get in campaigns, and how long they take."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, Count, Exists, F, OuterRef, Q, QuerySet, Value, When

from annotation.enums import AssignmentState, JudgmentState, TaskState
from annotation.models import (
    HAS_BEGUN,
    IN_FORCE,
    STUDY_HAS_BEGUN,
    Annotator,
    Assignment,
    Campaign,
    Escalation,
    Judgment,
    JudgmentTask,
)
from annotation.selectors.members import CampaignAccess, accesses_for
from hearth.shared.caches import process_cache as cache
from hearth.shared.numbers import minutes
from pooling.core.pool_options import SECONDS_EACH

# The pace is the mean time of the annotator's last answers. With fewer answers, there is none.
PACE_ANSWERS = 50
PACE_NEEDED = 10
# The totals of larger numbers are cached, because approximate numbers are enough.
EXACT_UP_TO = 100
TOTAL = "items-of-{}-in-{}"
TOTAL_FOR_SECONDS = 60
CAPPED_SECONDS = Case(
    When(seconds__gt=SECONDS_EACH, then=Value(SECONDS_EACH)), default=F("seconds")
)


@dataclass(frozen=True, slots=True)
class Left:
    """What is left for an annotator in a campaign.

    items: about how many items; 0 if nothing is left for this annotator now. seconds_each: their
    mean time of an answer, each up to `SECONDS_EACH`; None with fewer than `PACE_NEEDED` answers.
    """

    items: int
    seconds_each: float | None = None

    @property
    def time(self) -> str | None:
        """The time of all items at this pace, such as `1 h 30 min`."""
        return None if self.seconds_each is None else minutes(self.items * self.seconds_each)


@dataclass(frozen=True, slots=True)
class _Total:
    """The items that an annotator can get, together with those that were assigned to them.

    is_over: whether there is nothing to get or to answer now.
    """

    items: int
    is_over: bool


def left_for(annotator: Annotator | None, accesses: Sequence[CampaignAccess]) -> dict[int, Left]:
    """Return what is left for an annotator in each campaign, by the campaign's primary key.

    The number of database queries does not depend on the number of campaigns. annotator: None for
    a person who has not judged yet. Their mean time comes from answers to the same question.
    """
    items = items_left(annotator, accesses)
    campaigns = [access.campaign for access in accesses]
    paces = {
        (kind, question): _pace(annotator, kind, question)
        for kind, question in {(campaign.kind, campaign.question) for campaign in campaigns}
    }
    return {
        campaign.pk: Left(items[campaign.pk], paces[campaign.kind, campaign.question])
        for campaign in campaigns
    }


def left_in(campaign: Campaign, annotator: Annotator) -> Left:
    """Return what is left in one campaign. In training, nothing is counted."""
    if campaign.is_training:
        return Left(0)
    return left_for(annotator, accesses_for(annotator, [campaign])).get(campaign.pk, Left(0))


def _pace(annotator: Annotator | None, kind: str, question: str) -> float | None:
    if annotator is None:
        return None
    timed = Judgment.objects.filter(
        annotator=annotator,
        task__campaign__kind=kind,
        task__campaign__question=question,
        seconds__gt=0,
    )
    last = list(timed.order_by("-created_at").values_list(CAPPED_SECONDS, flat=True)[:PACE_ANSWERS])
    return sum(last) / len(last) if len(last) >= PACE_NEEDED else None


def items_left(annotator: Annotator | None, accesses: Sequence[CampaignAccess]) -> dict[int, int]:
    """Return about how many items are left for an annotator, by the campaign's primary key.

    An item is a pair or a control pair. Each answer and each escalation lowers the number by one,
    whatever the item is and whatever others have answered to it. So the number reveals neither
    control pairs nor the labels of others. In large campaigns, other people's work can be a minute
    old.
    """
    campaigns = [access.campaign for access in accesses]
    if not campaigns:
        return {}
    person = annotator.pk if annotator else None
    keys = {campaign.pk: TOTAL.format(person, campaign.pk) for campaign in campaigns}
    totals: dict[int, _Total] = {
        pk: total for pk, key in keys.items() if (total := cache.get(key)) is not None
    }
    escalated = _count_escalated(annotator, campaigns)
    missing = [access for access in accesses if access.campaign.pk not in totals]
    if missing:
        totals |= _totals(annotator, missing, escalated)
    left = {}
    for access in accesses:
        pk = access.campaign.pk
        total = totals[pk]
        got = access.answered + sum(escalated.get(pk, (0, 0)))
        left[pk] = 0 if total.is_over else max(1, total.items - got)
    large = [access.campaign.pk for access in missing if left[access.campaign.pk] > EXACT_UP_TO]
    cache.set_many({keys[pk]: totals[pk] for pk in large}, TOTAL_FOR_SECONDS)
    return left


def _totals(
    annotator: Annotator | None,
    accesses: Sequence[CampaignAccess],
    escalated: dict[int, tuple[int, int]],
) -> dict[int, _Total]:
    """Return the totals of the annotator in each campaign.

    A pair of the total is open to others or was assigned to the annotator, so it stays in the total
    whatever the annotator does with it.
    """
    campaigns = [access.campaign for access in accesses]
    tasks = JudgmentTask.objects.filter(campaign__in=campaigns).order_by()
    n_open = dict(tasks.filter(seats_open__gt=0).values_list("campaign").annotate(Count("pk")))
    gold = tasks.filter(gold__isnull=False, gold__retired_at=None, state=TaskState.OPEN)
    n_gold = dict(gold.values_list("campaign").annotate(Count("pk")))
    # This covers all campaigns, because a database query for some would read all their tasks.
    held = Assignment.objects.filter(annotator=annotator, state=AssignmentState.HELD)
    rows: QuerySet[Any] = held.order_by().values_list("task__campaign")
    rows = rows.annotate(n=Count("pk"), n_gold=Count("task__gold"))
    all_held = {pk: tuple(found) for pk, *found in rows}
    n_known = _known_pairs(annotator, campaigns)
    own_open = _count_own_open(annotator, campaigns, held)
    totals = {}
    for access in accesses:
        campaign, pk = access.campaign, access.campaign.pk
        judged = access.membership.judged if access.membership else 0
        n_held, n_held_gold = all_held.get(pk, (0, 0))
        own_pairs = judged + n_held - n_held_gold + escalated.get(pk, (0, 0))[0]
        # Others judge what exceeds the ceiling.
        most = campaign.tasks_each - judged - (n_held - n_held_gold)
        new_pairs = n_open.get(pk, 0) - own_open.get(pk, 0) - n_known.get(pk, 0)
        new_pairs = max(0, min(new_pairs, most) if campaign.ceiling < 1 else new_pairs)
        pairs = new_pairs + own_pairs
        totals[pk] = _Total(
            items=pairs + min(_gold_among(pairs, float(campaign.gold_share)), n_gold.get(pk, 0)),
            is_over=not new_pairs and not n_held,
        )
    return totals


def _known_pairs(annotator: Annotator | None, campaigns: Sequence[Campaign]) -> dict[int, int]:
    """Count the open pairs of confirmations that the annotator has judged in another campaign.

    A second label must come from a second person.
    """
    confirming = [campaign for campaign in campaigns if campaign.confirms]
    if annotator is None or not confirming:
        return {}
    labels = Judgment.objects.filter(
        task__pair=OuterRef("pair"), annotator=annotator, state=JudgmentState.LIVE
    ).exclude(task__campaign=OuterRef("campaign"))
    is_open = JudgmentTask.objects.filter(campaign__in=confirming, seats_open__gt=0)
    known = is_open.filter(Exists(labels)).order_by().values_list("campaign")
    return dict(known.annotate(Count("pk")))


def _gold_among(pairs: int, share: float) -> int:
    """Return how many gold items come with a number of pairs, if `share` of all items are gold."""
    return math.ceil(pairs * share / (1 - share)) if share < 1 else pairs


def _count_own_open(
    annotator: Annotator | None, campaigns: Sequence[Campaign], held: QuerySet[Assignment]
) -> Counter[int]:
    """Count the tasks with a free slot that the annotator holds, has answered or has escalated.

    Few tasks have both a label and a free slot. They are found by the index `task_begun`, so the
    time does not grow with the number of answers.
    """
    own = Assignment.objects.filter(task=OuterRef("pk"), annotator=annotator)
    own = own.exclude(state=AssignmentState.EXPIRED)
    is_open = JudgmentTask.objects.filter(
        Exists(own), campaign__in=campaigns, state=TaskState.OPEN, label=None, seats_open__gt=0
    ).order_by()
    escalated = _escalations(annotator, campaigns)
    held_or_escalated = held.order_by().values("task").union(escalated.order_by().values("task"))
    parts = [
        is_open.filter(HAS_BEGUN),
        is_open.filter(labels_live=0, pk__in=held_or_escalated),
    ]
    if any(campaign.is_study for campaign in campaigns):
        parts.append(is_open.filter(STUDY_HAS_BEGUN))
    counted: Counter[int] = Counter()
    for part in parts:
        counted.update(dict(part.values_list("campaign").annotate(Count("pk"))))
    return counted


def _escalations(
    annotator: Annotator | None, campaigns: Sequence[Campaign]
) -> QuerySet[Escalation]:
    return Escalation.objects.filter(IN_FORCE, annotator=annotator, task__campaign__in=campaigns)


def _count_escalated(
    annotator: Annotator | None, campaigns: Sequence[Campaign]
) -> dict[int, tuple[int, int]]:
    """Return the numbers of pairs and gold items that the annotator has escalated, by campaign."""
    is_gold = Q(task__gold__isnull=False)
    rows: QuerySet[Any] = _escalations(annotator, campaigns).order_by()
    counted = rows.values_list("task__campaign").annotate(
        n_pairs=Count("task", distinct=True, filter=~is_gold),
        n_gold=Count("task", distinct=True, filter=is_gold),
    )
    return {pk: (n_pairs, n_gold) for pk, n_pairs, n_gold in counted}

"""How many items an annotator can still get in a campaign."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet

from annotation.enums import AssignmentState, JudgmentState, TaskState
from annotation.models import Annotator, Assignment, Campaign, Escalation, Judgment, JudgmentTask
from annotation.selectors.members import CampaignAccess
from config.shared.caches import process_cache as cache

# The totals are cached, because approximate numbers are enough.
TOTAL = "items-of-{}-in-{}"
TOTAL_FOR_SECONDS = 60


@dataclass(frozen=True, slots=True)
class _Total:
    """The items that an annotator can get, together with those that were assigned to them.

    is_over: whether there is nothing to get or to answer now.
    """

    items: int
    is_over: bool


def items_left(annotator: Annotator, accesses: Sequence[CampaignAccess]) -> dict[int, int]:
    """Return about how many items are left for an annotator, by the campaign's primary key.

    An item is a pair or a control pair. Each answer and each escalation lowers the number by one,
    whatever the item is and whatever others have answered to it. So the number reveals neither
    control pairs nor the labels of others. Other people's work can be a minute old.
    """
    campaigns = [access.campaign for access in accesses]
    totals = _totals(annotator, campaigns)
    escalated = _by_campaign(
        Escalation.objects.filter(annotator=annotator, task__campaign__in=campaigns)
    )
    left = {}
    for access in accesses:
        pk = access.campaign.pk
        total = totals[pk]
        got = access.answered + escalated.get(pk, 0)
        left[pk] = 0 if total.is_over else max(1, total.items - got)
    return left


def _totals(annotator: Annotator, campaigns: Sequence[Campaign]) -> dict[int, _Total]:
    """Return the totals of the annotator in each campaign.

    A pair of the total is open to others or was assigned to the annotator, so it stays in the total
    whatever the annotator does with it.
    """
    keys = {campaign.pk: TOTAL.format(annotator.pk, campaign.pk) for campaign in campaigns}
    known: dict[int, _Total] = {pk: cache.get(key) for pk, key in keys.items()}
    missing = [campaign for campaign in campaigns if known[campaign.pk] is None]
    if not missing:
        return known
    tasks = JudgmentTask.objects.filter(campaign__in=missing).order_by()
    n_open = dict(tasks.filter(seats_open__gt=0).values_list("campaign").annotate(Count("pk")))
    gold = tasks.filter(gold__isnull=False, gold__retired_at=None, state=TaskState.OPEN)
    n_gold = dict(gold.values_list("campaign").annotate(Count("pk")))
    held = Assignment.objects.filter(
        annotator=annotator, state=AssignmentState.HELD, task__campaign__in=missing
    )
    n_held = _by_campaign(held)
    own = tasks.filter(gold=None, pk__in=_tasks_of(annotator, held, missing))
    counts = {"n": Count("pk"), "n_open": Count("pk", filter=Q(seats_open__gt=0))}
    n_own = {pk: tuple(found) for pk, *found in own.values_list("campaign").annotate(**counts)}
    for campaign in missing:
        pk = campaign.pk
        own_pairs, own_open = n_own.get(pk, (0, 0))
        new_pairs = n_open.get(pk, 0) - own_open
        pairs = new_pairs + own_pairs
        known[pk] = _Total(
            items=pairs + min(_gold_among(pairs, float(campaign.gold_share)), n_gold.get(pk, 0)),
            is_over=not new_pairs and not n_held.get(pk),
        )
    cache.set_many(
        {keys[campaign.pk]: known[campaign.pk] for campaign in missing}, TOTAL_FOR_SECONDS
    )
    return known


def _gold_among(pairs: int, share: float) -> int:
    """Return how many gold items come with a number of pairs, if `share` of all items are gold."""
    return math.ceil(pairs * share / (1 - share)) if share < 1 else pairs


def _tasks_of(
    annotator: Annotator, held: QuerySet[Assignment], campaigns: Sequence[Campaign]
) -> QuerySet[Any]:
    """Return the tasks that the annotator holds, has answered or has escalated."""
    answered = Judgment.objects.filter(
        annotator=annotator,
        task__campaign__in=campaigns,
        state__in=[JudgmentState.LIVE, JudgmentState.SURPLUS],
    )
    escalated = Escalation.objects.filter(annotator=annotator, task__campaign__in=campaigns)
    rows = [found.order_by().values("task") for found in (held, answered, escalated)]
    return rows[0].union(*rows[1:])


def _by_campaign(rows: QuerySet[Any]) -> dict[int, int]:
    """Count the different tasks of assignments or escalations in each campaign."""
    of_campaign = rows.order_by().values_list("task__campaign")
    return dict(of_campaign.annotate(Count("task", distinct=True)))

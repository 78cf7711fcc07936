"""Mixing gold into the pairs that an annotator gets, so that gold cannot be recognised."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
from django.db.models import BigIntegerField, Exists, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Coalesce

from annotation.core.mixing import mix_gold, planned_gold
from annotation.enums import AssignmentState, JudgmentState, MembershipState, Order, TaskState
from annotation.models import (
    Annotator,
    Assignment,
    Campaign,
    Judgment,
    JudgmentTask,
    Membership,
)
from hearth.shared.prepared import Given
from pooling.core.hashing import mix

CAPTION = Coalesce("group", "gold__query", Value(0), output_field=BigIntegerField())


@dataclass(frozen=True, slots=True)
class Returning:
    """An item that the annotator held and did not answer: primary keys of its task and gold item.

    gold: None if the item is a pair.
    """

    task: int
    gold: int | None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A gold item that the annotator can get: primary key of its task, and its `caption_of`."""

    task: int
    caption: int


def untouched_tasks(
    campaign: Campaign | Given, annotator: Annotator | Given
) -> QuerySet[JudgmentTask]:
    """Return the tasks that the annotator can get.

    These are tasks without an assignment to the annotator, or with an expired one. An assignment
    does not expire if the annotator has judged or escalated its task.
    """
    touched = Assignment.objects.filter(task=OuterRef("pk"), annotator=annotator).exclude(
        state=AssignmentState.EXPIRED
    )
    return JudgmentTask.objects.filter(~Exists(touched), campaign=campaign)


def unknown_pairs(
    tasks: QuerySet[JudgmentTask], annotator: Annotator | Given
) -> QuerySet[JudgmentTask]:
    """Return the tasks whose pair the annotator has not judged in another campaign.

    A second label must come from a second person.
    """
    own_labels = Judgment.objects.filter(
        task__pair=OuterRef("pair"), annotator=annotator, state=JudgmentState.LIVE
    )
    return tasks.filter(~Exists(own_labels))


def next_in_training(campaign: Campaign, membership: Membership, count: int) -> list[JudgmentTask]:
    """Return the first `count` training items that the annotator can get, in the queue's order.

    A paused annotator gets none.
    """
    if not lock_if_active(membership):
        return []
    return list(_shown(_open_gold(campaign, membership.annotator).order_by("position"))[:count])


def returning_items(campaign: Campaign, membership: Membership) -> list[Returning]:
    """Return the items whose leases the annotator lost before answering, in their earlier order.

    They come back before other items and in their order, which would otherwise reveal gold.
    """
    expired = Assignment.objects.filter(
        Q(task__seats_open__gt=0) | Q(task__gold__isnull=False, task__gold__retired_at=None),
        annotator=membership.annotator_id,
        state=AssignmentState.EXPIRED,
        task__campaign=campaign,
        task__state=TaskState.OPEN,
    ).order_by("pk")
    return [Returning(*row) for row in expired.values_list("task_id", "task__gold_id")]


def put_together_again(
    items: list[Returning],
    pairs: dict[int, JudgmentTask],
    membership: Membership,
    new: list[JudgmentTask],
) -> list[JudgmentTask]:
    """Return the tasks of returning items, without those that others got in the meantime.

    If others got all pairs around a gold item, it does not come back either. Alone, it would be
    recognised.

    pairs: the locked tasks of returning pairs, by primary key. membership: it is locked. new: the
    other pairs that the annotator can get now.
    """
    has_pair_around = bool(pairs) or (bool(new) and new[0].pk == membership.next_task)
    kept = [
        item for item in items if item.task in pairs or (item.gold is not None and has_pair_around)
    ]
    gold = _gold_tasks(item.task for item in kept if item.gold is not None)
    return [pairs.get(item.task) or gold[item.task] for item in kept]


def mixed_with_gold(
    campaign: Campaign,
    membership: Membership,
    tasks: list[JudgmentTask],
    count: int,
    *,
    after: list[JudgmentTask],
) -> list[JudgmentTask]:
    """Return up to `count` tasks: the first of the locked `tasks`, mixed with gold.

    `gold_owed` of the locked membership is set to the number of gold items that were due and have
    had no place yet. `next_task` is set for the next claim. after: the tasks of this claim that
    come before these.
    """
    if not tasks or count < 1:
        return []
    places = membership.handed + np.arange(count + 1)
    share, seed = float(campaign.gold_share), campaign.seed
    due = np.diff(planned_gold(places, membership.annotator_id, share, seed)).tolist()
    owed = membership.gold_owed
    gold = _candidates(campaign, membership, without=after) if owed or any(due) else []
    mixed = mix_gold(
        [caption_of(task) for task in tasks],
        [item.caption for item in gold],
        due=due,
        owed=owed,
        last=caption_of(after[-1]) if after else membership.last_caption,
        grouped=campaign.in_groups or campaign.order == Order.GROUPED,
    )
    membership.gold_owed = mixed.owed
    n_pairs = sum(not item.is_gold for item in mixed.items)
    membership.next_task = tasks[n_pairs].pk if mixed.items[-1].is_gold else None
    rows = _gold_tasks(gold[item.index].task for item in mixed.items if item.is_gold)
    return [
        rows[gold[item.index].task] if item.is_gold else tasks[item.index] for item in mixed.items
    ]


def lock_if_active(membership: Membership) -> bool:
    """Lock the membership, so that two tabs do not draw the same item.

    Return False if the annotator is paused.
    """
    now = Membership.objects.select_for_update(no_key=True).get(pk=membership.pk)
    for name in ("handed", "gold_owed", "last_caption", "next_task"):
        setattr(membership, name, getattr(now, name))
    return now.state == MembershipState.ACTIVE


def _open_gold(campaign: Campaign, annotator: Annotator) -> QuerySet[JudgmentTask]:
    return untouched_tasks(campaign, annotator).filter(
        gold__isnull=False, gold__retired_at=None, state=TaskState.OPEN
    )


def _candidates(
    campaign: Campaign, membership: Membership, *, without: list[JudgmentTask]
) -> list[Candidate]:
    """Return the gold that the annotator has not answered in this campaign, in a seeded order.

    There are at most a few hundred items.
    """
    rows = _open_gold(campaign, membership.annotator).values_list("pk", CAPTION)
    taken = {task.pk for task in without}
    found = [Candidate(*row) for row in rows if row[0] not in taken]
    seed = campaign.seed + membership.annotator_id
    drawn = mix(np.array([item.task for item in found], np.int64), seed).tolist()
    return [item for _, item in sorted(zip(drawn, found, strict=True), key=itemgetter(0))]


def caption_of(task: JudgmentTask) -> int:
    """Return the primary key of the caption of a pair or gold item, 0 in a study.

    If pairs are judged in groups, return the number of the group: no gold of another group may come
    between its pairs.
    """
    if task.group is not None:
        return task.group
    shown = task.pair or task.gold
    return (shown.query_id or 0) if shown else 0


def _gold_tasks(keys: Iterable[int]) -> dict[int, JudgmentTask]:
    chosen = list(keys)
    if not chosen:
        return {}
    return {task.pk: task for task in _shown(JudgmentTask.objects.filter(pk__in=chosen))}


def _shown(tasks: QuerySet[JudgmentTask]) -> QuerySet[JudgmentTask]:
    return tasks.select_related("gold__query", "gold__video")

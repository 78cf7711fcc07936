"""Mixing gold into the pairs that an annotator gets, so that gold cannot be recognised."""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter

import numpy as np
from django.db.models import Exists, OuterRef, QuerySet, Value
from django.db.models.functions import Coalesce

from annotation.core.mixing import Place, places_for_gold
from annotation.core.plan import is_gold_due
from annotation.enums import AssignmentState, JudgmentState, MembershipState, Order, TaskState
from annotation.models import (
    Annotator,
    Assignment,
    Campaign,
    Judgment,
    JudgmentTask,
    Membership,
)
from pooling.core.hashing import mix

CAPTION = Coalesce("gold__query", Value(0))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A gold item that the annotator can get: primary keys of its task and its caption.

    In an ordering study, the caption of every task is 0 here.
    """

    task: int
    caption: int


def untouched_tasks(campaign: Campaign, annotator: Annotator) -> QuerySet[JudgmentTask]:
    """Return the tasks that the annotator can get.

    These are tasks without an assignment to the annotator, or with an expired one. An assignment
    does not expire if the annotator has judged or escalated its task.
    """
    touched = Assignment.objects.filter(task=OuterRef("pk"), annotator=annotator).exclude(
        state=AssignmentState.EXPIRED
    )
    return JudgmentTask.objects.filter(~Exists(touched), campaign=campaign)


def unknown_pairs(tasks: QuerySet[JudgmentTask], annotator: Annotator) -> QuerySet[JudgmentTask]:
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
    if not _lock(membership):
        return []
    return list(_shown(_open_gold(campaign, membership.annotator).order_by("position"))[:count])


def mixed_with_gold(
    campaign: Campaign, membership: Membership, tasks: list[JudgmentTask], count: int
) -> list[JudgmentTask]:
    """Return at most `count` tasks: the first of the locked `tasks`, mixed with gold.

    A seeded draw selects the places of gold among the pairs that the annotator sees for the first
    time. Released gold is assigned again together with released pairs. If only the pairs came back,
    the annotator could conclude which items are gold. Without pairs there is no gold, because
    annotators would recognise it. Gold without a place is postponed to the next claim; `gold_owed`
    of the membership counts it.
    """
    if not tasks or not _lock(membership):
        return []
    mine = Assignment.objects.filter(annotator=membership.annotator_id)
    returning = mine.filter(task__in=tasks[:count]).count()
    released = _released(campaign, membership.annotator) if returning else []
    fresh = min(len(tasks), count - len(released)) - returning
    owed = membership.gold_owed + _count_due(campaign, membership, fresh)
    if not owed and not released:
        return tasks[:count]
    new = _candidates(campaign, membership, tasks, without=released)[:owed] if owed else []
    mixed, gold = _placed(campaign, tasks, [*released, *new], count)
    # If fewer items are left than are owed, the difference is not postponed. Otherwise, after a
    # later import of gold, one claim would contain many gold items.
    membership.gold_owed = len(new) - sum(item in new for item in gold)
    membership.save(update_fields=["gold_owed"])
    return mixed


def _lock(membership: Membership) -> bool:
    """Lock the membership, so that two tabs do not draw the same item.

    Return False if the annotator is paused.
    """
    now = Membership.objects.select_for_update(no_key=True).get(pk=membership.pk)
    membership.handed, membership.gold_owed = now.handed, now.gold_owed
    return now.state == MembershipState.ACTIVE


def _count_due(campaign: Campaign, membership: Membership, fresh: int) -> int:
    """Return the number of gold items that are due among `fresh` new pairs."""
    annotator, share = membership.annotator_id, float(campaign.gold_share)
    places = range(membership.handed, membership.handed + fresh)
    return sum(is_gold_due(place, annotator, share, campaign.seed) for place in places)


def _open_gold(campaign: Campaign, annotator: Annotator) -> QuerySet[JudgmentTask]:
    return untouched_tasks(campaign, annotator).filter(
        gold__isnull=False, gold__retired_at=None, state=TaskState.OPEN
    )


def _released(campaign: Campaign, annotator: Annotator) -> list[Candidate]:
    """Return the gold that the annotator held before and did not answer."""
    held_before = Assignment.objects.filter(task=OuterRef("pk"), annotator=annotator)
    rows = _open_gold(campaign, annotator).filter(Exists(held_before)).order_by("pk")
    return [Candidate(*row) for row in rows.values_list("pk", CAPTION)]


def _candidates(
    campaign: Campaign,
    membership: Membership,
    tasks: list[JudgmentTask],
    *,
    without: list[Candidate],
) -> list[Candidate]:
    """Return the gold that the annotator has not answered in this campaign, in a seeded order.

    The items of `without` are left out. Gold with a caption of the tasks comes first, because it is
    the hardest to notice. There are at most a few hundred items.
    """
    rows = _open_gold(campaign, membership.annotator).values_list("pk", CAPTION)
    found = [item for row in rows if (item := Candidate(*row)) not in without]
    captions = set(_captions_of(tasks))
    seed = campaign.seed + membership.annotator_id
    drawn = mix(np.array([item.task for item in found], np.int64), seed).tolist()
    order = sorted(
        zip(found, drawn, strict=True),
        key=lambda entry: (entry[0].caption not in captions, entry[1]),
    )
    return [item for item, _ in order]


def _captions_of(tasks: list[JudgmentTask]) -> list[int]:
    return [task.pair.query_id if task.pair else 0 for task in tasks]


def _placed(
    campaign: Campaign, tasks: list[JudgmentTask], gold: list[Candidate], count: int
) -> tuple[list[JudgmentTask], list[Candidate]]:
    """Return at most `count` tasks, with gold items among them, and these gold items.

    The last gold items are left out until each remaining one has a place.
    """
    captions = _captions_of(tasks)
    for taken in range(min(len(gold), count), 0, -1):
        chosen, end = gold[:taken], count - taken
        places = places_for_gold(
            captions[:end],
            [(item.task, item.caption) for item in chosen],
            following=captions[end] if end < len(captions) else None,
            grouped=campaign.order == Order.GROUPED,
            seed=campaign.seed,
        )
        if places is not None:
            return _inserted(tasks[:end], chosen, places), chosen
    return tasks[:count], []


def _inserted(
    tasks: list[JudgmentTask], gold: list[Candidate], places: list[Place]
) -> list[JudgmentTask]:
    rows = {
        task.pk: task
        for task in _shown(JudgmentTask.objects.filter(pk__in=[item.task for item in gold]))
    }
    mixed = list(tasks)
    # Inserting from the end keeps the earlier places valid.
    for place, item in sorted(zip(places, gold, strict=True), key=itemgetter(0), reverse=True):
        mixed.insert(place[0], rows[item.task])
    return mixed


def _shown(tasks: QuerySet[JudgmentTask]) -> QuerySet[JudgmentTask]:
    return tasks.select_related("gold__query", "gold__video")

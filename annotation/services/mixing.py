"""Gold among the pairs that a person is handed, where neither its place nor its coming tells it."""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter

import numpy as np
from django.db.models import Exists, OuterRef, QuerySet

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


@dataclass(frozen=True, slots=True)
class Offered:
    """An item of gold that somebody may be handed: primary keys of its task and its caption."""

    task: int
    caption: int


def untouched_tasks(campaign: Campaign, annotator: Annotator) -> QuerySet[JudgmentTask]:
    """Tasks of the campaign that the annotator neither holds nor has judged or handed on."""
    touched = Assignment.objects.filter(task=OuterRef("pk"), annotator=annotator).exclude(
        state=AssignmentState.EXPIRED
    )
    return JudgmentTask.objects.filter(~Exists(touched), campaign=campaign)


def unknown_pairs(tasks: QuerySet[JudgmentTask], annotator: Annotator) -> QuerySet[JudgmentTask]:
    """Return the tasks whose pair the annotator has not judged in another campaign.

    A second label must come from a second person.
    """
    known = Judgment.objects.filter(
        task__pair=OuterRef("pair"), annotator=annotator, state=JudgmentState.LIVE
    )
    return tasks.filter(~Exists(known))


def next_in_training(campaign: Campaign, membership: Membership, count: int) -> list[JudgmentTask]:
    """The training items that the person has not seen, in the order of the queue."""
    if not _lock(membership):
        return []
    return list(_shown(_open_gold(campaign, membership.annotator).order_by("position"))[:count])


def mixed_with_gold(
    campaign: Campaign, membership: Membership, tasks: list[JudgmentTask], count: int
) -> list[JudgmentTask]:
    """The first of the locked `tasks`, and gold between them: up to `count` in all.

    Gold is due at places that a draw names among those that the person sees for the first time.
    What was given back comes again when pairs do that were, or its absence would tell it.
    Without a pair there is no gold, for alone it would be known for what it is; gold for which
    there is no place waits for the next claim: `gold_owed` of the membership counts it.
    """
    if not tasks or not _lock(membership):
        return []
    mine = Assignment.objects.filter(annotator=membership.annotator_id)
    returning = mine.filter(task__in=tasks[:count]).count()
    again = _given_back(campaign, membership.annotator) if returning else []
    fresh = min(len(tasks), count - len(again)) - returning
    owed = membership.gold_owed + _due(campaign, membership, fresh)
    if not owed and not again:
        return tasks[:count]
    new = _offered(campaign, membership, tasks, without=again)[:owed] if owed else []
    mixed, gold = _placed(campaign, tasks, [*again, *new], count)
    # Where all is used up nothing stays owed, or it would come in one heap once there is more.
    membership.gold_owed = len(new) - sum(one in new for one in gold)
    membership.save(update_fields=["gold_owed"])
    return mixed


def _lock(membership: Membership) -> bool:
    """One claim of a person at a time: two tabs are not to draw the same item. False where the
    person was paused a moment ago."""
    now = Membership.objects.select_for_update(no_key=True).get(pk=membership.pk)
    membership.handed, membership.gold_owed = now.handed, now.gold_owed
    return now.state == MembershipState.ACTIVE


def _due(campaign: Campaign, membership: Membership, fresh: int) -> int:
    """How much gold the draw puts among so many pairs that the person has not held before."""
    annotator, share = membership.annotator_id, float(campaign.gold_share)
    places = range(membership.handed, membership.handed + fresh)
    return sum(is_gold_due(place, annotator, share, campaign.seed) for place in places)


def _open_gold(campaign: Campaign, annotator: Annotator) -> QuerySet[JudgmentTask]:
    return untouched_tasks(campaign, annotator).filter(
        gold__isnull=False, gold__retired_at=None, state=TaskState.OPEN
    )


def _given_back(campaign: Campaign, annotator: Annotator) -> list[Offered]:
    """Gold that the annotator held before and did not answer."""
    held_before = Assignment.objects.filter(task=OuterRef("pk"), annotator=annotator)
    rows = _open_gold(campaign, annotator).filter(Exists(held_before)).order_by("pk")
    return [Offered(*row) for row in rows.values_list("pk", "gold__query")]


def _offered(
    campaign: Campaign,
    membership: Membership,
    tasks: list[JudgmentTask],
    *,
    without: list[Offered],
) -> list[Offered]:
    """Other gold that the annotator has not answered here, in an order of their own; first what
    goes unnoticed among the captions of the tasks. Some hundred at most."""
    rows = _open_gold(campaign, membership.annotator).values_list("pk", "gold__query")
    found = [one for row in rows if (one := Offered(*row)) not in without]
    captions = {task.query.pk for task in tasks}
    seed = campaign.seed + membership.annotator_id
    drawn = mix(np.array([one.task for one in found], np.int64), seed).tolist()
    order = sorted(
        zip(found, drawn, strict=True), key=lambda it: (it[0].caption not in captions, it[1])
    )
    return [one for one, _ in order]


def _placed(
    campaign: Campaign, tasks: list[JudgmentTask], gold: list[Offered], count: int
) -> tuple[list[JudgmentTask], list[Offered]]:
    """Tasks and as much of the gold as there are places for; and which gold that is."""
    captions = [task.query.pk for task in tasks]
    for taken in range(min(len(gold), count), 0, -1):
        chosen, end = gold[:taken], count - taken
        places = places_for_gold(
            captions[:end],
            [(one.task, one.caption) for one in chosen],
            following=captions[end] if end < len(captions) else None,
            grouped=campaign.order == Order.GROUPED,
            seed=campaign.seed,
        )
        if places is not None:
            return _inserted(tasks[:end], chosen, places), chosen
    return tasks[:count], []


def _inserted(
    tasks: list[JudgmentTask], gold: list[Offered], places: list[Place]
) -> list[JudgmentTask]:
    rows = {
        task.pk: task
        for task in _shown(JudgmentTask.objects.filter(pk__in=[one.task for one in gold]))
    }
    mixed = list(tasks)
    # From the end, so that the places before stay what they are.
    for place, one in sorted(zip(places, gold, strict=True), key=itemgetter(0), reverse=True):
        mixed.insert(place[0], rows[one.task])
    return mixed


def _shown(tasks: QuerySet[JudgmentTask]) -> QuerySet[JudgmentTask]:
    return tasks.select_related("gold__query", "gold__video")

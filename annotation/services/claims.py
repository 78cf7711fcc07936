"""Handing out tasks: each function is one short transaction."""

from __future__ import annotations

import datetime

from django.db import connection, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from annotation.enums import AssignmentState
from annotation.models import Annotator, Assignment, Campaign, JudgmentTask, Membership
from annotation.services.members import (
    check_can_claim,
    join_campaign,
    remaining_tasks,
)
from annotation.services.mixing import (
    mixed_with_gold,
    next_in_training,
    unknown_pairs,
    untouched_tasks,
)
from annotation.services.seats import give_up, lease_end, leases_of, lowest_free

CLAIM_MAX = 20
# Leases given back per claim: the rest wait for the next claim or the periodic task.
EXPIRE_PER_CLAIM = 50
# For so long a person's search begins where their last one ended.
CURSOR_FOR = datetime.timedelta(minutes=10)
SHOWN = ("pair__query", "pair__video", "gold__query", "gold__video")


def claim_assignments(*, campaign: Campaign, annotator: Annotator, count: int) -> list[Assignment]:
    """Lease up to `count` tasks to the annotator, those already held by them first.

    Returns assignments in the order in which they are to be shown, with task, caption and video
    loaded. Raises `NotPermitted` with the reason where this person may not judge now.

    The search follows the index of tasks with an open seat from the person's own cursor on, so
    its cost grows neither with the campaign nor with what the person has judged.
    """
    count = max(1, min(count, CLAIM_MAX))
    membership = join_campaign(campaign=campaign, annotator=annotator)
    check_can_claim(campaign, membership)
    with transaction.atomic():
        # Of all campaigns: narrowed to one, the query would read that campaign's tasks.
        expire_leases(limit=EXPIRE_PER_CLAIM)
        held = _renewed(annotator, campaign)
        missing = min(count, remaining_tasks(campaign, membership)) - len(held)
        fresh = _lease_next(campaign, membership, missing) if missing > 0 else []
    return (held + fresh)[:count]


@transaction.atomic
def release_assignments(
    *, campaign: Campaign, annotator: Annotator, assignment_id: int | None = None
) -> int:
    """Give back what the annotator holds and has not judged; returns how many.

    A single pair that is given back does not come back to this annotator.
    """
    held = Assignment.objects.filter(
        annotator=annotator, task__campaign=campaign, state=AssignmentState.HELD
    )
    if assignment_id is None:
        return give_up(leases_of(held), AssignmentState.EXPIRED)
    return give_up(leases_of(held.filter(pk=assignment_id)), AssignmentState.RELEASED)


@transaction.atomic(savepoint=False)
def expire_leases(*, limit: int = 1000) -> int:
    """Free the slots of leases that ran out by the database's clock; returns how many."""
    overdue = Assignment.objects.filter(state=AssignmentState.HELD, lease_expires_at__lt=Now())
    oldest = overdue.order_by("lease_expires_at")[:limit]
    # Asked again at the writing: a lease that was renewed meanwhile stays.
    return give_up(leases_of(oldest), AssignmentState.EXPIRED, lease_expires_at__lt=Now())


def _renewed(annotator: Annotator, campaign: Campaign) -> list[Assignment]:
    """What the annotator holds, with leases that begin anew."""
    held = Assignment.objects.filter(
        annotator=annotator, task__campaign=campaign, state=AssignmentState.HELD
    )
    if not held.update(lease_expires_at=lease_end()):
        return []
    return list(held.select_related(*(f"task__{shown}" for shown in SHOWN)).order_by("pk"))


def _lease_next(campaign: Campaign, membership: Membership, count: int) -> list[Assignment]:
    """New leases for the member, with gold among them."""
    if campaign.is_training:
        tasks = next_in_training(campaign, membership, count)
    elif campaign.gold_share:
        # One more, for where gold has its place hangs on what comes after.
        tasks = _next_tasks(campaign, membership, count + 1)
        tasks = mixed_with_gold(campaign, membership, tasks, count)
    else:
        tasks = _next_tasks(campaign, membership, count)
    leased, new = _lease(tasks, membership.annotator)
    if leased:
        Membership.objects.filter(pk=membership.pk).update(
            handed=F("handed") + new,
            cursor=membership.cursor,
            cursor_until=membership.cursor_until,
        )
    return leased


def _next_tasks(campaign: Campaign, membership: Membership, count: int) -> list[JudgmentTask]:
    """Open tasks for this member, locked; those another claim has locked are passed over."""
    if membership.cursor_until < timezone.now():
        membership.cursor, membership.cursor_until = 0, timezone.now() + CURSOR_FOR
    if count < 1:
        return []
    begin = membership.cursor
    tasks = _open_tasks(campaign, membership.annotator)
    found = list(tasks.filter(position__gte=begin)[:count])
    if begin and len(found) < count:
        found += tasks.filter(position__lt=begin)[: count - len(found)]
    if found:
        membership.cursor = found[0].position
    return found


def _open_tasks(campaign: Campaign, annotator: Annotator) -> QuerySet[JudgmentTask]:
    """Return the campaign's open tasks for the annotator, to be locked when they are read.

    Tasks that another claim has locked are passed over.
    """
    tasks = untouched_tasks(campaign, annotator).filter(seats_open__gt=0)
    if campaign.confirms:
        tasks = unknown_pairs(tasks, annotator)
    if connection.features.has_select_for_update_skip_locked:
        tasks = tasks.select_for_update(skip_locked=True, of=("self",), no_key=True)
    return tasks.select_related("pair__query", "pair__video").order_by("position")


def _lease(tasks: list[JudgmentTask], annotator: Annotator) -> tuple[list[Assignment], int]:
    """Assignments of the locked tasks to the annotator, in their order, each in the lowest free
    slot, and how many they hold for the first time. Gold has no slots: any number of people may
    hold it."""
    if not tasks:
        return [], 0
    # Gold is held by many; what others hold of it does not matter.
    rows = list(
        Assignment.objects.filter(Q(task__gold=None) | Q(annotator=annotator), task__in=tasks)
    )
    mine = {row.task_id: row for row in rows if row.annotator_id == annotator.pk}
    leased = []
    for task in tasks:
        assignment = mine.get(task.pk) or Assignment(task=task, annotator=annotator)
        # Another tab of the same person took it between our look and our lock.
        if assignment.pk and assignment.state != AssignmentState.EXPIRED:
            continue
        assignment.task = task
        assignment.state = AssignmentState.HELD
        if task.gold_id is None:
            assignment.slot = lowest_free(row.slot for row in rows if row.task_id == task.pk)
        leased.append(assignment)
    return leased, _store_leases(leased)


def _store_leases(leased: list[Assignment]) -> int:
    """Returns how many are new."""
    # Held before and expired since: the row is unique per annotator, so it is used again.
    for again in [assignment for assignment in leased if assignment.pk]:
        Assignment.objects.filter(pk=again.pk).update(
            state=again.state, slot=again.slot, lease_expires_at=lease_end()
        )
    new = [assignment for assignment in leased if not assignment.pk]
    for assignment in new:
        assignment.lease_expires_at = lease_end()
    Assignment.objects.bulk_create(new)
    seated = [assignment.task_id for assignment in leased if assignment.slot is not None]
    JudgmentTask.objects.filter(pk__in=seated).update(seats_open=F("seats_open") - 1)
    return len(new)

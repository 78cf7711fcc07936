"""Assigning and releasing tasks. Each function is one short transaction."""

from __future__ import annotations

import datetime
from collections.abc import Collection

from django.db import connection, transaction
from django.db.models import F, Q, QuerySet, prefetch_related_objects
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
    caption_of,
    lock_if_active,
    mixed_with_gold,
    next_in_training,
    put_together_again,
    returning_items,
    unknown_pairs,
    untouched_tasks,
)
from annotation.services.slots import lease_end, leases_of, lowest_free, release_leases
from config.operations.heartbeats import LEASE_EXPIRIES, add_to_tally
from config.shared.metrics import CLAIMS

CLAIM_MAX = 20
# The maximum number of expired leases that one claim ends. Later claims and the periodic task end
# the others.
EXPIRE_PER_CLAIM = 50
# During this time, a search for open tasks starts at the first task that the last search found.
CURSOR_FOR = datetime.timedelta(minutes=10)
CAPTIONS_TO_ORDER = ("task__ordering_captions__query", "task__gold__captions__query")
SHOWN = ("pair__query", "pair__video", "gold__query", "gold__video", "ordering_video")


def claim_assignments(*, campaign: Campaign, annotator: Annotator, count: int) -> list[Assignment]:
    """Assign up to `count` tasks to the annotator. Tasks that they already hold come first.

    Return the assignments in the order to show them, with task, caption and video loaded. Raises
    `NotPermitted`, with the reason, if the annotator cannot judge now.

    The search uses the index of tasks with a free slot, starting at the annotator's cursor. Its
    cost does not grow with the size of the campaign or with the number of the annotator's
    judgments.
    """
    count = max(1, min(count, CLAIM_MAX))
    membership = join_campaign(campaign=campaign, annotator=annotator)
    check_can_claim(campaign, membership)
    with transaction.atomic():
        # This covers all campaigns, because a database query for one campaign would read all its
        # tasks.
        expire_leases(limit=EXPIRE_PER_CLAIM)
        held = _renewed(annotator, campaign)
        missing = min(count, remaining_tasks(campaign, membership)) - len(held)
        fresh = _lease_next(campaign, membership, missing) if missing > 0 else []
    if missing > 0 and not held and not fresh and _skips_locked():
        # Another claim may have locked the last open tasks without using all their slots. This
        # transaction holds no other lock, so waiting cannot deadlock.
        with transaction.atomic():
            fresh = _lease_next(campaign, membership, 1, waits=True)
    CLAIMS.inc(len(fresh))
    found = (held + fresh)[:count]
    if campaign.is_ordering:
        prefetch_related_objects(found, *CAPTIONS_TO_ORDER)
    return found


@transaction.atomic
def release_assignments(
    *, campaign: Campaign, annotator: Annotator, assignment_id: int | None = None
) -> int:
    """Release the annotator's unjudged tasks. Return their number.

    With `assignment_id`, only the task of this assignment is released, and the annotator does not
    get it again.
    """
    held = Assignment.objects.filter(
        annotator=annotator, task__campaign=campaign, state=AssignmentState.HELD
    )
    if assignment_id is None:
        return release_leases(leases_of(held), AssignmentState.EXPIRED)
    return release_leases(leases_of(held.filter(pk=assignment_id)), AssignmentState.RELEASED)


@transaction.atomic(savepoint=False)
def expire_leases(*, limit: int = 1000) -> int:
    """End leases that have expired by the database's clock. Return their number."""
    overdue = Assignment.objects.filter(state=AssignmentState.HELD, lease_expires_at__lt=Now())
    oldest = overdue.order_by("lease_expires_at")[:limit]
    # The update repeats the condition, so that a lease that was renewed in the meantime stays.
    expired = release_leases(leases_of(oldest), AssignmentState.EXPIRED, lease_expires_at__lt=Now())
    add_to_tally(LEASE_EXPIRIES, expired)
    return expired


def _renewed(annotator: Annotator, campaign: Campaign) -> list[Assignment]:
    """Return the annotator's assignments after renewing their leases."""
    held = Assignment.objects.filter(
        annotator=annotator, task__campaign=campaign, state=AssignmentState.HELD
    )
    if not held.update(lease_expires_at=lease_end()):
        return []
    return list(held.select_related(*(f"task__{shown}" for shown in SHOWN)).order_by("pk"))


def _lease_next(
    campaign: Campaign, membership: Membership, count: int, *, waits: bool = False
) -> list[Assignment]:
    """Return new assignments for the member, with gold items among them.

    If `waits` is True, the first open task is assigned, even if another claim has locked it.
    """
    if campaign.is_training:
        tasks = next_in_training(campaign, membership, count)
    elif campaign.gold_share:
        tasks = _next_with_gold(campaign, membership, count, waits=waits)
    else:
        tasks = _next_tasks(campaign, membership, count, waits=waits)
    leased, new = _lease(tasks, membership.annotator)
    if leased:
        Membership.objects.filter(pk=membership.pk).update(
            handed=F("handed") + new,
            gold_owed=membership.gold_owed,
            last_caption=caption_of(leased[-1].task),
            next_task=membership.next_task,
            cursor=membership.cursor,
            cursor_until=membership.cursor_until,
        )
    return leased


def _next_with_gold(
    campaign: Campaign, membership: Membership, count: int, *, waits: bool
) -> list[JudgmentTask]:
    """Return the items that come back to the member, and then new ones with gold among them."""
    came_back = returning_items(campaign, membership)
    pairs: dict[int, JudgmentTask] = {}
    if came_back:
        keys = [item.task for item in came_back if item.gold is None][:count]
        tasks = _open_tasks(campaign, membership.annotator)
        pairs = {task.pk: task for task in tasks.filter(pk__in=keys)}
    new = _next_tasks(campaign, membership, count, waits=waits, without=pairs)
    if not lock_if_active(membership):
        return []
    again = put_together_again(came_back, pairs, membership, new)[:count]
    return again + mixed_with_gold(campaign, membership, new, count - len(again), after=again)


def _next_tasks(
    campaign: Campaign,
    membership: Membership,
    count: int,
    *,
    waits: bool = False,
    without: Collection[int] = (),
) -> list[JudgmentTask]:
    """Lock and return open tasks for this member, except those that another claim has locked.

    If `waits` is True, wait for the lock of the first open task, and return only that task.
    without: the primary keys of tasks that are left out.
    """
    if waits:
        return list(_open_tasks(campaign, membership.annotator, skip_locked=False)[:1])
    if membership.cursor_until < timezone.now():
        membership.cursor, membership.cursor_until = 0, timezone.now() + CURSOR_FOR
    if count < 1:
        return []
    begin = membership.cursor
    tasks = _open_tasks(campaign, membership.annotator)
    if without:
        tasks = tasks.exclude(pk__in=without)
    found = list(tasks.filter(position__gte=begin)[:count])
    if begin and len(found) < count:
        found += tasks.filter(position__lt=begin)[: count - len(found)]
    if found:
        membership.cursor = found[0].position
    return found


def _open_tasks(
    campaign: Campaign, annotator: Annotator, *, skip_locked: bool = True
) -> QuerySet[JudgmentTask]:
    """Return the campaign's open tasks for the annotator, to be locked when they are read."""
    tasks = untouched_tasks(campaign, annotator).filter(seats_open__gt=0)
    if campaign.confirms:
        tasks = unknown_pairs(tasks, annotator)
    if _skips_locked():
        tasks = tasks.select_for_update(skip_locked=skip_locked, of=("self",), no_key=True)
    return tasks.select_related("pair__query", "pair__video", "ordering_video").order_by("position")


def _skips_locked() -> bool:
    return connection.features.has_select_for_update_skip_locked


def _lease(tasks: list[JudgmentTask], annotator: Annotator) -> tuple[list[Assignment], int]:
    """Assign the locked tasks to the annotator, in their order, each in the lowest free slot.

    Return the assignments and the number of new ones. A gold item has no slots, because any number
    of annotators can hold it.
    """
    if not tasks:
        return [], 0
    # Other annotators' assignments to a gold item do not matter.
    rows = list(
        Assignment.objects.filter(Q(task__gold=None) | Q(annotator=annotator), task__in=tasks)
    )
    mine = {row.task_id: row for row in rows if row.annotator_id == annotator.pk}
    leased = []
    for task in tasks:
        assignment = mine.get(task.pk) or Assignment(task=task, annotator=annotator)
        # Another tab of the same person got the task before it was locked here.
        if assignment.pk and assignment.state != AssignmentState.EXPIRED:
            continue
        assignment.task = task
        assignment.state = AssignmentState.HELD
        if task.gold_id is None:
            assignment.slot = lowest_free(row.slot for row in rows if row.task_id == task.pk)
        leased.append(assignment)
    return leased, _store_leases(leased)


def _store_leases(leased: list[Assignment]) -> int:
    """Store the assignments and return the number of new ones."""
    # The row is unique per annotator and task, so an expired assignment is used again.
    for assignment in [assignment for assignment in leased if assignment.pk]:
        Assignment.objects.filter(pk=assignment.pk).update(
            state=assignment.state, slot=assignment.slot, lease_expires_at=lease_end()
        )
    new = [assignment for assignment in leased if not assignment.pk]
    for assignment in new:
        assignment.lease_expires_at = lease_end()
    Assignment.objects.bulk_create(new)
    with_slot = [assignment.task_id for assignment in leased if assignment.slot is not None]
    JudgmentTask.objects.filter(pk__in=with_slot).update(seats_open=F("seats_open") - 1)
    return len(new)

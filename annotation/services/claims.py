"""Assigning and releasing tasks. Each function is one short transaction."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Sequence
from functools import cache
from typing import Any, TypeAlias

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
from hearth.operations.heartbeats import LEASE_EXPIRIES, add_to_tally
from hearth.shared.metrics import CLAIMS
from hearth.shared.prepared import Given, Prepared, sent_together

CLAIM_MAX = 20
# The maximum number of expired leases that one claim ends. Later claims and the periodic task end
# the others.
EXPIRE_PER_CLAIM = 50
# During this time, a search for open tasks starts at the first task that the last search found.
CURSOR_FOR = datetime.timedelta(minutes=10)
Shown: TypeAlias = tuple[str, ...]
# What a claim stores about the member's queue.
QUEUE_COLUMNS = ("gold_owed", "last_caption", "next_task", "cursor", "cursor_until")
# The relations of the task of a gold item that annotators see.
GOLD = ("gold__query", "gold__video")


def _held() -> QuerySet[Assignment]:
    return Assignment.objects.filter(
        annotator=Given("annotator"), task__campaign=Given("campaign"), state=AssignmentState.HELD
    )


# A query whose shape depends on numbers is prepared once for each of them.
@cache
def _overdue(limit: int) -> Prepared:
    return Prepared(
        lambda: leases_of(
            Assignment.objects.filter(
                state=AssignmentState.HELD, lease_expires_at__lt=Now()
            ).order_by("lease_expires_at")[:limit]
        )
    )


@cache
def _open_from(count: int, shown: Shown, *, confirms: bool, forward: bool) -> Prepared:
    """Return the query of `count` open tasks from a position on, or of those before it."""
    place = {"position__gte" if forward else "position__lt": Given("begin")}
    return Prepared(
        lambda: _open_tasks(Given("campaign"), Given("annotator"), shown, confirms=confirms).filter(
            **place
        )[:count]
    )


@cache
def _assigned(count: int) -> Prepared:
    """Return the query of the assignments of `count` tasks.

    Other annotators' assignments to a gold item do not matter.
    """
    relevant = Q(task__gold=None) | Q(annotator=Given("annotator"))
    return Prepared(lambda: Assignment.objects.filter(relevant, task__pk__in=_given_tasks(count)))


@cache
def _renewed_leases(shown: Shown) -> Prepared:
    relations = [f"task__{name}" for name in (*shown, *GOLD)]
    return Prepared(lambda: _held().select_related(*relations).order_by("pk"))


@cache
def _take_seats(count: int) -> Prepared:
    return Prepared(
        lambda: JudgmentTask.objects.filter(pk__in=_given_tasks(count)),
        seats_open=F("seats_open") - 1,
    )


def _given_tasks(count: int) -> list[Any]:
    return [Given(f"task{number}") for number in range(count)]


def _by_number(tasks: Sequence[int]) -> dict[str, int]:
    """Return the values of `_given_tasks`. tasks: primary keys."""
    return {f"task{number}": task for number, task in enumerate(tasks)}


_renew = Prepared(_held, lease_expires_at=lease_end())
_update_member = Prepared(
    lambda: Membership.objects.filter(pk=Given("pk")),
    handed=F("handed") + Given("new"),
    **{name: Given(name) for name in QUEUE_COLUMNS},
)


def claim_assignments(
    *,
    campaign: Campaign,
    annotator: Annotator,
    count: int,
    membership: Membership | None = None,
) -> list[Assignment]:
    """Assign up to `count` tasks to the annotator. Tasks that they already hold come first.

    Return the assignments in the order to show them, with task, caption and video loaded. Raises
    `NotPermitted`, with the reason, if the annotator cannot judge now. membership: the annotator's
    membership if the caller has read it with `join_campaign`.

    The search uses the index of tasks with a free slot, starting at the annotator's cursor. Its
    cost does not grow with the size of the campaign or with the number of the annotator's
    judgments.
    """
    count = max(1, min(count, CLAIM_MAX))
    membership = membership or join_campaign(campaign=campaign, annotator=annotator)
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
    found = held + fresh
    if not campaign.in_groups:
        found = found[:count]
    if campaign.question_kind.prefetched:
        prefetch_related_objects(found, *campaign.question_kind.prefetched)
    return found


@transaction.atomic
def release_assignments(
    *, campaign: Campaign, annotator: Annotator, assignment_id: int | None = None
) -> int:
    """Release the annotator's unjudged tasks. Return their number.

    With `assignment_id`, only the task of this assignment is released, and the annotator does not
    get it again.
    """
    held = _held_by(annotator, campaign)
    if assignment_id is None:
        return release_leases(leases_of(held), AssignmentState.EXPIRED)
    return release_leases(leases_of(held.filter(pk=assignment_id)), AssignmentState.RELEASED)


@transaction.atomic(savepoint=False)
def expire_leases(*, limit: int = 1000) -> int:
    """End leases that have expired by the database's clock. Return their number."""
    oldest = _overdue(limit).all()
    # The update repeats the condition, so that a lease that was renewed in the meantime stays.
    expired = release_leases(oldest, AssignmentState.EXPIRED, lease_expires_at__lt=Now())
    add_to_tally(LEASE_EXPIRIES, expired)
    return expired


def _held_by(annotator: Annotator, campaign: Campaign) -> QuerySet[Assignment]:
    return Assignment.objects.filter(
        annotator=annotator, task__campaign=campaign, state=AssignmentState.HELD
    )


def _renewed(annotator: Annotator, campaign: Campaign) -> list[Assignment]:
    """Return the annotator's assignments after renewing their leases."""
    of_member = {"annotator": annotator.pk, "campaign": campaign.pk}
    if campaign.in_groups:
        held = _held_by(annotator, campaign)
        if not held.update(lease_expires_at=lease_end(held.count())):
            return []
        return _renewed_leases(campaign.question_kind.shown).all(**of_member)
    leases = _renewed_leases(campaign.question_kind.shown)
    return leases.all(**of_member) if _renew.update(**of_member) else []


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
    return _lease(tasks, membership)


def _next_with_gold(
    campaign: Campaign, membership: Membership, count: int, *, waits: bool
) -> list[JudgmentTask]:
    """Return the items that come back to the member, and then new ones with gold among them."""
    came_back = returning_items(campaign, membership)
    pairs: dict[int, JudgmentTask] = {}
    if came_back:
        keys = [item.task for item in came_back if item.gold is None]
        tasks = _open_tasks_of(campaign, membership)
        wanted = keys if campaign.in_groups else keys[:count]
        pairs = {task.pk: task for task in tasks.filter(pk__in=wanted)}
    new: list[JudgmentTask] = []
    if not (campaign.in_groups and pairs):  # a group that came back is the only one of this claim
        new = _next_tasks(campaign, membership, count, waits=waits, without=pairs)
    if not lock_if_active(membership):
        return []
    if campaign.in_groups:
        # Room for the whole group, and for the gold before and in it, at most every second item.
        count = len(came_back) + 2 * (len(new) + membership.gold_owed + 2)
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
    if campaign.in_groups:
        return _next_group(campaign, membership, without) if count > 0 else []
    if waits:
        return list(_open_tasks_of(campaign, membership, skip_locked=False)[:1])
    if membership.cursor_until < timezone.now():
        membership.cursor, membership.cursor_until = 0, timezone.now() + CURSOR_FOR
    if count < 1:
        return []
    begin = membership.cursor
    found = _find(campaign, membership, count, without, forward=True)
    if begin and len(found) < count:
        found += _find(campaign, membership, count - len(found), without, forward=False)
    if found:
        membership.cursor = found[0].position
    return found


def _next_group(
    campaign: Campaign, membership: Membership, without: Collection[int]
) -> list[JudgmentTask]:
    """Lock and return all open tasks of the first group that has any.

    The tasks are found without a lock, and locked in the order of their positions, so that two
    claims neither share a group nor deadlock. If another claim has taken the group in the meantime,
    the next one is searched.
    """
    open_tasks = untouched_tasks(campaign, membership.annotator).filter(seats_open__gt=0)
    open_tasks = open_tasks.exclude(pk__in=without).order_by("position")
    position = -1
    places = open_tasks.values_list("position", "group")
    while found := places.filter(position__gt=position).first():
        position, group = found
        tasks = _open_tasks_of(campaign, membership, skip_locked=False).filter(group=group)
        if locked := list(tasks.exclude(pk__in=without)):
            return locked
    return []


def _find(
    campaign: Campaign,
    membership: Membership,
    count: int,
    without: Collection[int],
    *,
    forward: bool,
) -> list[JudgmentTask]:
    """Lock and return open tasks from the member's cursor on, or those before it."""
    confirms, begin = campaign.confirms, membership.cursor
    if not without:
        shown = campaign.question_kind.shown
        search = _open_from(count, shown, confirms=confirms, forward=forward)
        return search.all(campaign=campaign.pk, annotator=membership.annotator_id, begin=begin)
    tasks = _open_tasks_of(campaign, membership).exclude(pk__in=without)
    place = Q(position__gte=begin) if forward else Q(position__lt=begin)
    return list(tasks.filter(place)[:count])


def _open_tasks_of(
    campaign: Campaign, membership: Membership, *, skip_locked: bool = True
) -> QuerySet[JudgmentTask]:
    return _open_tasks(
        campaign,
        membership.annotator,
        campaign.question_kind.shown,
        confirms=campaign.confirms,
        skip_locked=skip_locked,
    )


def _open_tasks(
    campaign: Campaign | Given,
    annotator: Annotator | Given,
    shown: Shown,
    *,
    confirms: bool,
    skip_locked: bool = True,
) -> QuerySet[JudgmentTask]:
    """Return the campaign's open tasks for the annotator, to be locked when they are read."""
    tasks = untouched_tasks(campaign, annotator).filter(seats_open__gt=0)
    if confirms:
        tasks = unknown_pairs(tasks, annotator)
    if _skips_locked():
        tasks = tasks.select_for_update(skip_locked=skip_locked, of=("self",), no_key=True)
    return tasks.select_related(*shown).order_by("position")


def _skips_locked() -> bool:
    return connection.features.has_select_for_update_skip_locked


def _lease(tasks: list[JudgmentTask], membership: Membership) -> list[Assignment]:
    """Assign the locked tasks to the member, in their order, each in the lowest free slot.

    A gold item has no slots, because any number of annotators can hold it.
    """
    if not tasks:
        return []
    annotator = membership.annotator
    rows: list[Assignment] = _assigned(len(tasks)).all(
        annotator=annotator.pk, **_by_number([task.pk for task in tasks])
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
    if leased:
        _store_leases(leased, membership)
    return leased


def _store_leases(leased: list[Assignment], membership: Membership) -> None:
    """Store the assignments, and update the seats of their tasks and the member's queue."""
    end = lease_end(len(leased))
    # The row is unique per annotator and task, so an expired assignment is used again.
    for assignment in [assignment for assignment in leased if assignment.pk]:
        Assignment.objects.filter(pk=assignment.pk).update(
            state=assignment.state, slot=assignment.slot, lease_expires_at=end
        )
    new = [assignment for assignment in leased if not assignment.pk]
    for assignment in new:
        assignment.lease_expires_at = end
    Assignment.objects.bulk_create(new)
    with_slot = [assignment.task_id for assignment in leased if assignment.slot is not None]
    membership.last_caption = caption_of(leased[-1].task)
    with sent_together():
        if with_slot:
            _take_seats(len(with_slot)).update(**_by_number(with_slot))
        queue = {name: getattr(membership, name) for name in QUEUE_COLUMNS}
        _update_member.update(pk=membership.pk, new=len(new), **queue)

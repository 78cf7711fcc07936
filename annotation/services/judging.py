"""Handing out tasks and taking judgments: every write of the judging room.

Each function is one short transaction. On PostgreSQL the task row is locked first; SQLite's
IMMEDIATE transactions let one writer in at a time. The unique constraints on (task, slot) and
(task, annotator) hold whatever happens in between. Leases follow the database's clock.
"""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, F, OuterRef, QuerySet, Value
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Now

from annotation.core.consensus import decide
from annotation.enums import (
    LABELS,
    SETTLED_BY_LABELS,
    AssignmentState,
    CampaignState,
    EscalationKind,
    JudgmentState,
    TaskState,
)
from annotation.models import Annotator, Assignment, Campaign, Escalation, Judgment, JudgmentTask
from config.shared.errors import Conflict, InvalidInput, NotFound

LEASE = datetime.timedelta(minutes=30)
CLAIM_MAX = 20
# Leases given back per claim: the rest wait for the next claim or the periodic task.
EXPIRE_PER_CLAIM = 50
STATE_AFTER_ESCALATION = {
    EscalationKind.UNSURE: TaskState.ESCALATED,
    EscalationKind.CANNOT_PLAY: TaskState.UNPLAYABLE,
}


@dataclass(frozen=True, slots=True)
class Submitted:
    """A stored judgment; `created` is False where this very answer was stored before."""

    judgment: Judgment
    created: bool


def claim_assignments(*, campaign: Campaign, annotator: Annotator, count: int) -> list[Assignment]:
    """Lease up to `count` tasks to the annotator, those already held by them first.

    Returns assignments in the order of the queue, with task, pair, query and video loaded.
    The search follows the index of tasks with an open seat, so its cost grows with the
    tasks that this annotator has judged and that still wait for someone else, not with
    the campaign.
    """
    count = max(1, min(count, CLAIM_MAX))
    with transaction.atomic():
        # Of all campaigns: narrowed to one, the query would read that campaign's tasks.
        expire_leases(limit=EXPIRE_PER_CLAIM)
        held = _renewed(annotator, campaign)
        missing = count - len(held)
        fresh = _lease_tasks(_next_tasks(campaign, annotator, missing), annotator)
    return sorted(held + fresh, key=lambda assignment: assignment.task.position)[:count]


def submit_judgment(
    *,
    assignment_id: int,
    annotator: Annotator,
    label: int,
    client_key: uuid.UUID,
    seconds: float | None = None,
    corrects: bool = True,
) -> Submitted:
    """Store one answer and settle the task; the judgment is on disk when this returns.

    An answer whose slot was filled by another meanwhile is kept as surplus and not counted. A
    second answer of the same annotator corrects the first, if it `corrects`. Raises `NotFound`
    for an assignment that is not the annotator's, `Conflict` where the client key was used for
    another label, and where the pair was answered before and this is no correction.
    """
    answer = (annotator, label, client_key, seconds, corrects)
    try:
        return _submit(assignment_id, *answer)
    except (IntegrityError, Conflict) as error:
        stored = Judgment.objects.filter(annotator=annotator, client_key=client_key).first()
        if stored is not None:
            return _repeated(stored, assignment_id, label)
        if isinstance(error, Conflict):
            raise
        # Another answer to the task came between our look and our writing.
        return _submit(assignment_id, *answer)


@transaction.atomic
def escalate_task(
    *, assignment_id: int, annotator: Annotator, kind: EscalationKind, reason: str = ""
) -> Escalation:
    """Hand a pair on instead of judging it; it leaves the queue until a lead has seen to it.

    The annotator's lease ends, and their own label, if they gave one, is taken back; those of
    others stay. Said twice, it is one escalation. A pair that others have settled stays settled.
    Raises `NotFound` for a task that is not theirs.
    """
    task, seats, assignment = _locked_task_of(assignment_id, annotator)
    escalation, _ = Escalation.objects.get_or_create(
        task=task, annotator=annotator, kind=kind, defaults={"reason": reason}
    )
    own = seats.live.pop(annotator.pk, None)
    if own is not None or assignment.state == AssignmentState.HELD:
        Assignment.objects.filter(pk=assignment.pk).update(
            state=AssignmentState.RELEASED, slot=None
        )
    if own is not None:
        Judgment.objects.filter(pk=own.pk).update(state=JudgmentState.SUPERSEDED, slot=None)
    if task.state == TaskState.OPEN or (own and task.state in SETTLED_BY_LABELS):
        JudgmentTask.objects.filter(pk=task.pk).update(
            state=STATE_AFTER_ESCALATION[kind],
            label=None,
            labels_live=len(seats.live),
            seats_open=0,
        )
    return escalation


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
        return _give_up(held, AssignmentState.EXPIRED)
    return _give_up(held.filter(pk=assignment_id), AssignmentState.RELEASED)


@transaction.atomic(savepoint=False)
def expire_leases(*, limit: int = 1000) -> int:
    """Free the slots of leases that ran out by the database's clock; returns how many."""
    overdue = Assignment.objects.filter(
        state=AssignmentState.HELD, lease_expires_at__lt=Now()
    ).order_by("lease_expires_at")
    # Asked again at the writing: a lease that was renewed meanwhile stays.
    return _give_up(overdue[:limit], AssignmentState.EXPIRED, lease_expires_at__lt=Now())


def _renewed(annotator: Annotator, campaign: Campaign) -> list[Assignment]:
    """What the annotator holds, with leases that begin anew."""
    held = Assignment.objects.filter(
        annotator=annotator, task__campaign=campaign, state=AssignmentState.HELD
    )
    if not held.update(lease_expires_at=_lease_end()):
        return []
    return list(held.select_related("task__pair__query", "task__pair__video"))


def _next_tasks(campaign: Campaign, annotator: Annotator, count: int) -> list[JudgmentTask]:
    """Open tasks for this annotator, locked; those another claim has locked are passed over."""
    touched = Assignment.objects.filter(task=OuterRef("pk"), annotator=annotator).exclude(
        state=AssignmentState.EXPIRED
    )
    tasks = (
        JudgmentTask.objects.filter(~Exists(touched), campaign=campaign, seats_open__gt=0)
        .select_related("pair__query", "pair__video")
        .order_by("position")
    )
    if connection.features.has_select_for_update_skip_locked:
        tasks = tasks.select_for_update(skip_locked=True, of=("self",))
    return list(tasks[: max(0, count)])


def _lease_tasks(tasks: list[JudgmentTask], annotator: Annotator) -> list[Assignment]:
    """Assignments of the locked tasks to the annotator, each in the lowest free slot."""
    if not tasks:
        return []
    rows = list(Assignment.objects.filter(task__in=tasks))
    mine = {row.task_id: row for row in rows if row.annotator_id == annotator.pk}
    leased = []
    for task in tasks:
        assignment = mine.get(task.pk) or Assignment(task=task, annotator=annotator)
        # Another tab of the same person took it between our look and our lock.
        if assignment.pk and assignment.state != AssignmentState.EXPIRED:
            continue
        assignment.task = task
        assignment.state = AssignmentState.HELD
        assignment.slot = _lowest_free(row.slot for row in rows if row.task_id == task.pk)
        leased.append(assignment)
    _store_leases(leased)
    return leased


def _store_leases(leased: list[Assignment]) -> None:
    # Held before and expired since: the row is unique per annotator, so it is used again.
    for again in [assignment for assignment in leased if assignment.pk]:
        Assignment.objects.filter(pk=again.pk).update(
            state=again.state, slot=again.slot, lease_expires_at=_lease_end()
        )
    new = [assignment for assignment in leased if not assignment.pk]
    for assignment in new:
        assignment.lease_expires_at = _lease_end()
    Assignment.objects.bulk_create(new)
    JudgmentTask.objects.filter(pk__in=[assignment.task_id for assignment in leased]).update(
        seats_open=F("seats_open") - 1
    )


def _lowest_free(slots: Iterable[int | None]) -> int:
    """The first slot that is not among `slots`: those of a task's assignments, held or filled."""
    taken = set(slots)
    return next(slot for slot in range(len(taken) + 1) if slot not in taken)


def _give_up(assignments: QuerySet[Assignment], state: AssignmentState, **still: Any) -> int:
    """End leases that are held, and of which `still` holds under the lock of their tasks."""
    rows = list(assignments.values_list("pk", "task_id"))
    if not rows:
        return 0
    tasks = list(locked_tasks(JudgmentTask.objects.filter(pk__in={task for _, task in rows})))
    freed = Assignment.objects.filter(
        pk__in=[pk for pk, _ in rows], state=AssignmentState.HELD, **still
    ).update(state=state, slot=None)
    for task in tasks:
        settle_task(task, Seats(task))
    return freed


@transaction.atomic
def _submit(
    assignment_id: int,
    annotator: Annotator,
    label: int,
    client_key: uuid.UUID,
    seconds: float | None,
    corrects: bool,
) -> Submitted:
    task, seats, assignment = _locked_task_of(assignment_id, annotator)
    campaign = task.campaign
    if label not in LABELS[campaign.scale]:
        raise InvalidInput(f"{label} is not on the scale of this campaign")
    if annotator.pk in seats.live and not corrects:
        raise Conflict("You have answered this pair before; that answer stands.")
    slot = _slot_for(assignment, task, seats)
    judgment = Judgment.objects.create(
        task=task,
        annotator=annotator,
        label=label,
        state=JudgmentState.SURPLUS if slot is None else JudgmentState.LIVE,
        slot=slot,
        seconds=seconds,
        client_key=client_key,
        guideline_id=campaign.guideline_id,
    )
    if slot is not None:
        seats.live[annotator.pk] = judgment
    if slot is not None or assignment.state != AssignmentState.DONE:
        # A surplus answer fills no slot, but it ends the lease.
        assignment.state, assignment.slot = AssignmentState.DONE, slot
        Assignment.objects.filter(pk=assignment.pk).update(state=assignment.state, slot=slot)
    settle_task(task, seats)
    return Submitted(judgment, created=True)


def _locked_task_of(
    assignment_id: int, annotator: Annotator
) -> tuple[JudgmentTask, Seats, Assignment]:
    """The task behind the annotator's assignment, locked: nobody changes its leases and labels
    until we are done."""
    task = locked_tasks(JudgmentTask.objects.filter(assignments=assignment_id)).first()
    if task is not None:
        seats = Seats(task)
        assignment = seats.of(annotator)
        if assignment is not None and assignment.pk == assignment_id:
            return task, seats, assignment
    raise NotFound("This task is not yours to judge.")


class Seats:
    """The leases and counted judgments of one locked task: two reads, whatever is asked of them."""

    def __init__(self, task: JudgmentTask) -> None:
        self.assignments = list(Assignment.objects.filter(task=task))
        live = Judgment.objects.filter(task=task, state=JudgmentState.LIVE)
        self.live = {judgment.annotator_id: judgment for judgment in live}

    def of(self, annotator: Annotator) -> Assignment | None:
        return next((a for a in self.assignments if a.annotator_id == annotator.pk), None)

    @property
    def held(self) -> int:
        return sum(a.state == AssignmentState.HELD for a in self.assignments)


def _repeated(stored: Judgment, assignment_id: int, label: int) -> Submitted:
    same_task = Assignment.objects.filter(
        pk=assignment_id, annotator=stored.annotator_id, task=stored.task_id
    ).exists()
    if stored.label != label or not same_task:
        raise Conflict("This answer was stored before, with another label.")
    return Submitted(stored, created=False)


def _slot_for(assignment: Assignment, task: JudgmentTask, seats: Seats) -> int | None:
    """The slot in which the answer counts, freed of the answer it corrects; None: surplus."""
    if task.campaign.state == CampaignState.CLOSED or task.state not in SETTLED_BY_LABELS:
        return None
    earlier = seats.live.get(assignment.annotator_id)
    if earlier is not None:
        Judgment.objects.filter(pk=earlier.pk).update(state=JudgmentState.SUPERSEDED, slot=None)
        return earlier.slot
    if task.state != TaskState.OPEN:
        return None
    if assignment.state == AssignmentState.HELD:
        return assignment.slot
    if task.seats_open == 0:
        return None
    return _lowest_free(row.slot for row in seats.assignments)


def settle_task(task: JudgmentTask, seats: Seats) -> None:
    """Bring a task's counts, state and label in line with its judgments and leases.

    The caller holds the task's lock. A task that a lead has ruled on stays as it is.
    """
    if task.state not in SETTLED_BY_LABELS:
        return
    labels = [judgment.label for judgment in seats.live.values()]
    outcome = decide(labels, planned=task.labels_planned, labels_max=task.campaign.labels_max)
    open_seats = outcome.required - len(labels) - seats.held if outcome.state == "open" else 0
    JudgmentTask.objects.filter(pk=task.pk).update(
        state=TaskState(outcome.state),
        label=outcome.label,
        labels_required=max(outcome.required, task.labels_planned),
        labels_live=len(labels),
        seats_open=max(0, open_seats),
    )


def locked_tasks(tasks: QuerySet[JudgmentTask]) -> QuerySet[JudgmentTask]:
    """In the order of their keys, so that two callers never wait for each other."""
    tasks = tasks.select_related("campaign").order_by("pk")
    if connection.features.has_select_for_update:
        tasks = tasks.select_for_update(of=("self",))
    return tasks


def _lease_end() -> CombinedExpression:
    return Now() + Value(LEASE)

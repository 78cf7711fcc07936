"""The desk, where leads decide on pairs that the labels of annotators do not settle.

Each function is one short transaction that first locks the task, as the services of the judging
room do. If two leads rule at the same time, the second gets `Conflict`.
"""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.enums import AnnotationAct, AssignmentState, CampaignState, TaskState
from annotation.models import (
    IN_FORCE,
    Adjudication,
    Assignment,
    Escalation,
    Exclusion,
    JudgmentTask,
)
from annotation.policies import check_can_rule
from annotation.services.slots import TaskSlots, locked_tasks, update_task_state
from hearth.accounts.models import User
from hearth.audit.services import record
from hearth.shared.errors import Conflict, InvalidInput, NotFound


@transaction.atomic
def adjudicate_task(
    *, task: JudgmentTask, label: int, by: User, reason: str = "", answer: str = ""
) -> Adjudication:
    """Rule on a pair that is in conflict or escalated. Its labels stay.

    A closed campaign is allowed, because imported campaigns are closed and can have conflicts.
    answer: what the kind of the question needs besides the label, as text. Raises `Conflict` if
    the pair is no longer at the desk or leads do not rule on this question, and `InvalidInput` if
    the label is not one of `rulings` or the answer does not fit.
    """
    check_can_rule(by, task.campaign.benchmark)
    kind = task.campaign.question_kind
    rulings = kind.rulings(task.campaign)
    if not rulings:
        raise Conflict(kind.words.no_ruling)
    task = _task_at_desk(task, TaskState.CONFLICTED, TaskState.ESCALATED)
    if label not in rulings:
        raise InvalidInput(f"{label} is not on the scale of this campaign.")
    value = kind.ruling(task, label, answer)
    try:
        with transaction.atomic():
            ruling = Adjudication.objects.create(
                task=task,
                lead=by,
                label=label,
                payload=value.payload,
                reason=reason,
                state_before=task.state,
            )
            kind.keep(ruling, value)
    except IntegrityError:
        raise Conflict("Another lead has ruled on this pair.") from None
    JudgmentTask.objects.filter(pk=task.pk).update(
        state=TaskState.ADJUDICATED, label=label, seats_open=0
    )
    record(AnnotationAct.RULED, by=by, on=ruling, after={"task": task.pk, "label": label})
    return ruling


@transaction.atomic
def undo_ruling(*, ruling: Adjudication, by: User) -> Adjudication:
    """Return a pair to the desk, without the ruling. The log keeps the ruling.

    A pair that was escalated is escalated again. Otherwise, the labels determine the state: the
    pair is in conflict again unless labels were withdrawn in the meantime. Published label sets do
    not change. Raises `Conflict` if the ruling is already undone.
    """
    check_can_rule(by, ruling.task.campaign.benchmark)
    task = _locked(ruling.task_id)
    in_force = Adjudication.objects.filter(pk=ruling.pk, undone_at=None)
    if not in_force.update(undone_at=timezone.now(), undone_by=by):
        raise Conflict("This ruling is already undone.")
    if ruling.state_before == TaskState.ESCALATED:
        JudgmentTask.objects.filter(pk=task.pk).update(state=TaskState.ESCALATED, label=None)
    else:
        task.state = TaskState.OPEN  # so that the labels determine the state
        update_task_state(task, TaskSlots(task))
    before = {"task": task.pk, "label": ruling.label}
    record(AnnotationAct.RULING_UNDONE, by=by, on=ruling, before=before)
    ruling.refresh_from_db()
    return ruling


@transaction.atomic
def reopen_task(*, task: JudgmentTask, by: User) -> JudgmentTask:
    """Return an escalated or unplayable pair to the queue, for annotators who did not escalate it.

    Its labels count as before. Raises `Conflict` if the pair is no longer at the desk or the
    campaign is closed.
    """
    check_can_rule(by, task.campaign.benchmark)
    task = _task_at_desk(task, TaskState.ESCALATED, TaskState.UNPLAYABLE)
    if task.campaign.state == CampaignState.CLOSED:
        raise Conflict("The campaign is closed, so no annotator would receive the pair.")
    escalated_by = Escalation.objects.filter(IN_FORCE, task=task).values("annotator")
    # Otherwise an annotator whose lease expired before the escalation could get the pair again.
    Assignment.objects.filter(
        task=task,
        annotator__in=escalated_by,
        state__in=[AssignmentState.HELD, AssignmentState.EXPIRED],
    ).update(state=AssignmentState.RELEASED, slot=None)
    task.state = TaskState.OPEN
    if task.gold_id is not None:
        task.save(update_fields=["state"])
    update_task_state(task, TaskSlots(task))
    task.refresh_from_db()
    record(AnnotationAct.TASK_REOPENED, by=by, on=task)
    return task


@transaction.atomic
def exclude_task(*, task: JudgmentTask, by: User) -> Exclusion:
    """Take an unplayable pair off the desk, without a label. It stays unplayable.

    Raises `Conflict` if the pair is not unplayable or is already excluded.
    """
    check_can_rule(by, task.campaign.benchmark)
    task = _task_at_desk(task, TaskState.UNPLAYABLE)
    try:
        with transaction.atomic():
            exclusion = Exclusion.objects.create(task=task, lead=by)
    except IntegrityError:
        raise Conflict("Another lead has excluded this pair.") from None
    record(AnnotationAct.TASK_EXCLUDED, by=by, on=task)
    return exclusion


def _task_at_desk(task: JudgmentTask, *states: TaskState) -> JudgmentTask:
    """Return the task, locked. Raises `Conflict` if it is not at the desk in one of the states."""
    found = _locked(task.pk)
    if found.state not in states or Exclusion.objects.filter(task=found).exists():
        raise Conflict("This pair is no longer at the desk.")
    return found


def _locked(pk: int) -> JudgmentTask:
    found = locked_tasks(JudgmentTask.objects.filter(pk=pk)).first()
    if found is None:
        raise NotFound("There is no such pair.")
    return found

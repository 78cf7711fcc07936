"""The lead's desk: pairs on which labels alone do not decide.

Each function is one short transaction that begins by locking the task, as those of the judging
room do: of two leads who rule at once, the second finds the task settled.
"""

from __future__ import annotations

from django.db import IntegrityError, transaction

from annotation.enums import AssignmentState, CampaignState, TaskState
from annotation.models import Adjudication, Assignment, Escalation, Exclusion, JudgmentTask
from annotation.policies import check_can_lead
from annotation.services.slots import TaskSlots, locked_tasks, update_task_state
from config.accounts.models import User
from config.shared.errors import Conflict, InvalidInput, NotFound


@transaction.atomic
def adjudicate_task(*, task: JudgmentTask, label: int, by: User, reason: str = "") -> Adjudication:
    """A lead decides a conflict or an escalated pair. The judgments stay as they are.

    Also in a closed campaign, where imported conflicts are. Raises `Conflict` where there is
    nothing to decide, `InvalidInput` for a label that is not on the scale.
    """
    check_can_lead(by, task.campaign.benchmark)
    task = _task_in(task, TaskState.CONFLICTED, TaskState.ESCALATED)
    if label not in task.campaign.labels:
        raise InvalidInput(f"{label} is not on the scale of this campaign")
    try:
        ruling = Adjudication.objects.create(task=task, lead=by, label=label, reason=reason)
    except IntegrityError:
        raise Conflict("Another lead has ruled on this pair.") from None
    JudgmentTask.objects.filter(pk=task.pk).update(
        state=TaskState.ADJUDICATED, label=label, seats_open=0
    )
    return ruling


@transaction.atomic
def reopen_task(*, task: JudgmentTask, by: User) -> JudgmentTask:
    """Put an escalated or unplayable pair back into the queue, for other people.

    Labels that were given count as before; who had handed the pair on does not get it again.
    Raises `Conflict` where the pair is not at the desk or the campaign is closed.
    """
    check_can_lead(by, task.campaign.benchmark)
    task = _task_in(task, TaskState.ESCALATED, TaskState.UNPLAYABLE)
    if task.campaign.state == CampaignState.CLOSED:
        raise Conflict("The campaign is closed: nobody would be handed the pair.")
    handed_on = Escalation.objects.filter(task=task).values("annotator")
    # A lease that had run out before the pair was handed on would let it come back.
    Assignment.objects.filter(
        task=task,
        annotator__in=handed_on,
        state__in=[AssignmentState.HELD, AssignmentState.EXPIRED],
    ).update(state=AssignmentState.RELEASED, slot=None)
    task.state = TaskState.OPEN
    if task.gold_id is not None:
        task.save(update_fields=["state"])
    update_task_state(task, TaskSlots(task))
    task.refresh_from_db()
    return task


@transaction.atomic
def leave_out_task(*, task: JudgmentTask, by: User) -> Exclusion:
    """A pair whose video cannot play leaves the desk without a label; its state stays.

    Raises `Conflict` where it is not unplayable, or was left out before.
    """
    check_can_lead(by, task.campaign.benchmark)
    task = _task_in(task, TaskState.UNPLAYABLE)
    try:
        return Exclusion.objects.create(task=task, lead=by)
    except IntegrityError:
        raise Conflict("Another lead has left this pair out.") from None


def _task_in(task: JudgmentTask, *states: TaskState) -> JudgmentTask:
    """The task as it is now, locked, if it waits at the desk in one of the states."""
    found = locked_tasks(JudgmentTask.objects.filter(pk=task.pk)).first()
    if found is None:
        raise NotFound("There is no such pair.")
    if found.state not in states or Exclusion.objects.filter(task=found).exists():
        raise Conflict("There is nothing to decide: the pair does not wait for this any more.")
    return found

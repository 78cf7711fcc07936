"""Withdrawing an annotator's judgments in a campaign, so that others judge the pairs."""

from __future__ import annotations

import datetime

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from annotation.enums import AnnotationAct, AssignmentState, JudgmentState
from annotation.models import Annotator, Assignment, Campaign, Judgment, JudgmentTask, Withdrawal
from annotation.policies import check_can_lead
from annotation.services import slots
from annotation.services.members import REASON_LENGTH, uncount_answers
from hearth.accounts.actors import Actor
from hearth.accounts.models import User
from hearth.audit.services import record
from hearth.shared.bulk import Among, lock_row, long_transaction
from hearth.shared.errors import Conflict, InvalidInput


def withdraw_judgments(
    *,
    campaign: Campaign,
    annotator: Annotator,
    by: User,
    since: datetime.datetime | None = None,
    reason: str = "",
) -> Withdrawal:
    """Withdraw an annotator's counted judgments in a campaign, all or those since `since`.

    Raises `Conflict` if there are none, or if they were imported or made in training.
    """
    withdrawal = request_withdrawal(
        campaign=campaign, annotator=annotator, by=by, since=since, reason=reason
    )
    return carry_out_withdrawal(withdrawal=withdrawal, by=by)


@transaction.atomic
def request_withdrawal(
    *,
    campaign: Campaign,
    annotator: Annotator,
    by: User,
    since: datetime.datetime | None = None,
    reason: str = "",
) -> Withdrawal:
    """Record a withdrawal for `carry_out_withdrawal`.

    Raises `Conflict` in the same cases as `withdraw_judgments`.
    """
    check_can_lead(by, campaign.benchmark)
    if len(reason) > REASON_LENGTH:
        raise InvalidInput(f"The reason must not be longer than {REASON_LENGTH:,} characters.")
    if campaign.is_imported or campaign.is_training:
        raise Conflict("Judgments that were imported or made in training cannot be withdrawn.")
    judged = Judgment.objects.filter(_counted_answers(annotator, since), task__campaign=campaign)
    if not judged.exists():
        raise Conflict("This annotator has no counted answers in this campaign.")
    withdrawal = Withdrawal.objects.create(
        campaign=campaign, annotator=annotator, lead=by, since=since, reason=reason
    )
    after = {"campaign": campaign.pk, "annotator": annotator.pk}
    record(AnnotationAct.WITHDRAWAL_REQUESTED, by=by, on=withdrawal, after=after)
    return withdrawal


def carry_out_withdrawal(*, withdrawal: Withdrawal, by: Actor) -> Withdrawal:
    """Withdraw the judgments. A second call has no effect.

    The log keeps them as withdrawn. Their tasks are updated as if the annotator had not answered,
    and other annotators get them. Tasks with a ruling, escalated tasks and unplayable tasks keep
    their state. One transaction locks all tasks, so answers to them wait until it ends. It has
    about fifteen statements, and some more for each task of a confirmation.
    """
    campaign, annotator = withdrawal.campaign, withdrawal.annotator
    check_can_lead(by, campaign.benchmark)
    with long_transaction():
        lock_row(withdrawal)
        withdrawal.refresh_from_db()
        if withdrawal.done_at is not None:
            return withdrawal
        to_withdraw = _counted_answers(annotator, withdrawal.since)
        tasks = _lock(campaign, to_withdraw)
        judgments = _withdraw(tasks, annotator, to_withdraw)
        slots.update_task_states(campaign, tasks)
        slots.renew_carried(tasks.pair_ids)
        uncount_answers(campaign, annotator, judgments)
        withdrawal.judgments = judgments
        withdrawal.tasks = int(tasks.by_labels.sum())
        withdrawal.ruled = int((~tasks.by_labels).sum())
        withdrawal.done_at = timezone.now()
        withdrawal.save()
        after = {"judgments": judgments, "tasks": withdrawal.tasks}
        record(AnnotationAct.ANSWERS_WITHDRAWN, by=by, on=withdrawal, after=after)
    return withdrawal


def _counted_answers(annotator: Annotator, since: datetime.datetime | None) -> Q:
    counted = Q(annotator=annotator, state=JudgmentState.LIVE)
    return counted if since is None else counted & Q(created_at__gte=since)


def _lock(campaign: Campaign, to_withdraw: Q) -> slots.LockedTasks:
    judged = Judgment.objects.filter(to_withdraw).values("task")
    return slots.lock_and_read_tasks(JudgmentTask.objects.filter(campaign=campaign, pk__in=judged))


def _withdraw(tasks: slots.LockedTasks, annotator: Annotator, to_withdraw: Q) -> int:
    """Withdraw the judgments, and release the assignments.

    The annotator does not get the tasks of released assignments again.
    """
    of_tasks = Among("task_id", tasks.ids)
    Assignment.objects.filter(of_tasks, annotator=annotator, state=AssignmentState.DONE).update(
        state=AssignmentState.RELEASED, slot=None
    )
    return Judgment.objects.filter(to_withdraw, of_tasks).update(
        state=JudgmentState.WITHDRAWN, slot=None
    )

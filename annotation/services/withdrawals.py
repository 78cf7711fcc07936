"""Taking back all that a person has judged in a campaign, and putting the pairs into the queue."""

from __future__ import annotations

import datetime

from django.db import transaction
from django.db.models import F, Q, Value
from django.db.models.functions import Greatest
from django.utils import timezone

from annotation.enums import AssignmentState, JudgmentState
from annotation.models import (
    Annotator,
    Assignment,
    Campaign,
    Judgment,
    JudgmentTask,
    Membership,
    Withdrawal,
)
from annotation.policies import check_can_lead
from annotation.services.members import REASON_LENGTH
from annotation.services.seats import LockedTasks, lock_tasks, renew_carried, settle_tasks
from config.accounts.actors import Actor
from config.accounts.models import User
from config.shared.bulk import Among, lock_row, long_transaction
from config.shared.errors import Conflict, InvalidInput


def reopen_judgments(
    *,
    campaign: Campaign,
    annotator: Annotator,
    by: User,
    since: datetime.datetime | None = None,
    reason: str = "",
) -> Withdrawal:
    """Take back a person's counted judgments in a campaign, those from `since` on or all, at once.

    Raises `Conflict` where there are none, and for judgments that were made elsewhere.
    """
    asked = ask_withdrawal(
        campaign=campaign, annotator=annotator, by=by, since=since, reason=reason
    )
    return carry_out_withdrawal(withdrawal=asked, by=by)


@transaction.atomic
def ask_withdrawal(
    *,
    campaign: Campaign,
    annotator: Annotator,
    by: User,
    since: datetime.datetime | None = None,
    reason: str = "",
) -> Withdrawal:
    """Note who is to be taken back, for `carry_out_withdrawal`; raises as `reopen_judgments`."""
    check_can_lead(by, campaign.benchmark)
    if len(reason) > REASON_LENGTH:
        raise InvalidInput(f"a reason has up to {REASON_LENGTH:,} characters")
    if campaign.is_imported or campaign.is_training:
        raise Conflict("Only what was judged in a round of judging can be taken back.")
    judged = Judgment.objects.filter(_counted_answers(annotator, since), task__campaign=campaign)
    if not judged.exists():
        raise Conflict("Nothing that this person judged counts here.")
    return Withdrawal.objects.create(
        campaign=campaign, annotator=annotator, lead=by, since=since, reason=reason
    )


def carry_out_withdrawal(*, withdrawal: Withdrawal, by: Actor) -> Withdrawal:
    """Take the judgments back; done twice, it is done once.

    The log keeps them as withdrawn. Their tasks are settled as if the person had not answered, and
    go to other people; what a lead has decided, and what waits at the desk, stays so. All in one
    transaction under the locks of the tasks, with some fifteen statements however many there are;
    who answers such a pair meanwhile waits for it.
    """
    campaign, annotator = withdrawal.campaign, withdrawal.annotator
    check_can_lead(by, campaign.benchmark)
    with long_transaction():
        lock_row(withdrawal)
        withdrawal.refresh_from_db()
        if withdrawal.done_at is not None:
            return withdrawal
        whose = _counted_answers(annotator, withdrawal.since)
        tasks = _lock(campaign, whose)
        judgments = _withdraw(tasks, annotator, whose)
        settle_tasks(campaign, tasks)
        renew_carried(tasks.pair_ids)
        Membership.objects.filter(campaign=campaign, annotator=annotator).update(
            judged=Greatest(F("judged") - judgments, Value(0))
        )
        withdrawal.judgments = judgments
        withdrawal.tasks = int(tasks.by_labels.sum())
        withdrawal.ruled = int((~tasks.by_labels).sum())
        withdrawal.done_at = timezone.now()
        withdrawal.save()
    return withdrawal


def _counted_answers(annotator: Annotator, since: datetime.datetime | None) -> Q:
    whose = Q(annotator=annotator, state=JudgmentState.LIVE)
    return whose if since is None else whose & Q(created_at__gte=since)


def _lock(campaign: Campaign, whose: Q) -> LockedTasks:
    judged = Judgment.objects.filter(whose).values("task")
    return lock_tasks(JudgmentTask.objects.filter(campaign=campaign, pk__in=judged))


def _withdraw(tasks: LockedTasks, annotator: Annotator, whose: Q) -> int:
    """The judgments, and what the person held them by, so that nothing comes back to them."""
    of_tasks = Among("task_id", tasks.ids)
    Assignment.objects.filter(of_tasks, annotator=annotator, state=AssignmentState.DONE).update(
        state=AssignmentState.RELEASED, slot=None
    )
    return Judgment.objects.filter(whose, of_tasks).update(state=JudgmentState.WITHDRAWN, slot=None)

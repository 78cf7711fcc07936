"""Taking back all that a person has judged in a campaign, and putting the pairs into the queue."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from django.db import connection, transaction
from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Greatest
from django.utils import timezone

from annotation.core.consensus import NO_LABEL, Outcomes, decide_all
from annotation.enums import SETTLED_BY_LABELS, AssignmentState, JudgmentState, TaskState
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
from config.accounts.models import User
from config.shared.bulk import Among, lock_row, long_transaction, read_columns
from config.shared.errors import Conflict, InvalidInput

Int64Array = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class _Locked:
    """Tasks under our lock, ascending; `by_labels`: a lead has not decided them."""

    ids: Int64Array
    planned: Int64Array
    by_labels: npt.NDArray[np.bool_]


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
    return carry_out_withdrawal(withdrawal=asked)


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


def carry_out_withdrawal(*, withdrawal: Withdrawal) -> Withdrawal:
    """Take the judgments back; done twice, it is done once.

    The log keeps them as withdrawn. Their tasks are settled as if the person had not answered, and
    go to other people; what a lead has decided, and what waits at the desk, stays so. All in one
    transaction under the locks of the tasks, with some fifteen statements however many there are;
    who answers such a pair meanwhile waits for it.
    """
    campaign, annotator = withdrawal.campaign, withdrawal.annotator
    with long_transaction():
        lock_row(withdrawal)
        withdrawal.refresh_from_db()
        if withdrawal.done_at is not None:
            return withdrawal
        whose = _counted_answers(annotator, withdrawal.since)
        tasks = _lock(campaign, whose)
        judgments = _withdraw(tasks, annotator, whose)
        _settle(campaign, tasks)
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


def _lock(campaign: Campaign, whose: Q) -> _Locked:
    """In the order of their keys, as everywhere, so that two callers never wait for each other."""
    judged = Judgment.objects.filter(whose).values("task")
    tasks = JudgmentTask.objects.filter(campaign=campaign, pk__in=judged).order_by("pk")
    tasks = tasks.annotate(by_labels=Case(When(state__in=SETTLED_BY_LABELS, then=1), default=0))
    if connection.features.has_select_for_update:
        tasks = tasks.select_for_update()
    ids, planned, by_labels = read_columns(tasks, "pk", "labels_planned", "by_labels")
    return _Locked(ids, planned, by_labels == 1)


def _withdraw(tasks: _Locked, annotator: Annotator, whose: Q) -> int:
    """The judgments, and what the person held them by, so that nothing comes back to them."""
    of_tasks = Among("task_id", tasks.ids)
    Assignment.objects.filter(of_tasks, annotator=annotator, state=AssignmentState.DONE).update(
        state=AssignmentState.RELEASED, slot=None
    )
    return Judgment.objects.filter(whose, of_tasks).update(state=JudgmentState.WITHDRAWN, slot=None)


def _settle(campaign: Campaign, tasks: _Locked) -> None:
    """What `settle_task` does, for all of them. Of those that a lead decided only the count of
    labels changes."""
    outcomes = decide_all(
        _label_counts(campaign, tasks), planned=tasks.planned, labels_max=campaign.labels_max
    )
    mine = tasks.by_labels
    _write(tasks.ids[mine], _columns(tasks, outcomes)[mine])
    for given in np.unique(outcomes.given[~mine]).tolist():
        these = Among("id", tasks.ids[~mine & (outcomes.given == given)])
        JudgmentTask.objects.filter(these).update(labels_live=given)


def _label_counts(campaign: Campaign, tasks: _Locked) -> Int64Array:
    """How often each label counts for each task, [n, n_labels]."""
    width = len(campaign.labels)
    live = Judgment.objects.filter(Among("task_id", tasks.ids), state=JudgmentState.LIVE)
    of_task, labels = read_columns(live, "task_id", "label")
    cells = np.searchsorted(tasks.ids, of_task) * width + labels
    return np.bincount(cells, minlength=len(tasks.ids) * width).reshape(-1, width)


def _columns(tasks: _Locked, outcomes: Outcomes) -> Int64Array:
    """For each task: which state, label, labels required and live, and open seats, [n, 5]."""
    leases = Assignment.objects.filter(Among("task_id", tasks.ids), state=AssignmentState.HELD)
    (of_task,) = read_columns(leases, "task_id")
    held = np.bincount(np.searchsorted(tasks.ids, of_task), minlength=len(tasks.ids))
    seats = np.where(outcomes.is_open, outcomes.required - outcomes.given - held, 0)
    state = np.where(outcomes.is_open, 0, np.where(outcomes.is_conflict, 2, 1))
    required = np.maximum(outcomes.required, tasks.planned)
    columns = [state, outcomes.labels, required, outcomes.given, np.maximum(seats, 0)]
    return np.stack(columns, axis=1).astype(np.int64)


def _write(ids: Int64Array, columns: Int64Array) -> None:
    """One update for all tasks with the same outcome: there are few different ones."""
    states = (TaskState.OPEN, TaskState.RESOLVED, TaskState.CONFLICTED)
    outcomes, which = np.unique(columns, axis=0, return_inverse=True)
    for place, (state, label, required, live, seats) in enumerate(outcomes.tolist()):
        JudgmentTask.objects.filter(Among("id", ids[which.reshape(-1) == place])).update(
            state=states[state],
            label=None if label == NO_LABEL else label,
            labels_required=required,
            labels_live=live,
            seats_open=seats,
        )

"""The slots of a task, its leases and judgments, and the computation of its state from them.

On PostgreSQL the task row is locked first. SQLite's IMMEDIATE transactions allow one writer at a
time. In addition, (task, slot) and (task, annotator) have unique constraints. Leases use the
database's clock.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db import connection
from django.db.models import Case, QuerySet, Value, When
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Coalesce, Now

from annotation.core.consensus import NO_LABEL, Outcomes, State
from annotation.enums import (
    STATES_FROM_LABELS,
    AssignmentState,
    CampaignState,
    JudgmentState,
    TaskState,
)
from annotation.models import Annotator, Assignment, Campaign, Judgment, JudgmentTask
from hearth.shared.bulk import Among, read_columns
from hearth.shared.prepared import Given, Prepared

LEASE = datetime.timedelta(minutes=30)
TASKS_PER_LEASE = 10
TASK_STATES = {
    State.PENDING: TaskState.OPEN,
    State.RESOLVED: TaskState.RESOLVED,
    State.CONFLICTED: TaskState.CONFLICTED,
}

Int64Array = npt.NDArray[np.int64]

_assignments = Prepared(lambda: Assignment.objects.filter(task=Given("task")))
_update_task = Prepared(
    lambda: JudgmentTask.objects.filter(pk=Given("pk")),
    state=Given("state"),
    label=Given("label"),
    labels_required=Given("labels_required"),
    labels_live=Given("labels_live"),
    seats_open=Given("seats_open"),
)


class TaskSlots:
    """The leases and counted judgments of one locked task.

    They are read with at most two database queries.
    """

    def __init__(self, task: JudgmentTask) -> None:
        self.assignments: list[Assignment] = _assignments.all(task=task.pk)
        self.live: dict[int, Judgment] = {}
        if task.labels_live:
            live = Judgment.objects.filter(task=task, state=JudgmentState.LIVE)
            self.live = {judgment.annotator_id: judgment for judgment in live}

    def of(self, annotator: Annotator) -> Assignment | None:
        return next((a for a in self.assignments if a.annotator_id == annotator.pk), None)

    @property
    def held(self) -> int:
        return sum(a.state == AssignmentState.HELD for a in self.assignments)


def locked_tasks(tasks: QuerySet[JudgmentTask]) -> QuerySet[JudgmentTask]:
    """Return tasks that are locked when they are read.

    They are locked in the order of their primary keys, so that no two callers deadlock.
    """
    tasks = tasks.select_related("campaign__benchmark", "campaign__guideline").order_by("pk")
    if connection.features.has_select_for_update:
        # Because of `no_key`, others can insert leases of a locked gold task. A lease contains the
        # primary key of its task.
        tasks = tasks.select_for_update(of=("self",), no_key=True)
    return tasks


def update_task_state(task: JudgmentTask, slots: TaskSlots) -> None:
    """Compute a task's counts, state and label from its judgments and leases.

    The caller holds the task's lock. The task of a gold item does not change. A task whose state a
    lead decides, such as an escalated task, does not change either.
    """
    if task.state not in STATES_FROM_LABELS or task.gold_id is not None:
        return
    campaign, planned = task.campaign, np.array([task.labels_planned])
    kind, closed = campaign.question_kind, campaign.state == CampaignState.CLOSED
    carried = np.array([NO_LABEL if task.carried is None else task.carried])
    answers = kind.answers_of(campaign, list(slots.live.values()))
    outcome = kind.outcomes(campaign, answers, planned, carried, closed=closed)
    row = _state_rows(outcome, planned, np.array([slots.held]))[0]
    _update_task.update(pk=task.pk, **state_columns(*row.tolist()))


@dataclass(frozen=True, slots=True, eq=False)
class LockedTasks:
    """Many locked tasks of one campaign, ascending by primary key.

    ids, pair_ids, planned, carried: int64 [n]. A task of a study has the pair 0.
    by_labels: bool [n], whether labels determine the state. A lead determines the state of the
    others.
    """

    ids: Int64Array
    pair_ids: Int64Array
    planned: Int64Array
    carried: Int64Array
    by_labels: npt.NDArray[np.bool_]


def lock_and_read_tasks(tasks: QuerySet[JudgmentTask]) -> LockedTasks:
    """Lock many tasks immediately, ordered by primary key, so that no two callers deadlock."""
    tasks = tasks.order_by("pk")
    tasks = tasks.annotate(
        by_labels=Case(When(state__in=STATES_FROM_LABELS, then=1), default=0),
        carried_label=Coalesce("carried", Value(NO_LABEL)),
        pair_or_zero=Coalesce("pair_id", Value(0)),
    )
    if connection.features.has_select_for_update:
        tasks = tasks.select_for_update()
    ids, pair_ids, planned, carried, by_labels = read_columns(
        tasks, "pk", "pair_or_zero", "labels_planned", "carried_label", "by_labels"
    )
    return LockedTasks(ids, pair_ids, planned, carried, by_labels == 1)


def update_task_states(campaign: Campaign, tasks: LockedTasks) -> None:
    """Update many tasks as `update_task_state` updates one, with about ten statements.

    If a lead determines the state of a task, only its number of labels is corrected.
    """
    kind, closed = campaign.question_kind, campaign.state == CampaignState.CLOSED
    live = Judgment.objects.filter(state=JudgmentState.LIVE)
    answers = kind.read(campaign, live, tasks.ids)
    outcomes = kind.outcomes(campaign, answers, tasks.planned, tasks.carried, closed=closed)
    leases = Assignment.objects.filter(Among("task_id", tasks.ids), state=AssignmentState.HELD)
    (of_task,) = read_columns(leases, "task_id")
    held = np.bincount(np.searchsorted(tasks.ids, of_task), minlength=len(tasks.ids))
    by_labels = tasks.by_labels
    rows = _state_rows(outcomes, tasks.planned, held)[by_labels]
    for row, of_row in _by_row(rows):
        ids = Among("id", tasks.ids[by_labels][of_row])
        JudgmentTask.objects.filter(ids).update(**state_columns(*row))
    for row, of_row in _by_row(outcomes.n_labels[~by_labels][:, None]):
        ids = Among("id", tasks.ids[~by_labels][of_row])
        JudgmentTask.objects.filter(ids).update(labels_live=row[0])


def renew_carried(pair_ids: Sequence[int] | Int64Array) -> None:
    """Update the carried label of each task of a confirmation for these pairs.

    The carried label is the only counted label of the pair outside of confirmations. A pair may no
    longer have exactly one such label, for example because it was withdrawn. Then the task has no
    carried label, and only its own labels count.
    """
    pairs = np.asarray(pair_ids, np.int64)
    tasks = JudgmentTask.objects.filter(Among("pair_id", pairs), campaign__confirms=True)
    for task in locked_tasks(tasks):
        elsewhere = Judgment.objects.filter(
            task__pair=task.pair_id, task__campaign__confirms=False, state=JudgmentState.LIVE
        )
        labels = list(elsewhere.values_list("label", flat=True)[:2])
        task.carried = labels[0] if len(labels) == 1 else None
        JudgmentTask.objects.filter(pk=task.pk).update(carried=task.carried)
        update_task_state(task, TaskSlots(task))


def state_columns(state: int, label: int, required: int, live: int, free: int) -> dict[str, Any]:
    """Return a row of `_state_rows` as columns of a task."""
    return {
        "state": TASK_STATES[State(state)],
        "label": None if label == NO_LABEL else label,
        "labels_required": required,
        "labels_live": live,
        "seats_open": free,
    }


def _state_rows(outcomes: Outcomes, planned: Int64Array, held: Int64Array) -> Int64Array:
    """Return state, label, required labels, labels and free slots of each task, [n, 5].

    held: [n], the number of slots that annotators hold.
    """
    pending = outcomes.states == State.PENDING
    free = np.where(pending, outcomes.required - outcomes.n_labels - held, 0)
    columns = (
        outcomes.states,
        outcomes.labels,
        np.maximum(outcomes.required, planned),
        outcomes.n_labels,
        np.maximum(free, 0),
    )
    return np.stack(columns, axis=1).astype(np.int64)


def _by_row(rows: Int64Array) -> Iterator[tuple[list[int], npt.NDArray[np.bool_]]]:
    """Yield each distinct row of [n, k] with a mask of the rows that are equal to it, [n]."""
    distinct, index = np.unique(rows, axis=0, return_inverse=True)
    for place, row in enumerate(distinct.tolist()):
        yield row, index.reshape(-1) == place


def release_leases(
    leases: Iterable[tuple[int, int]], state: AssignmentState, **conditions: Any
) -> int:
    """Lock the tasks of leases and end the leases. Return how many ended.

    leases: the primary keys of each assignment and its task. state: the new state of the
    assignments. An assignment that is no longer held, or no longer matches the conditions, does not
    change.
    """
    rows = list(leases)
    if not rows:
        return 0
    tasks = list(locked_tasks(JudgmentTask.objects.filter(pk__in={task for _, task in rows})))
    freed = Assignment.objects.filter(
        pk__in=[pk for pk, _ in rows], state=AssignmentState.HELD, **conditions
    ).update(state=state, slot=None)
    for task in tasks:
        update_task_state(task, TaskSlots(task))
    return freed


def leases_of(assignments: QuerySet[Assignment]) -> QuerySet[Assignment, tuple[int, int]]:
    """Return the assignments as `release_leases` expects them."""
    return assignments.values_list("pk", "task_id")


def lowest_free(slots: Iterable[int | None]) -> int:
    """Return the lowest slot that no assignment of the task holds or has filled."""
    used = set(slots)
    return next(slot for slot in range(len(used) + 1) if slot not in used)


def lease_end(tasks: int = 1) -> CombinedExpression:
    """Return the end of a lease. A group of more than ten tasks is held longer."""
    return Now() + Value(LEASE * max(1, -(-tasks // TASKS_PER_LEASE)))

"""The slots of a task: who holds them, who has filled them, and what follows for the task.

On PostgreSQL the task row is locked first; SQLite's IMMEDIATE transactions let one writer in at a
time. The unique constraints on (task, slot) and (task, annotator) hold whatever happens in
between. Leases follow the database's clock.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db import connection
from django.db.models import Case, QuerySet, Value, When
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Coalesce, Now

from annotation.core.consensus import NO_LABEL, Outcomes, State, count_values, resolve
from annotation.enums import (
    STATES_FROM_LABELS,
    AssignmentState,
    CampaignState,
    JudgmentState,
    TaskState,
)
from annotation.models import Annotator, Assignment, Campaign, Judgment, JudgmentTask
from config.shared.bulk import Among, read_columns
from config.shared.prepared import Given, Prepared

LEASE = datetime.timedelta(minutes=30)
TASK_STATES = {
    State.PENDING: TaskState.OPEN,
    State.RESOLVED: TaskState.RESOLVED,
    State.CONFLICTED: TaskState.CONFLICTED,
}

Int64Array = npt.NDArray[np.int64]

_assignments = Prepared(lambda: Assignment.objects.filter(task=Given("task")))
_settle = Prepared(
    lambda: JudgmentTask.objects.filter(pk=Given("pk")),
    state=Given("state"),
    label=Given("label"),
    labels_required=Given("labels_required"),
    labels_live=Given("labels_live"),
    seats_open=Given("seats_open"),
)


class Seats:
    """The leases and counted judgments of one locked task: two reads, whatever is asked of them."""

    def __init__(self, task: JudgmentTask) -> None:
        self.assignments: list[Assignment] = _assignments.all(task=task.pk)
        live = Judgment.objects.filter(task=task, state=JudgmentState.LIVE)
        self.live = {one.annotator_id: one for one in live} if task.labels_live else {}

    def of(self, annotator: Annotator) -> Assignment | None:
        return next((a for a in self.assignments if a.annotator_id == annotator.pk), None)

    @property
    def held(self) -> int:
        return sum(a.state == AssignmentState.HELD for a in self.assignments)


def locked_tasks(tasks: QuerySet[JudgmentTask]) -> QuerySet[JudgmentTask]:
    """In the order of their keys, so that two callers never wait for each other."""
    tasks = tasks.select_related("campaign__benchmark", "campaign__guideline").order_by("pk")
    if connection.features.has_select_for_update:
        # Not the key: gold is leased to others, whose rows refer to it, while one answers it.
        tasks = tasks.select_for_update(of=("self",), no_key=True)
    return tasks


def settle_task(task: JudgmentTask, seats: Seats) -> None:
    """Bring a task's counts, state and label in line with its judgments and leases.

    The caller holds the task's lock. A task that a lead has ruled on stays as it is, and so does
    gold, whose label is known.
    """
    if task.state not in STATES_FROM_LABELS or task.gold_id is not None:
        return
    counts = _count_labels(task.campaign, [judgment.label for judgment in seats.live.values()])
    planned = np.array([task.labels_planned])
    carried = np.array([NO_LABEL if task.carried is None else task.carried])
    outcome = outcomes_of(task.campaign, counts, planned, carried)
    row = _settled_rows(outcome, planned, np.array([seats.held]))[0]
    _settle.update(pk=task.pk, **settled_columns(*row.tolist()))


def outcomes_of(
    campaign: Campaign,
    counts: Int64Array,
    planned: Int64Array,
    carried: Int64Array | None = None,
) -> Outcomes:
    """Return the outcomes of tasks from their labels alone.

    In a closed campaign the existing labels of a task decide, because no further label will arrive.
    A task without a label stays pending. counts: [n, n_labels], as in `resolve`; planned: [n].
    carried: [n], a label from an earlier campaign or `NO_LABEL`. It counts like the other labels,
    but it is not among the required and given labels of the outcomes.
    """
    if carried is not None and (carried != NO_LABEL).any():
        return _with_carried(campaign, counts, planned, carried)
    labels_max: Int64Array | int = campaign.labels_max
    if campaign.state == CampaignState.CLOSED:
        labels_max = counts.sum(axis=1)
        planned = np.where(labels_max > 0, np.minimum(planned, labels_max), planned)
    return resolve(counts, planned, labels_max=labels_max, threshold=campaign.threshold)


def _with_carried(
    campaign: Campaign, counts: Int64Array, planned: Int64Array, carried: Int64Array
) -> Outcomes:
    """Return the outcomes of tasks of which some have a label from an earlier campaign."""
    has_one = carried != NO_LABEL
    # Until a task has a label of its own, the carried label decides nothing.
    counted = has_one & (counts.sum(axis=1) > 0)
    counts = counts.copy()
    counts[counted, carried[counted]] += 1
    found = outcomes_of(campaign, counts, planned + counted)
    return replace(found, required=found.required - counted, n_labels=found.n_labels - counted)


def _count_labels(campaign: Campaign, labels: Sequence[int]) -> Int64Array:
    """Return the number of each label of the scale among `labels`, [1, n_labels]."""
    return np.bincount(labels, minlength=len(campaign.labels)).reshape(1, -1)


@dataclass(frozen=True, slots=True, eq=False)
class LockedTasks:
    """Many locked tasks of one campaign, ascending by key.

    ids, pair_ids, planned, carried: int64 [n]. by_labels: bool [n], whether labels may decide the
    task; a lead has decided the others, or is to.
    """

    ids: Int64Array
    pair_ids: Int64Array
    planned: Int64Array
    carried: Int64Array
    by_labels: npt.NDArray[np.bool_]


def lock_tasks(tasks: QuerySet[JudgmentTask]) -> LockedTasks:
    """Lock tasks in the order of their keys, as all callers do, so that no two of them deadlock."""
    tasks = tasks.order_by("pk")
    tasks = tasks.annotate(
        by_labels=Case(When(state__in=STATES_FROM_LABELS, then=1), default=0),
        carried_label=Coalesce("carried", Value(NO_LABEL)),
    )
    if connection.features.has_select_for_update:
        tasks = tasks.select_for_update()
    ids, pair_ids, planned, carried, by_labels = read_columns(
        tasks, "pk", "pair_id", "labels_planned", "carried_label", "by_labels"
    )
    return LockedTasks(ids, pair_ids, planned, carried, by_labels == 1)


def settle_tasks(campaign: Campaign, tasks: LockedTasks) -> None:
    """Settle many tasks as `settle_task` settles one, with about ten statements.

    If a lead decides or has decided a task, only its number of labels is corrected.
    """
    among = Among("task_id", tasks.ids)
    live = Judgment.objects.filter(among, state=JudgmentState.LIVE)
    of_task, labels = read_columns(live, "task_id", "label")
    places = np.searchsorted(tasks.ids, of_task)
    counts = count_values(places, labels, len(tasks.ids), len(campaign.labels))
    outcomes = outcomes_of(campaign, counts, tasks.planned, tasks.carried)
    leases = Assignment.objects.filter(among, state=AssignmentState.HELD)
    (of_task,) = read_columns(leases, "task_id")
    held = np.bincount(np.searchsorted(tasks.ids, of_task), minlength=len(tasks.ids))
    mine = tasks.by_labels
    rows = _settled_rows(outcomes, tasks.planned, held)[mine]
    for row, of_row in _by_row(rows):
        these = Among("id", tasks.ids[mine][of_row])
        JudgmentTask.objects.filter(these).update(**settled_columns(*row))
    for row, of_row in _by_row(outcomes.n_labels[~mine][:, None]):
        these = Among("id", tasks.ids[~mine][of_row])
        JudgmentTask.objects.filter(these).update(labels_live=row[0])


def renew_carried(pair_ids: Sequence[int] | Int64Array) -> None:
    """Bring the labels that confirmations carry in line with the labels of these pairs elsewhere.

    A pair whose label was taken back carries none: then the labels of the confirmation decide.
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
        settle_task(task, Seats(task))


def settled_columns(state: int, label: int, required: int, live: int, seats: int) -> dict[str, Any]:
    """Return a row of `_settled_rows` as columns of a task."""
    return {
        "state": TASK_STATES[State(state)],
        "label": None if label == NO_LABEL else label,
        "labels_required": required,
        "labels_live": live,
        "seats_open": seats,
    }


def _settled_rows(outcomes: Outcomes, planned: Int64Array, held: Int64Array) -> Int64Array:
    """Return state, label, labels required and given, and open seats of each task, [n, 5].

    held: [n], the number of seats that annotators hold.
    """
    pending = outcomes.states == State.PENDING
    seats = np.where(pending, outcomes.required - outcomes.n_labels - held, 0)
    columns = (
        outcomes.states,
        outcomes.labels,
        np.maximum(outcomes.required, planned),
        outcomes.n_labels,
        np.maximum(seats, 0),
    )
    return np.stack(columns, axis=1).astype(np.int64)


def _by_row(rows: Int64Array) -> Iterator[tuple[list[int], npt.NDArray[np.bool_]]]:
    """Return each different row of [n, k], and the place of each row among them, [n]."""
    different, which = np.unique(rows, axis=0, return_inverse=True)
    for place, row in enumerate(different.tolist()):
        yield row, which.reshape(-1) == place


def give_up(leases: Iterable[tuple[int, int]], state: AssignmentState, **still: Any) -> int:
    """End those of the leases (assignment, task) that are held, and of which `still` holds, under
    the lock of their tasks; returns how many."""
    rows = list(leases)
    if not rows:
        return 0
    tasks = list(locked_tasks(JudgmentTask.objects.filter(pk__in={task for _, task in rows})))
    freed = Assignment.objects.filter(
        pk__in=[pk for pk, _ in rows], state=AssignmentState.HELD, **still
    ).update(state=state, slot=None)
    for task in tasks:
        settle_task(task, Seats(task))
    return freed


def leases_of(assignments: QuerySet[Assignment]) -> QuerySet[Assignment, tuple[int, int]]:
    """Assignments as `give_up` takes them."""
    return assignments.values_list("pk", "task_id")


def lowest_free(slots: Iterable[int | None]) -> int:
    """The first slot that is not among `slots`: those of a task's assignments, held or filled."""
    taken = set(slots)
    return next(slot for slot in range(len(taken) + 1) if slot not in taken)


def lease_end() -> CombinedExpression:
    return Now() + Value(LEASE)

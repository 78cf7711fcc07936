"""The slots of a task: who holds them, who has filled them, and what follows for the task.

On PostgreSQL the task row is locked first; SQLite's IMMEDIATE transactions let one writer in at a
time. The unique constraints on (task, slot) and (task, annotator) hold whatever happens in
between. Leases follow the database's clock.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from typing import Any

from django.db import connection
from django.db.models import QuerySet, Value
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Now

from annotation.core.consensus import decide
from annotation.enums import SETTLED_BY_LABELS, AssignmentState, JudgmentState
from annotation.models import Annotator, Assignment, Judgment, JudgmentTask
from config.shared.prepared import Given, PreparedRead, PreparedUpdate

LEASE = datetime.timedelta(minutes=30)


_assignments = PreparedRead(lambda: Assignment.objects.filter(task=Given("task")))
_live = PreparedRead(lambda: Judgment.objects.filter(task=Given("task"), state=JudgmentState.LIVE))
_settle = PreparedUpdate(
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
        live: list[Judgment] = _live.all(task=task.pk) if task.labels_live else []
        self.live = {judgment.annotator_id: judgment for judgment in live}

    def of(self, annotator: Annotator) -> Assignment | None:
        return next((a for a in self.assignments if a.annotator_id == annotator.pk), None)

    @property
    def held(self) -> int:
        return sum(a.state == AssignmentState.HELD for a in self.assignments)


def locked_tasks(tasks: QuerySet[JudgmentTask]) -> QuerySet[JudgmentTask]:
    """In the order of their keys, so that two callers never wait for each other."""
    tasks = tasks.select_related("campaign__benchmark").order_by("pk")
    if connection.features.has_select_for_update:
        # Not the key: gold is leased to others, whose rows refer to it, while one answers it.
        tasks = tasks.select_for_update(of=("self",), no_key=True)
    return tasks


def settle_task(task: JudgmentTask, seats: Seats) -> None:
    """Bring a task's counts, state and label in line with its judgments and leases.

    The caller holds the task's lock. A task that a lead has ruled on stays as it is, and so does
    gold, whose label is known.
    """
    if task.state not in SETTLED_BY_LABELS or task.gold_id is not None:
        return
    labels = [judgment.label for judgment in seats.live.values()]
    outcome = decide(labels, planned=task.labels_planned, labels_max=task.campaign.labels_max)
    open_seats = outcome.required - len(labels) - seats.held if outcome.state == "open" else 0
    _settle.run(
        pk=task.pk,
        state=outcome.state,
        label=outcome.label,
        labels_required=max(outcome.required, task.labels_planned),
        labels_live=len(labels),
        seats_open=max(0, open_seats),
    )


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

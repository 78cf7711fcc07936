"""The tasks at the desk, and the rulings that leads have made there."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from string import ascii_uppercase

from django.db.models import Case, OuterRef, QuerySet, Subquery, Value, When
from django.db.models.functions import Coalesce

from annotation.enums import JudgmentState, TaskState
from annotation.models import (
    AT_DESK,
    IN_FORCE,
    IS_AT_DESK,
    Adjudication,
    Campaign,
    Escalation,
    Judgment,
    JudgmentTask,
)
from hearth.accounts.models import User
from hearth.shared.errors import NotFound

SHOWN = ("pair__query", "pair__video", "gold__query", "gold__video")


@dataclass(frozen=True, slots=True)
class DeskEntry:
    """A task at the desk: its primary key, its state, and the time at which it arrived there."""

    pk: int
    state: str
    since: datetime.datetime


@dataclass(frozen=True, slots=True)
class DeskLabel:
    """An answer as a lead sees it. `annotator` is a pseudonym for this task only."""

    annotator: str
    text: str
    state: str


@dataclass(frozen=True, slots=True)
class DeskEscalation:
    """An escalation as a lead sees it. `annotator` is a pseudonym for this task only."""

    annotator: str
    kind: str
    reason: str
    at: datetime.datetime


@dataclass(frozen=True, slots=True)
class DeskCase:
    """Everything that a lead sees of one task, each list in order of arrival.

    captions: the texts that annotators see, in their order. A pair has one.
    """

    task: JudgmentTask
    captions: list[str]
    labels: list[DeskLabel]
    escalations: list[DeskEscalation]


def tasks_at_desk(campaign: Campaign) -> QuerySet[JudgmentTask]:
    """Return the tasks that only a lead can settle. The index `task_desk` finds them quickly."""
    return JudgmentTask.objects.filter(IS_AT_DESK, campaign=campaign, exclusion__isnull=True)


def desk_entries(campaign: Campaign) -> list[DeskEntry]:
    """Return the tasks at the desk, the oldest first. The running time is linear in their number.

    A pair in conflict arrived with its last counted label. An escalated or reported pair arrived
    with its last escalation. Without such a row, the pair arrived when the campaign was created.
    """
    labelled = Judgment.objects.filter(task=OuterRef("pk"), state=JudgmentState.LIVE)
    escalated = Escalation.objects.filter(IN_FORCE, task=OuterRef("pk"))
    last_label, last_escalation = (
        Subquery(events.order_by("-created_at").values("created_at")[:1])
        for events in (labelled, escalated)
    )
    since = Coalesce(
        Case(When(state=TaskState.CONFLICTED, then=last_label), default=last_escalation),
        Value(campaign.created_at),
    )
    rows = tasks_at_desk(campaign).annotate(since=since).order_by("since", "pk")
    return [DeskEntry(*row) for row in rows.values_list("pk", "state", "since")]


def desk_counts(entries: list[DeskEntry]) -> list[tuple[TaskState, int]]:
    """Return the number of entries in each state that a task at the desk can have."""
    counts = Counter(entry.state for entry in entries)
    return [(state, counts[state]) for state in AT_DESK]


def get_desk_case(pk: int) -> DeskCase:
    """Return one task with all its answers and escalations, under pseudonyms.

    Pseudonyms follow the order of arrival within the task, so that they do not identify an
    annotator across tasks. Raises `NotFound`.
    """
    tasks = JudgmentTask.objects.select_related("campaign", *SHOWN, "item__video")
    task = tasks.filter(pk=pk).first()
    if task is None:
        raise NotFound("There is no such pair.")
    judgments = list(Judgment.objects.filter(task=task).order_by("created_at", "pk"))
    escalations = list(Escalation.objects.filter(IN_FORCE, task=task).order_by("created_at", "pk"))
    names = _pseudonyms([*judgments, *escalations])
    campaign = task.campaign
    kind = campaign.question_kind
    return DeskCase(
        task,
        kind.texts_of(task),
        [
            DeskLabel(
                names[judgment.annotator_id], kind.words_of(campaign, judgment), judgment.state
            )
            for judgment in judgments
        ],
        [
            DeskEscalation(
                names[escalation.annotator_id],
                escalation.get_kind_display(),
                escalation.reason,
                escalation.created_at,
            )
            for escalation in escalations
        ],
    )


def _pseudonyms(events: Iterable[Judgment | Escalation]) -> dict[int, str]:
    """Return a name for each annotator of one task, by primary key."""
    arrived = sorted(events, key=lambda event: event.created_at)
    annotators = dict.fromkeys(event.annotator_id for event in arrived)
    return {annotator: pseudonym(place) for place, annotator in enumerate(annotators)}


def pseudonym(place: int) -> str:
    """Return Annotator A … Annotator Z, then AA, AB …, for places from 0."""
    letters = ""
    place += 1
    while place:
        place, letter = divmod(place - 1, len(ascii_uppercase))
        letters = ascii_uppercase[letter] + letters
    return f"Annotator {letters}"


def rulings_of(campaign: Campaign) -> QuerySet[Adjudication]:
    """Return all rulings of a campaign, including undone ones, the newest first."""
    rulings = Adjudication.objects.filter(task__campaign=campaign).order_by("-pk")
    shown = {*SHOWN, *campaign.question_kind.shown}
    return rulings.select_related(*(f"task__{name}" for name in shown), "lead", "undone_by")


def leads_with_rulings(campaign: Campaign) -> QuerySet[User]:
    rulings = Adjudication.objects.filter(task__campaign=campaign)
    return User.objects.filter(pk__in=rulings.values("lead")).order_by("username")


def find_undoable_ruling(campaign: Campaign, lead: User, pk: int) -> Adjudication | None:
    """Return the ruling with this primary key if it is the lead's own and in force."""
    return rulings_of(campaign).filter(pk=pk, lead=lead, undone_at=None).first()

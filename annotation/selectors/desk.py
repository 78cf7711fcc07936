"""Tasks that wait at the lead's desk."""

from __future__ import annotations

import datetime
from collections import Counter
from dataclasses import dataclass
from string import ascii_uppercase

from django.db.models import Case, OuterRef, QuerySet, Subquery, Value, When
from django.db.models.functions import Coalesce

from annotation.enums import JudgmentState, TaskState
from annotation.models import AT_DESK, IS_AT_DESK, Campaign, Escalation, Judgment, JudgmentTask
from config.shared.errors import NotFound


@dataclass(frozen=True, slots=True)
class Waiting:
    """A task at the lead's desk: which, as what, and since when."""

    pk: int
    state: str
    since: datetime.datetime


@dataclass(frozen=True, slots=True)
class DeskLabel:
    """An answer as a lead sees it; `who` is a name for this task only."""

    who: str
    text: str
    state: str


@dataclass(frozen=True, slots=True)
class DeskEscalation:
    who: str
    kind: str
    reason: str
    at: datetime.datetime


@dataclass(frozen=True, slots=True)
class DeskCase:
    """All that a lead is shown of one task, in order of arrival."""

    task: JudgmentTask
    labels: list[DeskLabel]
    escalations: list[DeskEscalation]


def tasks_at_desk(campaign: Campaign) -> QuerySet[JudgmentTask]:
    """Tasks that wait for a lead: found by an index of their own, however many others there are."""
    return JudgmentTask.objects.filter(IS_AT_DESK, campaign=campaign, exclusion__isnull=True)


def desk_queue(campaign: Campaign) -> list[Waiting]:
    """What waits for a lead, the longest first; linear in what waits.

    A conflict waits since its last counted label, an escalated or unplayable pair since it was
    handed on, one whose video was known to be broken since the campaign was opened.
    """
    labelled = Judgment.objects.filter(task=OuterRef("pk"), state=JudgmentState.LIVE)
    handed_on = Escalation.objects.filter(task=OuterRef("pk"))
    last_label, last_escalation = (
        Subquery(events.order_by("-created_at").values("created_at")[:1])
        for events in (labelled, handed_on)
    )
    since = Coalesce(
        Case(When(state=TaskState.CONFLICTED, then=last_label), default=last_escalation),
        Value(campaign.created_at),
    )
    rows = tasks_at_desk(campaign).annotate(since=since).order_by("since", "pk")
    return [Waiting(*row) for row in rows.values_list("pk", "state", "since")]


def desk_counts(queue: list[Waiting]) -> list[tuple[TaskState, int]]:
    """How many wait, for each state in which a task can."""
    counts = Counter(waiting.state for waiting in queue)
    return [(state, counts[state]) for state in AT_DESK]


def get_desk_case(pk: int) -> DeskCase:
    """One task at the desk with every answer and escalation, under pseudonyms.

    Pseudonyms go by arrival within the task, so that they tell nothing across tasks.
    """
    tasks = JudgmentTask.objects.select_related(
        "campaign", "pair__query", "pair__video", "gold__query", "gold__video"
    )
    task = tasks.filter(pk=pk).first()
    if task is None:
        raise NotFound("There is no such pair.")
    judgments = list(Judgment.objects.filter(task=task).order_by("created_at", "pk"))
    escalations = list(Escalation.objects.filter(task=task).order_by("created_at", "pk"))
    arrived: list[Judgment | Escalation] = [*judgments, *escalations]
    arrived.sort(key=lambda event: event.created_at)
    people = dict.fromkeys(event.annotator_id for event in arrived)
    names = {person: pseudonym(place) for place, person in enumerate(people)}
    texts = task.campaign.labels
    return DeskCase(
        task,
        [DeskLabel(names[one.annotator_id], texts[one.label], one.state) for one in judgments],
        [
            DeskEscalation(
                names[one.annotator_id], one.get_kind_display(), one.reason, one.created_at
            )
            for one in escalations
        ],
    )


def pseudonym(place: int) -> str:
    """Annotator A … Annotator Z, then AA, AB …, for places from 0."""
    letters = ""
    place += 1
    while place:
        place, letter = divmod(place - 1, len(ascii_uppercase))
        letters = ascii_uppercase[letter] + letters
    return f"Annotator {letters}"

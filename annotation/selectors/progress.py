"""The progress of campaigns, counted from their tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Count, QuerySet, Sum

from annotation.core.consensus import NO_LABEL, OutcomeCounts, State
from annotation.enums import STATES_FROM_LABELS, JudgmentState, TaskState
from annotation.models import (
    HAS_BEGUN,
    IS_AT_DESK,
    SETTLED,
    STUDY_HAS_BEGUN,
    Campaign,
    Judgment,
    JudgmentTask,
)


@dataclass(frozen=True, slots=True)
class CampaignProgress:
    """Counts of one campaign.

    `pairs`, `outcomes` and `relevant` are numbers of pairs. A task counts there once for each equal
    caption. An item of a study counts as one pair, which is settled when it has all its answers.
    `tasks` and `unplayable` are numbers of tasks. `labels` is the number of counted
    judgments, and `labels_required` the number that the tasks need at present.
    """

    tasks: int
    pairs: int
    outcomes: OutcomeCounts
    unplayable: int
    relevant: int
    labels: int
    labels_required: int
    surplus: int

    @property
    def percent(self) -> int:
        """The share of settled pairs in %, rounded down, so that 100 means all pairs."""
        return 100 * self.outcomes.settled // self.pairs if self.pairs else 100


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskGroup:
    """Tasks with the same state, label and numbers of labels, counted as tasks and as pairs."""

    state: str
    label: int | None = None
    labels_live: int
    labels_planned: int = 0
    labels_required: int = 0
    tasks: int = 0
    pairs: int

    @property
    def outcomes(self) -> OutcomeCounts:
        if self.state in SETTLED or self.state == TaskState.CONFLICTED:
            return OutcomeCounts(**{self.state: self.pairs})
        return OutcomeCounts(pending=self.pairs if self.labels_live else 0)

    @property
    def is_unlabelled(self) -> bool:
        """Whether the tasks have no label.

        If the campaign of such tasks is closed, a new campaign includes their pairs.
        """
        return self.state == TaskState.OPEN and not self.labels_live

    @property
    def labels_needed(self) -> int:
        """Return the number of labels that these tasks need.

        If a lead decides a task, it needs no more labels than it has.
        """
        by_labels = self.state in STATES_FROM_LABELS
        return self.tasks * (self.labels_required if by_labels else self.labels_live)


def task_groups(campaigns: Iterable[Campaign]) -> dict[int, list[TaskGroup]]:
    """Group the tasks of each campaign, without gold. The keys are primary keys of campaigns.

    Only tasks that have begun are read. The plan of a campaign contains the number of all tasks, so
    the difference is the number of tasks that have not begun.
    """
    campaigns = list(campaigns)
    plans = {campaign.pk: campaign.plan for campaign in campaigns}
    found: dict[int, list[TaskGroup]] = {pk: [] for pk in plans}
    begun_tasks: Counter[tuple[int, int]] = Counter()
    begun_pairs: Counter[tuple[int, int]] = Counter()
    tasks = JudgmentTask.objects.filter(HAS_BEGUN, campaign__in=plans)
    rows = [*grouped(tasks), *_grouped_studies(campaigns)]
    for row in rows:
        pk = row.pop("campaign_id")
        group = TaskGroup(**row)
        found[pk].append(group)
        begun_tasks[pk, group.labels_planned] += group.tasks
        begun_pairs[pk, group.labels_planned] += group.pairs
    for pk, group in _excluded_groups(campaigns):
        found[pk].append(group)
    for pk, plan in plans.items():
        found[pk] += [
            TaskGroup(
                state=TaskState.OPEN,
                labels_live=0,
                labels_planned=planned,
                labels_required=planned,
                tasks=n_tasks - begun_tasks[pk, planned],
                pairs=n_pairs - begun_pairs[pk, planned],
            )
            for planned, n_tasks, n_pairs in plan
            if n_tasks > begun_tasks[pk, planned]
        ]
    return found


def grouped(tasks: QuerySet[JudgmentTask]) -> QuerySet[JudgmentTask, dict[str, Any]]:
    """Return the numbers of tasks and pairs by campaign, state, label and numbers of labels."""
    columns = ("state", "label", "labels_live", "labels_planned", "labels_required")
    rows = tasks.order_by().values("campaign_id", *columns)
    found: QuerySet[JudgmentTask, dict[str, Any]] = rows.annotate(
        tasks=Count("*"), pairs=Sum("n_pairs")
    )
    return found


def _grouped_studies(campaigns: list[Campaign]) -> Iterable[dict[str, Any]]:
    """Return the groups of those campaigns that are studies.

    One database query for both kinds of campaigns would not use the index `task_begun`.
    """
    studies = [campaign for campaign in campaigns if campaign.is_study]
    if not studies:
        return ()
    return grouped(JudgmentTask.objects.filter(STUDY_HAS_BEGUN, campaign__in=studies))


def _excluded_groups(campaigns: list[Campaign]) -> list[tuple[int, TaskGroup]]:
    """Return groups that correct the counts of excluded tasks that have labels.

    Each group is paired with the primary key of its campaign. No further label will arrive for an
    excluded task, so its labels determine its outcome. But an item of a study that lacks answers
    stays pending. For each task, one group subtracts its pairs from the pending ones, and
    another group adds them to its outcome.
    """
    # All excluded tasks are unplayable, so `IS_AT_DESK` leaves none of them out. This condition
    # makes the index `task_desk` usable.
    at_desk = JudgmentTask.objects.filter(IS_AT_DESK, campaign__in=campaigns)
    excluded = list(at_desk.filter(exclusion__isnull=False, labels_live__gt=0))
    if not excluded:
        return []
    judgments: dict[int, list[Judgment]] = {task.pk: [] for task in excluded}
    live = Judgment.objects.filter(task__in=judgments, state=JudgmentState.LIVE)
    for judgment in live.only("task_id", "label", "payload"):
        judgments[judgment.task_id].append(judgment)
    by_pk = {campaign.pk: campaign for campaign in campaigns}
    return [
        (task.campaign_id, group)
        for task in excluded
        for group in _groups_by_answers(by_pk[task.campaign_id], task, judgments[task.pk])
    ]


def _groups_by_answers(
    campaign: Campaign, task: JudgmentTask, judgments: list[Judgment]
) -> list[TaskGroup]:
    kind = campaign.question_kind
    found = kind.outcomes(
        campaign,
        kind.answers_of(campaign, judgments),
        np.array([task.labels_planned]),
        np.array([NO_LABEL if task.carried is None else task.carried]),
        closed=True,
    )
    label = int(found.labels[0])
    return [
        TaskGroup(state=task.state, labels_live=task.labels_live, pairs=-task.n_pairs),
        TaskGroup(
            state=State(found.states[0]).name.lower(),
            label=None if label == NO_LABEL else label,
            labels_live=task.labels_live,
            pairs=task.n_pairs,
        ),
    ]


def campaign_progress(campaign: Campaign) -> CampaignProgress:
    surplus = Judgment.objects.filter(
        task__campaign=campaign, task__gold=None, state=JudgmentState.SURPLUS
    )
    return progress_of(campaign, task_groups([campaign])[campaign.pk], surplus.count())


def progress_of(campaign: Campaign, groups: Sequence[TaskGroup], surplus: int) -> CampaignProgress:
    """Compute the progress of a campaign from the groups of all its tasks."""
    is_relevant = [
        group.label is not None and campaign.is_relevant(group.label) for group in groups
    ]
    return CampaignProgress(
        tasks=sum(group.tasks for group in groups),
        pairs=sum(group.pairs for group in groups),
        outcomes=outcomes_of_groups(groups),
        unplayable=sum(group.tasks for group in groups if group.state == TaskState.UNPLAYABLE),
        relevant=sum(group.pairs for group, yes in zip(groups, is_relevant, strict=True) if yes),
        labels=sum(group.tasks * group.labels_live for group in groups),
        labels_required=sum(group.labels_needed for group in groups),
        surplus=surplus,
    )


def outcomes_of_groups(groups: Iterable[TaskGroup]) -> OutcomeCounts:
    return sum((group.outcomes for group in groups), OutcomeCounts())

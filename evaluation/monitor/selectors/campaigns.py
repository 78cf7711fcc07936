"""The figures of one campaign: read as columns, computed by the core, kept while they are true."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from django.core.cache import cache
from django.db.models import Case, Count, F, Q, QuerySet, Sum, Value, When
from django.utils import timezone

from annotation.core.first_labels import PLANNED_IN_FILES
from annotation.enums import JudgmentState, TaskState
from annotation.models import Campaign, Escalation, Judgment, JudgmentTask, Membership
from annotation.selectors.labels import are_first_labels
from annotation.selectors.progress import progress_of, task_groups
from config.shared.bulk import WholeSeconds, WholeThousandths, read_columns
from config.shared.version import code_version
from evaluation.core.people.agreement import agreement_by_label_count
from evaluation.core.people.agreement_figures import Opinions, Resampling, figures_of_both
from evaluation.core.people.figures import PersonFigures, flags, people_figures
from evaluation.core.people.pace import (
    Answers,
    answer_times,
    forecast,
    label_rounds,
    over_time,
    timeline_of,
)
from evaluation.models import CampaignReport

IntArray = npt.NDArray[np.int64]
Figures = dict[str, Any]

# Up to so many pairs and answers the figures take some tenths of a second, and are computed when
# somebody looks; of larger campaigns a job computes and keeps them.
SMALL = 20_000
SMALL_FOR_SECONDS = 60
COUNTED, SURPLUS, GOLD = range(3)


@dataclass(frozen=True, slots=True)
class Measured:
    """The figures of a campaign, when they were computed, and how many answers have come since.

    kept: they are those of a job, and a new job renews them.
    """

    figures: Figures
    at: datetime.datetime
    behind: int
    kept: bool


def measured_campaign(campaign: Campaign) -> Measured | None:
    """What a page shows: None where a large campaign has not been measured yet."""
    answers = answers_given(campaign)
    if is_small(campaign, answers):
        return _measured_now(campaign, answers)
    # Other code may have kept other figures.
    reports = CampaignReport.objects.filter(code_version=code_version())
    report = reports.filter(campaign=campaign).first()
    if report is None:
        return None
    behind = max(0, answers - report.answers)
    return Measured(report.result, report.created_at, behind, kept=True)


def _measured_now(campaign: Campaign, answers: int) -> Measured:
    key = f"campaign-figures-{campaign.pk}-{campaign.state}-{answers}"
    found: Measured | None = cache.get(key)
    if found is None:
        found = Measured(measure_campaign(campaign), timezone.now(), behind=0, kept=False)
        cache.set(key, found, SMALL_FOR_SECONDS)
    return found


def is_small(campaign: Campaign, answers: int) -> bool:
    return max(campaign.n_tasks, answers) <= SMALL


def answers_given(campaign: Campaign) -> int:
    """By the members' own counters: imported answers, of which there are no more to come, are
    not among them."""
    given = Sum(F("judged") + F("gold_judged"), default=0)
    return int(Membership.objects.filter(campaign=campaign).aggregate(n=given)["n"])


def campaigns_to_measure() -> list[Campaign]:
    """Large campaigns of which the kept figures are missing or out of date."""
    sums = Sum(F("judged") + F("gold_judged"))
    given = dict(Membership.objects.values_list("campaign").annotate(n=sums))
    reports = CampaignReport.objects.filter(code_version=code_version())
    kept = dict(reports.values_list("campaign", "answers"))
    large = Campaign.objects.filter(Q(n_tasks__gt=SMALL) | Q(pk__in=_above(given, SMALL)))
    return [one for one in large if kept.get(one.pk) != given.get(one.pk, 0)]


def _above(counts: dict[int, int], least: int) -> list[int]:
    return [key for key, count in counts.items() if count > least]


def measure_campaign(campaign: Campaign) -> Figures:
    """All figures of a campaign as a JSON object; linear in its pairs and answers.

    What cannot be computed is null, with the reason beside it. Annotators are named by their
    primary keys, under `people`: that part is for leads.
    """
    now = int(timezone.now().timestamp())
    answers, annotators = standing_answers(campaign)
    counted = answers.is_counted
    tasks = _task_counts(campaign)
    wanted = sum(turn["wanted"] for turn in tasks["turns"])
    span = timeline_of(answers.at)
    rows = people_figures(answers, len(annotators), n_steps=len(campaign.labels))
    return {
        **tasks,
        "answers": len(answers),
        "labels": int(counted.sum()),
        "relevant_labels": int(answers.is_relevant[counted].sum()),
        "surplus": int((~counted & ~answers.is_gold).sum()),
        "times": asdict(answer_times(answers.ms)),
        "span": asdict(span) if span else None,
        "stretches": [asdict(one) for one in over_time(answers, span)] if span else [],
        "forecast": asdict(forecast(answers.at[counted], now=now, labels_needed=wanted)),
        "agreement": _agreement(campaign, answers),
        "gold": int((answers.gold >= 0).sum()),
        "right": int((answers.gold == 1).sum()),
        "people": _people(campaign, annotators, rows),
    }


def standing_answers(campaign: Campaign, annotator: int | None = None) -> tuple[Answers, IntArray]:
    """Return the answers that are neither corrected nor taken back, of one person or all, and the
    primary keys of the annotators, [n_people].

    Planned answers are marked only if all people are requested.
    """
    rows = _standing(campaign)
    if annotator is not None:
        rows = rows.filter(annotator=annotator)
    ids, people, tasks, labels, kind, planned, right, ms, at = read_columns(
        rows, "pk", "annotator_id", "task_id", "label", "kind", "planned", "right", "ms", "at"
    )
    is_planned = np.zeros(len(ids), np.bool_)
    if annotator is None:
        counted = kind == COUNTED
        is_planned[counted] = are_first_labels(
            [campaign], ids[counted], tasks[counted], people[counted], planned[counted]
        )
    annotators, person = np.unique(people, return_inverse=True)
    retired = JudgmentTask.objects.filter(campaign=campaign, gold__retired_at__isnull=False)
    (retired_tasks,) = read_columns(retired, "pk")
    return Answers(
        people=person.reshape(-1).astype(np.int64),
        tasks=tasks,
        labels=labels,
        is_relevant=labels >= campaign.threshold,
        is_counted=kind == COUNTED,
        is_planned=is_planned,
        is_gold=kind == GOLD,
        gold=np.where((kind == GOLD) & ~np.isin(tasks, retired_tasks), right, -1),
        ms=ms,
        at=at,
    ), annotators


def _standing(campaign: Campaign) -> QuerySet[Judgment]:
    states = [JudgmentState.LIVE, JudgmentState.SURPLUS, JudgmentState.GOLD]
    # An answer to gold that came late is surplus, too, but not to a pair.
    late_gold = Q(state=JudgmentState.SURPLUS, is_right__isnull=False)
    return (
        Judgment.objects.filter(task__campaign=campaign, state__in=states)
        .exclude(late_gold)
        .annotate(
            kind=Case(
                When(state=JudgmentState.LIVE, then=Value(COUNTED)),
                When(state=JudgmentState.GOLD, then=Value(GOLD)),
                default=Value(SURPLUS),
            ),
            planned=Value(PLANNED_IN_FILES) if campaign.is_imported else F("task__labels_planned"),
            right=Case(
                When(is_right=True, then=Value(1)),
                When(is_right=False, then=Value(0)),
                default=Value(-1),
            ),
            ms=WholeThousandths("seconds"),
            at=WholeSeconds("created_at"),
        )
    )


def _task_counts(campaign: Campaign) -> Figures:
    """Pairs and their labels, as the tasks count them."""
    groups = task_groups([campaign])[campaign.pk]
    progress = progress_of(campaign, groups, surplus=0)
    columns = [
        (one.labels_live, one.labels_required, one.state == TaskState.OPEN, one.tasks)
        for one in groups
    ]
    live, required, is_open, n_tasks = np.array(columns, np.int64).reshape(-1, 4).T
    return {
        "tasks": progress.tasks,
        "pairs": progress.pairs,
        "outcomes": asdict(progress.outcomes),
        "unplayable": progress.unplayable,
        "relevant": progress.relevant,
        "labels_required": progress.labels_required,
        "turns": [asdict(turn) for turn in label_rounds(live, required, is_open == 1, n_tasks)],
    }


def _agreement(campaign: Campaign, answers: Answers) -> Figures:
    """Return the figures of the first labels and of all labels.

    Labels are grades, as in label sets: those below the campaign's threshold are equal.
    """
    lowest = campaign.threshold - 1
    counted = answers.is_counted
    opinions = Opinions(
        pairs=np.unique(answers.tasks[counted], return_inverse=True)[1].reshape(-1),
        annotators=answers.people[counted],
        labels=np.maximum(answers.labels[counted] - lowest, 0),
        is_first=answers.is_planned[counted],
    )
    both = figures_of_both(opinions, len(campaign.labels) - lowest, Resampling())
    every, first = opinions.counts, opinions.first.counts
    most = int(first.patterns.sum(axis=1).max(initial=0))
    return {
        "first_labels": {**both["first_labels"], "most": most},
        "all_labels": both["all_labels"],
        "asked_later": every.n_labels - first.n_labels,
        "by_label_count": [
            {"labels": row.labels, "pairs": row.pairs, **asdict(row.all_equal)}
            for row in agreement_by_label_count(every)
        ],
    }


def escalation_counts(campaign: Campaign, by: str) -> dict[Any, int]:
    """By `kind` or by `annotator`."""
    rows = Escalation.objects.filter(task__campaign=campaign).order_by()
    return dict(rows.values_list(by).annotate(Count("pk")))


def _people(campaign: Campaign, annotators: IntArray, rows: Sequence[PersonFigures]) -> Any:
    stand_out = flags(rows, min_accuracy=float(campaign.gold_bar))
    return [
        {**asdict(row), "annotator": key, "flags": [str(flag) for flag in flagged]}
        for key, row, flagged in zip(annotators.tolist(), rows, stand_out, strict=True)
    ]

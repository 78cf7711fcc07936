"""The figures of one campaign, computed from its answers, cached or stored."""

from __future__ import annotations

import datetime
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from django.db.models import Case, Count, F, Q, QuerySet, Sum, Value, When
from django.utils import timezone

from annotation.core.first_labels import PLANNED_IN_FILES
from annotation.enums import CampaignKind, JudgmentState, TaskState
from annotation.models import (
    IN_FORCE,
    Campaign,
    Escalation,
    Judgment,
    JudgmentTask,
    Membership,
    has_begun,
    of_labels,
)
from annotation.selectors.labels import label_positions
from annotation.selectors.progress import progress_of, task_groups
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
from evaluation.monitor.selectors.results import (
    Agreement,
    AnnotatorFigures,
    CampaignFigures,
    Outcomes,
    OwnFigures,
    TaskCounts,
)
from hearth.shared.arrays import numbered
from hearth.shared.bulk import WholeSeconds, WholeThousandths, read_columns
from hearth.shared.caches import process_cache as cache
from hearth.shared.version import code_version

IntArray = npt.NDArray[np.int64]

# For this number of tasks or answers, computing the figures takes a few tenths of a second. Figures
# of larger campaigns are computed by a job and stored.
SMALL = 20_000
CACHE_SECONDS = 60
# If a campaign has more answers than this, pages show cached figures even if there are newer
# answers. Otherwise each new answer would make the next page recompute the figures, which takes
# half a second for 200 annotators.
ALWAYS_CURRENT = 2_000
# In a process, one thread at a time computes figures. The others wait, and then read the cache.
_measuring = threading.Lock()
COUNTED, SURPLUS, GOLD = range(3)


@dataclass(frozen=True, slots=True)
class StoredFigures:
    """The figures of a campaign, and when they were computed.

    n_newer_answers: answers since then. is_report: whether a job computed and stored them.
    """

    figures: CampaignFigures
    computed_at: datetime.datetime
    n_newer_answers: int
    is_report: bool


def get_figures(campaign: Campaign) -> StoredFigures | None:
    """Return the figures of a campaign, or None for a large campaign without stored figures."""
    n_answers = count_answers(campaign)
    if is_small(campaign, n_answers):
        return _cached_figures(campaign, n_answers)
    # Another version of the code may have stored other figures.
    reports = CampaignReport.objects.filter(code_version=code_version())
    report = reports.filter(campaign=campaign).first()
    if report is None:
        return None
    n_newer = max(0, n_answers - report.answers)
    return StoredFigures(report.result, report.created_at, n_newer, is_report=True)


def _cached_figures(
    campaign: Campaign,
    n_answers: int,
    measure: Callable[[Campaign], CampaignFigures] | None = None,
) -> StoredFigures:
    key = f"campaign-figures-{campaign.pk}-{campaign.state}"
    cached = _find_cached(key, n_answers)
    if cached is None:
        with _measuring:
            cached = _find_cached(key, n_answers)
            if cached is None:
                figures = (measure or measure_campaign)(campaign)
                cached = n_answers, StoredFigures(figures, timezone.now(), 0, is_report=False)
                cache.set(key, cached, CACHE_SECONDS)
    n_measured, stored = cached
    return replace(stored, n_newer_answers=max(0, n_answers - n_measured))


def _find_cached(key: str, n_answers: int) -> tuple[int, StoredFigures] | None:
    """Return the cached figures and their number of answers, or None if they are missing or old."""
    cached: tuple[int, StoredFigures] | None = cache.get(key)
    if cached and n_answers <= ALWAYS_CURRENT and cached[0] != n_answers:
        return None
    return cached


def is_small(campaign: Campaign, n_answers: int) -> bool:
    """Return whether figures can be computed while a page is loading."""
    return max(campaign.n_tasks, n_answers) <= SMALL


def count_answers(campaign: Campaign) -> int:
    """Return the number of answers of the members, without imported answers."""
    answers = Sum(F("judged") + F("gold_judged"), default=0)
    return int(Membership.objects.filter(campaign=campaign).aggregate(n=answers)["n"])


def campaigns_to_measure() -> list[Campaign]:
    """Return the large campaigns whose stored figures are missing or outdated.

    A study has no such figures.
    """
    sums = Sum(F("judged") + F("gold_judged"))
    answers = dict(Membership.objects.values_list("campaign").annotate(n=sums))
    reports = CampaignReport.objects.filter(code_version=code_version())
    measured = dict(reports.values_list("campaign", "answers"))
    many = [campaign for campaign, n_answers in answers.items() if n_answers > SMALL]
    large = Campaign.objects.filter(Q(n_tasks__gt=SMALL) | Q(pk__in=many))
    large = large.exclude(~of_labels(), kind=CampaignKind.JUDGING)
    return [
        campaign for campaign in large if measured.get(campaign.pk) != answers.get(campaign.pk, 0)
    ]


def measure_campaign(campaign: Campaign) -> CampaignFigures:
    """Compute all figures of a campaign, in time linear in its pairs and answers.

    Undefined figures are None, with their reason next to them. `people` contains the primary keys
    of annotators and is for leads only.
    """
    now = int(timezone.now().timestamp())
    answers, annotators = current_answers(campaign)
    is_counted = answers.is_counted
    tasks = _task_counts(campaign)
    needed = sum(label_round["wanted"] for label_round in tasks["turns"])
    rows = people_figures(answers, len(annotators), n_steps=len(campaign.labels))
    return {
        **tasks,
        "answers": len(answers),
        "labels": int(is_counted.sum()),
        "relevant_labels": int(answers.is_relevant[is_counted].sum()),
        "surplus": int((~is_counted & ~answers.is_gold).sum()),
        "times": answer_times(answers.ms),
        **figures_over_time(answers),
        "forecast": forecast(answers.at[is_counted], now=now, labels_needed=needed),
        "agreement": _agreement(campaign, answers),
        "gold": int((answers.gold >= 0).sum()),
        "right": int((answers.gold == 1).sum()),
        "people": _people(campaign, annotators, rows),
    }


def figures_over_time(answers: Answers) -> OwnFigures:
    """Return the periods of the answers. There are none if there are no answers."""
    span = timeline_of(answers.at)
    return {"span": span, "stretches": over_time(answers, span) if span else []}


def current_answers(campaign: Campaign, annotator: int | None = None) -> tuple[Answers, IntArray]:
    """Return the current answers, and the primary keys of their annotators, [n_people].

    Current answers are neither corrected nor withdrawn. annotator: a primary key, to return only
    the answers of this annotator; `is_planned` is then False for all of them.
    """
    rows = _current_answers(campaign)
    if annotator is not None:
        rows = rows.filter(annotator=annotator)
    ids, people, tasks, labels, kind, planned, right, ms, at = read_columns(
        rows, "pk", "annotator_id", "task_id", "label", "kind", "planned", "right", "ms", "at"
    )
    is_planned = np.zeros(len(ids), np.bool_)
    if annotator is None:
        counted = kind == COUNTED
        positions = label_positions([campaign], ids[counted], tasks[counted], people[counted])
        is_planned[counted] = positions < planned[counted]
    annotators, person = numbered(people)
    retired = JudgmentTask.objects.filter(campaign=campaign, gold__retired_at__isnull=False)
    (retired_tasks,) = read_columns(retired, "pk")
    return Answers(
        people=person,
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


def _current_answers(campaign: Campaign) -> QuerySet[Judgment]:
    states = [JudgmentState.LIVE, JudgmentState.SURPLUS, JudgmentState.GOLD]
    # A late answer to a control pair is also surplus, but not a label of a pair.
    late_gold = Q(state=JudgmentState.SURPLUS, is_right__isnull=False)
    return (
        Judgment.objects.filter(task__campaign=campaign, state__in=states)
        # Without this condition, PostgreSQL would read all tasks of the campaign.
        .filter(has_begun("task__") | Q(task__gold__isnull=False))
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


def _task_counts(campaign: Campaign) -> TaskCounts:
    """Return the numbers of pairs and labels that the tasks store."""
    groups = task_groups([campaign])[campaign.pk]
    progress = progress_of(campaign, groups, surplus=0)
    columns = [
        (group.labels_live, group.labels_required, group.state == TaskState.OPEN, group.tasks)
        for group in groups
    ]
    live, required, is_open, n_tasks = np.array(columns, np.int64).reshape(-1, 4).T
    return {
        "tasks": progress.tasks,
        "pairs": progress.pairs,
        "outcomes": cast(Outcomes, asdict(progress.outcomes)),
        "unplayable": progress.unplayable,
        "relevant": progress.relevant,
        "labelled": sum(group.pairs for group in groups if group.label is not None),
        "labels_required": progress.labels_required,
        "turns": label_rounds(live, required, is_open == 1, n_tasks),
    }


def _agreement(campaign: Campaign, answers: Answers) -> Agreement:
    """Return the agreement of the planned labels and of all labels.

    Labels are converted to grades, as in label sets. All labels below the campaign's threshold
    become the same grade.
    """
    lowest = campaign.threshold - 1
    counted = answers.is_counted
    opinions = Opinions(
        pairs=numbered(answers.tasks[counted])[1],
        annotators=answers.people[counted],
        labels=np.maximum(answers.labels[counted] - lowest, 0),
        is_first=answers.is_planned[counted],
    )
    n_grades = len(campaign.labels) - lowest
    both = figures_of_both(opinions, n_grades, Resampling())
    every, first = opinions.counts, opinions.first.counts
    most = int(first.patterns.sum(axis=1).max(initial=0))
    return {
        "first_labels": {**both["first_labels"], "most": most},
        "all_labels": both["all_labels"],
        "asked_later": every.n_labels - first.n_labels,
        "by_label_count": [
            {
                "labels": row.labels,
                "pairs": row.pairs,
                "value": row.all_equal.value,
                "undefined": row.all_equal.undefined,
            }
            for row in agreement_by_label_count(every)
        ],
    }


def escalation_counts(campaign: Campaign, by: str) -> dict[Any, int]:
    """Return the numbers of escalations by `kind` or by `annotator`."""
    rows = Escalation.objects.filter(IN_FORCE, task__campaign=campaign).order_by()
    return dict(rows.values_list(by).annotate(Count("pk")))


def _people(
    campaign: Campaign, annotators: IntArray, rows: Sequence[PersonFigures]
) -> list[AnnotatorFigures]:
    all_flags = flags(rows, min_accuracy=float(campaign.gold_bar))
    return [
        {
            "person": person,
            **row,
            "annotator": key,
            "flags": [str(flag) for flag in row_flags],
        }
        for person, (key, row, row_flags) in enumerate(
            zip(annotators.tolist(), rows, all_flags, strict=True)
        )
    ]

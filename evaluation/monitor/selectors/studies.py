"""The progress of studies, and the figures of their annotators."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db.models import Count, Q, Sum

from annotation.enums import CampaignKind, JudgmentState, TaskState
from annotation.models import SETTLED, Campaign, Judgment, JudgmentTask, of_labels
from annotation.selectors.gold import IS_ANSWER
from hearth.shared.tables import csv_text
from pooling.models import Benchmark


@dataclass(frozen=True, slots=True)
class StudyProgress:
    """The numbers of items and answers of a study.

    needed: number of answers for all items. complete: number of items with all answers. open:
    number of items that still wait for answers by annotators. Items that are neither complete nor
    open are at the desk, or a lead has excluded them.
    """

    items: int
    complete: int
    open: int
    answers: int
    needed: int
    escalated: int
    unplayable: int

    @property
    def percent(self) -> int:
        return 100 * self.answers // self.needed if self.needed else 0


def studies_of(benchmark: Benchmark) -> list[Campaign]:
    """Return the studies of a benchmark, newest first."""
    found = Campaign.objects.filter(benchmark=benchmark, kind=CampaignKind.JUDGING)
    return list(found.exclude(of_labels()).select_related("benchmark", "proxy").order_by("-pk"))


def study_progress(study: Campaign) -> StudyProgress:
    return progress_of_studies([study])[study.pk]


def progress_of_studies(studies: Iterable[Campaign]) -> dict[int, StudyProgress]:
    """Return the progress of each study by its primary key, with one database query."""
    tasks = JudgmentTask.objects.filter(campaign__in=studies, item__isnull=False)
    rows = (
        tasks.order_by()
        .values_list("campaign")
        .annotate(
            items=Count("pk"),
            complete=Count("pk", filter=Q(state__in=SETTLED)),
            open=Count("pk", filter=Q(state=TaskState.OPEN)),
            answers=Sum("labels_live", default=0),
            needed=Sum("labels_required", default=0),
            escalated=Count("pk", filter=Q(state=TaskState.ESCALATED)),
            unplayable=Count("pk", filter=Q(state=TaskState.UNPLAYABLE)),
        )
    )
    return {pk: StudyProgress(*counts) for pk, *counts in rows}


@dataclass(frozen=True, slots=True)
class OwnAnswers:
    """The answers of one annotator.

    answers: number of counted answers. gold, right: number of answers to control items, and number
    of correct ones. figures: those of the question, by title; None if one is undefined.
    """

    answers: int = 0
    gold: int = 0
    right: int = 0
    figures: dict[str, float | None] = field(default_factory=dict)


def answers_by_annotator(study: Campaign) -> dict[int, OwnAnswers]:
    """Return the figures of each annotator who has counted answers, by primary key."""
    kind = study.question_kind
    figures = kind.figures(study)
    counted = Judgment.objects.filter(task__campaign=study).order_by().values_list("annotator")
    rows = counted.annotate(
        answers=Count("pk", filter=Q(state=JudgmentState.LIVE)),
        gold=Count("pk", filter=IS_ANSWER),
        right=Count("pk", filter=IS_ANSWER & Q(is_right=True)),
    )
    return {
        pk: OwnAnswers(
            answers, gold, right, {title: figures[title].get(pk) for title in kind.figure_titles}
        )
        for pk, answers, gold, right in rows
        if answers or gold
    }


def answers_csv(study: Campaign) -> str:
    """Return the counted answers as a CSV file, with the columns of the question."""
    kind = study.question_kind
    return csv_text(kind.heads, kind.rows(study))

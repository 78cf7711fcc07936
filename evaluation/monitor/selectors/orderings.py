"""The progress of an ordering study, the figures of its annotators, and its orders as a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from django.db.models import Count, Q, Sum

from annotation.enums import TaskState
from annotation.models import Campaign, Judgment, JudgmentTask
from annotation.selectors.gold import IS_ANSWER
from annotation.selectors.orderings import orders_of
from evaluation.core.graded.orderings import tau_with_others
from hearth.shared.tables import csv_text
from pooling.selectors.arrays import query_keys, video_keys

CSV_HEADS = ("video_id", "annotator", "caption_id", "level", "value", "place", "rank")


@dataclass(frozen=True, slots=True)
class StudyProgress:
    """The numbers of videos and orders of a study.

    needed: number of orders for all videos. complete: number of videos with all orders. open:
    number of videos that still wait for orders by annotators. Videos that are neither complete nor
    open are at the desk, or a lead has excluded them.
    """

    videos: int
    complete: int
    open: int
    orders: int
    needed: int
    escalated: int
    unplayable: int

    @property
    def percent(self) -> int:
        return 100 * self.orders // self.needed if self.needed else 0


def study_progress(study: Campaign) -> StudyProgress:
    return progress_of_studies([study])[study.pk]


def progress_of_studies(studies: Iterable[Campaign]) -> dict[int, StudyProgress]:
    """Return the progress of each study by its primary key, with one database query."""
    tasks = JudgmentTask.objects.filter(campaign__in=studies, ordering_video__isnull=False)
    rows = (
        tasks.order_by()
        .values_list("campaign")
        .annotate(
            videos=Count("pk"),
            complete=Count("pk", filter=Q(state=TaskState.RESOLVED)),
            open=Count("pk", filter=Q(state=TaskState.OPEN)),
            orders=Sum("labels_live", default=0),
            needed=Sum("labels_required", default=0),
            escalated=Count("pk", filter=Q(state=TaskState.ESCALATED)),
            unplayable=Count("pk", filter=Q(state=TaskState.UNPLAYABLE)),
        )
    )
    return {pk: StudyProgress(*counts) for pk, *counts in rows}


@dataclass(frozen=True, slots=True)
class OwnOrders:
    """The orders of one annotator.

    orders: number of counted orders. tau: mean Kendall's tau with the orders of other people for
    the same videos, None if no other person ordered them. gold, right: number of answers to control
    orders, and number of correct ones.
    """

    orders: int = 0
    tau: float | None = None
    gold: int = 0
    right: int = 0


def orders_by_annotator(study: Campaign) -> dict[int, OwnOrders]:
    """Return the figures of each annotator who has counted answers, by primary key."""
    found, gold = orders_of(study), _gold_by_annotator(study)
    taus = tau_with_others(found.ranks, found.task)
    figures = {}
    for annotator in {*found.annotator.tolist(), *gold}:
        own = taus[found.annotator == annotator]
        compared = own[~np.isnan(own)]
        tau = float(compared.mean()) if len(compared) else None
        figures[annotator] = OwnOrders(len(own), tau, *gold.get(annotator, ()))
    return figures


def _gold_by_annotator(study: Campaign) -> dict[int, tuple[int, int]]:
    """Return each annotator's number of answers to control orders, and of correct answers."""
    answers = Judgment.objects.filter(IS_ANSWER, task__campaign=study).order_by()
    is_right = Count("pk", filter=Q(is_right=True))
    rows = answers.values_list("annotator").annotate(n=Count("pk"), right=is_right)
    return {pk: (count, right) for pk, count, right in rows}


def orders_csv(study: Campaign) -> str:
    """Return a CSV file with a row for each caption of each counted order.

    Annotators have numbers from 1 that are valid only in this file. level: the caption's level;
    the caption at level 0 is the most similar one by the proxy that chose the captions. value: the
    value of that proxy. place: the caption's place on the screen, from 0. rank: the rank that the
    annotator gave the caption, from 0.
    """
    found = orders_of(study)
    videos, captions = video_keys(study.benchmark), query_keys(study.benchmark)
    _, person = np.unique(found.annotator, return_inverse=True)
    rows = (
        (
            videos[found.videos[task]],
            int(person[number]) + 1,
            captions[found.captions[task, level]],
            level,
            float(found.values[task, level]),
            int(found.places[task, level]),
            int(found.ranks[number, level]),
        )
        for number, task in enumerate(found.task.tolist())
        for level in range(found.captions.shape[1])
    )
    return csv_text(CSV_HEADS, rows)

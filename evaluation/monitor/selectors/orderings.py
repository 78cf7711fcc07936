"""The progress of an ordering study, its people, and its orders as a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from django.db.models import Count, Q, Sum

from annotation.enums import TaskState
from annotation.models import Annotator, Campaign, JudgmentTask
from annotation.selectors.orderings import orders_of
from config.shared.tables import csv_text
from evaluation.core.graded.orderings import tau_with_others
from pooling.selectors.arrays import query_keys, video_keys

CSV_HEADS = ("video_id", "annotator", "caption_id", "level", "value", "place", "rank")


@dataclass(frozen=True, slots=True)
class StudyProgress:
    """The numbers of videos and orders of a study.

    needed: number of orders for all videos. complete: number of videos with all orders.
    """

    videos: int
    complete: int
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
    """Return the progress of each study by its primary key, with one query."""
    tasks = JudgmentTask.objects.filter(campaign__in=studies, ordering_video__isnull=False)
    rows = (
        tasks.order_by()
        .values_list("campaign")
        .annotate(
            videos=Count("pk"),
            complete=Count("pk", filter=Q(state=TaskState.RESOLVED)),
            orders=Sum("labels_live", default=0),
            needed=Sum("labels_required", default=0),
            escalated=Count("pk", filter=Q(state=TaskState.ESCALATED)),
            unplayable=Count("pk", filter=Q(state=TaskState.UNPLAYABLE)),
        )
    )
    return {pk: StudyProgress(*counts) for pk, *counts in rows}


@dataclass(frozen=True, slots=True)
class StudyPerson:
    """An annotator of a study. tau: the mean with the other people of the same videos, or None."""

    annotator: Annotator
    orders: int
    tau: float | None


def people_of_study(study: Campaign) -> list[StudyPerson]:
    """Return the annotators with counted orders, those with the most orders first."""
    found = orders_of(study)
    taus = tau_with_others(found.ranks, found.task)
    annotators = Annotator.objects.select_related("user").in_bulk(set(found.annotator.tolist()))
    rows = []
    for pk, annotator in annotators.items():
        own = taus[found.annotator == pk]
        compared = own[~np.isnan(own)]
        tau = float(compared.mean()) if len(compared) else None
        rows.append(StudyPerson(annotator, len(own), tau))
    return sorted(rows, key=lambda row: (-row.orders, row.annotator.pk))


def orders_csv(study: Campaign) -> str:
    """Return a row for each caption of each counted order.

    Annotators have numbers from 1 that are valid only in this file. level: from 0, the most similar
    caption by the proxy that chose the captions. value: of that proxy. rank: by the annotator,
    from 0.
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

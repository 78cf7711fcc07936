"""Ordering studies and the orders that people made."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotation.enums import CampaignKind, JudgmentState
from annotation.models import Campaign, Judgment, JudgmentTask
from annotation.questions.order.models import OrderingCaption
from annotation.questions.order.orders import CAPTIONS, ranks_in_orders
from hearth.shared.bulk import read_columns
from pooling.models import Benchmark

Int64Array = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class StudyOrders:
    """The tasks of an ordering study, in the order in which annotators get them, and the orders.

    videos: int64 [n_tasks], video numbers. captions: int64 [n_tasks, 5], caption numbers, from the
    most similar caption by the proxy of the study to the least similar one. values: float64
    [n_tasks, 5], the values of that proxy. places: int64 [n_tasks, 5], places on the screen.

    For each counted order: `task`, int64 [n], the index of the task; `annotator`, int64 [n],
    primary keys; `ranks`, int64 [n, 5], the rank that the annotator gave to each caption of the
    task, 0 for the most similar one; `judgment`, int64 [n], primary keys, ascending.
    """

    videos: Int64Array
    captions: Int64Array
    values: npt.NDArray[np.float64]
    places: Int64Array
    task: Int64Array
    annotator: Int64Array
    ranks: Int64Array
    judgment: Int64Array


def ordering_studies(benchmark: Benchmark) -> list[Campaign]:
    """Return the ordering studies of a benchmark, newest first."""
    found = Campaign.objects.filter(
        benchmark=benchmark, kind=CampaignKind.JUDGING, question="order"
    )
    return list(found.select_related("benchmark", "proxy").order_by("-pk"))


def orders_of(campaign: Campaign) -> StudyOrders:
    """Return the tasks of an ordering study, and its counted orders."""
    tasks = JudgmentTask.objects.filter(campaign=campaign, item__isnull=False)
    ids, videos = read_columns(tasks.order_by("position"), "pk", "item__video__number")
    shown = OrderingCaption.objects.filter(task__campaign=campaign)
    shown = shown.order_by("task__position", "level")
    captions, places = read_columns(shown, "query__number", "place")
    places = places.reshape(-1, CAPTIONS)
    counted = Judgment.objects.filter(task__campaign=campaign, state=JudgmentState.LIVE)
    rows = list(counted.order_by("pk").values_list("pk", "task_id", "annotator_id", "payload"))
    numbers = np.array([row[:3] for row in rows], np.int64).reshape(-1, 3)
    judgment, of_task, annotator = numbers.T
    by_id = np.argsort(ids)
    task = by_id[np.searchsorted(ids, of_task, sorter=by_id)]
    return StudyOrders(
        videos=videos,
        captions=captions.reshape(-1, CAPTIONS),
        values=np.array(shown.values_list("value", flat=True), np.float64).reshape(-1, CAPTIONS),
        places=places,
        task=task,
        annotator=annotator,
        ranks=ranks_in_orders([(payload or {})["places"] for *_, payload in rows], places[task]),
        judgment=judgment,
    )

"""Which labels are first labels, which tasks wait for more, and whether labels have changed."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
from django.db.models import Exists, OuterRef, Sum

from annotation.core.first_labels import first_answers, label_places
from annotation.enums import CampaignState, JudgmentState, TaskState
from annotation.models import (
    Adjudication,
    Campaign,
    Escalation,
    Exclusion,
    Judgment,
    JudgmentTask,
    Withdrawal,
)
from config.shared.bulk import read_columns
from pooling.models import Benchmark

Int64Array = npt.NDArray[np.int64]


def waiting_tasks(campaigns: Iterable[Campaign]) -> Int64Array:
    """Primary keys of labelled tasks that wait for a further label or for a lead.

    A task that a lead has left out waits for nothing.
    """
    undecided = [TaskState.OPEN, TaskState.ESCALATED, TaskState.UNPLAYABLE]
    # With a key that does not exist, for an empty list cannot be read as columns.
    keys = [0, *(campaign.pk for campaign in campaigns)]
    tasks = JudgmentTask.objects.filter(
        campaign__in=keys, state__in=undecided, labels_live__gt=0, exclusion=None
    )
    (ids,) = read_columns(tasks, "pk")
    return ids


def are_first_labels(
    campaigns: list[Campaign],
    ids: Int64Array,
    tasks: Int64Array,
    annotators: Int64Array,
    planned: Int64Array,
) -> npt.NDArray[np.bool_]:
    """Return which of the campaigns' live judgments are among the first labels of their tasks,
    bool [n].

    ids, tasks, annotators: int64 [n], primary keys. planned: int64 [n], the number of labels of the
    task that no disagreement requested; `PLANNED_IN_FILES` for imported labels.
    """
    is_first = np.ones(len(ids), np.bool_)
    # Most tasks have one label, which needs no sorting.
    _, of_task, sizes = np.unique(tasks, return_inverse=True, return_counts=True)
    several = np.flatnonzero(sizes[of_task.reshape(-1)] > 1)
    came = ids[several]
    here = [one.pk for one in campaigns if not one.is_imported]
    if here and len(several):
        came = first_answers((came, tasks[several], annotators[several]), _corrected(here))
    is_first[several] = label_places(tasks[several], came) < planned[several]
    return is_first


def _corrected(campaigns: list[int]) -> tuple[Int64Array, Int64Array, Int64Array]:
    """Return keys, tasks and annotators of the answers that were later corrected or escalated."""
    found = Judgment.objects.filter(
        task__campaign__in=campaigns, task__gold=None, state=JudgmentState.SUPERSEDED
    )
    ids, tasks, annotators = read_columns(found, "pk", "task_id", "annotator_id")
    return ids, tasks, annotators


def labels_moment(benchmark: Benchmark) -> list[int]:
    """Numbers that are others whenever the labels of the benchmark may be others: its last label,
    how many rulings, how many labels a lead took back, and how many pairs were handed on, which
    takes a label back, too. The first two are 0 where there are no labels."""
    newest = newest_judgment(benchmark)
    rulings = Adjudication.objects.filter(task__campaign__benchmark=benchmark)
    taken_back = Withdrawal.objects.filter(campaign__benchmark=benchmark)
    withdrawn: int = taken_back.aggregate(n=Sum("judgments", default=0))["n"]
    handed_on = Escalation.objects.filter(task__campaign__benchmark=benchmark)
    left_out = Exclusion.objects.filter(task__campaign__benchmark=benchmark)
    closed = Campaign.objects.filter(benchmark=benchmark, state=CampaignState.CLOSED)
    return [
        newest.pk if newest else 0,
        # An undone ruling counts twice, so that undoing changes the fingerprint.
        rulings.count() + rulings.filter(undone_at__isnull=False).count(),
        withdrawn,
        handed_on.count(),
        left_out.count(),
        closed.count(),
    ]


def newest_judgment(benchmark: Benchmark) -> Judgment | None:
    """The label that came last of those that count; answers to gold are none."""
    labelled = JudgmentTask.objects.filter(campaign__benchmark=benchmark, labels_live__gt=0)
    if not labelled.exists():  # else all judgments of others would be looked through
        return None
    # Backwards from the end of the table, and no further than to the first that fits; of a join,
    # SQLite would read all judgments and sort them.
    of_benchmark = JudgmentTask.objects.filter(pk=OuterRef("task"), campaign__benchmark=benchmark)
    made = Judgment.objects.filter(Exists(of_benchmark), state=JudgmentState.LIVE)
    return made.only("created_at").order_by("-pk").first()

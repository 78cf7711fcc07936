"""Planned labels, unsettled tasks, and the fingerprint of a benchmark's labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass

import numpy as np
import numpy.typing as npt
from django.db.models import Count, Exists, OuterRef, Sum

from annotation.core.first_labels import first_answers, label_places
from annotation.enums import CampaignState, JudgmentState, TaskState
from annotation.models import (
    HAS_BEGUN,
    Adjudication,
    Campaign,
    Escalation,
    Exclusion,
    Judgment,
    JudgmentTask,
    Withdrawal,
)
from annotation.selectors.campaigns import campaigns_of
from hearth.shared.arrays import numbered
from hearth.shared.bulk import read_columns
from pooling.models import Benchmark

Int64Array = npt.NDArray[np.int64]


def unsettled_tasks(campaigns: Iterable[Campaign]) -> Int64Array:
    """Return the primary keys of the open, escalated or unplayable tasks that have labels.

    Excluded tasks and tasks in conflict are left out. They wait for no label, so their labels
    determine their outcome.
    """
    undecided = [TaskState.OPEN, TaskState.ESCALATED, TaskState.UNPLAYABLE]
    # No campaign has the primary key 0. The 0 is here because Django makes no SQL for an empty
    # list, and `read_columns` needs SQL.
    keys = [0, *(campaign.pk for campaign in campaigns)]
    # The label of a task in these states is always None. The condition makes the index `task_begun`
    # usable.
    tasks = JudgmentTask.objects.filter(
        HAS_BEGUN,
        campaign__in=keys,
        label=None,
        state__in=undecided,
        labels_live__gt=0,
        exclusion=None,
    )
    (ids,) = read_columns(tasks, "pk")
    return ids


def label_positions(
    campaigns: list[Campaign], ids: Int64Array, tasks: Int64Array, annotators: Int64Array
) -> Int64Array:
    """Return the position of each of the campaigns' counted judgments in its task, int64 [n].

    The first label of a task has the position 0. A label is planned if its position is below the
    planned number of labels of the task. ids, tasks, annotators: int64 [n], primary keys.
    """
    positions = np.zeros(len(ids), np.int64)
    # Most tasks have one label, which needs no sorting.
    of_task = numbered(tasks)[1]
    several = np.flatnonzero(np.bincount(of_task)[of_task] > 1)
    arrivals = ids[several]
    here = [campaign.pk for campaign in campaigns if not campaign.is_imported]
    if here and len(several):
        arrivals = first_answers((arrivals, tasks[several], annotators[several]), _corrected(here))
    positions[several] = label_places(tasks[several], arrivals)
    return positions


def _corrected(campaigns: list[int]) -> tuple[Int64Array, Int64Array, Int64Array]:
    """Return the answers that were later corrected or escalated.

    The result contains the primary keys of the answers, of their tasks and of their annotators.
    """
    found = Judgment.objects.filter(
        task__campaign__in=campaigns, task__gold=None, state=JudgmentState.SUPERSEDED
    )
    ids, tasks, annotators = read_columns(found, "pk", "task_id", "annotator_id")
    return ids, tasks, annotators


@dataclass(frozen=True, slots=True)
class LabelsFingerprint:
    """A value that changes whenever the labels of a benchmark may have changed.

    Answers and decisions in studies do not change it, because they are not labels.

    newest: primary key of the newest counted label, or 0. rulings: number of rulings; undone
    rulings count twice. withdrawn: number of withdrawn labels. escalations, exclusions,
    closed_campaigns: the numbers of these. Escalations are included, because an escalation
    supersedes the annotator's own label.
    """

    newest: int
    rulings: int
    withdrawn: int
    escalations: int
    exclusions: int
    closed_campaigns: int

    def as_list(self) -> list[int]:
        """Return the values as they are stored with results and drafts."""
        return list(astuple(self))


def labels_fingerprint(benchmark: Benchmark) -> LabelsFingerprint:
    newest = newest_judgment(benchmark)
    of_benchmark = in_benchmark(benchmark)
    rulings = Adjudication.objects.filter(of_benchmark)
    campaigns = campaigns_of(benchmark)
    withdrawals = Withdrawal.objects.filter(campaign__in=campaigns)
    escalations = Escalation.objects.filter(of_benchmark)
    exclusions = Exclusion.objects.filter(of_benchmark)
    closed = campaigns.filter(state=CampaignState.CLOSED)
    return LabelsFingerprint(
        newest=newest.pk if newest else 0,
        # Undoing a ruling must change the fingerprint as well.
        rulings=rulings.count() + rulings.filter(undone_at__isnull=False).count(),
        withdrawn=withdrawals.aggregate(n=Sum("judgments", default=0))["n"],
        # Withdrawing an escalation must change the fingerprint as well.
        escalations=escalations.aggregate(n=Count("pk") + Count("withdrawn_at"))["n"],
        exclusions=exclusions.count(),
        closed_campaigns=closed.count(),
    )


def newest_judgment(benchmark: Benchmark) -> Judgment | None:
    """Return the newest counted label. Answers in studies and to gold items are not labels."""
    labelled = JudgmentTask.objects.filter(
        HAS_BEGUN, campaign__benchmark=benchmark, labels_live__gt=0
    )
    if not labelled.exists():  # otherwise the database query below would read all judgments
        return None
    # The database query reads the table from the end and stops at the first match.
    made = Judgment.objects.filter(in_benchmark(benchmark), state=JudgmentState.LIVE)
    return made.only("created_at").order_by("-pk").first()


def in_benchmark(benchmark: Benchmark) -> Exists:
    """Return the condition that the task of a row, such as a ruling, is in the benchmark.

    Tasks of studies are left out. The condition looks up the task of each row. With a
    join, SQLite would read all tasks of the benchmark, even if there are no rows.
    """
    tasks = JudgmentTask.objects.filter(
        pk=OuterRef("task"), campaign__benchmark=benchmark, item=None
    )
    return Exists(tasks)

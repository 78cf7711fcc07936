"""The judgments and rulings of a benchmark as arrays."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from django.db.models import QuerySet, Value
from django.db.models.functions import Coalesce

from annotation.core.first_labels import PLANNED_IN_FILES
from annotation.enums import JudgmentState
from annotation.models import Adjudication, Campaign, Judgment, JudgmentTask, has_begun
from annotation.selectors.campaigns import campaigns_of
from annotation.selectors.labels import in_benchmark, label_positions, unsettled_tasks
from annotation.selectors.tasks import OWN_CAPTION
from hearth.shared.arrays import combined
from hearth.shared.bulk import Among, in_key_order, read_columns
from pooling.models import Benchmark
from pooling.selectors.arrays import codes_of

Int64Array = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class JudgmentArrays:
    """The counted judgments of a benchmark, ordered by pair, then by annotator and arrival.

    Labels are grades: 0 is not relevant, and 1 is the campaign's lowest relevant step.

    codes: int64 [n_pairs] ascending, query number * n_videos + video number.
    pair_of, annotators, labels, ids: [n_judgments]; `pair_of` indexes `codes`.
    annotators, ids, campaigns: primary keys of annotators, judgments and campaigns.
    positions: int64 [n_judgments], the position of the label in its task, from 0, in order of
    arrival. A correction keeps the position of the answer that it corrects.
    is_first: bool [n_judgments], whether the label is one of the planned labels of its task, rather
    than one that was requested because other labels differed. In imported files, the first two
    labels of a pair count as planned.
    waits: bool [n_judgments], whether the task is one of `unsettled_tasks`.
    units: the text pair of the task, as `pooling.core.equal_texts.text_pair_codes` returns it, or
    `OWN_CAPTION` if the label applies only to the task's own caption.
    n_grades: the number of grades on the longest scale of the campaigns that have judgments.
    """

    codes: Int64Array
    pair_of: Int64Array
    annotators: Int64Array
    labels: Int64Array
    ids: Int64Array
    campaigns: Int64Array
    positions: Int64Array
    is_first: npt.NDArray[np.bool_]
    waits: npt.NDArray[np.bool_]
    units: Int64Array
    n_grades: int


def judgment_arrays(benchmark: Benchmark) -> JudgmentArrays:
    """Return all counted judgments of a benchmark.

    The time is linear in their number, except for sorting.
    """
    campaigns = list(campaigns_of(benchmark))
    counted = Judgment.objects.filter(has_begun("task__"), state=JudgmentState.LIVE)
    live = _columns(campaigns, counted)
    present = set(np.unique(live.campaigns).tolist())
    return by_pair(
        codes_of(benchmark, live.queries, live.videos),
        n_grades=max(
            [2, *(_grades_of(campaign) for campaign in campaigns if campaign.pk in present)]
        ),
        annotators=live.annotators,
        labels=_grades(live.labels, live.campaigns, thresholds_of(benchmark)),
        ids=live.ids,
        campaigns=live.campaigns,
        **_positions(campaigns, live),
        waits=np.isin(live.tasks, unsettled_tasks(campaigns)),
        units=live.units,
    )


def _positions(campaigns: list[Campaign], found: _Columns) -> dict[str, npt.NDArray[Any]]:
    """Return the columns `positions` and `is_first` of `JudgmentArrays`."""
    positions = label_positions(campaigns, found.ids, found.tasks, found.annotators)
    # A confirmation requests second labels because the first labels are relevant. So none of its
    # labels counts as planned.
    confirming = [campaign.pk for campaign in campaigns if campaign.confirms]
    is_first = (positions < found.planned) & ~np.isin(found.campaigns, confirming)
    return {"positions": positions, "is_first": is_first}


def judgments_of_log(
    benchmark: Benchmark, ids: Int64Array, waiting: Int64Array, thresholds: Mapping[int, int]
) -> JudgmentArrays:
    """Return the judgments with these primary keys, whether or not they still count.

    ids, waiting: int64, primary keys, ascending; `waiting` are those for which `waits` becomes
    True. Primary keys that are not in the log are left out. thresholds: see `thresholds_of`.
    """
    campaigns = list(campaigns_of(benchmark))
    found = _columns(campaigns, Judgment.objects.filter(task__pair__isnull=False))
    found = found.only(np.isin(found.ids, ids))
    return by_pair(
        codes_of(benchmark, found.queries, found.videos),
        n_grades=int(found.labels.max(initial=1)) + 1,
        annotators=found.annotators,
        labels=_grades(found.labels, found.campaigns, thresholds),
        ids=found.ids,
        campaigns=found.campaigns,
        **_positions(campaigns, found),
        waits=np.isin(found.ids, waiting),
        units=found.units,
    )


def by_pair(
    codes: Int64Array,
    *,
    n_grades: int,
    annotators: Int64Array,
    ids: Int64Array,
    **columns: npt.NDArray[Any],
) -> JudgmentArrays:
    """Return the judgments, sorted as in `JudgmentArrays`. The columns need not be sorted."""
    order = np.lexsort((ids, combined(codes, annotators)))
    codes = codes[order]
    first = np.diff(codes, prepend=-1) != 0
    columns |= {"annotators": annotators, "ids": ids}
    return JudgmentArrays(
        codes=codes[first],
        pair_of=np.cumsum(first) - 1,
        n_grades=n_grades,
        **{name: column[order] for name, column in columns.items()},
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Columns:
    """Columns of judgments, int64 [n] each.

    planned: the planned number of labels of the task; `PLANNED_IN_FILES` for imported labels.
    """

    queries: Int64Array
    videos: Int64Array
    annotators: Int64Array
    labels: Int64Array
    ids: Int64Array
    tasks: Int64Array
    campaigns: Int64Array
    planned: Int64Array
    units: Int64Array

    def only(self, selected: npt.NDArray[np.bool_]) -> _Columns:
        """Return the selected rows, from flags [n]."""
        return _Columns(*(getattr(self, name)[selected] for name in _Columns.__slots__))


def _columns(campaigns: list[Campaign], judgments: QuerySet[Judgment]) -> _Columns:
    """Read the judgments of these campaigns.

    To save time, a column that has the same value for all judgments is not read.
    """
    if not campaigns:
        return _Columns(*(np.empty(0, np.int64) for _ in range(9)))
    imported = [campaign.pk for campaign in campaigns if campaign.is_imported]
    further = ["task__campaign_id"] if len(campaigns) != 1 else []
    further += ["task__labels_planned"] if len(imported) < len(campaigns) else []
    shared = JudgmentTask.objects.filter(campaign__in=campaigns, unit__isnull=False)
    further += ["unit"] if shared.exists() else []
    found = judgments.filter(task__campaign__in=campaigns)
    with in_key_order():
        queries, videos, annotators, labels, ids, tasks, *more = read_columns(
            found.annotate(unit=Coalesce("task__unit", Value(OWN_CAPTION))),
            "task__pair__query_id",
            "task__pair__video_id",
            "annotator_id",
            "label",
            "pk",
            "task_id",
            *further,
        )
    read = dict(zip(further, more, strict=True))
    of_campaign = read.get("task__campaign_id")
    if of_campaign is None:
        of_campaign = np.full(len(ids), campaigns[0].pk, np.int64)
    planned = read.get("task__labels_planned")
    if planned is None:
        planned = np.full(len(ids), PLANNED_IN_FILES, np.int64)
    elif imported:
        planned = np.where(np.isin(of_campaign, imported), PLANNED_IN_FILES, planned)
    units = read.get("unit")
    if units is None:
        units = np.full(len(ids), OWN_CAPTION, np.int64)
    return _Columns(queries, videos, annotators, labels, ids, tasks, of_campaign, planned, units)


Recorded: TypeAlias = tuple[int, datetime.datetime, float | None, int | None, list[str] | None]


def judgment_details(benchmark: Benchmark) -> Iterator[Recorded]:
    """Yield what was recorded about each judgment in campaigns that were not imported.

    The values are the primary key, the time, the seconds, the version of the guidelines and the
    missing elements.
    """
    for campaign in campaigns_of(benchmark):
        if not campaign.is_imported:
            rows = Judgment.objects.filter(task__campaign=campaign).values_list(
                "pk", "created_at", "seconds", "guideline__version", "missing"
            )
            yield from rows.iterator(chunk_size=20_000)


@dataclass(frozen=True, slots=True)
class Rulings:
    """Pairs that a lead has ruled on, in the order of the rulings, [n] each.

    codes, labels (grades) and units are as in `JudgmentArrays`. ids: primary keys.
    """

    codes: Int64Array
    labels: Int64Array
    units: Int64Array
    ids: Int64Array


def adjudicated(benchmark: Benchmark) -> Rulings:
    """Return the rulings of the benchmark that are in force."""
    in_force = Adjudication.objects.filter(undone_at=None)
    return _rulings(benchmark, in_force, thresholds_of(benchmark))


def rulings_of_log(benchmark: Benchmark, ids: Int64Array, thresholds: Mapping[int, int]) -> Rulings:
    """Return the rulings with these primary keys, whether or not they are in force."""
    logged = Adjudication.objects.filter(Among("id", ids))
    return _rulings(benchmark, logged, thresholds)


def _rulings(
    benchmark: Benchmark, found: QuerySet[Adjudication], thresholds: Mapping[int, int]
) -> Rulings:
    rulings = found.filter(in_benchmark(benchmark))
    rulings = rulings.annotate(unit=Coalesce("task__unit", Value(OWN_CAPTION)))
    queries, videos, labels, campaigns, units, ids = read_columns(
        rulings.order_by("pk"),
        "task__pair__query_id",
        "task__pair__video_id",
        "label",
        "task__campaign_id",
        "unit",
        "pk",
    )
    codes = codes_of(benchmark, queries, videos)
    return Rulings(codes, _grades(labels, campaigns, thresholds), units, ids)


def _grades_of(campaign: Campaign) -> int:
    """Return the number of grades: not relevant, and the steps from the threshold on."""
    return len(campaign.labels) - campaign.threshold + 1


def thresholds_of(benchmark: Benchmark) -> dict[int, int]:
    """Return the lowest relevant step by campaign, for campaigns in which it is above 1."""
    raised = Campaign.objects.filter(benchmark=benchmark, threshold__gt=1)
    return dict(raised.values_list("pk", "threshold"))


def _grades(labels: Int64Array, campaigns: Int64Array, thresholds: Mapping[int, int]) -> Int64Array:
    """Return the grade of each label, int64 [n]: 0 below the campaign's threshold, 1 at it."""
    for campaign, threshold in thresholds.items():
        shifted = np.maximum(labels - (threshold - 1), 0)
        labels = np.where(campaigns == campaign, shifted, labels)
    return labels

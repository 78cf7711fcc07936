"""One caption or one video with its pairs, their ranks in the runs, and their tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from annotation.enums import JudgmentState, TaskState
from annotation.models import AT_DESK, Judgment, JudgmentTask
from annotation.selectors.campaigns import campaigns_of
from annotation.selectors.desk import pseudonym
from evaluation.catalogue.selectors.outcomes import PairColumns, with_outcomes
from evaluation.catalogue.selectors.pairs import (
    labelled_of_caption,
    labelled_of_video,
    pooled_codes,
    pooled_codes_of_video,
)
from evaluation.core.arrays import IntArray
from evaluation.models import LabelSource
from hearth.shared.bulk import Among
from pooling.core.direction import Direction
from pooling.core.equal_texts import text_pair_codes
from pooling.core.packing import unpack_numbers
from pooling.core.pool import union_codes
from pooling.models import Benchmark, Query, RankedList, Run
from pooling.selectors.captions import first_equal_captions
from pooling.selectors.catalogue import catalogue_of
from pooling.selectors.metadata import tagged_queries


@dataclass(frozen=True, slots=True, eq=False)
class EntryPairs:
    """The pairs of one caption or video: pooled pairs, labelled pairs, and original positives.

    Equal captions share labels, so labelled pairs can be outside the pools. pooled: the codes
    of the pooled pairs.
    """

    columns: PairColumns
    pooled: frozenset[int]


@dataclass(frozen=True, slots=True)
class RunList:
    """The list of a run for one caption. length: 0 without a list.

    original, labelled: the rank of the first original positive, and of the first video whose label
    is relevant; None if the list has none.
    """

    run: Run
    length: int
    original: int | None
    labelled: int | None


@dataclass(frozen=True, slots=True)
class PairTask:
    """The task of a pair in one campaign.

    answers: the answers with pseudonyms that are valid only for this task. Only leads see them, so
    the list is empty for other people.
    """

    task: JudgmentTask
    answers: list[tuple[str, str]] = field(default_factory=list)

    @property
    def is_at_desk(self) -> bool:
        return self.task.state in AT_DESK

    @property
    def text(self) -> str:
        """The state of the task, or its number of labels if it is open."""
        state = TaskState(self.task.state)
        if state != TaskState.OPEN:
            return str(state.label)
        return f"{self.task.labels_live} of {self.task.labels_required} labels"


def pairs_of_caption(benchmark: Benchmark, source: LabelSource | None, query: int) -> EntryPairs:
    """Return the pairs of the caption with this number. The time is linear in their number."""
    pooled = pooled_codes(benchmark, np.array([query]))
    videos = np.array(catalogue_of(benchmark).original_videos_of(query), np.int64)
    labelled = labelled_of_caption(source, benchmark, query)
    codes = union_codes([pooled, labelled, benchmark.pair_space.encode(query, videos)])
    return EntryPairs(with_outcomes(benchmark, source, codes), frozenset(pooled.tolist()))


def pairs_of_video(benchmark: Benchmark, source: LabelSource | None, video: int) -> EntryPairs:
    """Return the pairs of the video with this number.

    No index begins with the video, so each caption is looked up in the index of pairs.
    """
    pooled = pooled_codes_of_video(benchmark, np.arange(benchmark.n_queries), video)
    queries = np.array(catalogue_of(benchmark).original_queries_of(video), np.int64)
    labelled = labelled_of_video(source, benchmark, video)
    codes = union_codes([pooled, labelled, benchmark.pair_space.encode(queries, video)])
    return EntryPairs(with_outcomes(benchmark, source, codes), frozenset(pooled.tolist()))


def ranks_of_caption(runs: Sequence[Run], query: int) -> dict[int, IntArray]:
    """Map the primary keys of text-to-video runs to their ranked videos for one caption."""
    own = [run.pk for run in runs if run.facing is Direction.TEXT_TO_VIDEO]
    lists = RankedList.objects.filter(run__in=own, row=query).values_list("run_id", "items")
    return {run: unpack_numbers(bytes(items)).astype(np.int64) for run, items in lists}


def run_lists(
    benchmark: Benchmark,
    runs: Iterable[Run],
    ranked: Mapping[int, IntArray],
    columns: PairColumns,
) -> list[RunList]:
    """Return the lists of one caption.

    ranked: the result of `ranks_of_caption`. columns: the pairs of the caption.
    """
    videos = benchmark.pair_space.videos(columns.codes)
    originals, labelled = videos[columns.is_original], videos[columns.labels >= 1]
    empty = np.empty(0, np.int64)
    return [
        RunList(
            run,
            len(ranked.get(run.pk, empty)),
            _first_rank(ranked.get(run.pk, empty), originals),
            _first_rank(ranked.get(run.pk, empty), labelled),
        )
        for run in runs
    ]


def _first_rank(ranked: IntArray, positives: IntArray) -> int | None:
    found = np.flatnonzero(np.isin(ranked, positives))
    return int(found[0]) + 1 if len(found) else None


def ranks_of_pairs(
    benchmark: Benchmark, runs: Sequence[Run], codes: IntArray
) -> dict[int, dict[int, int]]:
    """Return the ranks of pairs by run and code, with one database query for each direction."""
    space = benchmark.pair_space
    found: dict[int, dict[int, int]] = {run.pk: {} for run in runs}
    for direction in {run.facing for run in runs}:
        rows, items = direction.space(space).decode(direction.codes(codes, space))
        pairs: dict[int, list[tuple[int, int]]] = {}
        for row, item, code in zip(rows.tolist(), items.tolist(), codes.tolist(), strict=True):
            pairs.setdefault(row, []).append((item, code))
        own = [run.pk for run in runs if run.facing is direction]
        lists = RankedList.objects.filter(Among("row", np.unique(rows)), run__in=own)
        for run, row, packed in lists.values_list("run_id", "row", "items"):
            ranked = unpack_numbers(bytes(packed))
            for item, code in pairs[row]:
                place = np.flatnonzero(ranked == item)
                if len(place):
                    found[run][code] = int(place[0]) + 1
    return found


def tasks_of_pairs(
    benchmark: Benchmark, codes: IntArray, *, with_answers: bool
) -> dict[int, list[PairTask]]:
    """Return the tasks of pairs in all campaigns, by pair code.

    Equal captions share a task. with_answers: include the counted answers, which only leads see.
    """
    first_equal = first_equal_captions(benchmark)
    units = text_pair_codes(codes, first_equal, benchmark.pair_space).tolist()
    campaigns = {campaign.pk: campaign for campaign in campaigns_of(benchmark)}
    shared = JudgmentTask.objects.filter(campaign__in=campaigns, unit__in=set(units))
    by_unit = [(task.unit or 0, task) for task in shared.order_by("pk")]
    by_code = _own_tasks(benchmark, codes)
    tasks = [task for _, task in [*by_unit, *by_code]]
    answers = _answers(tasks) if with_answers else {}
    for task in tasks:
        task.campaign = campaigns[task.campaign_id]
    of_units, of_codes = _grouped(by_unit, answers), _grouped(by_code, answers)
    return {
        code: of_units.get(unit, []) + of_codes.get(code, [])
        for code, unit in zip(codes.tolist(), units, strict=True)
    }


def _own_tasks(benchmark: Benchmark, codes: IntArray) -> list[tuple[int, JudgmentTask]]:
    """Return the tasks that equal captions do not share, each with the code of its pair."""
    catalogue, space = catalogue_of(benchmark), benchmark.pair_space
    queries, videos = space.decode(codes)
    query_of = dict(zip(catalogue.query_ids[queries].tolist(), queries.tolist(), strict=True))
    video_of = dict(zip(catalogue.video_ids[videos].tolist(), videos.tolist(), strict=True))
    found = JudgmentTask.objects.filter(
        unit=None, pair__query__in=list(query_of), pair__video__in=list(video_of)
    )
    return [
        (space.encode(query_of[task.pair.query_id], video_of[task.pair.video_id]), task)
        for task in found.select_related("pair").order_by("pk")
        if task.pair is not None
    ]


def _grouped(
    tasks: Iterable[tuple[int, JudgmentTask]], answers: Mapping[int, list[tuple[str, int | None]]]
) -> dict[int, list[PairTask]]:
    found: dict[int, list[PairTask]] = {}
    for code, task in tasks:
        labels = task.campaign.labels
        given = [(name, labels[cast(int, label)]) for name, label in answers.get(task.pk, [])]
        found.setdefault(code, []).append(PairTask(task, given))
    return found


def _answers(tasks: Iterable[JudgmentTask]) -> dict[int, list[tuple[str, int | None]]]:
    """Return the counted answers of each task under pseudonyms, in order of arrival."""
    found: dict[int, list[tuple[str, int | None]]] = {}
    judgments = Judgment.objects.filter(
        task__in=[task.pk for task in tasks], state=JudgmentState.LIVE
    )
    for task, label in judgments.order_by("created_at", "pk").values_list("task_id", "label"):
        given = found.setdefault(task, [])
        given.append((pseudonym(len(given)), label))
    return found


def tags_of_caption(query: Query) -> list[str]:
    """Return the tags of a caption, the most frequent first."""
    tags = tagged_queries(query.benchmark)
    return [name for name, numbers in tags.items() if query.number in numbers]


def equal_captions_of(query: Query) -> list[int]:
    """Return the numbers of the other captions that share judgments with a caption."""
    first_equal = first_equal_captions(query.benchmark)
    found = np.flatnonzero(first_equal == first_equal[query.number])
    return [number for number in found.tolist() if number != query.number]

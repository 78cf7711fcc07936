"""Judgments that were made elsewhere: a closed campaign that holds them as they are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from django.utils import timezone

from annotation.core.consensus import NO_LABEL, majority_labels
from annotation.core.judgment_file import JudgmentsFile, parse_judgments
from annotation.enums import LABELS, CampaignState, Scale, TaskState
from annotation.models import SLOTS_MAX, Annotator, Campaign, Judgment, JudgmentTask
from config.shared.bulk import copy_columns, lock_row, long_transaction, reserve_ids
from config.shared.errors import InvalidInput
from config.shared.progress import Progress, no_progress
from pooling.models import Benchmark
from pooling.selectors import query_numbers, video_numbers

# The one call of another app's service: only the owner of the pairs writes them (DECISIONS 9).
from pooling.services.pools import add_judged_pairs

Int64Array = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ImportedJudgments:
    """`created` is False where the same file had been imported before."""

    campaign: Campaign
    judgments: int
    pairs: int
    created: bool


def import_judgments(
    *,
    benchmark: Benchmark,
    path: Path,
    source: str | None = None,
    scale: Scale = Scale.BINARY,
    progress: Progress = no_progress,
) -> ImportedJudgments:
    """Store a file of judgments as a closed campaign, however many labels a pair has.

    Pairs that no pool has brought are added under a pool of their own. The majority of more
    than half is a pair's label, without one it is a conflict. Raises `InvalidInput`, and then
    nothing is stored. The same content twice is one campaign.
    """
    file = parse_judgments(
        path,
        query_numbers=query_numbers(benchmark),
        video_numbers=video_numbers(benchmark),
        labels=LABELS[scale],
        progress=lambda done, total: progress(done, total, "reading judgments"),
        source=source,
    )
    progress(0, None, "storing judgments")
    with long_transaction():
        lock_row(benchmark)
        earlier = Campaign.objects.filter(benchmark=benchmark, source_sha256=file.sha256)
        stored = earlier.first()
        campaign = stored or _store(benchmark, file, scale)
    return ImportedJudgments(campaign, len(file.labels), campaign.n_tasks, created=stored is None)


def _store(benchmark: Benchmark, file: JudgmentsFile, scale: Scale) -> Campaign:
    codes = file.queries.astype(np.int64) * benchmark.n_videos + file.videos
    order = np.argsort(codes, kind="stable")
    codes = codes[order]
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    given = np.diff(np.append(starts, len(codes)))
    if given.max(initial=0) > SLOTS_MAX:
        raise InvalidInput(f"a pair has {given.max()} labels; the most is {SLOTS_MAX}")
    pool, pair_ids = add_judged_pairs(benchmark=benchmark, codes=codes[starts])
    campaign = Campaign.objects.create(
        benchmark=benchmark,
        pool=pool,
        name=f"{benchmark.key} imported {file.sha256[:8]}",
        state=CampaignState.CLOSED,
        scale=scale,
        labels_max=int(given.max(initial=1)),
        n_tasks=len(starts),
        source_sha256=file.sha256,
        closed_at=timezone.now(),
    )
    pair_of = np.repeat(np.arange(len(starts)), given)
    labels = file.labels[order]
    task_ids = _copy_tasks(
        campaign, pair_ids, given, _majority(pair_of, labels, len(starts), scale)
    )
    # In the order of the file, which is that in which the labels came.
    came = np.empty_like(order)
    came[order] = np.arange(len(order))
    copy_columns(
        Judgment,
        {
            "task_id": task_ids[pair_of[came]],
            "annotator_id": _annotator_ids(benchmark, file)[file.annotators],
            "label": file.labels,
            "slot": came - starts[pair_of[came]],
            "created_at": timezone.now(),
        },
    )
    return campaign


def _majority(
    pair_of: Int64Array, labels: npt.NDArray[np.int8], n_pairs: int, scale: Scale
) -> npt.NDArray[np.int8]:
    width = len(LABELS[scale])
    counts = np.bincount(pair_of * width + labels, minlength=n_pairs * width)
    return majority_labels(counts.reshape(n_pairs, width))


def _copy_tasks(
    campaign: Campaign, pair_ids: Int64Array, given: Int64Array, majority: npt.NDArray[np.int8]
) -> Int64Array:
    ids = reserve_ids(JudgmentTask, len(pair_ids))
    label = majority.tolist()
    copy_columns(
        JudgmentTask,
        {
            "id": ids,
            "campaign_id": campaign.pk,
            "pair_id": pair_ids,
            "position": np.arange(len(pair_ids)),
            "labels_planned": given,
            "labels_required": given,
            "labels_live": given,
            "seats_open": 0,
            "state": [
                TaskState.CONFLICTED.value if value == NO_LABEL else TaskState.RESOLVED.value
                for value in label
            ],
            "label": [None if value == NO_LABEL else value for value in label],
        },
    )
    return ids


def _annotator_ids(benchmark: Benchmark, file: JudgmentsFile) -> Int64Array:
    """Primary keys of the file's annotators, in the order of `file.annotator_keys`."""
    Annotator.objects.bulk_create(
        [Annotator(benchmark=benchmark, key=key) for key in file.annotator_keys],
        ignore_conflicts=True,
    )
    known = dict(Annotator.objects.filter(benchmark=benchmark).values_list("key", "pk"))
    return np.array([known[key] for key in file.annotator_keys], dtype=np.int64)

"""Changing the captions, videos and original positives of a stored benchmark."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from django.db.models import F

from hearth.accounts.actors import Actor
from hearth.audit.services import record
from hearth.shared.bulk import copy_columns
from pooling.core.import_plan import Changes
from pooling.core.packing import pack_numbers
from pooling.core.readers.benchmarks.captions import CaptionsFile
from pooling.enums import PoolingAct
from pooling.models import Benchmark, OriginalPositive, Query, Run, Tag, Video
from pooling.selectors.arrays import query_ids, query_keys, video_ids, video_keys
from pooling.selectors.metadata import tagged_queries
from pooling.signals import positives_changed

Int64Array = npt.NDArray[np.int64]

BATCH = 500


def update_captions(
    *, benchmark: Benchmark, file: CaptionsFile, changes: Changes, by: Actor
) -> None:
    """Apply changes whose plan has no errors. Call this in the transaction that checked the plan.

    If no caption or video is added or removed and the videos keep their order, all numbers stay.
    Otherwise, captions are numbered in the order of the file, and the tags get the new numbers. No
    other stored data refer to the numbers then, because the plan would have errors.
    """
    before = {"captions": benchmark.n_queries, "videos": benchmark.n_videos}
    stays = not (changes.new["captions"] or changes.removed["captions"])
    if stays and list(changes.video_keys) == video_keys(benchmark):
        _change_in_place(benchmark, file, changes, by)
    else:
        _rewrite(benchmark, file, changes)
    after = {
        "captions": benchmark.n_queries,
        "videos": benchmark.n_videos,
        "texts_changed": changes.n_changed,
    }
    record(PoolingAct.CAPTIONS_UPDATED, by=by, on=benchmark, before=before, after=after)


def copy_positives(
    benchmark: Benchmark, file: CaptionsFile, numbers: Int64Array, keys: Sequence[str]
) -> None:
    """Store the original positives of a file.

    numbers: the number of each caption of the file, int64 [n]. keys: the videos by number.
    """
    number_of = {key: number for number, key in enumerate(keys)}
    video_of = np.array([number_of[key] for key in file.video_keys], dtype=np.int64)
    copy_columns(
        OriginalPositive,
        {
            "query_id": query_ids(benchmark)[numbers[file.positive_queries]],
            "video_id": video_ids(benchmark)[video_of[file.positive_videos]],
        },
    )


def copy_numbered(
    model: type[Query | Video],
    benchmark: Benchmark,
    columns: dict[str, Sequence[str]],
    first: int = 0,
) -> None:
    """Store rows with the numbers from `first` on."""
    numbers = np.arange(first, first + len(columns["key"]))
    copy_columns(model, {"benchmark_id": benchmark.pk, "number": numbers, **columns})


def _change_in_place(benchmark: Benchmark, file: CaptionsFile, changes: Changes, by: Actor) -> None:
    numbers = changes.query_numbers
    texts = {int(numbers[at]): file.texts[at] for at in changes.changed_rows.tolist()}
    wanted = list(texts)
    for start in range(0, len(wanted), BATCH):
        rows = list(benchmark.queries.filter(number__in=wanted[start : start + BATCH]))
        for query in rows:
            query.text = texts[query.number]
        Query.objects.bulk_update(rows, ["text"])
    if changes.new["original_positives"] or changes.removed["original_positives"]:
        _delete_positives(benchmark)
        copy_positives(benchmark, file, numbers, changes.video_keys)
        if Run.everything.filter(benchmark=benchmark).exists():
            positives_changed.send(sender=Benchmark, benchmark=benchmark, by=by)
    _store_sha256(benchmark, file, numbers)


def _rewrite(benchmark: Benchmark, file: CaptionsFile, changes: Changes) -> None:
    keys_before = query_keys(benchmark)
    _delete_positives(benchmark)
    benchmark.queries.all().delete()
    copy_numbered(Query, benchmark, {"key": file.query_keys, "text": file.texts})
    _renumber_videos(benchmark, changes.video_keys)
    numbers = np.arange(len(file.query_keys))
    copy_positives(benchmark, file, numbers, changes.video_keys)
    _renumber_tags(benchmark, keys_before, file.query_keys)
    benchmark.n_queries, benchmark.n_videos = len(file.query_keys), len(changes.video_keys)
    benchmark.save(update_fields=["n_queries", "n_videos"])
    _store_sha256(benchmark, file, numbers)


def _delete_positives(benchmark: Benchmark) -> None:
    OriginalPositive.objects.filter(query__benchmark=benchmark).delete()


def _renumber_videos(benchmark: Benchmark, keys: Sequence[str]) -> None:
    """Delete videos that are not in `keys`, add new ones, and number all in this order."""
    number_of = {key: number for number, key in enumerate(keys)}
    stored = dict(benchmark.videos.values_list("key", "pk"))
    gone = [pk for key, pk in stored.items() if key not in number_of]
    for start in range(0, len(gone), BATCH):
        Video.objects.filter(pk__in=gone[start : start + BATCH]).delete()
    # Numbers must be unique at any time, so the stored rows first get numbers that no row will
    # have.
    offset = max(benchmark.n_videos, len(keys))
    benchmark.videos.update(number=F("number") + offset)
    kept = [Video(pk=pk, number=number_of[key]) for key, pk in stored.items() if key in number_of]
    Video.objects.bulk_update(kept, ["number"], batch_size=BATCH)
    new = [key for key in keys if key not in stored]
    copy_columns(
        Video,
        {"benchmark_id": benchmark.pk, "number": np.array([number_of[k] for k in new]), "key": new},
    )


def _renumber_tags(benchmark: Benchmark, before: Sequence[str], after: Sequence[str]) -> None:
    """Replace the query numbers in tags by the new numbers. Delete tags without captions."""
    number_of = {key: number for number, key in enumerate(after)}
    new = np.array([number_of.get(key, -1) for key in before], dtype=np.int64)
    for name, numbers in tagged_queries(benchmark).items():
        kept = np.sort(new[numbers][new[numbers] >= 0]).astype(np.int32)
        tag = Tag.objects.filter(benchmark=benchmark, name=name)
        if not len(kept):
            tag.delete()
            continue
        packed = pack_numbers(kept)
        tag.update(queries=packed, n_queries=len(kept), sha256=hashlib.sha256(packed).hexdigest())


def _store_sha256(benchmark: Benchmark, file: CaptionsFile, numbers: Int64Array) -> None:
    """Store a hash of the captions in the order of their numbers. Caches rely on this hash.

    It is the hash of the file, unless the file has another order.
    """
    sha256 = file.sha256
    if not np.array_equal(numbers, np.arange(len(numbers))):
        order = " ".join(map(str, numbers.tolist()))
        sha256 = hashlib.sha256(f"{file.sha256} {order}".encode()).hexdigest()
    benchmark.captions_sha256 = sha256
    benchmark.save(update_fields=["captions_sha256"])

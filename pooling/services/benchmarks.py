"""Importing a benchmark: its captions, videos and original positives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from django.core.exceptions import ValidationError

from config.accounts.actors import Actor, account_of
from config.audit.services import record
from config.shared.bulk import copy_columns, lock_row, long_transaction
from config.shared.errors import Conflict, InvalidInput
from config.shared.limits import check_length
from config.shared.progress import Progress, no_progress
from pooling.core.benchmark_file import CaptionsFile, VideosFile, parse_captions, parse_videos
from pooling.enums import EqualTexts, PoolingAct
from pooling.models import BENCHMARK_KEY, Benchmark, OriginalPositive, Query, Video
from pooling.policies import check_can_import_benchmark, check_can_set_equal_texts
from pooling.selectors.arrays import query_ids, video_ids, video_keys
from pooling.services.pools import recount_tasks
from pooling.services.videos import attach_videos, prepared_videos
from pooling.signals import equal_texts_changing

Int64Array = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ImportedBenchmark:
    """A benchmark. `created` is False if these captions were already stored under this key."""

    benchmark: Benchmark
    original_positives: int
    created: bool
    notes: tuple[str, ...]


def import_benchmark(
    *,
    key: str,
    captions: Path,
    by: Actor,
    videos: Path | None = None,
    media_dir: Path | None = None,
    name: str = "",
    licence: str = "",
    description: str = "",
    equal_texts: str = EqualTexts.FOLDED,
    progress: Progress = no_progress,
) -> ImportedBenchmark:
    """Store captions, videos and original positives, with a playable copy of each video file.

    Videos are numbered in the order of the videos file, and further ones in the order of the
    captions. The columns of a similarity matrix have the same order. If the same captions are
    imported again, only the files of videos without a file are added. `equal_texts` is the rule of
    a new benchmark.

    Raises `NotPermitted` if `by` may not import the benchmark. Raises `InvalidInput` if a file or
    an option has an error. Raises `Conflict` if the key belongs to other captions. After an error
    nothing is stored.
    """
    check_can_import_benchmark(by, key)
    _check_key(key)
    check_length(Benchmark, "name", name)
    check_length(Benchmark, "licence", licence)
    file = parse_captions(captions, progress=lambda d, t: progress(d, t, "reading captions"))
    listed = parse_videos(videos) if videos else VideosFile((), "", ())
    stored = Benchmark.objects.filter(key=key).first()
    if stored is not None:
        _check_same(stored, file, listed)
    with prepared_videos(listed.videos, media_dir, progress) as ready, long_transaction():
        progress(0, None, "storing")
        benchmark = stored or _store(
            key, name or key, licence, description, equal_texts, file, listed, by
        )
        broken = attach_videos(benchmark, listed.videos, ready)
        counts = {"new": stored is None, "videos_with_files": len(ready)}
        record(PoolingAct.BENCHMARK_IMPORTED, by=by, on=benchmark, after=counts)
    return ImportedBenchmark(
        benchmark,
        len(file.positive_queries),
        created=stored is None,
        notes=file.notes + listed.notes + broken,
    )


def _check_key(key: str) -> None:
    check_length(Benchmark, "key", key)
    try:
        BENCHMARK_KEY(key)
    except ValidationError as error:
        raise InvalidInput(f"The benchmark key {key!r} is not valid. {error.message}") from None


def _check_same(stored: Benchmark, file: CaptionsFile, listed: VideosFile) -> None:
    if stored.captions_sha256 != file.sha256:
        raise Conflict(
            f"The benchmark {stored.key!r} already exists with other captions. Choose another key."
        )
    unknown = {video.key for video in listed.videos} - set(video_keys(stored))
    if unknown:
        raise Conflict(
            f"The benchmark {stored.key!r} already exists without the video {min(unknown)!r}. "
            "Videos cannot be added, because runs refer to videos by their numbers. Import the "
            "benchmark under another key."
        )


def _store(
    key: str,
    name: str,
    licence: str,
    description: str,
    equal_texts: str,
    file: CaptionsFile,
    listed: VideosFile,
    by: Actor,
) -> Benchmark:
    keys = tuple(dict.fromkeys([video.key for video in listed.videos] + list(file.video_keys)))
    benchmark = Benchmark.objects.create(
        key=key,
        name=name,
        licence=licence,
        description=description,
        equal_texts=equal_texts,
        captions_sha256=file.sha256,
        n_queries=len(file.query_keys),
        n_videos=len(keys),
        created_by=account_of(by),
    )
    _copy_numbered(Query, benchmark, {"key": file.query_keys, "text": file.texts})
    _copy_numbered(Video, benchmark, {"key": keys})
    number = {key: number for number, key in enumerate(keys)}
    video_of = np.array([number[key] for key in file.video_keys], dtype=np.int64)
    copy_columns(
        OriginalPositive,
        {
            "query_id": query_ids(benchmark)[file.positive_queries],
            "video_id": video_ids(benchmark)[video_of[file.positive_videos]],
        },
    )
    return benchmark


def set_equal_texts(*, benchmark: Benchmark, rule: EqualTexts, by: Actor) -> Benchmark:
    """Change the rule by which captions count as the same text.

    Raises `NotPermitted` if `by` may not change the rule. Raises `Conflict` if tasks share a label
    under the current rule.
    """
    check_can_set_equal_texts(by, benchmark)
    with long_transaction():
        lock_row(benchmark)
        benchmark.refresh_from_db()
        if benchmark.equal_texts == rule:
            return benchmark
        equal_texts_changing.send(sender=Benchmark, benchmark=benchmark)
        before, after = {"rule": benchmark.equal_texts}, {"rule": rule}
        record(PoolingAct.EQUAL_TEXTS_SET, by=by, on=benchmark, before=before, after=after)
        benchmark.equal_texts = rule
        benchmark.save(update_fields=["equal_texts"])
        recount_tasks(benchmark)
    return benchmark


def _copy_numbered(
    model: type[Query | Video], benchmark: Benchmark, columns: dict[str, Sequence[str]]
) -> None:
    count = len(columns["key"])
    numbers = np.arange(count)
    copy_columns(model, {"benchmark_id": benchmark.pk, "number": numbers, **columns})

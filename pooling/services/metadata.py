"""Bringing in what analyses need beside a benchmark's captions: train splits and tags."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from config.shared.bulk import lock_row, long_transaction
from config.shared.errors import InvalidInput
from config.shared.progress import Progress, no_progress
from pooling.core.arrays import Int32s
from pooling.core.packing import pack_numbers, pack_texts
from pooling.core.tag_file import MAX_TAGS, VIDEO, TagFile, parse_tags
from pooling.core.train_file import parse_train_captions
from pooling.models import Benchmark, Tag, TrainSplit
from pooling.selectors import original_positives, query_numbers, video_numbers
from pooling.services.names import check_name, free_name

TRAIN = "train"


@dataclass(frozen=True, slots=True)
class ImportedTrainSplit:
    """`created` is False where the same content was there before."""

    split: TrainSplit
    created: bool
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ImportedTags:
    """How many tags the file has, and how many captions have at least one of them."""

    tags: int
    captions: int
    notes: tuple[str, ...]


def import_train_captions(
    *,
    benchmark: Benchmark,
    path: Path,
    name: str = "",
    source: str | None = None,
    progress: Progress = no_progress,
) -> ImportedTrainSplit:
    """Store the captions that systems were trained on as a split of the benchmark.

    The same content is the same split, whatever it is called. Other content under a taken name
    becomes `NAME@2`, and so on. Raises `InvalidInput`; then nothing is stored.
    """
    check_name(name or TRAIN, "train split")
    file = parse_train_captions(
        path, source=source, progress=lambda d, t: progress(d, t, "reading train captions")
    )
    progress(0, None, "storing train captions")
    with long_transaction():
        lock_row(benchmark)
        splits = TrainSplit.objects.filter(benchmark=benchmark).defer("texts")
        stored = splits.filter(sha256=file.sha256).first()
        split = stored or TrainSplit.objects.create(
            benchmark=benchmark,
            name=free_name(splits, name or TRAIN),
            sha256=file.sha256,
            n_captions=len(file.texts),
            texts=pack_texts(file.texts),
        )
    return ImportedTrainSplit(split, created=stored is None, notes=file.notes)


def import_tags(
    *,
    benchmark: Benchmark,
    path: Path,
    source: str | None = None,
    progress: Progress = no_progress,
) -> ImportedTags:
    """Store the tags of a file, each in place of the one of that name, if there is one.

    A video's tag holds for all captions that it is an original positive of. Raises `InvalidInput`;
    then nothing is stored.
    """
    file = parse_tags(
        path,
        query_numbers=query_numbers(benchmark),
        video_numbers=video_numbers(benchmark),
        source=source,
        progress=lambda d, t: progress(d, t, "reading tags"),
    )
    progress(0, None, "storing tags")
    captions = _captions_by_tag(benchmark, file)
    with long_transaction():
        lock_row(benchmark)
        _check_number(benchmark, file, source or str(path))
        Tag.objects.bulk_create(
            [_row(benchmark, name, numbers) for name, numbers in captions.items()],
            update_conflicts=True,
            unique_fields=["benchmark", "name"],
            update_fields=["queries", "n_queries", "sha256", "created_at"],
        )
    tagged = np.unique(np.concatenate(list(captions.values())))
    return ImportedTags(len(captions), len(tagged), file.notes)


def _captions_by_tag(benchmark: Benchmark, file: TagFile) -> dict[str, Int32s]:
    """Query numbers of each tag, ascending."""
    if file.of != VIDEO:
        return dict(file.numbers)
    queries, videos = original_positives(benchmark)
    return {
        name: np.unique(queries[np.isin(videos, numbers)]).astype(np.int32)
        for name, numbers in file.numbers.items()
    }


def _row(benchmark: Benchmark, name: str, numbers: Int32s) -> Tag:
    packed = pack_numbers(numbers)
    return Tag(
        benchmark=benchmark,
        name=name,
        queries=packed,
        n_queries=len(numbers),
        sha256=hashlib.sha256(packed).hexdigest(),
    )


def _check_number(benchmark: Benchmark, file: TagFile, source: str) -> None:
    known = set(Tag.objects.filter(benchmark=benchmark).values_list("name", flat=True))
    total = len(known | set(file.numbers))
    if total > MAX_TAGS:
        raise InvalidInput(
            f"with the tags that are there it makes {total:,}, {MAX_TAGS:,} are allowed",
            source=source,
        )

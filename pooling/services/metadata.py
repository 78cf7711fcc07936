"""Importing the metadata that analyses use: train captions and tags."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, TypedDict

import numpy as np
from django.utils import timezone

from hearth.accounts.actors import Actor
from hearth.audit.services import record
from hearth.shared.bulk import lock_row, long_transaction
from hearth.shared.errors import InvalidInput
from hearth.shared.options import NAME_LENGTH, Option
from hearth.shared.progress import Progress, no_progress
from pooling.core.arrays import Int32s
from pooling.core.lines import SourceFile
from pooling.core.packing import pack_numbers, pack_texts
from pooling.core.readers.tags import MAX_TAGS, VIDEO, TagFile, parse_tags
from pooling.core.readers.train_captions import parse_train_captions
from pooling.enums import PoolingAct
from pooling.models import Benchmark, Tag, TrainSplit
from pooling.policies import check_can_import_metadata
from pooling.selectors.arrays import original_positives, query_numbers, video_numbers
from pooling.services.names import check_name, free_name

TRAIN = "train"
CSV_FILE = Option(
    "File",
    "A CSV file, which can be compressed with gzip.",
    expected="A CSV or JSON file",
    positional=True,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainCaptionsUpload:
    """A file with the captions that systems were trained on.

    name: Needed only if there are several splits, such as 9k and 7k. The default is “train”.
    """

    file: Annotated[SourceFile, CSV_FILE]
    name: Annotated[
        str,
        Option(
            "Name of the split",
            length=NAME_LENGTH,
            printable=True,
            attrs={"autocomplete": "off"},
        ),
    ] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TagsUpload:
    """A file with tags of captions or videos."""

    file: Annotated[SourceFile, CSV_FILE]


class TrainSplitReport(TypedDict):
    """An imported train split in the result of a job and in the output of `--json`."""

    split: str
    captions: int
    sha256: str
    created: bool
    notes: list[str]


class TagsReport(TypedDict):
    """Imported tags in the result of a job and in the output of `--json`."""

    tags: int
    captions: int
    notes: list[str]


@dataclass(frozen=True, slots=True)
class ImportedTrainSplit:
    """A train split. `created` is False if the same content was already stored."""

    split: TrainSplit
    created: bool
    notes: tuple[str, ...]

    def report(self) -> TrainSplitReport:
        return {
            "split": self.split.name,
            "captions": self.split.n_captions,
            "sha256": self.split.sha256,
            "created": self.created,
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class ImportedTags:
    """The numbers of tags in the file and of captions that have at least one of them."""

    tags: int
    captions: int
    notes: tuple[str, ...]

    def report(self) -> TagsReport:
        return {"tags": self.tags, "captions": self.captions, "notes": list(self.notes)}


def import_train_captions(
    *,
    benchmark: Benchmark,
    path: Path,
    by: Actor,
    name: str = "",
    source: str | None = None,
    progress: Progress = no_progress,
) -> ImportedTrainSplit:
    """Store the captions that systems were trained on, as a train split of the benchmark.

    If the same content is stored already, the stored split is returned, whatever its name. If other
    content has the name, the new split is called `NAME@2`, then `NAME@3`.

    Raises `NotPermitted` if `by` may not import metadata. Raises `InvalidInput` if the file or the
    name has an error. After an error nothing is stored.
    """
    check_can_import_metadata(by, benchmark)
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
        if stored is None:
            after = {"captions": split.n_captions, "sha256": split.sha256}
            record(PoolingAct.TRAIN_CAPTIONS_IMPORTED, by=by, on=split, after=after)
    return ImportedTrainSplit(split, created=stored is None, notes=file.notes)


def import_tags(
    *,
    benchmark: Benchmark,
    path: Path,
    by: Actor,
    source: str | None = None,
    progress: Progress = no_progress,
) -> ImportedTags:
    """Store the tags of a file. A tag replaces the stored tag of the same name.

    The tag of a video applies to all captions that have the video as an original positive.

    Raises `NotPermitted` if `by` may not import metadata. Raises `InvalidInput` if the file has an
    error. After an error nothing is stored.
    """
    check_can_import_metadata(by, benchmark)
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
        now = timezone.now()  # the same for all tags of a file, so that it identifies the import
        Tag.objects.bulk_create(
            [_row(benchmark, name, numbers, now) for name, numbers in captions.items()],
            update_conflicts=True,
            unique_fields=["benchmark", "name"],
            update_fields=["queries", "n_queries", "sha256", "created_at"],
        )
        record(PoolingAct.TAGS_IMPORTED, by=by, on=benchmark, after={"tags": len(captions)})
    tagged = np.unique(np.concatenate(list(captions.values())))
    return ImportedTags(len(captions), len(tagged), file.notes)


def _captions_by_tag(benchmark: Benchmark, file: TagFile) -> dict[str, Int32s]:
    """Return the query numbers of each tag, ascending."""
    if file.of != VIDEO:
        return dict(file.numbers)
    queries, videos = original_positives(benchmark)
    return {
        name: np.unique(queries[np.isin(videos, numbers)]).astype(np.int32)
        for name, numbers in file.numbers.items()
    }


def _row(benchmark: Benchmark, name: str, numbers: Int32s, now: datetime) -> Tag:
    packed = pack_numbers(numbers)
    return Tag(
        benchmark=benchmark,
        name=name,
        queries=packed,
        n_queries=len(numbers),
        sha256=hashlib.sha256(packed).hexdigest(),
        created_at=now,
    )


def _check_number(benchmark: Benchmark, file: TagFile, source: str) -> None:
    known = set(Tag.objects.filter(benchmark=benchmark).values_list("name", flat=True))
    total = len(known | set(file.numbers))
    if total > MAX_TAGS:
        raise InvalidInput(
            f"the benchmark would have {total:,} tags; the maximum is {MAX_TAGS:,}",
            source=source,
        )

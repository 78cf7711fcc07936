"""Adding a benchmark of paragraphs to one of sentences."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from django.core.files.storage import default_storage

from hearth.accounts.actors import Actor
from hearth.audit.services import record
from hearth.shared.bulk import copy_columns, lock_row, long_transaction
from hearth.shared.errors import Conflict, Outdated
from hearth.shared.progress import Progress, no_progress
from pooling.core.problems import Problems
from pooling.core.readers.benchmarks.captions import CaptionsBuilder, CaptionsFile
from pooling.enums import MediaState, PoolingAct
from pooling.models import Benchmark, Video
from pooling.paragraphs.actions import AddParagraphs
from pooling.paragraphs.core.joining import Groups, by_video, read_groups
from pooling.paragraphs.models import Paragraphs, Sentence
from pooling.policies import check_can_import_benchmark, check_not_archived
from pooling.selectors.arrays import (
    original_positives,
    query_ids,
    query_keys,
    query_numbers,
    query_texts,
    video_keys,
)
from pooling.services import plans
from pooling.services.benchmarks import create_benchmark
from pooling.services.videos import ReadyVideo, attach


@dataclass(frozen=True, slots=True)
class AddedParagraphs:
    """created: whether the benchmark of paragraphs is new. videos: how many got their file."""

    paragraphs: Paragraphs
    original_positives: int
    created: bool
    videos: int

    def report(self) -> dict[str, object]:
        benchmark, sentences = self.paragraphs.benchmark, self.paragraphs.sentences
        return {
            "benchmark": benchmark.key,
            "paragraphs": benchmark.n_queries,
            "sentences": sentences.n_queries,
            "videos": benchmark.n_videos,
            "original_positives": self.original_positives,
            "created": self.created,
            "videos_with_files": self.videos,
        }


def add_paragraphs(
    *,
    benchmark: Benchmark,
    options: AddParagraphs,
    by: Actor,
    progress: Progress = no_progress,
) -> AddedParagraphs:
    """Store a benchmark whose captions are paragraphs of the captions of `benchmark`.

    A video is an original positive of a paragraph if it is one of all its sentences. If the
    paragraphs are already stored, only the share and missing files of videos are stored.

    Raises `NotPermitted` if `by` may not import the benchmark, `InvalidInput` if the table has an
    error, and `Conflict` if the key is in use, or the sentences already have other paragraphs.
    """
    check_can_import_benchmark(by, options.paragraphs)
    check_not_archived(benchmark)
    stored = Paragraphs.objects.filter(sentences=benchmark).select_related("benchmark").first()
    if stored is None:
        progress(0, None, "joining sentences")
        found = _store(benchmark, options, by)
    elif stored.benchmark.key == options.paragraphs and options.file is None:
        found = _changed(stored, options, by)
    else:
        raise Conflict(
            f"The sentences of {benchmark.key} already have the paragraphs "
            f"{stored.benchmark.key}. Delete that benchmark first."
        )
    videos = copy_videos(benchmark, found.benchmark, progress)
    n_positives = len(original_positives(found.benchmark)[0])
    return AddedParagraphs(found, n_positives, stored is None, videos)


def _store(sentences: Benchmark, options: AddParagraphs, by: Actor) -> Paragraphs:
    if Paragraphs.objects.filter(benchmark=sentences).exists():
        raise Conflict("The captions of this benchmark are paragraphs themselves.")
    key = options.paragraphs
    details = plans.Details(options.name, sentences.licence, equal_texts=sentences.equal_texts)
    plans.check_options(key, details)
    groups = _groups(sentences, options)
    file = _captions(sentences, groups)
    with long_transaction():
        lock_row(sentences)
        current = Benchmark.objects.values_list("captions_sha256", flat=True).get(pk=sentences.pk)
        if current != sentences.captions_sha256:
            raise Outdated("The captions have changed in the meantime. Start again.")
        if Benchmark.objects.filter(key=key).exists():
            raise Conflict(plans.taken(key))
        made = create_benchmark(key, details, file, file.video_keys, by)
        share = Decimal(str(round(options.share, 4)))
        found = Paragraphs.objects.create(benchmark=made, sentences=sentences, share=share)
        _store_sentences(sentences, made, groups)
        after = {"sentences": sentences.key, "share": options.share}
        record(PoolingAct.PARAGRAPHS_ADDED, by=by, on=made, after=after)
    return found


def _groups(sentences: Benchmark, options: AddParagraphs) -> Groups:
    if options.file is not None:
        return read_groups(options.file, query_numbers(sentences))
    queries, videos = original_positives(sentences)
    pairs = zip(queries.tolist(), videos.tolist(), strict=True)
    return by_video(pairs, query_keys(sentences), video_keys(sentences))


def _captions(sentences: Benchmark, groups: Groups) -> CaptionsFile:
    """Return the paragraphs as captions. The videos are those of the sentences, in their order."""
    keys = video_keys(sentences)
    videos_of: dict[int, set[int]] = {}
    queries, videos = original_positives(sentences)
    for query, video in zip(queries.tolist(), videos.tolist(), strict=True):
        videos_of.setdefault(query, set()).add(video)
    builder = CaptionsBuilder(sentences.key, Problems(stop_at=1))
    builder.add_videos(keys)
    for key, text in groups.joined(query_texts(sentences)):
        builder.add_query(0, key, text, place=f"paragraph {key}")
        of_all = set.intersection(*(videos_of.get(each, set()) for each in groups.members[key]))
        for video in sorted(of_all):
            builder.add_positive(0, key, keys[video], sentences.key)
    content = json.dumps(["paragraphs", sentences.captions_sha256, groups.members])
    sha256 = hashlib.sha256(content.encode()).hexdigest()
    return builder.finish(sha256, sources=(sentences.key,), formats=("paragraphs",))


def _store_sentences(sentences: Benchmark, made: Benchmark, groups: Groups) -> None:
    members = list(groups.members.values())
    sizes = [len(each) for each in members]
    copy_columns(
        Sentence,
        {
            "query_id": query_ids(sentences)[np.concatenate(members)],
            "part_of_id": np.repeat(query_ids(made), sizes),
            "place": np.concatenate([np.arange(size) for size in sizes]),
        },
    )


def _changed(stored: Paragraphs, options: AddParagraphs, by: Actor) -> Paragraphs:
    share = Decimal(str(round(options.share, 4)))
    if stored.share != share:
        with long_transaction():
            before = {"share": float(stored.share)}
            record(
                PoolingAct.PARAGRAPHS_CHANGED,
                by=by,
                on=stored.benchmark,
                before=before,
                after={"share": float(share)},
            )
            stored.share = share
            stored.save(update_fields=["share"])
    return stored


def copy_videos(source: Benchmark, target: Benchmark, progress: Progress) -> int:
    """Copy addresses, durations and files of videos that the target does not have yet.

    Each benchmark has its own copy of a file, because either can be deleted. Return the number of
    copied files.
    """
    missing = {video.key: video for video in target.videos.filter(file="")}
    changed = []
    known = source.videos.exclude(file="", url="", duration=None)
    for done, video in enumerate(known.iterator() if missing else ()):
        own = missing.get(video.key)
        if own is None:
            continue
        progress(done, len(missing), "copying videos")
        own.url, own.duration, own.state = video.url, video.duration, video.state
        if video.file and default_storage.exists(video.file.name or ""):
            sheet = video.sheet if video.sheet else None
            attach(own, ReadyVideo(video.file, video.poster, sheet, video.sha256, video.duration))
        elif video.state == MediaState.PLAYABLE and not video.url:
            own.state = MediaState.MISSING
        changed.append(own)
    with_file = [video for video in changed if video.file]
    Video.objects.bulk_update(changed, ["url", "duration", "state"], batch_size=200)
    Video.objects.bulk_update(with_file, ["file", "poster", "sheet", "sha256"], batch_size=200)
    return len(with_file)

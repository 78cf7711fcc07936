"""Importing a benchmark: its captions, videos and original positives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from django.db import IntegrityError
from django.utils import timezone

from hearth.accounts.actors import Actor, account_of
from hearth.audit.services import record
from hearth.shared.bulk import lock_row, long_transaction
from hearth.shared.errors import Conflict, Outdated
from hearth.shared.progress import Progress, no_progress
from pooling.core.problems import Problems
from pooling.core.readers.benchmarks import TABLE
from pooling.core.readers.benchmarks.captions import CaptionsFile
from pooling.core.readers.registry import AUTO
from pooling.enums import EqualTexts, PoolingAct
from pooling.models import Benchmark, BenchmarkImport, Query, Run, Video
from pooling.moments.storing import spans_of, store_spans
from pooling.policies import check_can_set_equal_texts
from pooling.selectors.captions import why_equal_texts_are_fixed
from pooling.services import plans
from pooling.services.pools import recount_tasks
from pooling.services.updates import copy_numbered, copy_positives, update_captions
from pooling.services.videos import attach_videos, prepared_videos
from pooling.signals import positives_changed


@dataclass(frozen=True, slots=True)
class ImportedBenchmark:
    """An imported benchmark.

    created: whether the benchmark is new. changed: whether the captions of an existing benchmark
    changed. spans: the number of spans of the original positives.
    """

    benchmark: Benchmark
    original_positives: int
    created: bool
    changed: bool
    notes: tuple[str, ...]
    spans: int = 0


def import_benchmark(
    *,
    key: str,
    files: plans.ImportFiles,
    by: Actor,
    media_dir: Path | None = None,
    details: plans.Details | None = None,
    update: bool = False,
    plan: str = "",
    accepted: BenchmarkImport | None = None,
    progress: Progress = no_progress,
) -> ImportedBenchmark:
    """Store captions, videos and original positives, with a playable copy of each video file.

    Videos are numbered in the order of the videos file. Videos that are not in this file follow in
    the order of the captions. The columns of a similarity matrix have the same order. `details`
    describe a new benchmark. If the benchmark exists, captions and videos are matched by key, and
    the captions change only if `update` is True. plan: the hash of the plan that a person has
    accepted, or empty. accepted: the row of that plan, which is marked in the same transaction.

    Raises `NotPermitted` if `by` may not import the benchmark. Raises `InvalidInput` with the first
    error if the plan has errors. Raises `Conflict` if the key belongs to other captions, and
    `Outdated` if the files or the benchmark have changed since the plan. After an error nothing is
    stored.
    """
    details = details or plans.Details()
    files = plans.read_as_before(key, files) if update else files
    made = plans.plan_benchmark(
        key=key, files=files, by=by, details=details, update=update, progress=progress
    )
    if made.stored and made.changes and not update:
        raise Conflict(plans.taken(key))
    file = _checked(made, plan)
    with prepared_videos(made.listed.videos, media_dir, progress) as ready, long_transaction():
        progress(0, None, "storing")
        if made.stored:
            lock_row(made.stored)
        again = plans.compare(
            key, file, made.listed, Problems(stop_at=None), files, details, update=update
        )
        _checked(again, made.sha256)
        changes = again.changes
        assert changes is not None  # noqa: S101 - the captions have been read
        benchmark = again.stored or create_benchmark(key, details, file, changes.video_keys, by)
        if again.stored and changes:
            update_captions(benchmark=benchmark, file=file, changes=changes, by=by)
        broken = attach_videos(benchmark, made.listed.videos, ready)
        if media_dir is not None and not any(row.file for row in made.listed.videos):
            broken += ("no row of the videos names a file, so no file of the folder was stored",)
        if files.columns or files.expected not in (AUTO, TABLE):
            benchmark.reading = {"format": files.expected, "columns": dict(files.columns)}
            benchmark.save(update_fields=["reading"])
        spans, beyond = _store_spans(benchmark, file, by)
        counts = {"new": again.stored is None, "videos_with_files": len(ready)}
        record(PoolingAct.BENCHMARK_IMPORTED, by=by, on=benchmark, after=counts)
        if accepted is not None:
            accepted.imported_at = timezone.now()
            accepted.save(update_fields=["imported_at"])
    return ImportedBenchmark(
        benchmark,
        len(file.positive_queries),
        created=again.stored is None,
        changed=again.stored is not None and bool(changes),
        notes=tuple(dict.fromkeys(file.notes + made.listed.notes + broken + beyond)),
        spans=spans,
    )


def _store_spans(
    benchmark: Benchmark, file: CaptionsFile, by: Actor
) -> tuple[int, tuple[str, ...]]:
    """Store the spans of a file, if its format has them. Return their number, and warnings."""
    if file.moments is None:
        return 0, ()
    before = spans_of(benchmark)
    pairs = zip(file.positive_queries.tolist(), file.positive_videos.tolist(), strict=True)
    keys = [(file.query_keys[query], file.video_keys[video]) for query, video in pairs]
    beyond = store_spans(benchmark, file.moments, keys)
    after = spans_of(benchmark)
    is_changed = any(not one.equals(other) for one, other in zip(before, after, strict=True))
    if is_changed and Run.everything.filter(benchmark=benchmark).exists():
        positives_changed.send(sender=Benchmark, benchmark=benchmark, by=by)
    return len(after[0]), beyond


def _checked(made: plans.ImportPlan, accepted: str) -> CaptionsFile:
    """Return the captions of a plan without errors.

    accepted: the hash of the plan that a person has accepted, or empty.
    """
    if accepted and made.sha256 != accepted:
        raise Outdated(
            "The files or the benchmark have changed since the plan was made. Make a new plan."
        )
    if made.problems.number or made.file is None:
        raise made.problems.error()
    return made.file


def create_benchmark(
    key: str, details: plans.Details, file: CaptionsFile, videos: Sequence[str], by: Actor
) -> Benchmark:
    """Store a benchmark with its captions and original positives. videos: keys by number."""
    benchmark = Benchmark(
        key=key,
        name=details.name or key,
        licence=details.licence,
        description=details.description,
        equal_texts=details.equal_texts,
        captions_sha256=file.sha256,
        n_queries=len(file.query_keys),
        n_videos=len(videos),
        created_by=account_of(by),
    )
    try:
        benchmark.save(force_insert=True)
    except IntegrityError:  # another import has just stored this key
        raise Conflict(plans.taken(key)) from None
    copy_numbered(Query, benchmark, {"key": file.query_keys, "text": file.texts})
    copy_numbered(Video, benchmark, {"key": videos})
    copy_positives(benchmark, file, np.arange(len(file.query_keys)), videos)
    return benchmark


def set_equal_texts(*, benchmark: Benchmark, rule: EqualTexts, by: Actor) -> Benchmark:
    """Change the rule by which captions count as the same text.

    Raises `NotPermitted` if `by` may not change the rule. Raises `Conflict` if a campaign was
    opened under the current rule, except if that rule is `OFF`.
    """
    check_can_set_equal_texts(by, benchmark)
    with long_transaction():
        lock_row(benchmark)
        benchmark.refresh_from_db()
        if benchmark.equal_texts == rule:
            return benchmark
        reason = why_equal_texts_are_fixed(benchmark)
        if reason:
            raise Conflict(reason)
        before, after = {"rule": benchmark.equal_texts}, {"rule": rule}
        record(PoolingAct.EQUAL_TEXTS_SET, by=by, on=benchmark, before=before, after=after)
        benchmark.equal_texts = rule
        benchmark.save(update_fields=["equal_texts"])
        recount_tasks(benchmark)
    return benchmark

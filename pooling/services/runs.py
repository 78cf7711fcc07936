"""Importing runs: the ranked lists of a system."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from config.accounts.actors import Actor, account_of
from config.audit.services import record
from config.jobs.models import Job
from config.shared.bulk import copy_parts, lock_row, long_transaction
from config.shared.limits import check_depth
from config.shared.progress import Progress, no_progress
from pooling.core.packing import packed_lists
from pooling.core.run_file import RunData, read_run
from pooling.enums import PoolingAct
from pooling.models import Benchmark, RankedList, Run, System
from pooling.policies import check_can_import_run
from pooling.selectors.arrays import (
    original_positives,
    query_ids,
    query_numbers,
    query_texts,
    video_numbers,
)
from pooling.services.names import check_name, free_name
from pooling.signals import run_imported

# The lists of this number of predictions are stored by one statement, to save memory.
PART_PREDICTIONS = 1 << 18


class RunReport(TypedDict):
    """An imported run in the result of a job and in the output of `--json`."""

    run: str
    queries: int
    depth: int
    sha256: str
    created: bool
    warnings: list[str]


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """An imported run. `created` is False if the same content was already stored.

    `jobs` were queued because the run is new. They score it.
    """

    run: Run
    created: bool
    jobs: tuple[Job, ...] = ()

    def report(self) -> RunReport:
        return {
            "run": self.run.name,
            "queries": self.run.n_queries,
            "depth": self.run.depth,
            "sha256": self.run.sha256,
            "created": self.created,
            "warnings": self.run.warnings,
        }


def import_run(
    *,
    benchmark: Benchmark,
    path: Path,
    system: str,
    by: Actor,
    name: str = "",
    format: str = "auto",
    depth: int | None = None,
    source: str | None = None,
    progress: Progress = no_progress,
) -> ImportedRun:
    """Read and check a run file, then store its ranked lists.

    The same content at the same depth is the same run under any name. Another file under a name in
    use becomes `NAME@2`, then `NAME@3`. The signal `run_imported` is sent in the transaction that
    stores a new run.

    Raises `NotPermitted` if `by` may not import runs. Raises `InvalidInput` if the file or an
    option has an error. After an error nothing is stored.
    """
    check_can_import_run(by, benchmark)
    check_name(system, "system")
    check_name(name or system, "run")
    if depth is not None:
        check_depth(depth)
    data = read_run(
        path,
        format=format,
        query_numbers=query_numbers(benchmark),
        video_numbers=video_numbers(benchmark),
        texts=query_texts(benchmark),
        original=_positives_by_query(benchmark),
        depth=depth,
        source=source,
        progress=lambda done, total: progress(done, total, "reading the run"),
    )
    progress(0, None, "storing the run")
    with long_transaction():
        lock_row(benchmark)
        stored = Run.objects.filter(
            benchmark=benchmark, sha256=data.sha256, depth_limit=depth or 0
        ).first()
        if stored is not None:
            return ImportedRun(stored, created=False)
        run = _store(benchmark, data, system, name or system, depth, by)
        record(PoolingAct.RUN_IMPORTED, by=by, on=run, after={"sha256": run.sha256})
        responses: list[Any] = [response for _, response in run_imported.send(Run, run=run, by=by)]
        jobs = tuple(response for response in responses if isinstance(response, Job))
        return ImportedRun(run, created=True, jobs=jobs)


def _store(
    benchmark: Benchmark, data: RunData, system: str, name: str, depth: int | None, by: Actor
) -> Run:
    run = Run.objects.create(
        system=System.objects.get_or_create(key=system, defaults={"name": system})[0],
        benchmark=benchmark,
        name=free_name(Run.objects.filter(benchmark=benchmark), name),
        sha256=data.sha256,
        format=data.format,
        depth=data.depth,
        depth_limit=depth or 0,
        n_queries=len(data.query_numbers),
        warnings=list(data.warnings),
        created_by=account_of(by),
    )
    copy_parts(RankedList, _rows(benchmark, run, data))
    return run


def _rows(benchmark: Benchmark, run: Run, data: RunData) -> Iterator[dict[str, Any]]:
    """Yield the columns of some lists at a time."""
    ids = query_ids(benchmark)
    lists = packed_lists(data)
    while part := list(islice(lists, 1 + PART_PREDICTIONS // data.depth)):
        numbers, videos, scores = zip(*part, strict=True)
        yield {
            "run_id": run.pk,
            "query_id": ids[np.array(numbers)],
            "videos": videos,
            "scores": scores,
        }


def _positives_by_query(benchmark: Benchmark) -> dict[int, set[int]]:
    positives: dict[int, set[int]] = {}
    for query, video in zip(*(a.tolist() for a in original_positives(benchmark)), strict=True):
        positives.setdefault(query, set()).add(video)
    return positives

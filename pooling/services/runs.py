"""Importing runs: the ranked lists of a system."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import numpy as np

from hearth.accounts.actors import Actor, account_of
from hearth.audit.services import record
from hearth.jobs.models import Job
from hearth.shared.bulk import copy_parts, lock_row, long_transaction
from hearth.shared.errors import InvalidInput
from hearth.shared.limits import check_depth
from hearth.shared.progress import Progress, no_progress
from pooling.core.direction import Direction
from pooling.core.lines import SourceFile
from pooling.core.ordering import RunData
from pooling.core.packing import packed_lists
from pooling.core.readers.runs import RUNS
from pooling.enums import PoolingAct
from pooling.models import Benchmark, RankedList, Run, System
from pooling.moments.storing import store_moments
from pooling.policies import check_can_import_run
from pooling.services.names import check_name, free_name
from pooling.services.reading_runs import ReadRun, files_of_runs, reading_run
from pooling.signals import further_lists, run_imported

# Lists are stored in parts of about this number of predictions, to save memory.
PART_PREDICTIONS = 1 << 18


class RunReport(TypedDict):
    """An imported run in the result of a job and in the output of `--json`.

    queries: the number of captions (or videos) with a list. also: the run of the other direction
    from the same matrix, if both were imported, or the next run of an archive.
    """

    run: str
    direction: str
    queries: int
    depth: int
    sha256: str
    created: bool
    warnings: list[str]
    also: NotRequired[RunReport]


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """An imported run. `created` is False if the same content was already stored.

    notes: sentences about a run that was already stored under another name or for another system.
    `jobs` are the queued jobs that score a new run. `also` is the run from video to text
    if both directions of a matrix were imported, or the next run of an archive.
    """

    run: Run
    created: bool
    notes: tuple[str, ...] = ()
    jobs: tuple[Job, ...] = ()
    also: ImportedRun | None = None

    @property
    def all_jobs(self) -> tuple[Job, ...]:
        return self.jobs + (self.also.all_jobs if self.also else ())

    def report(self) -> RunReport:
        withdrawn = ["this run is withdrawn; restore it on its page"]
        found: RunReport = {
            "run": self.run.name,
            "direction": self.run.direction,
            "queries": self.run.n_queries,
            "depth": self.run.depth,
            "sha256": self.run.sha256,
            "created": self.created,
            "warnings": [
                *self.run.warnings,
                *self.notes,
                *(withdrawn if self.run.is_withdrawn else []),
            ],
        }
        if self.also:
            found["also"] = self.also.report()
        return found


def import_run(
    *,
    benchmark: Benchmark,
    path: Path,
    system: str,
    by: Actor,
    name: str = "",
    format: str = "auto",
    depth: int | None = None,
    direction: str = Direction.TEXT_TO_VIDEO,
    source: str | None = None,
    keys: SourceFile | None = None,
    progress: Progress = no_progress,
) -> ImportedRun:
    """Read and check a run file, then store its ranked lists.

    The same content at the same depth and in the same direction is the same run under any name.
    Another file under a name in use becomes `NAME@2`, then `NAME@3`. The signal `run_imported` is
    sent in the transaction that stores a new run.

    direction: a `Direction`, or `BOTH` for both runs of a matrix. The run from video to text is
    then called `NAME (video-to-text)`. A zip archive contains a run in each file, which is called
    `NAME FILE`; all of them are stored or none. keys: a JSON file with the keys of the rows and
    columns of a
    matrix, in the form that `export_proxy` writes; by default, both are in the order of their
    numbers.

    Raises `NotPermitted` if `by` may not import runs. Raises `InvalidInput` if the file or an
    option has an error, and `Outdated` if the captions change in the meantime. After an error
    nothing is stored.
    """
    check_can_import_run(by, benchmark)
    directions = Direction.named(direction)
    with ExitStack() as files:
        parts = files.enter_context(files_of_runs(SourceFile.at(path, source), format))
        read: list[tuple[ReadRun, str]] = []
        for member, file in parts:
            wanted = f"{name or system} {member}" if member else name
            read += [
                (
                    files.enter_context(
                        reading_run(
                            *(benchmark, file.path),
                            direction=found,
                            format=_format(file, format, directions),
                            depth=depth,
                            source=file.source,
                            keys=keys,
                            progress=progress,
                        )
                    ),
                    check_run_options(
                        system, wanted, depth, found, is_both=len(directions) > 1 or bool(member)
                    ),
                )
                for found in directions
            ]
        progress(0, None, "storing the run")
        with long_transaction():
            lock_row(benchmark)
            imported = [_import(benchmark, part, system, n, depth, by) for part, n in read]
    *before, last = imported
    for run in reversed(before):
        last = replace(run, also=last)
    return last


def _format(file: SourceFile, format: str, directions: Sequence[Direction]) -> str:
    """Return the format of a file, which must contain all directions."""
    reader = RUNS.choose(file, format)
    if len(directions) > 1 and not reader.is_matrix:
        raise InvalidInput(
            "only a .npy matrix contains a run of each direction; choose one direction",
            source=file.source,
        )
    return reader.name


def _import(
    benchmark: Benchmark,
    read: ReadRun,
    system: str,
    name: str,
    depth: int | None,
    by: Actor,
) -> ImportedRun:
    """Store a run that is not stored yet. Call it in the transaction that locks the benchmark."""
    read.check_captions(benchmark)
    data = read.data
    runs = Run.objects.filter(benchmark=benchmark)
    stored = runs.filter(
        sha256=data.sha256, depth_limit=depth or 0, direction=data.direction
    ).first()
    if stored is not None:
        return ImportedRun(stored, created=False, notes=_other_names(stored, system, name))
    name = free_name(runs, name)
    run = store_run(benchmark, read, system=system, name=name, depth=depth, by=by)
    after = {"sha256": run.sha256, "direction": run.direction}
    record(PoolingAct.RUN_IMPORTED, by=by, on=run, after=after)
    return ImportedRun(run, created=True, jobs=announced(run, by))


def announced(run: Run, by: Actor) -> tuple[Job, ...]:
    """Announce a stored run. Return the queued jobs that score it."""
    responses: list[Any] = [response for _, response in run_imported.send(Run, run=run, by=by)]
    return tuple(response for response in responses if isinstance(response, Job))


def _other_names(stored: Run, system: str, name: str) -> tuple[str, ...]:
    """Return a sentence if a stored file was imported under another name or for another system."""
    found = f"the file is already stored as the run {stored.name!r} of {stored.system.key!r}"
    if stored.system.key != system and System.objects.filter(key=system).exists():
        return (f"{found}; check that it is the file of {system!r}, which is another known system",)
    if not _is_version_of(stored.name, name):
        return (f"{found}; nothing is stored under the name {name!r}",)
    if stored.system.key != system:
        return (f"{found}; nothing is stored for the system {system!r}",)
    return ()


def _is_version_of(stored: str, name: str) -> bool:
    """Return whether a run has this name, or got it with a number because it was in use."""
    return re.fullmatch(rf"{re.escape(name)}(?:@[0-9]+)?", stored) is not None


def check_run_options(
    system: str,
    name: str,
    depth: int | None,
    direction: Direction = Direction.TEXT_TO_VIDEO,
    *,
    is_both: bool = False,
) -> str:
    """Check the options of a run, and return its name.

    If `name` is empty, the run has the name of its system. The direction is added to the name of a
    video-to-text run if `name` is empty, or if both runs of a matrix are imported (`is_both`).
    """
    check_name(system, "system")
    wanted = name or system
    if direction is Direction.VIDEO_TO_TEXT and (is_both or not name):
        wanted = f"{wanted} ({direction})"
    check_name(wanted, "run")
    if depth is not None:
        check_depth(depth)
    return wanted


def store_run(
    benchmark: Benchmark,
    read: ReadRun,
    *,
    system: str,
    name: str,
    depth: int | None,
    by: Actor,
    is_private: bool = False,
) -> Run:
    """Store a run with its ranked lists and its matrix. The caller has checked the permission."""
    run = store_lists(
        benchmark,
        read.data,
        system=system,
        name=name,
        by=by,
        depth_limit=depth or 0,
        is_private=is_private,
        **read.store_matrix(),
    )
    if read.further is not None:
        further_lists.send(Run, run=run, lists=read.further)
    return run


def store_lists(
    benchmark: Benchmark, data: RunData, *, system: str, name: str, by: Actor, **fields: Any
) -> Run:
    """Store a run with its ranked lists. fields: further fields of the run."""
    run = Run.objects.create(
        system=System.objects.get_or_create(key=system, defaults={"name": system})[0],
        benchmark=benchmark,
        name=name,
        direction=data.direction.value,
        sha256=data.sha256,
        format=data.format,
        depth=data.depth,
        n_queries=len(data.query_numbers),
        warnings=list(data.warnings),
        created_by=account_of(by),
        **fields,
    )
    copy_parts(RankedList, _rows(run, data))
    if data.moments is not None:
        store_moments(run, data.moments)
    return run


def _rows(run: Run, data: RunData) -> Iterator[dict[str, Any]]:
    """Yield the columns of the lists, part by part."""
    lists = packed_lists(data)
    while part := list(islice(lists, 1 + PART_PREDICTIONS // data.depth)):
        numbers, items, scores = zip(*part, strict=True)
        yield {
            "run_id": run.pk,
            "row": np.array(numbers),
            "items": items,
            "scores": scores,
        }

"""Storing the ranked lists that a run has for phrasings of the captions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypedDict

import numpy as np

from hearth.accounts.actors import Actor
from hearth.audit.services import record
from hearth.shared.bulk import copy_parts, lock_row, long_transaction
from hearth.shared.errors import Conflict, InvalidInput
from hearth.shared.options import Entry, Option
from hearth.shared.progress import Progress, no_progress
from pooling.core.arrays import Int64s
from pooling.core.lines import SourceFile
from pooling.core.ordering import RunData
from pooling.core.packing import pack_list
from pooling.core.readers.registry import AUTO
from pooling.core.readers.runs import RUNS
from pooling.models import Benchmark, Run
from pooling.phrasings.core.readers import MAX_NUMBER
from pooling.phrasings.enums import PhrasingAct
from pooling.phrasings.models import PhrasedList, PhrasedLists
from pooling.phrasings.selectors import phrasing_texts, phrasings_of
from pooling.policies import check_can_import_run
from pooling.selectors.runs import get_run
from pooling.services.reading_runs import reading_run

LISTS_PER_PART = 20_000
SEVERAL = "the file has lists of several phrasings; import it as a run"


@dataclass(frozen=True, slots=True, kw_only=True)
class PhrasedListsUpload:
    """A file with the lists that a stored run has for one phrasing of each caption.

    file: As the file of a run, with the keys of the captions. Text can be compressed with gzip.
    phrasing: Its number. The run itself has the lists of the captions, phrasing 0.
    """

    file: Annotated[
        SourceFile, Option("File", expected=f"A run ({RUNS.listed()})", positional=True)
    ]
    run: Annotated[str, Option("Run", entry=Entry.OFFERED, metavar="NAME")]
    phrasing: Annotated[int, Option("Phrasing", low=1, high=MAX_NUMBER)]


class PhrasedListsReport(TypedDict):
    """Added lists in the result of a job and in the output of `--json`."""

    run: str
    phrasing: int
    lists: int
    sha256: str


def store_further_lists(run: Run, data: RunData) -> None:
    """Store the lists of the rows that `receivers.rows_of_phrasings` has added to a file.

    Call it in the transaction that stores the run.
    """
    phrasings = phrasing_texts(run.benchmark)
    at = np.asarray(data.query_numbers, np.int64) - run.benchmark.n_queries
    for number in np.unique(phrasings.numbers[at]).tolist():
        chosen = np.flatnonzero(phrasings.numbers[at] == number)
        _store(run, number, data, chosen, phrasings.queries[at[chosen]])


def add_phrased_lists(
    *,
    benchmark: Benchmark,
    run: str,
    phrasing: int,
    path: Path,
    by: Actor,
    source: str | None = None,
    progress: Progress = no_progress,
) -> PhrasedListsReport:
    """Add the lists of one phrasing to a stored run, from a file of their own.

    Raises `NotPermitted` if `by` may not import runs, `InvalidInput` if the file has an error or a
    caption has no such phrasing, and `Conflict` if the run already has lists for the phrasing.
    """
    check_can_import_run(by, benchmark)
    found = get_run(benchmark, run)
    reader = RUNS.choose(SourceFile.at(path, source), AUTO)
    with reading_run(
        benchmark,
        path,
        direction=found.facing,
        format=reader.name,
        depth=found.depth_limit or None,
        source=source,
        progress=progress,
    ) as read:
        if read.further:
            raise InvalidInput(SEVERAL, source=source or str(path))
        numbers = np.asarray(read.data.query_numbers, np.int64)
        rows = np.arange(len(numbers))
        if reader.is_matrix:
            rows = np.flatnonzero(np.isin(numbers, _with_phrasing(benchmark, phrasing)))
        _check_stored(benchmark, phrasing, numbers[rows], source or str(path))
        with long_transaction():
            lock_row(benchmark)
            read.check_captions(benchmark)
            if PhrasedLists.objects.filter(run=found, phrasing=phrasing).exists():
                raise Conflict(f"The run {run} already has lists for phrasing {phrasing}.")
            stored = _store(found, phrasing, read.data, rows, numbers[rows])
            after = {"phrasing": phrasing, "sha256": stored.sha256}
            record(PhrasingAct.PHRASED_LISTS_ADDED, by=by, on=found, after=after)
    return {
        "run": run,
        "phrasing": phrasing,
        "lists": stored.n_lists,
        "sha256": stored.sha256,
    }


def _with_phrasing(benchmark: Benchmark, phrasing: int) -> Int64s:
    """Return the numbers of the captions that have the phrasing, int64 [n]."""
    rows = phrasings_of(benchmark).filter(number=phrasing)
    return np.array(list(rows.values_list("query__number", flat=True)), np.int64)


def _check_stored(benchmark: Benchmark, phrasing: int, numbers: Int64s, source: str) -> None:
    unknown = np.setdiff1d(numbers, _with_phrasing(benchmark, phrasing))
    if len(unknown) or not len(numbers):
        number = int(unknown[0]) if len(unknown) else 0
        key = benchmark.queries.get(number=number).key
        raise InvalidInput(f"the caption {key!r} has no phrasing {phrasing}", source=source)


def _store(run: Run, number: int, data: RunData, chosen: Int64s, queries: Int64s) -> PhrasedLists:
    """Store some lists of a file. chosen: their rows in `data`. queries: their captions."""
    lengths = np.diff(data.offsets)[chosen]
    digest = hashlib.sha256(queries.astype("<i8").tobytes() + lengths.astype("<i8").tobytes())
    for start, stop in _bounds(data, chosen):
        digest.update(data.videos[start:stop].tobytes() + data.scores[start:stop].tobytes())
    stored = PhrasedLists.objects.create(
        run=run,
        phrasing=number,
        sha256=digest.hexdigest(),
        n_lists=len(chosen),
        depth=int(lengths.max()),
    )
    copy_parts(PhrasedList, _parts(stored, data, chosen, queries))
    return stored


def _bounds(data: RunData, chosen: Int64s) -> Iterator[tuple[int, int]]:
    ends = data.offsets[chosen + 1].tolist()
    return zip(data.offsets[chosen].tolist(), ends, strict=True)


def _parts(
    stored: PhrasedLists, data: RunData, chosen: Int64s, queries: Int64s
) -> Iterator[dict[str, Any]]:
    for first in range(0, len(chosen), LISTS_PER_PART):
        part = slice(first, first + LISTS_PER_PART)
        packed = [
            pack_list(data.videos[start:stop], data.scores[start:stop])
            for start, stop in _bounds(data, chosen[part])
        ]
        items, scores = zip(*packed, strict=True)
        yield {"of_id": stored.pk, "row": queries[part], "items": items, "scores": scores}

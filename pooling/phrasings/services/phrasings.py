"""Storing phrasings of captions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Annotated, TypedDict

from django.urls import reverse

from hearth.accounts.actors import Actor, account_of
from hearth.audit.services import record
from hearth.jobs.deleting import Target, deletable
from hearth.shared.bulk import copy_columns, lock_row, long_transaction
from hearth.shared.errors import InvalidInput, Outdated
from hearth.shared.options import Option
from hearth.shared.progress import Progress, no_progress
from pooling.core.keys import shown
from pooling.core.lines import SourceFile
from pooling.core.problems import Problems
from pooling.models import Benchmark
from pooling.phrasings.core.readers import PHRASINGS, PhrasingFile
from pooling.phrasings.enums import Origin, PhrasingAct
from pooling.phrasings.models import MODEL_LENGTH, Phrasing, PhrasingSet
from pooling.phrasings.selectors import last_numbers, phrasings_of
from pooling.policies import check_can_import_metadata
from pooling.selectors.arrays import query_ids, query_numbers, query_texts


@dataclass(frozen=True, slots=True, kw_only=True)
class PhrasingsUpload:
    """A file with further texts of the captions.

    file: A table or JSON lines, which can be compressed with gzip.
    origin: Applies to phrasings whose origin the file does not state.
    """

    file: Annotated[
        SourceFile, Option("File", expected="A CSV or JSON lines file", positional=True)
    ]
    origin: Annotated[str, Option("Origin", choices=dict(Origin.choices))] = Origin.PERSON.value


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPhrasing:
    """A phrasing to store.

    query: the number of the caption. number: that of the phrasing, from 1; None for the next free
    one. line: of the file, for errors.
    """

    query: int
    text: str
    origin: str
    number: int | None = None
    model: str = ""
    prompt_sha256: str = ""
    line: int | None = None


class PhrasingsReport(TypedDict):
    """Added phrasings in the result of a job and in the output of `--json`."""

    phrasings: int
    captions: int
    sha256: str
    created: bool
    notes: list[str]


@dataclass(frozen=True, slots=True)
class AddedPhrasings:
    """Stored phrasings. created: False if the same content was already stored."""

    set: PhrasingSet
    captions: int
    created: bool
    notes: tuple[str, ...] = ()

    def report(self) -> PhrasingsReport:
        return {
            "phrasings": self.set.n_phrasings,
            "captions": self.captions,
            "sha256": self.set.sha256,
            "created": self.created,
            "notes": list(self.notes),
        }


def import_phrasings(
    *,
    benchmark: Benchmark,
    path: Path,
    by: Actor,
    origin: str = Origin.PERSON,
    source: str | None = None,
    progress: Progress = no_progress,
) -> AddedPhrasings:
    """Store the phrasings of a file. The same content is stored once.

    Raises `NotPermitted` if `by` may not import metadata, and `InvalidInput` with the first hundred
    errors of the file. After an error nothing is stored.
    """
    check_can_import_metadata(by, benchmark)
    file = SourceFile.at(path, source, lambda d, t: progress(d, t, "reading phrasings"))
    numbers = query_numbers(benchmark)
    read = PHRASINGS.choose(file).read(file, numbers)
    rows, notes = _new_phrasings(benchmark, read, numbers, origin, file.source)
    progress(0, None, "storing phrasings")
    return store_phrasings(
        benchmark=benchmark,
        name=Path(file.source).name[:255],
        rows=rows,
        by=by,
        sha256=read.sha256,
        source=file.source,
        notes=(*read.notes, *notes),
    )


def _new_phrasings(
    benchmark: Benchmark, file: PhrasingFile, numbers: dict[str, int], origin: str, source: str
) -> tuple[list[NewPhrasing], tuple[str, ...]]:
    """Return the phrasings of a file, without its captions (phrasing 0), which are checked."""
    texts, problems, found = query_texts(benchmark), Problems(source), []
    for row in file.rows:
        query = numbers[row.caption]
        if row.number == 0:
            if row.text != texts[query]:
                reason = f"phrasing 0 is not the text of the caption {shown(row.caption)}"
                problems.add(reason, line=row.line)
            continue
        new = NewPhrasing(
            query=query,
            text=row.text,
            origin=row.origin or (Origin.MODEL if row.model or row.prompt_sha256 else origin),
            number=row.number,
            model=row.model,
            prompt_sha256=row.prompt_sha256.lower(),
            line=row.line,
        )
        found.append(new)
    problems.check()
    captions = len(file.rows) - len(found)
    notes = (f"captions (phrasing 0) not stored again: {captions:,}",) if captions else ()
    return found, notes


def store_phrasings(
    *,
    benchmark: Benchmark,
    name: str,
    rows: Sequence[NewPhrasing],
    by: Actor,
    sha256: str = "",
    source: str | None = None,
    notes: tuple[str, ...] = (),
) -> AddedPhrasings:
    """Store phrasings as one set, and announce nothing.

    name: what pages call the set, such as the name of a file or an expansion. sha256: the hash of
    the content of a file; by default, of the phrasings. Raises `NotPermitted` if `by` may not
    import metadata, `InvalidInput` with the line if a phrasing is invalid or its number is in use,
    and `Outdated` if the captions have changed in the meantime.
    """
    check_can_import_metadata(by, benchmark)
    sha256 = (
        sha256 or hashlib.sha256(json.dumps([astuple(row) for row in rows]).encode()).hexdigest()
    )
    captions = len({row.query for row in rows})
    with long_transaction():
        lock_row(benchmark)
        if not Benchmark.objects.filter(
            pk=benchmark.pk, captions_sha256=benchmark.captions_sha256
        ).exists():
            raise Outdated("The captions have changed in the meantime. Add the phrasings again.")
        sets = PhrasingSet.objects.filter(benchmark=benchmark)
        if stored := sets.filter(sha256=sha256).first():
            return AddedPhrasings(stored, captions, created=False, notes=notes)
        numbers = _checked_numbers(benchmark, rows, source)
        added = PhrasingSet.objects.create(
            benchmark=benchmark,
            name=name,
            sha256=sha256,
            n_phrasings=len(rows),
            created_by=account_of(by),
        )
        _copy(added, rows, numbers)
        after = {"phrasings": len(rows), "sha256": sha256}
        record(PhrasingAct.PHRASINGS_ADDED, by=by, on=added, after=after)
    return AddedPhrasings(added, captions, created=True, notes=notes)


def _checked_numbers(
    benchmark: Benchmark, rows: Sequence[NewPhrasing], source: str | None
) -> list[int]:
    """Return the number of each phrasing. Raises `InvalidInput` with the first hundred errors."""
    if not rows:
        raise InvalidInput("There are no phrasings to store.", source=source)
    stored = phrasings_of(benchmark).values_list("query__number", "number")
    taken: dict[tuple[int, int], int | None] = dict.fromkeys(stored, 0)
    last, numbers, problems = last_numbers(benchmark), [], Problems(source)
    for row in rows:
        number = last.get(row.query, 0) + 1 if row.number is None else row.number
        if fault := _fault(row) or _taken(taken.get((row.query, number), -1), number):
            problems.add(fault, line=row.line)
        taken[row.query, number] = row.line
        last[row.query] = max(number, last.get(row.query, 0))
        numbers.append(number)
    problems.check()
    return numbers


def _taken(line: int | None, number: int) -> str | None:
    """Return why a number is in use. line: 0 if it is stored, -1 if it is free."""
    if line == -1:
        return None
    where = f"in line {line}" if line else "stored"
    return f"the caption already has a phrasing {number}, which is {where}"


def _fault(row: NewPhrasing) -> str | None:
    if row.origin not in Origin.values:
        return f"{shown(row.origin)} is not an origin; use {', '.join(Origin.values)}"
    if row.origin != Origin.MODEL and (row.model or row.prompt_sha256):
        return f"only phrasings with the origin {Origin.MODEL} have a model or a prompt"
    if len(row.model) > MODEL_LENGTH or not row.model.isprintable():
        return f"the name of a model must have up to {MODEL_LENGTH} printable characters"
    prompt = row.prompt_sha256
    if prompt and (len(prompt) != 64 or set(prompt) - set("0123456789abcdef")):
        return f"{shown(prompt)} is not a SHA-256 of 64 hexadecimal digits"
    return None


def _copy(added: PhrasingSet, rows: Sequence[NewPhrasing], numbers: list[int]) -> None:
    ids = query_ids(added.benchmark)
    copy_columns(
        Phrasing,
        {
            "set_id": added.pk,
            "query_id": ids[[row.query for row in rows]],
            "number": numbers,
            "text": [row.text for row in rows],
            "origin": [str(row.origin) for row in rows],
            "model": [row.model for row in rows],
            "prompt_sha256": [row.prompt_sha256 for row in rows],
        },
    )


@deletable(
    PhrasingSet,
    PhrasingAct.PHRASINGS_DELETED,
    lambda by, added: check_can_import_metadata(by, added.benchmark),
    in_job=True,
)
def phrasing_set_to_delete(added: PhrasingSet) -> Target:
    captions = reverse("benchmark-captions", args=[added.benchmark.key]) + "#phrasings"
    before = {"name": added.name, "sha256": added.sha256}
    return Target(
        noun="set of phrasings", title=added.name, before=before, back=captions, done=captions
    )

"""Reading the files of a benchmark, and planning what their import changes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NotRequired, TypedDict

from django.core.exceptions import ValidationError

from hearth.accounts.actors import Actor
from hearth.shared.errors import Conflict, InvalidInput, ProblemReport
from hearth.shared.limits import check_length
from hearth.shared.progress import Progress, no_progress
from pooling.core.import_plan import FIRST_ROWS, ChangedText, Changes, Counts, find_changes
from pooling.core.lines import SourceFile
from pooling.core.problems import Problems
from pooling.core.readers.benchmarks import TABLE, read_captions, title_of
from pooling.core.readers.benchmarks.captions import CaptionsFile
from pooling.core.readers.benchmarks.headless import has_columns
from pooling.core.readers.registry import AUTO, SeveralFormats
from pooling.core.readers.videos import VideosFile, parse_videos
from pooling.enums import EqualTexts
from pooling.models import BENCHMARK_KEY, Benchmark
from pooling.policies import check_can_import_benchmark
from pooling.selectors.imports import stored_captions
from pooling.services.addresses import refuse_addresses
from pooling.signals import captions_changing


@dataclass(frozen=True, slots=True)
class ImportFiles:
    """The files of an import.

    captions: the file with the captions. companions: the files that belong to it, such as qrels, a
    corpus or a list of test videos. expected, columns: see `pooling.core.readers.benchmarks`.
    """

    captions: SourceFile
    companions: Sequence[SourceFile] = ()
    videos: SourceFile | None = None
    expected: str = AUTO
    columns: Mapping[str, str] = field(default_factory=dict)

    @property
    def of_captions(self) -> list[SourceFile]:
        return [self.captions, *self.companions]

    @classmethod
    def of(cls, captions: Path, *companions: Path, videos: Path | None = None) -> ImportFiles:
        """Return the files. Messages name them by their paths."""
        return cls(
            SourceFile.at(captions),
            [SourceFile.at(path) for path in companions],
            SourceFile.maybe(videos),
        )


@dataclass(frozen=True, slots=True)
class Details:
    """The details of a new benchmark, in addition to its files. By default, `name` is the key."""

    name: str = ""
    licence: str = ""
    description: str = ""
    equal_texts: str = EqualTexts.FOLDED


class FileReport(TypedDict):
    """A file and its detected format."""

    file: str
    format: str


class FirstRow(TypedDict):
    """A caption with its original positives, as the import would store it."""

    caption_id: str
    caption: str
    video_ids: list[str]


class TextReport(TypedDict):
    """A caption whose text would change. `line` is null in files without lines."""

    line: int | None
    caption_id: str
    before: str
    after: str


class PlanReport(TypedDict):
    """A plan as pages, the API and `--dry-run` show it.

    queries, videos, original_positives: their numbers after the import. new, removed: how many of
    each the import adds and removes. changed: the number of captions with another text; `changes`
    has the first hundred. refused: the number of errors; `problems` has the first hundred. A plan
    with errors cannot be accepted. plan: the hash of the files, the options and the state of the
    benchmark; the import of an accepted plan is refused if any of them has changed since then.
    question: the names of the formats from which a person must choose, if there are several.
    """

    key: str
    created: bool
    files: list[FileReport]
    queries: int
    videos: int
    original_positives: int
    new: Counts
    removed: Counts
    changed: int
    changes: list[TextReport]
    first_rows: list[FirstRow]
    refused: int
    problems: list[ProblemReport]
    notes: list[str]
    plan: str
    question: NotRequired[list[str]]


@dataclass(frozen=True, slots=True, eq=False)
class ImportPlan:
    """What an import would change. `file` and `changes` are None if the captions cannot be read."""

    key: str
    stored: Benchmark | None
    file: CaptionsFile | None
    listed: VideosFile
    changes: Changes | None
    problems: Problems
    sha256: str
    question: tuple[str, ...] = ()

    def report(self) -> PlanReport:
        none: Counts = {"captions": 0, "videos": 0, "original_positives": 0}
        file, changes = self.file, self.changes
        total = changes.total if changes else none
        notes = (*(file.notes if file else ()), *self.listed.notes)
        report: PlanReport = {
            "key": self.key,
            "created": self.stored is None,
            "files": _file_reports(file),
            "queries": total["captions"],
            "videos": total["videos"],
            "original_positives": total["original_positives"],
            "new": changes.new if changes else none,
            "removed": changes.removed if changes else none,
            "changed": changes.n_changed if changes else 0,
            "changes": [_text_report(text) for text in changes.changed] if changes else [],
            "first_rows": _first_rows(file) if file else [],
            "refused": self.problems.number,
            "problems": [problem.report() for problem in self.problems.first],
            "notes": list(notes),
            "plan": self.sha256,
        }
        return {**report, "question": list(self.question)} if self.question else report


def plan_benchmark(
    *,
    key: str,
    files: ImportFiles,
    by: Actor,
    details: Details | None = None,
    update: bool = False,
    progress: Progress = no_progress,
) -> ImportPlan:
    """Read the files, and return what their import would change. Nothing is written.

    If `update` is False and a benchmark with this key has other captions, the plan has an error.
    Raises `NotPermitted` if `by` may not import the benchmark, and `InvalidInput` if an option has
    an error. Errors of the files are in the plan.
    """
    details = details or Details()
    check_can_import_benchmark(by, key)
    check_options(key, details)
    files = read_as_before(key, files) if update else files
    problems = Problems(stop_at=None)
    question: tuple[str, ...] = ()
    try:
        file = _read(files, problems, progress)
    except SeveralFormats as error:
        file, question = None, error.names
        problems.add(error.reason, error.source)
    listed = _read_videos(files.videos, problems, progress)
    plan = compare(key, file, listed, problems, files, details, update=update)
    return replace(plan, question=question)


def read_as_before(key: str, files: ImportFiles) -> ImportFiles:
    """Use the format and the columns of the last import of this benchmark, if none are selected.

    They are not used for a table in which a column of them is missing.
    """
    before = Benchmark.objects.filter(key=key).values_list("reading", flat=True).first()
    if not before or files.columns or files.expected not in (AUTO, TABLE, before["format"]):
        return files
    format = files.expected if before["format"] == AUTO else before["format"]
    again = replace(files, expected=format, columns=before["columns"])
    return again if has_columns(again.captions, format, again.columns.values()) else files


def compare(
    key: str,
    file: CaptionsFile | None,
    listed: VideosFile,
    problems: Problems,
    files: ImportFiles,
    details: Details,
    *,
    update: bool,
) -> ImportPlan:
    """Compare files that have been read with the stored benchmark, and return the plan."""
    benchmark = Benchmark.objects.filter(key=key).first()
    stored = stored_captions(benchmark) if benchmark else None
    changes = None
    if file is not None:
        videos_source = files.videos.source if files.videos else ""
        changes = find_changes(stored, file, listed.videos, problems, videos_source)
        if not changes.total["videos"] and not problems.number:
            reason = "the files name no video; also choose a table of the videos"
            problems.add(reason, file.sources[0])
    if benchmark is not None and file is not None and changes:
        _check_may_change(benchmark, file.sources[0], problems, update=update)
    state = stored.sha256() if stored else ""
    contents = [file.sha256 if file else "", listed.sha256, state]
    options = [key, details.name, details.licence, details.description, details.equal_texts]
    sha256 = hashlib.sha256(json.dumps([contents, options]).encode()).hexdigest()
    return ImportPlan(key, benchmark, file, listed, changes, problems, sha256)


def check_options(key: str, details: Details) -> None:
    check_length(Benchmark, "key", key)
    check_length(Benchmark, "name", details.name)
    check_length(Benchmark, "licence", details.licence)
    try:
        BENCHMARK_KEY(key)
    except ValidationError as error:
        raise InvalidInput(f"The benchmark key {key!r} is not valid. {error.message}") from None


def _read(files: ImportFiles, problems: Problems, progress: Progress) -> CaptionsFile | None:
    try:
        return read_captions(
            [
                replace(file, progress=lambda d, t: progress(d, t, "reading captions"))
                for file in files.of_captions
            ],
            expected=files.expected,
            columns=files.columns,
            problems=problems,
        )
    except SeveralFormats:
        raise
    except InvalidInput as error:
        problems.add(error.reason, error.source or files.captions.source, error.line)
        return None


def _read_videos(file: SourceFile | None, problems: Problems, progress: Progress) -> VideosFile:
    nothing = VideosFile((), "", ())
    if file is None:
        return nothing
    try:
        listed = parse_videos(
            file.path,
            problems=problems,
            source=file.source,
            progress=lambda done, total: progress(done, total, "reading videos"),
        )
        refuse_addresses(listed.videos, problems, file.source)
        return listed
    except InvalidInput as error:
        problems.add(error.reason, error.source or file.source, error.line)
        return nothing


def _check_may_change(
    benchmark: Benchmark, source: str, problems: Problems, *, update: bool
) -> None:
    if not update:
        problems.add(taken(benchmark.key), source)
        return
    try:
        captions_changing.send(sender=Benchmark, benchmark=benchmark)
    except Conflict as error:
        problems.add(str(error), source)


def has_changes(plan: PlanReport) -> bool:
    """Return whether a plan changes captions, videos or original positives."""
    counts = (*plan["new"].values(), *plan["removed"].values())
    return bool(plan["changed"]) or any(counts)


def taken(key: str) -> str:
    return f"The benchmark {key!r} already exists. Choose another key, or update that benchmark."


def _file_reports(file: CaptionsFile | None) -> list[FileReport]:
    if file is None:
        return []
    pairs = zip(file.sources, file.formats, strict=True)
    return [{"file": source, "format": title_of(format)} for source, format in pairs]


def _text_report(text: ChangedText) -> TextReport:
    return {
        "line": text.line or None,
        "caption_id": text.key,
        "before": text.before,
        "after": text.after,
    }


def _first_rows(file: CaptionsFile) -> list[FirstRow]:
    videos: dict[int, list[str]] = {}
    is_first = file.positive_queries < FIRST_ROWS
    queries, numbers = file.positive_queries[is_first], file.positive_videos[is_first]
    for query, video in zip(queries.tolist(), numbers.tolist(), strict=True):
        videos.setdefault(query, []).append(file.video_keys[video])
    rows = zip(file.query_keys[:FIRST_ROWS], file.texts, strict=False)
    return [
        {"caption_id": key, "caption": text, "video_ids": videos.get(number, [])}
        for number, (key, text) in enumerate(rows)
    ]

"""Reading the captions of a benchmark from one file, or from two that belong together."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from hearth.shared.errors import InvalidInput
from pooling.core.formats import detection
from pooling.core.formats.captions import CaptionsFile
from pooling.core.formats.detection import MSRVTT, MSVD, QRELS, TABLE, TITLES, TOPICS, VIDEO_LIST
from pooling.core.formats.msrvtt import captions_of, check_test_captions, parse_msrvtt
from pooling.core.formats.msvd import parse_msvd
from pooling.core.formats.tables import parse_captions
from pooling.core.formats.trec import add_qrels, parse_topics
from pooling.core.formats.video_list import parse_video_list
from pooling.core.lines import Progress
from pooling.core.problems import Problems

AUTO, TREC = "auto", "trec"
SOURCES = (MSRVTT, MSVD, TREC)
# The combinations of formats that can be read, each with the value of `expected` that
# allows it, besides `AUTO`.
COMBINATIONS = {
    frozenset({TABLE}): TABLE,
    frozenset({MSRVTT, TABLE}): MSRVTT,
    frozenset({MSRVTT, VIDEO_LIST}): MSRVTT,
    frozenset({MSRVTT}): MSRVTT,
    frozenset({MSVD, VIDEO_LIST}): MSVD,
    frozenset({MSVD}): MSVD,
    frozenset({TOPICS, QRELS}): TREC,
}
EXPECTED = {
    AUTO: "a table of captions; MSRVTT_data.json, alone or with a table of the test captions or a "
    "list of the test videos; MSVD captions, alone or with a list of videos; or TREC topics with "
    "qrels",
    TABLE: "one table of captions",
    MSRVTT: "MSRVTT_data.json, alone or with a table of the test captions or a list of the test "
    "videos",
    MSVD: "MSVD captions ({video: [caption, …]}), alone or with a list of videos",
    TREC: "TREC topics and qrels",
}


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to read. `source` names it in messages."""

    path: Path
    source: str


def read_captions(
    files: Sequence[SourceFile],
    *,
    expected: str = AUTO,
    columns: Mapping[str, str] | None = None,
    problems: Problems | None = None,
    progress: Progress | None = None,
) -> CaptionsFile:
    """Read one or two files, in any order. Their formats are detected from their content.

    expected: `AUTO`, `TABLE`, or one of `SOURCES`. columns: see `parse_captions`. Invalid rows are
    added to `problems`. If `problems` is None, the first invalid row raises `InvalidInput`. It is
    also raised if a file cannot be read, or if the files do not belong together.
    """
    problems = problems or Problems(stop_at=1)
    by_format = _by_format(files, expected, has_columns=bool(columns))
    if TOPICS in by_format:
        return _trec(by_format, problems, progress)
    if MSVD in by_format:
        return _msvd(by_format, problems, progress)
    if MSRVTT in by_format:
        return _msrvtt(by_format, columns, problems, progress)
    file = by_format[TABLE]
    return parse_captions(
        file.path, columns=columns, problems=problems, progress=progress, source=file.source
    )


def _by_format(
    files: Sequence[SourceFile], expected: str, *, has_columns: bool
) -> dict[str, SourceFile]:
    formats = [detection.format_of(file.path, file.source) for file in files]
    # Topics need qrels, so one file that looks like topics is a table. One file with `columns` is a
    # table, too, although the names of its columns are not those that detection knows.
    if formats == [TOPICS] or (len(files) == 1 and has_columns):
        formats = [TABLE]
    by_format = dict(zip(formats, files, strict=True))
    combined = COMBINATIONS.get(frozenset(by_format))
    if combined is None or len(by_format) < len(files) or expected not in (AUTO, combined):
        found = ", ".join(
            f"{file.source} ({TITLES.get(format, format)})"
            for format, file in zip(formats, files, strict=True)
        )
        raise InvalidInput(f"These files cannot be read: {found}. Expected: {EXPECTED[expected]}.")
    return by_format


def _trec(
    files: Mapping[str, SourceFile], problems: Problems, progress: Progress | None
) -> CaptionsFile:
    topics, qrels = files[TOPICS], files[QRELS]
    builder, topics_sha256 = parse_topics(topics.path, topics.source, problems, progress)
    qrels_sha256, notes = add_qrels(qrels.path, qrels.source, builder, problems, progress)
    file = builder.finish(
        _joined(topics_sha256, qrels_sha256),
        notes,
        sources=(topics.source, qrels.source),
        formats=(TOPICS, QRELS),
    )
    return _checked(file, problems)


def _msvd(
    files: Mapping[str, SourceFile], problems: Problems, progress: Progress | None
) -> CaptionsFile:
    listed = files.get(VIDEO_LIST)
    split = parse_video_list(listed.path, listed.source, problems) if listed else None
    data = files[MSVD]
    builder, sha256 = parse_msvd(data.path, data.source, split, problems, progress)
    file = builder.finish(
        _joined(sha256, split.sha256) if split else _joined(sha256),
        sources=(data.source, *([split.source] if split else [])),
        formats=(MSVD, *([VIDEO_LIST] if split else [])),
    )
    return _checked(file, problems)


def _msrvtt(
    files: Mapping[str, SourceFile],
    columns: Mapping[str, str] | None,
    problems: Problems,
    progress: Progress | None,
) -> CaptionsFile:
    data = parse_msrvtt(files[MSRVTT].path, files[MSRVTT].source, progress)
    if table := files.get(TABLE):
        test = parse_captions(table.path, columns=columns, problems=problems, source=table.source)
        notes = check_test_captions(data, test, problems)
        return replace(
            test,
            notes=(*notes, *test.notes),
            sources=(*test.sources, data.source),
            formats=(*test.formats, MSRVTT),
        )
    listed = files.get(VIDEO_LIST)
    split = parse_video_list(listed.path, listed.source, problems) if listed else None
    builder, notes = captions_of(data, split, problems)
    file = builder.finish(
        _joined(data.sha256, split.sha256) if split else _joined(data.sha256),
        notes,
        sources=(data.source, *([split.source] if split else [])),
        formats=(MSRVTT, *([VIDEO_LIST] if split else [])),
    )
    return _checked(file, problems)


def _checked(file: CaptionsFile, problems: Problems) -> CaptionsFile:
    """Refuse a file without captions, and note captions without an original positive."""
    if not file.query_keys and not problems.number:
        raise InvalidInput("the file has no caption", source=file.sources[0])
    without_positive = len(file.query_keys) - len(np.unique(file.positive_queries))
    if not without_positive or problems.number:
        return file
    note = f"Captions without an original positive: {without_positive:,}."
    return replace(file, notes=(*file.notes, note))


def _joined(*hashes: str) -> str:
    """Return one hash for the hashes of files.

    Even for one file, the result differs from the hash of the same file as a table.
    """
    return hashlib.sha256(" ".join(("captions", *hashes)).encode()).hexdigest()

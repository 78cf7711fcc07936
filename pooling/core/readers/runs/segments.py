"""Segments of DiDeMo: for each description, all 21 segments of its video, best first."""

from __future__ import annotations

from typing import Any, Final

from hearth.shared.errors import InvalidInput
from pooling.core.lines import SourceFile
from pooling.core.ordering import RunData
from pooling.core.readers.benchmarks.didemo import CHUNKS, seconds_of, segment_fault
from pooling.core.readers.registry import Fit, Head
from pooling.core.readers.runs import RunOf, RunReader
from pooling.moments.core.rows import json_file, keyed
from pooling.moments.core.run_file import SVMR, RunFile

ALL: Final = CHUNKS * (CHUNKS + 1) // 2


def _read(file: SourceFile, of: RunOf) -> RunData:
    blocks = file.blocks(max_line=None, max_bytes=256 << 20)
    entries = json_file(blocks)
    if not isinstance(entries, list):
        raise InvalidInput("the file is not a list of rankings", source=file.source)
    run = RunFile(of, file.source)
    for number, entry in enumerate(entries, start=1):
        _add(run, of, entry if isinstance(entry, dict) else {}, f"entry {number}: ")
    return run.finish(sha256=blocks.sha256, format=READER.name, task=SVMR)


def _add(run: RunFile, of: RunOf, entry: dict[str, Any], place: str) -> None:
    segments, key = entry.get("segments"), keyed(entry.get("annotation_id"))
    if not isinstance(segments, list):
        run.refuse(f"{place}it has no list 'segments'")
        return
    place = f"annotation_id {key}: "
    if fault := next(filter(None, map(segment_fault, segments)), None):
        run.refuse(f"{place}{fault}")
        return
    different = {tuple(segment) for segment in segments}
    if len(different) != ALL or len(segments) != ALL:
        reason = f"the list has {len(different)} different segments instead of all {ALL}"
        run.refuse(f"{place}{reason}")
        return
    row = run.row_of(key)
    if row is None:
        return
    videos = (of.original or {}).get(row, ())
    if len(videos) != 1:
        run.refuse(
            f"{place}the description has {len(videos)} videos, so that of the list is unclear"
        )
        return
    (video,) = videos
    ranked = enumerate(segments)
    run.add(row, [(video, *seconds_of(*segment), float(ALL - rank)) for rank, segment in ranked])


def _fits(head: Head) -> Fit:
    is_known = head.text.startswith("[") and all(
        f'"{name}"' in head.text for name in ("annotation_id", "segments")
    )
    return Fit.SURE if is_known else Fit.NO


READER: Final = RunReader(
    name="segments",
    title="Segments (DiDeMo)",
    place=13,
    about="Moments: a JSON list with all 21 segments of each description, best first.",
    example='[{"annotation_id": 1, "segments": [[2, 2], [1, 1], [0, 0]]}]',
    fits=_fits,
    read=_read,
    needs_original=True,
)

"""Moments in a table: `caption_id,video_id,start,end,score`. The order of a list is by score."""

from __future__ import annotations

from typing import Final

from pooling.core.keys import NUMBER, shown
from pooling.core.lines import SourceFile
from pooling.core.ordering import RunData
from pooling.core.readers.registry import Fit, Head
from pooling.core.readers.runs import RunOf, RunReader
from pooling.core.table import CsvTable
from pooling.moments.core.run_file import VCMR, RunFile

COLUMNS: Final = ("caption_id", "video_id", "start", "end", "score")


def _read(file: SourceFile, of: RunOf) -> RunData:
    run = RunFile(of, file.source)
    table = CsvTable(file.blocks(), COLUMNS, (), problems=run.problems)
    lists: dict[str, list[tuple[int, float, float, float]]] = {}
    for line, (key, video_key, start, end, score) in table:
        if key not in lists and run.row_of(key, line) is None:
            continue
        lists.setdefault(key, [])
        video = run.video_of(video_key, line)
        cells = start, end, score
        wrong = next((cell for cell in cells if not NUMBER.fullmatch(cell)), None)
        if wrong is not None:
            run.refuse(f"{shown(wrong)} is not a finite number", line)
        elif video is not None:
            found = run.moment(video, float(start), float(end), float(score), line=line)
            lists[key] += [found] if found else []
    for key, moments in lists.items():
        run.add(of.query_numbers[key], sorted(moments, key=lambda moment: -moment[3]))
    return run.finish(sha256=table.blocks.sha256, format=READER.name, task=VCMR)


def _fits(head: Head) -> Fit:
    names = {name.strip().lower() for name in head.first.replace(";", ",").split(",")}
    return Fit.SURE if names >= set(COLUMNS) else Fit.NO


READER: Final = RunReader(
    name="moments",
    title="Moments (CSV)",
    place=14,
    about="Moments: one row for each, with start and end in seconds. A list is ordered by score.",
    example="caption_id,video_id,start,end,score",
    fits=_fits,
    read=_read,
)

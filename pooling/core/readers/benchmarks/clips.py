"""Tables in which each start and end of a video is a clip to retrieve, such as YouCook2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pooling.core.lines import SourceFile
from pooling.core.problems import Problems
from pooling.core.readers.benchmarks import BenchmarkReader, Part
from pooling.core.readers.benchmarks.captions import CaptionsFile
from pooling.core.readers.benchmarks.joined import joint_name, time_columns
from pooling.core.readers.benchmarks.table import CAPTIONS_TABLE, VIDEO, read_table, table_head
from pooling.core.readers.registry import Fit, Head

CLIPS: Final = "clips"
_BOTH = 2


def _read(
    files: Mapping[str, SourceFile], columns: Mapping[str, str], problems: Problems
) -> CaptionsFile:
    file = files[CLIPS]
    head = table_head(Head.of(file))
    joint = joint_name(head.named(columns).get(VIDEO, VIDEO), head.columns)
    return read_table(file, {**columns, VIDEO: joint}, problems, head)


def _fits(head: Head) -> Fit:
    """A table fits as well as others, if its first rows have two times of one video.

    A person then chooses whether videos or clips are retrieved.
    """
    if CAPTIONS_TABLE.fits(head) < Fit.LIKELY:
        return Fit.NO
    table = table_head(head)
    times, video = time_columns(table.columns), table.named({}).get(VIDEO)
    if len(times) < _BOTH or video is None:
        return Fit.NO
    at, *places = (table.columns.index(name) for name in (video, *times))
    rows = {tuple(row[place] for place in (at, *places)) for row in table.rows if len(row) > at}
    return Fit.LIKELY if len(rows) > len({row[0] for row in rows}) else Fit.NO


READER: Final = BenchmarkReader(
    name=CLIPS,
    title="Table of clips: a video for each start and end",
    place=5,
    about="A table of captions with columns such as start and end. Each clip is a video of the "
    "benchmark: VIDEO_START_END.",
    example="video_id,start,end,text",
    combinations=[[Part(CLIPS, "table of clips", _fits, has_columns=True)]],
    files="a table of clips",
    option="a table of captions with start and end of clips; each clip is a video",
    read=_read,
)

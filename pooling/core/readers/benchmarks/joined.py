"""Ids that are made of several columns of a table, and tables that describe clips of videos."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any

from pooling.core.keys import shown
from pooling.core.problems import Problems

PLUS, JOINT = "+", "_"
_START = re.compile(r"(?:.*[_ ])?(?:start|begin|onset)(?:[_ ].*)?", re.IGNORECASE)
_END = re.compile(r"(?:.*[_ ])?(?:end|stop|offset)(?:[_ ].*)?", re.IGNORECASE)

Row = tuple[int, tuple[Any, ...]]
Made = dict[str, tuple[int, tuple[str, ...]]]
"""The keys made so far, each with its first line and values."""


def time_columns(columns: Sequence[str]) -> list[str]:
    """Return the first column with the start of a clip, and the first with its end, if any.

    Their names are such as `start` and `end`, `start_time` and `end_time`, or `start_frame` and
    `stop_frame`.
    """
    found = (next(filter(name.fullmatch, columns), None) for name in (_START, _END))
    return [name for name in found if name is not None]


def joint_name(video: str, columns: Sequence[str]) -> str:
    """Return the name that selects the key of a clip: the columns of the video and its times."""
    return PLUS.join([video.split(PLUS, maxsplit=1)[0], *time_columns(columns)])


class Clips:
    """The times that the rows of each video have, to find a file that describes clips.

    columns: the columns that are not used; of these, `time_columns` are compared. video: the name
    of the column of videos.
    """

    def __init__(self, columns: Sequence[str], video: str) -> None:
        self.columns = time_columns(columns)
        self._video = video
        self._times: dict[str, set[tuple[str, ...]]] = {}

    def add(self, video: str, times: tuple[str, ...]) -> None:
        if self.columns:
            self._times.setdefault(video, set()).add(times)

    def notes(self) -> list[str]:
        """Return a warning if the times differ between the rows of a video."""
        several = sum(len(times) > 1 for times in self._times.values())
        if not several:
            return []
        total = sum(map(len, self._times.values()))
        return [
            f"The columns {', '.join(map(shown, self.columns))} differ between the rows of "
            f"{several:,} of {len(self._times):,} videos, so the file may describe {total:,} "
            "clips. All clips of a video are imported as one video. To import a video for each "
            f"clip, use {joint_name(self._video, self.columns)} as the column of the video id."
        ]


def joined_rows(
    table: Iterable[Row],
    parts: Mapping[str, Sequence[str]],
    clips: Clips,
    problems: Problems,
    source: str,
) -> Iterator[Row]:
    """Yield the rows with one value for each column of `parts`, and add their times to `clips`.

    A key that several columns form is refused if other values of them formed it before.
    """
    ends = list(accumulate(map(len, parts.values()), initial=0))
    places = {column: slice(*at) for column, at in zip(parts, pairwise(ends), strict=True)}
    made: dict[str, Made] = {column: {} for column, names in parts.items() if len(names) > 1}
    for line, cells in table:
        values = cells[: ends[-1]]
        if made:
            faults = (_collision(made[c], c, line, cells[places[c]]) for c in made)
            if fault := next(filter(None, faults), None):
                problems.add(fault, source, line)
                continue
            values = tuple(JOINT.join(cells[place]) for place in places.values())
        clips.add(values[-1], cells[ends[-1] :])
        yield line, values


def _collision(made: Made, column: str, line: int, values: tuple[str, ...]) -> str | None:
    """Return why these values cannot form a key, or None. The key is added to `made`."""
    key = JOINT.join(values)
    first, others = made.setdefault(key, (line, values))
    if others == values:
        return None
    return (
        f"the {column} {shown(key)} is made of {', '.join(map(shown, values))}, but in line "
        f"{first} of {', '.join(map(shown, others))}"
    )

"""Ranked moments of a run file, checked row by row."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from hearth.shared.errors import InvalidInput
from pooling.core.direction import Direction
from pooling.core.keys import shown
from pooling.core.ordering import RunData, no_list_warning
from pooling.core.problems import Problems
from pooling.core.readers.runs import RunOf
from pooling.moments.core.rows import RankedMoments, distinct_videos, number_of, span_fault

VCMR: Final = "VCMR"
SVMR: Final = "SVMR"
VR: Final = "VR"
LISTED: Final = 100
"""Evaluators of moments read the first hundred predictions of a query."""


class RunFile:
    """The lists of a run file. Errors are added to its problems with their line or place."""

    def __init__(self, of: RunOf, source: str) -> None:
        if of.direction is not Direction.TEXT_TO_VIDEO:
            raise InvalidInput("moments are ranked for captions only", source=source)
        self.source = source
        self.problems = Problems(source)
        self._of = of
        self._depth = of.depth or LISTED
        self._cut = 0
        self._moments = RankedMoments()
        self._keys: dict[int, str] = {}

    def row_of(self, key: str, line: int = 0) -> int | None:
        """Return the number of a caption that has no list yet; None after an error."""
        row = self._of.query_numbers.get(key)
        if row is None:
            self._refuse(f"unknown caption {shown(key)}", line)
        elif row in self._keys:
            self._refuse(f"caption {shown(key)} has a list already", line)
            return None
        else:
            self._keys[row] = key
        return row

    def video_of(self, key: str, line: int, place: str = "") -> int | None:
        number = self._of.video_numbers.get(key)
        if number is None:
            self._refuse(f"{place}unknown video {shown(key)}", line)
        return number

    def moment(
        self, video: int, start: object, end: object, score: object, *, line: int, place: str = ""
    ) -> tuple[int, float, float, float] | None:
        """Return a checked moment; None after an error. A moment can have no length."""
        value = number_of(score)
        fault = span_fault(start, end, may_be_empty=True)
        if fault is None and (value is None or abs(value) > float(np.finfo(np.float32).max)):
            fault = f"the score {score!r} is not a finite number"[:200]
        if fault:
            self._refuse(f"{place}{fault}", line)
            return None
        return video, float(start), float(end), float(value or 0)  # type: ignore[arg-type]

    def add(
        self,
        row: int,
        moments: Iterable[tuple[int, float, float, float]],
        saliency: Iterable[float] | None = None,
    ) -> None:
        """Add the moments of a row, best first. They are cut at the depth."""
        listed = list(moments)
        self._cut += len(listed) > self._depth
        self._moments.add(row, listed[: self._depth])
        if saliency is not None:
            self._moments.saliency[row] = np.fromiter(saliency, np.float32)

    def refuse(self, reason: str, line: int = 0) -> None:
        self._refuse(reason, line)

    def _refuse(self, reason: str, line: int) -> None:
        self.problems.add(reason, self.source, line or None)

    def check_all_captions(self) -> None:
        """Add a problem for each caption without a list, because evaluators need the same ids."""
        for key, number in self._of.query_numbers.items():
            if number not in self._keys:
                self._refuse(f"caption {shown(key)} of the benchmark has no list in the file", 0)

    def finish(
        self, *, sha256: str, format: str, task: str, warnings: tuple[str, ...] = ()
    ) -> RunData:
        """Return the run. Raises `InvalidInput` if there are problems or no lists.

        task: `VCMR`, `SVMR`, or `VR` for a run of whole videos.
        """
        self.problems.check()
        data = self._moments.finish(VCMR if task == VR else task)
        if not len(data.row_numbers):
            raise InvalidInput("the run has no ranked list", source=self.source)
        offsets, videos, scores = distinct_videos(data)
        if task == VR and len(videos) < len(data.items):
            raise InvalidInput("a list of videos has a video twice", source=self.source)
        n_rows = len(self._of.query_numbers)
        missing = no_list_warning(n_rows - len(data.row_numbers), n_rows, self._of.direction)
        cut = (f"lists cut at {self._depth:,} moments: {self._cut:,}",) if self._cut else ()
        return RunData(
            query_numbers=data.row_numbers,
            offsets=offsets,
            videos=videos,
            scores=scores,
            depth=int(np.diff(offsets).max()),
            sha256=sha256,
            format=format,
            warnings=(*missing, *cut, *warnings),
            moments=None if task == VR else data,
        )

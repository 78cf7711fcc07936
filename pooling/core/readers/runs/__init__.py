"""Readers of runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from hearth.shared.errors import InvalidInput
from pooling.core.arrays import Int64s
from pooling.core.direction import Direction
from pooling.core.lines import Progress, SourceFile
from pooling.core.ordering import RunData, with_tie_warning
from pooling.core.readers.registry import AUTO, Reader, Readers
from pooling.core.whole_matrix import WholeMatrix

Places = tuple[Int64s, Int64s]
"""The row of each caption and the column of each video in a file, by number; int64 [n] each."""

Elsewhere = Callable[[str], str]
"""Returns where an unknown key of a row belongs, as the end of a sentence; mostly empty."""


def nowhere(key: str) -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunOf:
    """The benchmark of a run, and how its file is read.

    query_numbers, video_numbers: dense numbers 0..n-1 by key. texts: the captions by number.
    original: the video numbers of the original positives by query number. depth: the length at
    which lists are cut; by default, each format has its own. whole: is filled if the file is a
    matrix. places: the row of each caption and the column of each video in a matrix. elsewhere:
    completes the message about an unknown key. further: the numbers of further rows of a matrix,
    such as those of phrasings, by key.
    """

    query_numbers: Mapping[str, int]
    video_numbers: Mapping[str, int]
    texts: Sequence[str] = ()
    original: Mapping[int, Collection[int]] | None = None
    depth: int | None = None
    direction: Direction = Direction.TEXT_TO_VIDEO
    whole: WholeMatrix | None = None
    places: Places | None = None
    elsewhere: Elsewhere = nowhere
    further: Mapping[str, int] = field(default_factory=dict)

    @property
    def rows(self) -> Mapping[str, int]:
        """The number of each key that can have a list."""
        return self._by_direction[0]

    @property
    def items(self) -> Mapping[str, int]:
        """The number of each key that a list can rank."""
        return self._by_direction[1]

    @property
    def _by_direction(self) -> tuple[Mapping[str, int], Mapping[str, int]]:
        found = self.query_numbers, self.video_numbers
        return found if self.direction is Direction.TEXT_TO_VIDEO else found[::-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReader(Reader[[RunOf], RunData]):
    """A format of runs.

    read: returns ordered lists, cut at the depth. needs_texts, needs_original: whether it uses the
    texts and the original positives of the benchmark. is_matrix: whether a file contains all
    similarities, and so a run of each direction.
    """

    kind: str = "runs"
    needs_texts: bool = False
    needs_original: bool = False
    is_matrix: bool = False


RUNS: Final = Readers[RunReader]("runs", __name__)


def read_run(
    path: Path,
    *,
    query_numbers: Mapping[str, int],
    video_numbers: Mapping[str, int],
    texts: Sequence[str] | None = None,
    original: Mapping[int, Collection[int]] | None = None,
    format: str = AUTO,
    depth: int | None = None,
    progress: Progress | None = None,
    source: str | None = None,
    direction: Direction = Direction.TEXT_TO_VIDEO,
    whole: WholeMatrix | None = None,
    places: Places | None = None,
    elsewhere: Elsewhere = nowhere,
    further: Mapping[str, int] | None = None,
) -> RunData:
    """Read and check a whole run, order its lists, and cut each list at `depth`.

    The options are described in `RunOf`. If `depth` is None, the lists of TREC and JSON keep their
    lengths and a matrix gives lists of 100 videos. `source` names the file in messages. Raises
    `InvalidInput` if the file is not a run of this benchmark, or if `format` or `depth` is not
    valid.

    In the direction from video to text, TREC and JSON have lists of caption keys by video key. A
    matrix is captions x videos in both directions.
    """
    file = SourceFile.at(path, source, progress)
    if depth is not None and depth < 1:
        raise InvalidInput(f"the depth is {depth}; it must be at least 1")
    reader = RUNS.choose(file, format)
    if places is not None and not reader.is_matrix:
        raise InvalidInput("only a .npy matrix can have a file of keys", source=file.source)
    of = RunOf(
        query_numbers=query_numbers,
        video_numbers=video_numbers,
        texts=texts or (),
        original=original,
        depth=depth,
        direction=direction,
        whole=whole,
        places=places,
        elsewhere=elsewhere,
        further=further or {},
    )
    return with_tie_warning(reader.read(file, of))

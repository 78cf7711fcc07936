"""The direction of retrieval: captions retrieve videos, or videos retrieve captions."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from hearth.shared.errors import InvalidInput
from pooling.core.arrays import Int64s
from pooling.core.pair_space import PairSpace


class Direction(StrEnum):
    """The direction of a run: whether captions or videos are the rows of its ranked lists.

    The pairs of a benchmark are the same in both directions. In the direction from video to text,
    a row is a video and an item a caption, so all arrays are those of the transposed `PairSpace`.
    """

    TEXT_TO_VIDEO = "text-to-video"
    VIDEO_TO_TEXT = "video-to-text"

    @staticmethod
    def named(name: str) -> tuple[Direction, ...]:
        """Return the direction with this name, or both for `BOTH`. Raises `InvalidInput`."""
        if name == BOTH:
            return tuple(Direction)
        if name not in tuple(Direction):
            raise InvalidInput(f"The direction must be one of {', '.join(DIRECTIONS)}.")
        return (Direction(name),)

    @property
    def row(self) -> str:
        """The noun for what has a ranked list."""
        return "caption" if self is Direction.TEXT_TO_VIDEO else "video"

    @property
    def item(self) -> str:
        """The noun for what is ranked."""
        return self.other.row

    @property
    def other(self) -> Direction:
        if self is Direction.TEXT_TO_VIDEO:
            return Direction.VIDEO_TO_TEXT
        return Direction.TEXT_TO_VIDEO

    def space(self, space: PairSpace) -> PairSpace:
        """Return the pair space of this direction. space: the pair space of the benchmark."""
        return space if self is Direction.TEXT_TO_VIDEO else space.transposed

    def codes(self, codes: Int64s, space: PairSpace) -> Int64s:
        """Return pairs of a benchmark as codes of this direction, in the order of `codes`.

        codes: int64 of any shape. space: the pair space of the benchmark.
        """
        return codes if self is Direction.TEXT_TO_VIDEO else space.transpose(codes)

    def benchmark_codes(self, codes: Int64s, space: PairSpace) -> Int64s:
        """Return codes of this direction as codes of the benchmark. This reverses `codes`."""
        return codes if self is Direction.TEXT_TO_VIDEO else space.transposed.transpose(codes)


# The choice that imports a matrix as two runs, one for each direction.
BOTH: Final = "both"
DIRECTIONS: Final = (*(direction.value for direction in Direction), BOTH)
# The choices of fields, as (value, label): of a stored run, of an upload, and of an import.
CHOICES: Final = [(direction.value, direction.value) for direction in Direction]
ONE_DIRECTION: Final = [
    (Direction.TEXT_TO_VIDEO.value, "Text to video: videos for each caption"),
    (Direction.VIDEO_TO_TEXT.value, "Video to text: captions for each video"),
]
IMPORT_CHOICES: Final = [*ONE_DIRECTION, (BOTH, "Both, from a matrix")]


def direction_fault(direction: Direction, sign: str) -> str:
    """Return the text of the error for a file of the other direction.

    direction: the direction that was expected. sign: what shows that the file has the other one.
    """
    other = direction.other
    return f"{sign}, so this is a {other} run; choose this direction (--direction {other})"

"""Rankings and pairs of runs, for all analyses that score runs by proxies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from evaluation.core.graded.rankings import Matrix
from evaluation.lab.analyses.proxy_inputs import LoadedProxy
from hearth.shared.words import counted
from pooling.core.direction import Direction
from pooling.models import Run

DEPTH_NOTE = (
    "A run that was imported as a matrix is scored by all its ranks. The ranks come from the "
    "imported values, before they were rounded for storage. A run that was imported as lists is "
    "scored to the depth of the lists."
)


def relevance_of(proxy: LoadedProxy, direction: Direction) -> Matrix:
    """Return the values of a proxy as a matrix for runs of this direction.

    The rows are captions for text-to-video, and videos for video-to-text.
    """
    return proxy.values if direction is Direction.TEXT_TO_VIDEO else proxy.transposed.values


def left_out_text(number: int, direction: str, lacking: str) -> str:
    """Return a sentence about the captions or videos that are left out. lacking: a noun phrase."""
    noun = "caption" if direction == Direction.TEXT_TO_VIDEO.value else "video"
    be = "is" if number == 1 else "are"
    return f"{counted(number, noun)} without {lacking} {be} left out ({direction})."


class BothRuns(NamedTuple):
    """The runs of one system in both directions."""

    to_video: Run
    to_text: Run


def both_directions(runs: Sequence[Run]) -> list[BothRuns]:
    """Return the pairs of runs that belong together, in the order of their text-to-video runs.

    Two runs of different directions belong together if they were read from the same file to the
    same depth. They also belong together if their system has no other run.
    """
    found = []
    others = [run for run in runs if run.facing is Direction.VIDEO_TO_TEXT]
    for run in runs:
        if run.facing is Direction.TEXT_TO_VIDEO:
            partner = _same_file(run, others) or _only_partner(run, runs)
            found += [BothRuns(run, partner)] if partner else []
    return found


def _same_file(run: Run, others: Sequence[Run]) -> Run | None:
    same = (run.sha256, run.depth_limit)
    return next((other for other in others if (other.sha256, other.depth_limit) == same), None)


def _only_partner(run: Run, runs: Sequence[Run]) -> Run | None:
    own = [other for other in runs if other.system_id == run.system_id]
    partners = [other for other in own if other.facing is Direction.VIDEO_TO_TEXT]
    return partners[0] if len(own) == 2 and len(partners) == 1 else None

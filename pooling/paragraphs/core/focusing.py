"""Find and focus: re-ranking the first videos of a list by the matching of their clips."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from hearth.shared.progress import Progress
from pooling.core.arrays import Float32s, Float64s, Int32s, Int64s
from pooling.core.ordering import RunData
from pooling.core.pair_space import PairSpace
from pooling.paragraphs.core.matching import focused_order, focused_scores, match_score
from pooling.paragraphs.core.similarities import StoredSimilarities

List = tuple[int, Int32s, Float32s]
"""The number of a paragraph, and the videos and scores of its list, best first."""


class MissingMatrix(Exception):
    """A pair among the first of a list has no matrix. Its code is the argument."""


@dataclass(frozen=True, slots=True)
class Focus:
    """first: K, the number of videos of each list that are re-ranked. matches: u_max.

    shift: what is added to each score of the run, so that none is negative.
    """

    first: int
    matches: int
    shift: float = 0.0


def lowest_score(lists: Iterable[List], first: int) -> float:
    """Return the lowest score among the first videos of all lists."""
    return min((float(scores[:first].min()) for _, _, scores in lists if len(scores)), default=0.0)


def focus_lists(
    lists: Iterable[List],
    stored: StoredSimilarities,
    space: PairSpace,
    focus: Focus,
    progress: Progress,
    n_lists: int,
) -> RunData:
    """Return the lists with their first videos re-ranked among themselves by S_r = S_t * S_p.

    The other videos keep their places and scores. Raises `MissingMatrix` if one of the first
    videos has no matrix, and ValueError if a shifted score is negative.
    """
    rows, lengths, items, scores = array("i"), array("q"), array("i"), array("f")
    for done, (row, videos, found) in enumerate(lists):
        progress(done, n_lists, "matching sentences and clips")
        first, focused = _focused(row, videos, found, stored, space, focus)
        rows.append(row)
        lengths.append(len(videos))
        items.frombytes(np.concatenate([first, videos[focus.first :]]).astype(np.int32).tobytes())
        rest = np.asarray(found[focus.first :], np.float32)
        scores.frombytes(np.concatenate([focused.astype(np.float32), rest]).tobytes())
    return RunData(
        query_numbers=np.frombuffer(rows, np.int32),
        offsets=np.concatenate([[0], np.cumsum(np.frombuffer(lengths, np.int64))]),
        videos=np.frombuffer(items, np.int32),
        scores=np.frombuffer(scores, np.float32),
        depth=max(lengths, default=0),
        sha256="",
        format="",
    )


def _focused(
    row: int,
    videos: Int32s,
    scores: Float32s,
    stored: StoredSimilarities,
    space: PairSpace,
    focus: Focus,
) -> tuple[Int32s, Float64s]:
    """Return the first videos in their new order, and their scores S_r."""
    first = videos[: focus.first]
    codes: Int64s = space.encode(row, first.astype(np.int64))
    places = stored.places(codes)
    if (places < 0).any():
        raise MissingMatrix(int(codes[int(np.argmax(places < 0))]))
    matched = [match_score(stored.matrix(place).r, focus.matches) for place in places.tolist()]
    found = focused_scores(
        np.asarray(scores[: focus.first], np.float64) + focus.shift, np.array(matched)
    )
    order = focused_order(found)
    return first[order], found[order]

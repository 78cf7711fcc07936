"""The order of a run, and ranked lists in their packed form.

The order is the same for all formats: score descending, then the rank in the file ascending, then
video key ascending by code point. Scores are compared in float64 and stored in float32 afterwards,
so that rounding does not change the order.
"""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from typing import Self

import numpy as np

from hearth.shared.errors import InvalidInput
from pooling.core.arrays import Bools, Float32s, Float64s, Int32s, Int64s
from pooling.core.direction import Direction
from pooling.core.pair_space import PairSpace
from pooling.core.problems import Problems
from pooling.moments.core.rows import MomentData

# The approximate number of ranges of captions, each with a temporary file for its predictions.
RANGES = 128


@dataclass(frozen=True, slots=True, eq=False)
class RunData:
    """A run's ranked lists, best first, packed end to end (CSR).

    The list of the caption `query_numbers[i]` is `videos[offsets[i]:offsets[i + 1]]`, with its
    scores at the same positions of `scores`. `query_numbers` is int32 [n], ascending; `offsets`
    int64 [n + 1]; `videos` int32 and `scores` float32 [total]. `depth` is the length of the longest
    list, `sha256` the hash of the content, `format` trec, json or npy, and `tag` the TREC run tag.
    In the direction from video to text, `query_numbers` are those of videos, and `videos` contains
    captions. moments: the ranked moments, if the run has them; `videos` then has the video of each
    moment at its first place.
    """

    query_numbers: Int32s
    offsets: Int64s
    videos: Int32s
    scores: Float32s
    depth: int
    sha256: str
    format: str
    tag: str | None = None
    warnings: tuple[str, ...] = ()
    direction: Direction = Direction.TEXT_TO_VIDEO
    moments: MomentData | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """Scored videos in the order of the file, arrays [n]. `line` is 0 in formats without lines."""

    query: Int32s
    video: Int32s
    score: Float64s
    rank: Int32s
    line: Int32s

    def __len__(self) -> int:
        return len(self.query)

    def __getitem__(self, index: slice | Int64s | Bools) -> Predictions:
        return Predictions(*(getattr(self, field.name)[index] for field in fields(self)))

    def pack(self) -> bytes:
        rows = np.empty(len(self), _PACKED)
        for field in fields(self):
            rows[field.name] = getattr(self, field.name)
        return rows.tobytes()

    @staticmethod
    def unpack(packed: bytes) -> Predictions:
        rows = np.frombuffer(packed, _PACKED)
        return Predictions(*(rows[field.name].copy() for field in fields(Predictions)))

    @staticmethod
    def join(parts: Sequence[Predictions]) -> Predictions:
        if len(parts) == 1:
            return parts[0]
        columns = ([getattr(part, f.name) for part in parts] for f in fields(Predictions))
        return Predictions(*(np.concatenate(column) for column in columns))


_PACKED = np.dtype(
    [("query", "i4"), ("video", "i4"), ("score", "f8"), ("rank", "i4"), ("line", "i4")]
)


class NotGroupedError(Exception):
    """Raised for a prediction of a caption whose list has already ended.

    The lines of the file are not grouped by caption.
    """


class ScatteredPredictions:
    """Predictions of a file that is not grouped by caption.

    They are in temporary files, because they may not fit into memory. An iteration yields the
    predictions of one range of captions after another. The predictions of a caption keep the order
    in which they were added. Use it as a context manager.
    """

    def __init__(self, n_queries: int) -> None:
        self._width = 1 + n_queries // RANGES
        self._n_ranges = 1 + n_queries // self._width
        self._count = 0

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._files = [
                stack.enter_context(tempfile.TemporaryFile()) for _ in range(self._n_ranges)
            ]
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def __len__(self) -> int:
        return self._count

    def add(self, part: Predictions) -> None:
        ranges = part.query // self._width
        order = np.argsort(ranges, kind="stable")
        part, ends = part[order], np.cumsum(np.bincount(ranges, minlength=self._n_ranges))
        start = 0
        for file, end in zip(self._files, ends.tolist(), strict=True):
            if end > start:
                file.write(part[start:end].pack())
            start = end
        self._count += len(part)

    def __iter__(self) -> Iterator[Predictions]:
        for file in self._files:
            file.seek(0)
            yield Predictions.unpack(file.read())


def key_ranks(numbers: Mapping[str, int]) -> Int32s:
    """Return the rank of each number in the ascending order of the keys, int32 [n], from 0."""
    ranks = np.empty(len(numbers), dtype=np.int32)
    for rank, key in enumerate(sorted(numbers)):
        ranks[numbers[key]] = rank
    return ranks


def _is_ordered(part: Predictions) -> bool:
    """Return whether queries ascend, and the scores of each query descend without ties."""
    query, score = part.query, part.score
    same, falls = query[1:] == query[:-1], score[1:] < score[:-1]
    return bool(((query[1:] > query[:-1]) | (same & falls)).all())


_NO_LIST = "{}s without a ranked list"


def no_list_warning(missing: int, n_rows: int, direction: Direction) -> tuple[str, ...]:
    if not missing:
        return ()
    return (f"{_NO_LIST.format(direction.row)}: {missing:,} of {n_rows:,}",)


def split_rows(data: RunData, n_rows: int, source: str) -> tuple[RunData, RunData | None]:
    """Return the lists of the rows before `n_rows`, and those of the others, if there are any.

    Raises `InvalidInput` if there are only others, or if others have moments.
    """
    at = int(np.searchsorted(data.query_numbers, n_rows))
    if at == 0:
        raise InvalidInput("the run has no list of a caption itself", source=source)
    about_lists = no_list_warning(n_rows - at, n_rows, data.direction)
    kept = [text for text in data.warnings if not text.startswith(_NO_LIST.format("caption"))]
    if at == len(data.query_numbers):
        return replace(data, warnings=(*about_lists, *kept)), None
    if data.moments is not None:
        raise InvalidInput("phrasings of captions cannot have moments", source=source)
    own = replace(_rows(data, slice(at)), warnings=(*about_lists, *kept))
    return own, _rows(data, slice(at, None))


def _rows(data: RunData, rows: slice) -> RunData:
    """Return some lists of a run. There must be at least one."""
    start, stop, _ = rows.indices(len(data.query_numbers))
    offsets = data.offsets[start : stop + 1]
    items = slice(int(offsets[0]), int(offsets[-1]))
    return replace(
        data,
        query_numbers=data.query_numbers[rows],
        offsets=offsets - offsets[0],
        videos=data.videos[items],
        scores=data.scores[items],
        depth=int(np.diff(offsets).max()),
    )


def with_tie_warning(data: RunData) -> RunData:
    """Return the run with a warning if some of its lists have equal scores.

    Tools like trec_eval ignore the ranks of a file and order equal scores by key.
    """
    n_lists = len(data.query_numbers)
    list_of = np.repeat(np.arange(n_lists), np.diff(data.offsets))
    is_tied = (data.scores[1:] == data.scores[:-1]) & (list_of[1:] == list_of[:-1])
    tied = _distinct(list_of[1:][is_tied])
    if not tied:
        return data
    row, item = data.direction.row, data.direction.item
    warning = (
        f"{row}s with equal scores in their list: {tied:,} of {n_lists:,} "
        f"({100 * tied / n_lists:.1f} %); their order is that of the ranks, then of the {item} "
        f"ids, and trec_eval orders them by {item} id alone"
    )
    return replace(data, warnings=(*data.warnings, warning))


class ListBuilder:
    """A builder of ranked lists that orders predictions part by part, to save memory."""

    def __init__(
        self,
        *,
        n_queries: int,
        video_key_ranks: Int32s,
        depth: int | None,
        source: str,
        problems: Problems,
        direction: Direction = Direction.TEXT_TO_VIDEO,
    ) -> None:
        """Start without lists.

        n_queries: the number of rows of the run. depth: the maximum length of a list, None for no
        limit. source: the name of the file in errors. In the direction from video to text, the rows
        are videos and the items are captions, although the code calls rows queries and items
        videos.
        """
        self._direction = direction
        self._key_ranks = video_key_ranks
        self._space = PairSpace(n_queries, len(video_key_ranks))
        self._depth = depth
        self._source = source
        self._problems = problems
        self._seen = np.zeros(n_queries, dtype=np.bool_)
        # These grow in place. Joining many small arrays would need the memory twice.
        self._queries, self._lengths = array("i"), array("q")
        self._videos, self._scores = array("i"), array("f")
        self._contradicted = 0
        self._rank_twice = 0

    def add(self, part: Predictions) -> None:
        """Add the complete lists of some captions. Repeated pairs are added to the problems.

        Raises `NotGroupedError` if a caption was already added.
        """
        if not len(part):
            return
        self.note_repeated_pairs(part)
        # Nearly all files are ordered, and the check is faster than sorting.
        if not _is_ordered(part):
            ranks = self._key_ranks[part.video]
            part = part[np.lexsort((ranks, part.rank, -part.score, part.query))]
        starts = np.flatnonzero(np.diff(part.query, prepend=-1))
        queries = part.query[starts]
        if self._seen[queries].any():
            raise NotGroupedError
        self._seen[queries] = True
        self._count_contradictions(part)
        lengths = np.diff(starts, append=len(part))
        if self._depth is not None and lengths.max() > self._depth:
            place = np.arange(len(part)) - np.repeat(starts, lengths)
            part = part[np.flatnonzero(place < self._depth)]
            lengths = np.minimum(lengths, self._depth)
        self._queries.frombytes(queries.tobytes())
        self._lengths.frombytes(lengths.tobytes())
        self._videos.frombytes(part.video.tobytes())
        self._scores.frombytes(part.score.astype(np.float32).tobytes())

    def note_repeated_pairs(self, part: Predictions) -> None:
        """Add each line that repeats a pair to the problems."""
        codes = self._space.encode(part.query, part.video)
        in_order = np.sort(codes)
        if not (in_order[1:] == in_order[:-1]).any():
            return
        order = np.argsort(codes, kind="stable")
        again = np.flatnonzero(codes[order][1:] == codes[order][:-1])
        firsts, seconds = part.line[order[again]], part.line[order[again + 1]]
        for at in np.argsort(seconds, kind="stable").tolist():
            reason = f"the same caption and video as in line {firsts[at]}"
            self._problems.add(reason, line=int(seconds[at]))

    def _count_contradictions(self, part: Predictions) -> None:
        """Count the captions whose ranks decrease or repeat down the ordered list."""
        step = np.diff(part.rank)
        step[part.query[1:] != part.query[:-1]] = 1
        self._contradicted += _distinct(part.query[1:][step < 0])
        self._rank_twice += _distinct(part.query[1:][step == 0])

    def rank_warnings(self) -> tuple[str, ...]:
        warnings, rows = [], f"{self._direction.row}s"
        if n := self._contradicted:
            warnings.append(f"{rows} whose ranks contradict the scores: {n:,}")
        if n := self._rank_twice:
            warnings.append(f"{rows} with a repeated rank: {n:,}")
        return tuple(warnings)

    def finish(
        self, *, sha256: str, format: str, tag: str | None = None, warnings: tuple[str, ...] = ()
    ) -> RunData:
        """Return all lists by query number, ascending. Raises `InvalidInput` if there are none."""
        if not self._queries:
            raise InvalidInput("the run has no ranked list", source=self._source)
        queries: Int32s = np.frombuffer(self._queries, np.int32)
        lengths: Int64s = np.frombuffer(self._lengths, np.int64)
        videos: Int32s = np.frombuffer(self._videos, np.int32)
        scores: Float32s = np.frombuffer(self._scores, np.float32)
        if (queries[1:] < queries[:-1]).any():
            order = np.argsort(queries)
            ends = np.cumsum(lengths)
            bounds = list(zip((ends - lengths)[order].tolist(), ends[order].tolist(), strict=True))
            queries, lengths = queries[order], lengths[order]
            videos = np.concatenate([videos[start:end] for start, end in bounds])
            scores = np.concatenate([scores[start:end] for start, end in bounds])
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        missing = len(self._seen) - len(queries)
        return RunData(
            query_numbers=queries,
            offsets=offsets,
            videos=videos,
            scores=scores,
            depth=int(lengths.max()),
            sha256=sha256,
            format=format,
            tag=tag,
            warnings=(*no_list_warning(missing, len(self._seen), self._direction), *warnings),
            direction=self._direction,
        )


def _distinct(ascending: Int32s | Int64s) -> int:
    """Return the number of different values. All values must be 0 or more."""
    return int(np.count_nonzero(np.diff(ascending, prepend=-1)))

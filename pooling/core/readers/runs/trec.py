"""Runs in TREC format: `caption_id Q0 video_id rank score tag`, separated by spaces or tabs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from typing import Final, NoReturn

import numpy as np

from hearth.shared.errors import InvalidInput
from pooling.core.arrays import Float64s, Int32s
from pooling.core.direction import direction_fault
from pooling.core.keys import MAX_KEY, NUMBER, key_fault, shown
from pooling.core.lines import TextBlocks
from pooling.core.ordering import (
    ListBuilder,
    NotGroupedError,
    Predictions,
    RunData,
    ScatteredPredictions,
    key_ranks,
)
from pooling.core.problems import Problems
from pooling.core.readers.registry import Fit
from pooling.core.readers.runs import RunOf, RunReader

FLOAT32_MAX = float(np.finfo(np.float32).max)

_COLUMNS = 6
_SCORE = re.compile(NUMBER.pattern.encode())
_RANK = re.compile(rb"[+-]?[0-9]{1,9}")
# If a text has only these bytes, float() accepts it if and only if `NUMBER` matches it.
_BYTES_OF_NUMBERS = b"0123456789+-.eE"
_END_OF_LINE = b" \x00 "
_CONTROL_BYTES = bytes(c for c in range(32) if c not in b"\t\n") + b"\x7f"


class TrecReader:
    """A reader of TREC files for the keys of a benchmark.

    Empty lines are skipped. Raises `InvalidInput` with the first errors and their lines. A line
    is an error if `TextBlocks` refuses it, or if it does not have six columns, has a control
    character, names an unknown caption or video, has a rank that is not an integer or a score
    that is not a finite decimal number, or repeats a pair. Reading stops at a line that belongs
    to a run of the other direction.
    """

    def __init__(self, of: RunOf) -> None:
        self._direction = of.direction
        # Keys are looked up as UTF-8 bytes, so that lines do not have to be decoded.
        self._elsewhere = of.elsewhere
        self._queries = {key.encode(): number for key, number in of.rows.items()}
        self._videos = {key.encode(): number for key, number in of.items.items()}
        self._key_ranks = key_ranks(of.items)
        self._tag: bytes | None = None
        self._other_tags = False

    def read(self, blocks: TextBlocks, depth: int | None) -> RunData:
        """Return the run in `blocks`, with each list ordered and cut to `depth`.

        If the lines of each list are together, as in nearly all files, the list is ordered and cut
        as soon as it is complete. If not, the file is read again and sorted in temporary files,
        with 24 bytes per line.
        """
        try:
            return self._read(blocks, depth, self._add_grouped)
        except NotGroupedError:
            return self._read(blocks, depth, self._add_scattered)

    def _read(
        self,
        blocks: TextBlocks,
        depth: int | None,
        add_all: Callable[[ListBuilder, Iterator[Predictions]], None],
    ) -> RunData:
        self._problems = problems = Problems(blocks.source)
        builder = ListBuilder(
            n_queries=len(self._queries),
            video_key_ranks=self._key_ranks,
            depth=depth,
            source=blocks.source,
            problems=problems,
            direction=self._direction,
        )
        try:
            add_all(builder, self._parts(blocks))
        except InvalidInput as error:  # the rest of the file cannot be read
            raise problems.joined(error) from None
        problems.check()
        return builder.finish(
            sha256=blocks.sha256,
            format="trec",
            tag=(self._tag or b"").decode()[:MAX_KEY],
            warnings=(*builder.rank_warnings(), *self._tag_warning()),
        )

    def _add_grouped(self, builder: ListBuilder, parts: Iterator[Predictions]) -> None:
        last: list[Predictions] = []
        for part in parts:
            last = [self._add_complete(builder, Predictions.join([*last, part]))]
            # If a list is longer than the number of videos, it repeats one, so reading can stop.
            if len(last[0]) > len(self._videos):
                break
        if last:
            builder.add(last[0])

    def _add_scattered(self, builder: ListBuilder, parts: Iterator[Predictions]) -> None:
        most = len(self._queries) * len(self._videos)
        with ScatteredPredictions(len(self._queries)) as scattered:
            for part in parts:
                scattered.add(part)
                if len(scattered) > most:  # one pair is repeated, so reading can stop
                    break
            for lists in scattered:
                builder.add(lists)

    def _add_complete(self, builder: ListBuilder, part: Predictions) -> Predictions:
        """Add all lists except the last, which may continue in the next block. Return the last."""
        others = np.flatnonzero(part.query != part.query[-1])
        end = int(others[-1]) + 1 if len(others) else 0
        builder.add(part[:end])
        return part[end:]

    def _tag_warning(self) -> tuple[str, ...]:
        if not self._other_tags:
            return ()
        return (f"the file has several run tags; the first is {shown(self._tag or b'')}",)

    def _parts(self, blocks: TextBlocks) -> Iterator[Predictions]:
        for block in blocks:
            if len(block.translate(None, _CONTROL_BYTES)) != len(block):
                self._refuse_control(blocks, block)
            columns = _columns_of(block)
            if columns is not None:
                lines = np.arange(len(columns[0]), dtype=np.int32) + (blocks.lines_before + 1)
                part = self._of_columns(columns, lines)
                part = part or self._valid_rows(list(zip(*columns, strict=True)), lines)
            else:
                texts = block.split(b"\n")
                filled = np.fromiter(map(bool, texts), np.bool_, len(texts))
                lines = (np.flatnonzero(filled) + blocks.lines_before + 1).astype(np.int32)
                part = self._of_rows([text.split() for text in texts if text], lines)
            if part:
                yield part

    def _of_rows(self, rows: Sequence[Sequence[bytes]], lines: Int32s) -> Predictions | None:
        """Convert the rows without errors to arrays. Return None if there is no such row."""
        if set(map(len, rows)) != {_COLUMNS}:
            return self._valid_rows(rows, lines)
        part = self._of_columns(list(zip(*rows, strict=True)), lines)
        return part or self._valid_rows(rows, lines)

    def _of_columns(self, columns: Sequence[Sequence[bytes]], lines: Int32s) -> Predictions | None:
        """Convert columns of texts to arrays. Return None if a cell is invalid."""
        queries, _, videos, ranks, scores, tags = columns
        query = np.fromiter(map(self._queries.get, queries, repeat(-1)), np.int32, len(lines))
        video = np.fromiter(map(self._videos.get, videos, repeat(-1)), np.int32, len(lines))
        score = scores_of(scores)
        rank = _ranks_of(ranks)
        if score is None or rank is None or query.min() < 0 or video.min() < 0:
            return None
        self._note_tags(tags)
        return Predictions(query=query, video=video, score=score, rank=rank, line=lines)

    def _note_tags(self, tags: Sequence[bytes]) -> None:
        if self._tag is None:
            self._tag = tags[0]
        self._other_tags = self._other_tags or set(tags) != {self._tag}

    def _valid_rows(self, rows: Sequence[Sequence[bytes]], lines: Int32s) -> Predictions | None:
        """Add the errors of the rows to the problems, and convert the other rows."""
        is_valid = np.ones(len(rows), np.bool_)
        for at, row in enumerate(rows):
            if reason := self._fault(row):
                if len(row) == _COLUMNS and row[0] in self._videos and row[2] in self._queries:
                    reason = direction_fault(
                        self._direction,
                        f"the first column has the {self._direction.item} {shown(row[0])}",
                    )
                    raise InvalidInput(reason, line=int(lines[at]))
                is_valid[at] = False
                self._problems.add(reason, line=int(lines[at]))
        kept = [row for row, valid in zip(rows, is_valid.tolist(), strict=True) if valid]
        return self._of_rows(kept, lines[is_valid]) if kept else None

    def _fault(self, row: Sequence[bytes]) -> str | None:
        if len(row) != _COLUMNS:
            return f"the line has {len(row)} columns instead of {_COLUMNS}"
        return self._fault_of_cells(*row)

    def _fault_of_cells(
        self, query: bytes, _: bytes, video: bytes, rank: bytes, score: bytes, tag: bytes
    ) -> str | None:
        row, item = self._direction.row, self._direction.item
        if query not in self._queries:
            key = query.decode()
            return key_fault(key, row) or f"unknown {row} {shown(query)}{self._elsewhere(key)}"
        if video not in self._videos:
            return key_fault(video.decode(), item) or f"unknown {item} {shown(video)}"
        if not _RANK.fullmatch(rank):
            return f"the rank {shown(rank)} is not an integer of at most nine digits"
        if not _SCORE.fullmatch(score):
            return f"the score {shown(score)} is not a finite decimal number"
        if abs(float(score)) > FLOAT32_MAX:
            return f"the score {shown(score)} is beyond the range of 32-bit numbers"
        return None

    def _refuse_control(self, blocks: TextBlocks, block: bytes) -> NoReturn:
        for line, text in enumerate(block.split(b"\n"), start=blocks.lines_before + 1):
            if len(text.translate(None, _CONTROL_BYTES)) != len(text):
                raise InvalidInput(
                    "the line has a control character", source=blocks.source, line=line
                )
        raise AssertionError("a block with a control character has a line with one")


def scores_of(texts: Sequence[bytes]) -> Float64s | None:
    """Parse scores. Return None if a text is invalid."""
    if b"".join(texts).translate(None, _BYTES_OF_NUMBERS):
        return None
    try:
        scores = np.fromiter(map(float, texts), np.float64, len(texts))
    except ValueError:
        return None
    return None if np.abs(scores).max() > FLOAT32_MAX else scores


def _ranks_of(texts: Sequence[bytes]) -> Int32s | None:
    """Parse ranks, each distinct text once. Return None if a text is invalid."""
    distinct = set(texts)
    if not all(map(_RANK.fullmatch, distinct)):
        return None
    numbers = {text: int(text) for text in distinct}
    return np.fromiter(map(numbers.__getitem__, texts), np.int32, len(texts))


def _columns_of(block: bytes) -> list[Sequence[bytes]] | None:
    """Return the columns of a block, or None if a line does not have exactly six columns.

    The whole block is split at once, with a mark in place of each newline. No line contains the
    mark, because it is a control character.
    """
    texts = block.replace(b"\n", _END_OF_LINE).split()
    ends = texts[_COLUMNS :: _COLUMNS + 1]
    if len(ends) * (_COLUMNS + 1) != len(texts) or set(ends) != {_END_OF_LINE.strip()}:
        return None
    return [texts[column :: _COLUMNS + 1] for column in range(_COLUMNS)]


READER: Final = RunReader(
    name="trec",
    title="TREC run",
    place=1,
    about="One line per caption and video. The score orders the list. In a video-to-text run, the "
    "first and the third column of this line are exchanged:",
    example="caption_id Q0 video_id rank score tag",
    fits=lambda _: Fit.LAST,
    read=lambda file, of: TrecReader(of).read(file.blocks(), of.depth),
)

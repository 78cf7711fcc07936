"""Runs in TREC format: `caption_id Q0 video_id rank score tag`, separated by spaces or tabs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import NoReturn

import numpy as np

from config.shared.errors import InvalidInput
from pooling.core.arrays import Int32s
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

FLOAT32_MAX = float(np.finfo(np.float32).max)

_COLUMNS = 6
_SCORE = re.compile(NUMBER.pattern.encode())
_RANK = re.compile(rb"[+-]?[0-9]{1,9}")
_END_OF_LINE = b" \x00 "
_ALL_BUT_BLANKS = bytes(c for c in range(32) if c not in b"\t\n") + b"\x7f"


class TrecReader:
    """A reader of TREC files for the keys of a benchmark.

    Empty lines are skipped. Raises `InvalidInput` with the line if `TextBlocks` refuses the file,
    or if a line does not have six columns, has a control character, names an unknown caption or
    video, has a rank that is not an integer or a score that is not a finite decimal number, or
    repeats a pair.
    """

    def __init__(self, query_numbers: Mapping[str, int], video_numbers: Mapping[str, int]) -> None:
        # Keys are looked up as UTF-8 bytes, so that lines do not have to be decoded.
        self._queries = {key.encode(): number for key, number in query_numbers.items()}
        self._videos = {key.encode(): number for key, number in video_numbers.items()}
        self._key_ranks = key_ranks(video_numbers)
        self._tag: bytes | None = None
        self._other_tags = False

    def read(self, blocks: TextBlocks, depth: int | None) -> RunData:
        """Return the run in `blocks`, with each list ordered and cut to `depth`.

        Nearly all files are grouped by caption. Then each list is ordered and cut as soon as it is
        complete. Otherwise the file is read again and sorted in a temporary file, with 24 bytes per
        line.
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
        builder = ListBuilder(
            n_queries=len(self._queries),
            video_key_ranks=self._key_ranks,
            depth=depth,
            source=blocks.source,
        )
        add_all(builder, self._parts(blocks))
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
            # With more predictions than videos, one is repeated, so reading can stop.
            if len(last[0]) > len(self._videos):
                builder.refuse_repeated_pairs(last[0])
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
            if len(block.translate(None, _ALL_BUT_BLANKS)) != len(block):
                self._refuse_control(blocks, block)
            columns = _columns_of(block)
            if columns is None:
                yield from self._uneven_part(blocks, block)
            else:
                lines = np.arange(len(columns[0]), dtype=np.int32) + (blocks.lines_before + 1)
                yield self._predictions(blocks, columns, lines)

    def _uneven_part(self, blocks: TextBlocks, block: bytes) -> Iterator[Predictions]:
        """Convert a block that has empty lines, no newline at its end, or lines of other widths."""
        texts = block.split(b"\n")
        rows = [text.split() for text in texts if text]
        filled = np.fromiter(map(bool, texts), np.bool_, len(texts))
        lines = (np.flatnonzero(filled) + blocks.lines_before + 1).astype(np.int32)
        at = next((at for at, row in enumerate(rows) if len(row) != _COLUMNS), len(rows))
        if at:  # an error in an earlier line is reported first
            part = self._predictions(blocks, list(zip(*rows[:at], strict=True)), lines[:at])
        if at < len(rows):
            reason = f"the line has {len(rows[at])} columns instead of {_COLUMNS}"
            raise InvalidInput(reason, source=blocks.source, line=int(lines[at]))
        if rows:
            yield part

    def _predictions(
        self, blocks: TextBlocks, columns: list[Sequence[bytes]], lines: Int32s
    ) -> Predictions:
        """Convert columns of texts to arrays. Only an error is looked up row by row."""
        queries, _, videos, ranks, scores, tags = columns
        query = np.fromiter(map(self._queries.get, queries, repeat(-1)), np.int32, len(lines))
        video = np.fromiter(map(self._videos.get, videos, repeat(-1)), np.int32, len(lines))
        numeric = all(map(_RANK.fullmatch, ranks)) and all(map(_SCORE.fullmatch, scores))
        if not numeric or query.min() < 0 or video.min() < 0:
            self._refuse_first(blocks, columns, lines)
        score = np.fromiter(map(float, scores), np.float64, len(lines))
        if np.abs(score).max() > FLOAT32_MAX:
            self._refuse_first(blocks, columns, lines)
        rank = np.fromiter(map(int, ranks), np.int32, len(lines))
        self._note_tags(tags)
        return Predictions(query=query, video=video, score=score, rank=rank, line=lines)

    def _note_tags(self, tags: Sequence[bytes]) -> None:
        if self._tag is None:
            self._tag = tags[0]
        self._other_tags = self._other_tags or set(tags) != {self._tag}

    def _refuse_first(
        self, blocks: TextBlocks, columns: list[Sequence[bytes]], lines: Int32s
    ) -> NoReturn:
        rows = zip(*columns, strict=True)
        faults = ((self._fault(row), int(line)) for row, line in zip(rows, lines, strict=True))
        reason, line = next((reason, line) for reason, line in faults if reason)
        raise InvalidInput(reason, source=blocks.source, line=line)

    def _fault(self, row: tuple[bytes, ...]) -> str | None:
        query, _, video, rank, score, _ = row
        if query not in self._queries:
            return key_fault(query.decode(), "caption") or f"unknown caption {shown(query)}"
        if video not in self._videos:
            return key_fault(video.decode(), "video") or f"unknown video {shown(video)}"
        if not _RANK.fullmatch(rank):
            return f"the rank {shown(rank)} is not an integer of at most nine digits"
        if not _SCORE.fullmatch(score):
            return f"the score {shown(score)} is not a finite decimal number"
        if abs(float(score)) > FLOAT32_MAX:
            return f"the score {shown(score)} is beyond the range of 32-bit numbers"
        return None

    def _refuse_control(self, blocks: TextBlocks, block: bytes) -> NoReturn:
        for line, text in enumerate(block.split(b"\n"), start=blocks.lines_before + 1):
            if len(text.translate(None, _ALL_BUT_BLANKS)) != len(text):
                raise InvalidInput(
                    "the line has a control character", source=blocks.source, line=line
                )
        raise AssertionError("a block with a control character has a line with one")


def _columns_of(block: bytes) -> list[Sequence[bytes]] | None:
    """Return the columns of a block, or None unless all its lines are complete and have six.

    The whole block is split at once, with a mark in place of each newline. No line contains the
    mark, because it is a control character.
    """
    texts = block.replace(b"\n", _END_OF_LINE).split()
    ends = texts[_COLUMNS :: _COLUMNS + 1]
    if len(ends) * (_COLUMNS + 1) != len(texts) or set(ends) != {_END_OF_LINE.strip()}:
        return None
    return [texts[column :: _COLUMNS + 1] for column in range(_COLUMNS)]

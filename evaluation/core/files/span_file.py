"""The spans of a label set as a file: where in its video each relevant pair applies.

The first line counts the relevant pairs for which people did not agree on a span. Then follows a
CSV table with one line per span, ordered by caption and video number, start and end.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from evaluation.core.arrays import IntArray
from evaluation.core.files.rows import Column, Kind, Rows
from hearth.shared.errors import InvalidInput
from pooling.core.pair_space import PairSpace
from pooling.moments.core.spans import Spans

TABLE_COLUMNS: Final = (
    Column("caption_id"),
    Column("video_id"),
    Column("start", Kind.SECONDS),
    Column("end", Kind.SECONDS),
    Column("support", Kind.NUMBER),
)
COLUMNS: Final = tuple(column.name for column in TABLE_COLUMNS)
_HEADER: Final = "# relevant pairs without a span: "


def span_rows(
    spans: Spans, support: IntArray, space: PairSpace, keys: tuple[Sequence[str], Sequence[str]]
) -> Iterator[tuple[str, str, float, float, int]]:
    """Yield the cells of each span. support: int64 [n], in the order of the spans."""
    queries, videos = (numbers.tolist() for numbers in space.decode(spans.codes))
    times = zip(spans.starts.tolist(), spans.ends.tolist(), support.tolist(), strict=True)
    for query, video, (start, end, people) in zip(queries, videos, times, strict=True):
        yield keys[0][query], keys[1][video], start, end, people


def render_spans(
    spans: Spans,
    support: IntArray,
    space: PairSpace,
    keys: tuple[Sequence[str], Sequence[str]],
    n_unsettled: int,
) -> bytes:
    """Return the bytes of the file. Times have three decimals."""
    text = io.StringIO()
    text.write(f"{_HEADER}{n_unsettled}\n")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for query, video, start, end, people in span_rows(spans, support, space, keys):
        writer.writerow((query, video, f"{start:.3f}", f"{end:.3f}", people))
    return text.getvalue().encode()


def table_of(text: str) -> Rows:
    """Return the rows of a spans file as a table with typed columns."""
    _, _, table = text.partition("\n")
    rows = list(csv.reader(io.StringIO(table)))[1:]
    return Rows(TABLE_COLUMNS, [rows] if rows else [])


def parse_spans(
    text: str, query_numbers: dict[str, int], video_numbers: dict[str, int], space: PairSpace
) -> tuple[Spans, IntArray, int]:
    """Reverse `render_spans`: the spans, their support, and the number of pairs without a span."""
    header, _, table = text.partition("\n")
    rows = list(csv.reader(io.StringIO(table)))
    if not header.startswith(_HEADER) or tuple(rows[0]) != COLUMNS:
        raise InvalidInput("This is not the spans file of a label set.")
    codes = [space.encode(query_numbers[row[0]], video_numbers[row[1]]) for row in rows[1:]]
    starts, ends, support = ([row[i] for row in rows[1:]] for i in (2, 3, 4))
    spans = Spans.of(codes, np.array(starts, np.float64), np.array(ends, np.float64))
    return spans, np.array(support, np.int64), int(header.removeprefix(_HEADER))

"""The frozen files of a label set, unchanged or as tables in other formats."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

from evaluation.core.files import rows as files
from evaluation.core.files.label_file import header_of
from evaluation.core.files.parquet import parquet as write_parquet
from evaluation.core.files.rows import Block, Column, Kind, Rows, csv_lines, read_blocks
from evaluation.core.files.span_file import table_of
from evaluation.models import LabelSet
from evaluation.release.exports.options import JUDGMENT_COLUMNS, ExportOptions
from evaluation.spans.selectors import spans_content
from hearth.shared.tables import plain_text
from pooling.selectors.arrays import query_keys, query_texts

BYTES_PER_PIECE = 1 << 20
LABEL_COLUMNS = (
    Column("caption_id"),
    Column("video_id"),
    Column("label", Kind.NUMBER, may_be_empty=True),
    Column("source"),
    Column("judgments", Kind.NUMBER),
    Column("relevant", Kind.NUMBER),
)
CAPTION = Column("caption")
# The types of the columns of the judgments file. All other columns contain texts.
JUDGMENT_KINDS = {
    "label": Kind.NUMBER,
    "queue": Kind.NUMBER,
    "position": Kind.NUMBER,
    "is_planned": Kind.FLAG,
}


def label_columns(options: ExportOptions) -> tuple[Column, ...]:
    """Return the columns of the tables of labels."""
    return (*LABEL_COLUMNS, CAPTION) if options.texts else LABEL_COLUMNS


def judgment_columns(label_set: LabelSet) -> tuple[Column, ...]:
    """Return the columns of the judgments file, which older label sets have fewer of."""
    with open_frozen(label_set.judgments_file) as stream:
        names = header_of(stream.readline())
    return tuple(Column(name, JUDGMENT_KINDS.get(name, Kind.TEXT)) for name in names)


def csv(label_set: LabelSet, options: ExportOptions) -> Iterator[bytes]:
    """Yield the frozen file, uncompressed. Its SHA-256 is that of the label set."""
    yield from frozen_pieces(label_set.file)


def judgments(label_set: LabelSet, options: ExportOptions) -> Iterator[bytes]:
    """Yield the single judgments with the pseudonyms of this label set.

    The command `import_judgments` reads this format. Without additional columns, the bytes are
    those of the frozen file.
    """
    if not options.columns:
        yield from frozen_pieces(label_set.judgments_file)
        return
    names = [column.name for column in judgment_columns(label_set)]
    yield (",".join([*names, *options.columns]) + "\n").encode()
    places = [JUDGMENT_COLUMNS.index(name) for name in options.columns]
    for block, details in _with_details(label_set):
        rows = (
            [*row, *(cells[place] for place in places)]
            for row, cells in zip(block, details, strict=True)
        )
        yield csv_lines(rows)


def _with_details(label_set: LabelSet) -> Iterator[tuple[Block, Block]]:
    """Yield the rows of the judgments file and those of the details file."""
    blocks = frozen_blocks(label_set.judgments_file)
    if label_set.details_file:
        yield from zip(blocks, frozen_blocks(label_set.details_file), strict=True)
        return
    for block in blocks:
        yield block, [[""] * len(JUDGMENT_COLUMNS)] * len(block)


def spreadsheet(label_set: LabelSet, options: ExportOptions) -> Iterator[bytes]:
    yield from files.spreadsheet(_label_rows(label_set, options), plain_text)


def json_lines(label_set: LabelSet, options: ExportOptions) -> Iterator[bytes]:
    yield from files.json_lines(_label_rows(label_set, options))


def parquet(label_set: LabelSet, options: ExportOptions) -> Iterator[bytes]:
    yield from write_parquet(_label_rows(label_set, options), _metadata(label_set))


def judgments_parquet(label_set: LabelSet) -> Iterator[bytes]:
    """Yield the single judgments as Parquet."""
    blocks = frozen_blocks(label_set.judgments_file)
    yield from write_parquet(Rows(judgment_columns(label_set), blocks), _metadata(label_set))


def spans_parquet(label_set: LabelSet) -> Iterator[bytes]:
    """Yield the spans of people as Parquet."""
    yield from write_parquet(table_of(spans_content(label_set).decode()), _metadata(label_set))


def _metadata(label_set: LabelSet) -> dict[str, str]:
    return {
        "benchmark": label_set.benchmark.key,
        "version": str(label_set.reference),
        "sha256": label_set.sha256,
    }


@contextmanager
def open_frozen(file: Any) -> Iterator[BinaryIO]:
    """Open a frozen file of a label set. Reading from it uncompresses it."""
    with file.storage.open(file.name, "rb") as packed, gzip.open(packed) as stream:
        yield cast(BinaryIO, stream)


def frozen_blocks(file: Any) -> Iterator[Block]:
    """Yield the rows of a frozen file, without its header."""
    with open_frozen(file) as stream:
        yield from read_blocks(stream)


def _label_rows(label_set: LabelSet, options: ExportOptions) -> Rows:
    rows = Rows(LABEL_COLUMNS, frozen_blocks(label_set.file))
    if not options.texts:
        return rows
    benchmark = label_set.benchmark
    texts = dict(zip(query_keys(benchmark), query_texts(benchmark), strict=True))
    return rows.with_cell_of_first(CAPTION, texts)


def frozen_pieces(file: Any) -> Iterator[bytes]:
    """Yield the uncompressed contents of a frozen file."""
    with open_frozen(file) as stream:
        while piece := stream.read(BYTES_PER_PIECE):
            yield piece

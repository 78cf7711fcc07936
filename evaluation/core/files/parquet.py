"""Tables as Parquet. pyarrow is imported when the first file is written, because it is large."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from evaluation.core.files.rows import Block, Column, Kind, Rows

if TYPE_CHECKING:
    import pyarrow


class _Sink:
    """A file for pyarrow to write to. It keeps only the bytes that have not been taken yet."""

    closed = False

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0

    def write(self, piece: bytes) -> int:
        self._pieces.append(bytes(piece))
        self._size += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self._size

    def flush(self) -> None:
        """Do nothing: the bytes are in memory."""

    def close(self) -> None:
        self.closed = True

    def take(self) -> bytes:
        piece = b"".join(self._pieces)
        self._pieces.clear()
        return piece


def parquet(rows: Rows, metadata: Mapping[str, str]) -> Iterator[bytes]:
    """Yield the table as Parquet, one row group per block.

    metadata: texts that are stored in the file. Equal blocks with equal metadata give equal bytes
    with the same version of pyarrow.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {
        Kind.TEXT: pa.string(),
        Kind.NUMBER: pa.int64(),
        Kind.SECONDS: pa.float64(),
        Kind.FLAG: pa.bool_(),
    }
    schema = pa.schema(
        [(column.name, types[column.kind]) for column in rows.columns],
        metadata=dict(metadata),
    )
    sink = _Sink()
    with pq.ParquetWriter(sink, schema, compression="zstd") as writer:
        for block in rows.blocks:
            writer.write_table(pa.table(_arrays(rows, block), schema=schema))
            yield sink.take()
    yield sink.take()


def _arrays(rows: Rows, block: Block) -> list[pyarrow.Array]:
    columns = zip(rows.columns, zip(*block, strict=True), strict=True)
    return [_array(column, cells) for column, cells in columns]


def _array(column: Column, cells: tuple[str, ...]) -> pyarrow.Array:
    import pyarrow as pa

    if column.kind is Kind.TEXT:
        return pa.array(cells, pa.string())
    if column.kind is Kind.FLAG:
        return pa.array([cell == "true" for cell in cells], pa.bool_())
    if column.kind is Kind.SECONDS:
        return pa.array(map(float, cells), pa.float64())
    return pa.array([int(cell) if cell else None for cell in cells], pa.int64())

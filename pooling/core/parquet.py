"""Parquet files that a person imports. pyarrow is imported when the first one is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pooling.core.lines import SourceFile

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

PARQUET: Final = b"PAR1"
_TEXTS = ("string", "large_string")


def open_parquet(file: SourceFile) -> ParquetFile:
    """Open a file. Its texts are read as dictionaries, so that equal texts are stored once."""
    import pyarrow.parquet as pq

    names = [field.name for field in pq.read_schema(file.path) if str(field.type) in _TEXTS]
    return pq.ParquetFile(file.path, read_dictionary=names)


def parquet_head(file: SourceFile, most: int = 6) -> list[dict[str, Any]]:
    """Return the first rows of a file without its binary columns; [] if it is damaged.

    A file without rows has one row in which all values are empty.
    """
    import pyarrow

    try:
        opened = open_parquet(file)
        names = [f.name for f in opened.schema_arrow if not _is_binary(str(f.type))]
        batch = next(opened.iter_batches(most, columns=names), None)
        found: list[dict[str, Any]] = batch.slice(0, most).to_pylist() if batch else []
        return found or [dict.fromkeys(names, "")]
    except (pyarrow.ArrowException, OSError):
        return []


def _is_binary(kind: str) -> bool:
    return "binary" in kind or kind.startswith(("struct", "map"))

"""The start of a checked file of judgments, for the page on which its columns are selected."""

from __future__ import annotations

from annotation.core.readers.judgments import CSV, JUDGMENTS
from hearth.shared.errors import Cancelled, InvalidInput
from hearth.shared.uploads import uploaded_file
from pooling.core.lines import SourceFile
from pooling.core.readers.benchmarks.table import TableHead, table_head
from pooling.core.readers.registry import Head


def kept_table(name: str, source: str) -> TableHead | None:
    """Return the columns and first rows of a kept upload, or None if it is gone or no table.

    They may name annotators, so only leads may see them, and no job may store them.
    """
    try:
        file = SourceFile.at(uploaded_file(name), source)
        if JUDGMENTS.choose(file).name != CSV:
            return None
        head = table_head(Head.of(file))
    except (Cancelled, InvalidInput):
        return None
    return head if head.columns and head.format in ("csv", "tsv") else None

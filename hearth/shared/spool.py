"""Arrays of rows in a temporary file, for work whose rows do not fit into memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from django.conf import settings

Rows = npt.NDArray[np.void]


class Spool:
    """Arrays of rows in a temporary file. Each iteration yields the arrays in their order.

    Use it as a context manager, and add all arrays before the first iteration.
    """

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self._dtype = dtype
        self._lengths: list[int] = []

    def __enter__(self) -> Self:
        # The file is not in /tmp, which may be in memory.
        self._file = tempfile.TemporaryFile(dir=settings.HEARTH_HOME)
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __len__(self) -> int:
        return sum(self._lengths)

    def add(self, rows: Rows) -> None:
        self._file.write(rows.tobytes())
        self._lengths.append(len(rows))

    def __iter__(self) -> Iterator[Rows]:
        start = 0
        for length in self._lengths:
            self._file.seek(start)
            size = length * self._dtype.itemsize
            yield np.frombuffer(self._file.read(size), self._dtype)
            start += size

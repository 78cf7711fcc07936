"""The file of a proxy: a `.npy` matrix of float16 with a row for each caption and a column for each
video. The file is mapped into memory, so only the parts that are read need memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from pooling.core.proxies.word_sets import Matrix


@contextmanager
def new_matrix(n_queries: int, n_videos: int) -> Iterator[tuple[Path, Matrix]]:
    """Yield a temporary file and its matrix, which is full of zeros."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "proxy.npy"
        shape = (n_queries, n_videos)
        yield path, np.lib.format.open_memmap(path, "w+", np.float16, shape)


def open_matrix(path: Path) -> Matrix:
    """Return the matrix of a stored proxy, read-only."""
    matrix: Matrix = np.lib.format.open_memmap(path, "r")
    return matrix

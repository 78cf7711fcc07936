"""The whole similarity matrix of a run. Measures that use the ranks of all items need it.

The matrix is stored in two `.npy` files with a row for each row of the run. `similarities` holds
float16 [n_rows, n_items]. Rounding to float16 makes different similarities equal, so `order` holds
the items of each row, best first, as they were ordered before rounding: unsigned integers
[n_rows, n_items]. Ranks come only from `order`. Both files are mapped into memory.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from pooling.core.arrays import Int64s
from pooling.core.pair_space import PairSpace

# The number of similarities that are written at once.
_WRITTEN_CELLS: Final = 1 << 21
FLOAT16_MAX: Final = float(np.finfo(np.float16).max)
Integers = npt.NDArray[np.integer[Any]]


@dataclass(slots=True, eq=False)
class WholeMatrix:
    """The files into which the whole matrix of a run is written while its file is read.

    n_clipped: the number of similarities beyond the range of float16. They are stored as the lowest
    or the highest float16.
    """

    similarity_path: Path
    order_path: Path
    similarities: npt.NDArray[np.float16]
    order: Integers
    n_clipped: int = 0

    def write(self, band: slice, rows: npt.NDArray[np.floating[Any]], items: Int64s) -> None:
        """Write the rows `band` of both files.

        rows: the similarities of each row, in the order of the items' numbers. items: the numbers
        of the items, best first. Both are [n, n_items].
        """
        self.n_clipped += int(np.count_nonzero(np.abs(rows) > FLOAT16_MAX))
        self.similarities[band] = np.clip(rows, -FLOAT16_MAX, FLOAT16_MAX)
        self.order[band] = items

    @property
    def warnings(self) -> tuple[str, ...]:
        if not self.n_clipped:
            return ()
        return (
            "similarities above 65504 or below -65504 are stored as these limits, without an "
            f"effect on ranks: {self.n_clipped:,}",
        )


@contextmanager
def new_whole_matrix(space: PairSpace) -> Iterator[WholeMatrix]:
    """Yield temporary files for a run with the rows and items of `space`."""
    shape = (space.n_queries, space.n_videos)
    numbers = np.uint16 if space.n_videos <= np.iinfo(np.uint16).max else np.uint32
    with TemporaryDirectory() as folder:
        paths = Path(folder) / "similarities.npy", Path(folder) / "order.npy"
        yield WholeMatrix(
            *paths,
            np.lib.format.open_memmap(paths[0], "w+", np.float16, shape),
            np.lib.format.open_memmap(paths[1], "w+", numbers, shape),
        )


def write_similarities(
    similarities: npt.NDArray[np.float16], write: Callable[[bytes], Any]
) -> None:
    """Write a matrix of any memory order as a `.npy` file, some rows at a time."""
    header = io.BytesIO()
    fields = {"descr": "<f2", "fortran_order": False, "shape": similarities.shape}
    np.lib.format.write_array_header_1_0(header, fields)
    write(header.getvalue())
    step = max(1, _WRITTEN_CELLS // similarities.shape[1])
    for start in range(0, len(similarities), step):
        write(np.ascontiguousarray(similarities[start : start + step], "<f2").tobytes())

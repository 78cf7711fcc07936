"""A proxy from embeddings of captions and videos that another program computed.

A model that was trained on the data of a retrieval system, or in the same way, favours that system.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from hearth.shared.errors import InvalidInput
from hearth.shared.progress import Progress, no_progress
from pooling.core.arrays import Float32s, Int64s
from pooling.core.proxies.word_sets import COMPARING, Matrix
from pooling.core.readers.proxies import open_floats

Vectors = npt.NDArray[np.floating[Any]]

# The number of cells that are computed at once.
_BLOCK_CELLS: Final = 4 << 20


def unit_vectors(vectors: Vectors) -> Float32s:
    """Return the rows scaled to length 1, float32 [n, d]. A row of zeros is not changed.

    Raises InvalidInput if a number is not finite.
    """
    if not np.isfinite(vectors).all():
        raise InvalidInput("the embeddings contain a number that is not finite")
    wide = vectors.astype(np.float64)
    lengths = np.sqrt((wide**2).sum(axis=1, keepdims=True))
    units: Float32s = (wide / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return units


def read_vectors(path: Path, n_rows: int, noun: str, source: str) -> Float32s:
    """Return the rows of a `.npy` file, scaled to length 1, float32 [n_rows, d].

    noun: the name of the rows in errors, in the plural. Raises InvalidInput if the file is not such
    a matrix or a number is not finite.
    """
    found = open_floats(path, source)
    if found.ndim != 2 or not found.shape[1]:
        reason = f"the embeddings must be a matrix with a row for each of the {n_rows:,} {noun}"
        raise InvalidInput(reason, source=source)
    if len(found) != n_rows:
        reason = f"the file has {len(found):,} rows, but the benchmark has {n_rows:,} {noun}"
        raise InvalidInput(reason, source=source)
    units = np.empty(found.shape, np.float32)
    step = max(1, _BLOCK_CELLS // found.shape[1])
    for start in range(0, n_rows, step):
        try:
            units[start : start + step] = unit_vectors(found[start : start + step])
        except InvalidInput as error:
            raise InvalidInput(error.reason, source=source) from None
    return units


def group_vectors(vectors: Float32s, groups: Sequence[Sequence[int] | Int64s]) -> Float32s:
    """Return the mean of the vectors of each group, scaled to length 1, float32 [n_groups, d].

    This is the vector of a video if only its captions have embeddings. It is zero for an empty
    group.
    """
    means = np.zeros((len(groups), vectors.shape[1]), np.float32)
    for number, group in enumerate(groups):
        if len(group):
            means[number] = vectors[np.asarray(group)].mean(axis=0)
    return unit_vectors(means)


def fill_sentences(
    out: Matrix,
    vectors: Float32s,
    own: tuple[Int64s, Int64s],
    n_videos: int,
    own_is_one: bool,
    progress: Progress = no_progress,
) -> int:
    """Write the cosine of each caption with the mean of each video's other captions into `out`.

    out: [n_videos, n_captions]. vectors: float32 [n_captions, d], of length 1. own: the videos and
    captions of the original positives. own_is_one: whether an own pair has the value 1; otherwise
    the caption is left out of the mean of its video. Negative cosines become 0. Returns the number
    of videos without captions to compare with, whose pairs have no value and are 0.
    """
    videos, captions = own
    sums = np.zeros((n_videos, vectors.shape[1]))
    np.add.at(sums, videos, vectors[captions])
    fill_cosine(out, unit_vectors(sums), vectors, progress)
    if own_is_one:
        out[own] = 1
    else:
        others = unit_vectors(sums[videos] - vectors[captions])
        others[np.bincount(videos, minlength=n_videos)[videos] == 1] = 0
        out[own] = np.clip((others * vectors[captions]).sum(axis=1), 0, 1)
    return n_videos - len(np.unique(videos))


def fill_cosine(
    out: Matrix, rows: Float32s, columns: Float32s, progress: Progress = no_progress
) -> None:
    """Write the cosine of all pairs into `out`, [n_rows, n_columns]; negative ones become 0.

    rows, columns: vectors of length 1, as `unit_vectors` returns them. Raises InvalidInput if
    rows and columns have different numbers of dimensions, and ValueError if `out` has another
    shape.
    """
    if rows.shape[1] != columns.shape[1]:
        reason = f"the embeddings have {rows.shape[1]} and {columns.shape[1]} numbers per row"
        raise InvalidInput(reason)
    if out.shape != (len(rows), len(columns)):
        raise ValueError("the matrix must have a cell for each row and column")
    step = max(1, _BLOCK_CELLS // max(1, len(columns)))
    for start in range(0, len(rows), step):
        progress(start, len(rows), COMPARING)
        out[start : start + step] = np.clip(rows[start : start + step] @ columns.T, 0, 1)

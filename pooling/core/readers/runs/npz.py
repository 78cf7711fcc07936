"""Runs as matrices in an `.npz` archive, whose names say what they are.

`sims` (or another name) is captions x videos. `t2v` and `v2t` are matrices of one direction each,
so that one file has both runs. With `query_masks` (Frozen in Time, Bain et al., ICCV 2021), each
video has the same number of rows, and the mask names those that are captions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from hearth.shared.errors import InvalidInput
from pooling.core.direction import Direction
from pooling.core.lines import SourceFile, sha256_of_file
from pooling.core.ordering import RunData
from pooling.core.readers.registry import Fit, Head
from pooling.core.readers.runs import RunOf, RunReader
from pooling.core.readers.runs.matrix import MatrixReader, checked_array
from pooling.core.zipped import ZIP, unpacked

MASKS = ("query_masks", "query_mask", "masks", "mask")
BY_DIRECTION = {
    Direction.TEXT_TO_VIDEO: ("t2v", "t2v_sims", "sims_t2v", "text_to_video", "t2v_sim_matrix"),
    Direction.VIDEO_TO_TEXT: ("v2t", "v2t_sims", "sims_v2t", "video_to_text", "v2t_sim_matrix"),
}
SIMILARITIES = ("sims", "sim", "similarity", "similarities", "sim_matrix", "scores", "arr_0")


def _read(file: SourceFile, of: RunOf) -> RunData:
    with unpacked(file) as members, TemporaryDirectory() as folder:
        arrays = {member.name: checked_array(member.file) for member in members}
        name = _name(arrays, of.direction, file.source)
        values = arrays[name]
        if name in BY_DIRECTION[Direction.VIDEO_TO_TEXT]:
            values = values.T  # in both directions, the rows of a matrix are captions
        mask = next((arrays[found] for found in MASKS if found in arrays), None)
        if mask is not None and mask.sum() != len(values):
            values = _by_video(values, mask, Path(folder) / "masked.npy", file.source)
        path = Path(folder) / "matrix.npy"
        np.save(path, values, allow_pickle=False)
        data = MatrixReader(of, f"{file.source}: {name}").read(path, file.progress)
    content = sha256_of_file(file.path, file.source)
    return replace(data, sha256=content, format=READER.name)


def is_npz(names: Sequence[str]) -> bool:
    """Return whether an archive with these names is one .npz file, not a matrix for each run."""
    known = {*SIMILARITIES, *MASKS, *(name for some in BY_DIRECTION.values() for name in some)}
    stems = [name.removesuffix(".npy") for name in names]
    is_known = len(names) == 1 or not known.isdisjoint(stems)
    return is_known and all(name.endswith(".npy") for name in names)


def _name(arrays: Mapping[str, object], direction: Direction, source: str) -> str:
    """Return the name of the matrix of a direction."""
    names = [name for name in arrays if name not in MASKS]
    for known in (BY_DIRECTION[direction], SIMILARITIES):
        found = [name for name in names if name in known]
        if len(found) == 1:
            return found[0]
    other = [name for known in BY_DIRECTION.values() for name in known if name in names]
    if len(names) == 1 and not other:
        return names[0]
    reason = (
        f"which of the matrices {', '.join(names)} is the {direction} run is not known; name it "
        f"{BY_DIRECTION[direction][0]}, or {SIMILARITIES[0]} if it has both directions"
    )
    raise InvalidInput(reason, source=source)


def _by_video(
    values: npt.NDArray[Any], mask: npt.NDArray[Any], path: Path, source: str
) -> npt.NDArray[Any]:
    """Return videos x rows x videos, with -inf in the rows that the mask leaves out."""
    n_videos = values.shape[-1]
    if mask.size * n_videos != values.size or mask.size % n_videos:
        shapes = " and ".join(" x ".join(map(str, each.shape)) for each in (values, mask))
        reason = f"the matrix and its mask do not belong together: {shapes}"
        raise InvalidInput(reason, source=source)
    shape = (n_videos, mask.size // n_videos, n_videos)
    target = np.lib.format.open_memmap(path, "w+", np.dtype("f4"), shape)
    target[:] = values.reshape(shape)
    target[~mask.reshape(shape[:2]).astype(bool)] = -np.inf
    return target


def _fits(head: Head) -> Fit:
    return Fit.SURE if head.start.startswith(ZIP) else Fit.NO


READER: Final = RunReader(
    name="npz",
    title="NumPy archive (.npz)",
    place=7,
    about="Named matrices: sims (captions × videos), or t2v and v2t for the two directions, with "
    "or without query_masks.",
    fits=_fits,
    read=_read,
    needs_original=True,
    is_matrix=True,
)

"""Similarities of sentences and clips in JSON lines, and the two files in which they are stored.

A line is `{"paragraph": KEY, "video": KEY, "clips": [[start, end], …], "r": [[…], …]}`: for each
sentence of the paragraph, by place, the similarity with each clip of the video.

The values are stored as float32, little-endian: for each pair the starts and ends of its N clips,
[N, 2], and then the M x N similarities. The index is a `.npy` array, int64 [n_pairs, 4], ascending
by pair code: the code, the position of the first value, M and N.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from hearth.shared.errors import InvalidInput
from pooling.core.arrays import Float32s, Int64s
from pooling.core.keys import shown
from pooling.core.lines import SourceFile

# A paragraph with 100 sentences and 500 clips has about 500 KB.
MAX_LINE = 8 << 20
MAX_BYTES = 16 << 30
LARGEST = float(np.finfo(np.float32).max)
_decode = json.JSONDecoder().decode
MEMBERS = ("paragraph", "video", "clips", "r")


@dataclass(frozen=True, slots=True)
class SimilaritiesOf:
    """The benchmark of the file: the numbers of paragraphs and videos by key.

    sentences: the number of sentences of each paragraph, by its number.
    """

    paragraphs: Mapping[str, int]
    videos: Mapping[str, int]
    sentences: Sequence[int]


@dataclass(frozen=True, slots=True, eq=False)
class ReadSimilarities:
    """The index of the values that have been written, and the hash of the file's content."""

    index: Int64s
    sha256: str


def read_similarities(file: SourceFile, of: SimilaritiesOf, values: IO[bytes]) -> ReadSimilarities:
    """Write the values of a file, line by line. Only one line is in memory.

    Raises `InvalidInput` with the line if a paragraph or video is unknown, a pair is repeated,
    shapes disagree, or a number is not finite.
    """
    blocks = file.blocks(max_line=MAX_LINE, max_bytes=MAX_BYTES)
    rows, lines, position = array("q"), array("q"), 0
    for line, text in enumerate(blocks.text_lines(), start=1):
        if not text.strip():
            continue
        try:
            code, clips, r = _parsed(text, of)
        except ValueError as error:
            raise InvalidInput(str(error), source=file.source, line=line) from None
        values.write(clips.tobytes())
        values.write(r.tobytes())
        rows.extend((code, position, *r.shape))
        lines.append(line)
        position += clips.size + r.size
    if not rows:
        raise InvalidInput("the file has no similarities", source=file.source)
    index = np.frombuffer(rows, np.int64).reshape(-1, 4)
    order = np.argsort(index[:, 0], kind="stable")
    _refuse_repeated(index[order, 0], np.frombuffer(lines, np.int64)[order], file.source)
    return ReadSimilarities(index[order], blocks.sha256)


def _refuse_repeated(codes: Int64s, lines: Int64s, source: str) -> None:
    repeated = np.flatnonzero(codes[1:] == codes[:-1])
    if len(repeated):
        at = repeated[np.argmin(lines[repeated + 1])]
        reason = f"the same paragraph and video as in line {lines[at]}"
        raise InvalidInput(reason, source=source, line=int(lines[at + 1]))


def _parsed(text: str, of: SimilaritiesOf) -> tuple[int, Float32s, Float32s]:
    """Return the pair code, the clips [N, 2] and the similarities [M, N] of a line.

    Raises `ValueError` with the reason.
    """
    try:
        found = _decode(text)
    except (ValueError, RecursionError):
        raise ValueError("this is not a JSON object") from None
    if not isinstance(found, dict):
        raise ValueError("this is not a JSON object")
    if missing := [name for name in MEMBERS if name not in found]:
        raise ValueError(f"the object has no {missing[0]!r}")
    paragraph = _number(found["paragraph"], of.paragraphs, "paragraph")
    video = _number(found["video"], of.videos, "video")
    clips = _matrix(found["clips"], "clips")
    if clips.shape[1] != 2 or clips.min() < 0 or (clips[:, 0] > clips[:, 1]).any():
        raise ValueError("each of the clips must be [start, end] with 0 <= start <= end")
    r = _matrix(found["r"], "r")
    wanted = (of.sentences[paragraph], len(clips))
    if r.shape != wanted:
        raise ValueError(
            f"r has {r.shape[0]} x {r.shape[1]} numbers, but the paragraph has {wanted[0]} "
            f"sentences, and there are {wanted[1]} clips"
        )
    return paragraph * len(of.videos) + video, clips, r


def _number(key: Any, numbers: Mapping[str, int], noun: str) -> int:
    if not isinstance(key, str) or key not in numbers:
        raise ValueError(f"unknown {noun} {shown(str(key))}")
    return numbers[key]


def _matrix(value: Any, name: str) -> Float32s:
    try:
        found = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"the rows of {name!r} differ in length, or are no numbers") from None
    if found.ndim != 2 or not found.size:
        raise ValueError(f"{name!r} must be a list of lists of numbers")
    if not np.abs(found).max() <= LARGEST:  # also true for NaN
        raise ValueError(f"{name!r} has a number that is not finite")
    return found.astype("<f4")


@dataclass(frozen=True, slots=True, eq=False)
class PairMatrix:
    """clips: float32 [N, 2], starts and ends in seconds. r: float32 [M, N]."""

    clips: Float32s
    r: Float32s


@dataclass(frozen=True, slots=True, eq=False)
class StoredSimilarities:
    """The two files, mapped into memory."""

    index: Int64s
    values: npt.NDArray[np.float32]

    @classmethod
    def at(cls, index: Path, values: Path) -> StoredSimilarities:
        return cls(np.load(index, mmap_mode="r"), np.memmap(values, "<f4", "r"))

    def places(self, codes: Int64s) -> Int64s:
        """Return the row of each pair in the index, or -1, int64 [n]."""
        stored = self.index[:, 0]
        places = np.minimum(np.searchsorted(stored, codes), len(stored) - 1)
        return np.where(stored[places] == codes, places, -1)

    def matrix(self, place: int) -> PairMatrix:
        _, start, sentences, clips = self.index[place].tolist()
        r = start + 2 * clips
        return PairMatrix(
            self.values[start:r].reshape(clips, 2),
            self.values[r : r + sentences * clips].reshape(sentences, clips),
        )

"""Ranked lists, numbers and texts packed into bytes, with the same result on every machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pooling.core.arrays import Float32s, Int32s, Int64s
from pooling.core.ordering import RunData

_VIDEO = _NUMBER = np.dtype("<i4")
_SCORE = np.dtype("<f4")


def pack_list(videos: Int32s, scores: Float32s) -> tuple[bytes, bytes]:
    """Pack the video numbers (int32) and scores (float32) of one list, four bytes per value."""
    return videos.astype(_VIDEO, copy=False).tobytes(), scores.astype(_SCORE, copy=False).tobytes()


def unpack_list(videos: bytes, scores: bytes) -> tuple[Int32s, Float32s]:
    """Reverse `pack_list`. Raises `ValueError` if the bytes end within a value."""
    return (
        np.frombuffer(videos, _VIDEO).astype(np.int32),
        np.frombuffer(scores, _SCORE).astype(np.float32),
    )


def packed_lists(run: RunData) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield (query number, packed videos, packed scores) of every list of a run."""
    # One list at a time, because all lists of a large run would take as much memory again.
    bounds = run.offsets.tolist()
    for query, start, end in zip(run.query_numbers.tolist(), bounds, bounds[1:], strict=False):
        yield query, *pack_list(run.videos[start:end], run.scores[start:end])


def unpack_into(ranked: Int32s, blobs: Sequence[bytes], query_numbers: Int32s | Int64s) -> None:
    """Write the first videos of each list into its row of `ranked`, int32 [n_queries, depth].

    `blobs[i]` holds the packed videos of the caption `query_numbers[i]`. This needs about 40 bytes
    per video, so a large run is unpacked in several parts. Raises `ValueError` if the bytes end
    within a value.
    """
    videos = np.frombuffer(b"".join(blobs), _VIDEO)
    sizes = np.fromiter(map(len, blobs), np.int64, len(blobs))
    if (sizes % _VIDEO.itemsize).any():
        raise ValueError("a packed list ends within a value")
    lengths = sizes // _VIDEO.itemsize
    place = np.arange(len(videos)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    kept = place < ranked.shape[1]
    ranked[np.repeat(query_numbers, lengths)[kept], place[kept]] = videos[kept]


def pack_numbers(numbers: Int32s) -> bytes:
    """Pack query numbers, four bytes each."""
    return numbers.astype(_NUMBER).tobytes()


def unpack_numbers(packed: bytes) -> Int32s:
    """Reverse `pack_numbers`. Raises `ValueError` if the bytes end within a value."""
    return np.frombuffer(packed, _NUMBER).astype(np.int32)


def pack_texts(texts: Sequence[str]) -> bytes:
    """Pack one or more texts without NUL as UTF-8, with a NUL between two texts."""
    return "\0".join(texts).encode()


def unpack_texts(packed: bytes) -> list[str]:
    """Reverse `pack_texts`."""
    return packed.decode().split("\0")

"""Clips of videos in a file: the proposals of a system, or the stamps of a further person.

Proposals have the form of `densevid_eval`: `{"results": {VIDEO: [{"timestamp": [start, end]}]}}`.
Stamps have the form of ActivityNet Captions: `{VIDEO: {"timestamps": [[start, end]]}}`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hearth.shared.errors import InvalidInput
from pooling.core.arrays import Float64s
from pooling.core.keys import shown
from pooling.core.lines import SourceFile
from pooling.moments.core.rows import json_file, pair_of, span_fault

MAX_BYTES = 1 << 30
MAX_CLIPS = 20_000_000
RESULTS, STAMPS = "results", "timestamps"


@dataclass(frozen=True, slots=True, eq=False)
class ReadClips:
    """The clips of a file, in the order of their videos.

    table: float64 [n, 3], the number of the video, and start and end in seconds. by_person: whether
    they are the stamps of a person. unknown: number of left out videos that the benchmark does not
    have.
    """

    table: Float64s
    by_person: bool
    unknown: int
    sha256: str

    @property
    def n_videos(self) -> int:
        return len(np.unique(self.table[:, 0]))


def read_clips(file: SourceFile, videos: Mapping[str, int]) -> ReadClips:
    """Read the clips of the videos of a benchmark. videos: their numbers by key.

    Raises `InvalidInput` with the video if a clip is invalid, and if no video is known.
    """
    blocks = file.blocks(max_line=None, max_bytes=MAX_BYTES)
    found = json_file(blocks)
    if not isinstance(found, dict):
        raise InvalidInput("the file is not a JSON object of videos", source=file.source)
    of_person = RESULTS not in found
    lists = found if of_person else found[RESULTS]
    if not isinstance(lists, dict):
        raise InvalidInput(f"{RESULTS!r} is not an object of videos", source=file.source)
    try:
        rows = list(_rows(lists, videos, of_person=of_person))
    except ValueError as error:
        raise InvalidInput(str(error), source=file.source) from None
    if not rows:
        raise InvalidInput("the file has no clip of a video of the benchmark", source=file.source)
    table = np.array(rows, np.float64)
    order = np.argsort(table[:, 0], kind="stable")
    unknown = sum(video not in videos for video in lists)
    return ReadClips(table[order], of_person, unknown, blocks.sha256)


def _rows(
    lists: Mapping[str, Any], videos: Mapping[str, int], *, of_person: bool
) -> Iterator[tuple[int, float, float]]:
    """Yield the clips of the known videos. Raises `ValueError` with the video and the reason."""
    total = 0
    for video, found in lists.items():
        for place, stamp in enumerate(_stamps(video, found, of_person=of_person)):
            start, end = pair_of(stamp) or ("", "")
            if fault := span_fault(start, end, may_be_empty=True):
                raise ValueError(f"video {shown(video)}, clip {place + 1}: {fault}")
            total += 1
            if video in videos:
                yield videos[video], float(start), float(end)
        if total > MAX_CLIPS:
            raise ValueError(f"the file has more than {MAX_CLIPS:,} clips")


def _stamps(video: str, found: Any, *, of_person: bool) -> Iterable[Any]:
    if of_person:
        stamps = found.get(STAMPS) if isinstance(found, dict) else None
        if not isinstance(stamps, list):
            raise ValueError(f"video {shown(video)} has no list {STAMPS!r}")
        return stamps
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise ValueError(f"video {shown(video)} is not a list of objects with a 'timestamp'")
    return [each.get("timestamp") for each in found]

"""Files of machine judgments: a row for each pair, `caption_id,video_id,p`, and `error`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.machines.core.protocol import ERROR_LENGTH, NO_ANSWER
from hearth.shared.errors import InvalidInput
from pooling.core.keys import shown
from pooling.core.lines import SourceFile
from pooling.core.pair_space import PairSpace
from pooling.core.table import CsvTable

HEADER = ("caption_id", "video_id", "p", "error")
MAX_BYTES = 1 << 30


def read_judgments(
    file: SourceFile, queries: Mapping[str, int], videos: Mapping[str, int]
) -> tuple[IntArray, FloatArray, dict[int, str]]:
    """Return the pairs, their probabilities and the errors by pair.

    The pairs are int64 [n], ascending. The probabilities are float64 [n], NaN for an error. Raises
    InvalidInput with the line if a key is unknown, a pair is repeated, or p is not from 0 to 1.
    """
    table = CsvTable(file.blocks(max_bytes=MAX_BYTES), HEADER[:3], HEADER[3:])
    space = PairSpace(len(queries), len(videos))
    found: dict[int, float] = {}
    errors: dict[int, str] = {}
    for line, (caption, video, p, error) in table:
        for key, numbers, noun in ((caption, queries, "caption"), (video, videos, "video")):
            if key not in numbers:
                raise InvalidInput(f"unknown {noun} {shown(key)}", source=file.source, line=line)
        code = queries[caption] * space.n_videos + videos[video]
        if code in found:
            reason = f"the pair {shown(caption)}, {shown(video)} is repeated"
            raise InvalidInput(reason, source=file.source, line=line)
        found[code] = _probability(p, error, file.source, line)
        if not p:
            errors[code] = error[:ERROR_LENGTH] or NO_ANSWER
    if not found:
        raise InvalidInput("the file has no pair", source=file.source)
    codes = np.fromiter(found, np.int64, len(found))
    order = np.argsort(codes)
    return codes[order], np.fromiter(found.values(), np.float64, len(found))[order], errors


def _probability(text: str, error: str, source: str, line: int) -> float:
    if not text and error:
        return float("nan")
    try:
        p = float(text)
    except ValueError:
        p = -1.0
    if not 0 <= p <= 1:
        reason = f"p is not a number from 0 to 1: {shown(text)}"
        raise InvalidInput(reason, source=source, line=line)
    return p

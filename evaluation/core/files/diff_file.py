"""The differences between two label sets as a CSV file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from annotation.core.consensus import NO_LABEL
from evaluation.core.files.label_file import SOURCES, Labels, csv_cells
from evaluation.core.relevance.label_diff import Kind, LabelDiff
from pooling.core.pair_space import PairSpace

HEADER = (
    "caption_id,video_id,change,label_before,label_after,source_before,source_after,"
    "judgments_before,judgments_after\n"
)
LINES_PER_PIECE = 10_000


def side_cells(labels: Labels, at: int) -> tuple[str, str, str]:
    """Return the cells of a pair in one label set: label, source and number of judgments.

    at: the row of the pair in `labels`. If it is -1, the label set lacks the pair, and the cells
    are empty.
    """
    if at < 0:
        return "", "", ""
    label = int(labels.labels[at])
    source = SOURCES[int(labels.states[at])]  # type: ignore[index]
    return ("" if label == NO_LABEL else str(label)), source, str(int(labels.judgments[at]))


def render_diff(
    diff: LabelDiff,
    old: Labels,
    new: Labels,
    rows: npt.NDArray[np.intp],
    query_keys: Sequence[str],
    video_keys: Sequence[str],
) -> Iterator[bytes]:
    """Yield the CSV file of some rows of the diff, in pieces.

    old, new: the label sets that the diff compares. rows: the indices of the rows to write, [n].
    query_keys, video_keys: the key of each query and of each video, by number.
    """
    queries, videos = csv_cells(query_keys), csv_cells(video_keys)
    space = PairSpace(len(query_keys), len(video_keys))
    yield HEADER.encode()
    for start in range(0, len(rows), LINES_PER_PIECE):
        lines = []
        for row in rows[start : start + LINES_PER_PIECE].tolist():
            query, video = space.decode(int(diff.codes[row]))
            before = side_cells(old, int(diff.old[row]))
            after = side_cells(new, int(diff.new[row]))
            sides = [cell for pair in zip(before, after, strict=True) for cell in pair]
            word = Kind(int(diff.kinds[row])).name.lower()
            lines.append(",".join([queries[query], videos[video], word, *sides]) + "\n")
        yield "".join(lines).encode()

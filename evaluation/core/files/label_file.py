"""The two files of a label set: their canonical text, and reading it back.

Canonical means: UTF-8, LF, CSV quoting only where needed, rows by query number, video number and
pseudonym. The bytes follow from the labels alone, on every database, locale and Python.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import hmac
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from annotation.core.consensus import NO_LABEL, OutcomeCounts, State
from pooling.core.pair_space import PairSpace

IntArray = npt.NDArray[np.int64]

LABELS_HEADER = "caption_id,video_id,label,source,judgments,relevant\n"
JUDGMENTS_HEADER = "caption_id,video_id,annotator,label,queue\n"
# The word in a label file for each outcome, in the order of `annotation.core.consensus.State`.
SOURCES = {
    State.PENDING: "pending",
    State.RESOLVED: "majority",
    State.CONFLICTED: "conflict",
    State.ADJUDICATED: "adjudicated",
}
STATE_OF_SOURCE = {source: int(state) for state, source in SOURCES.items()}
PSEUDONYM_DIGITS = 12


def _read_label(cell: str) -> int:
    return int(cell) if cell else NO_LABEL


# After the two keys of a line.
READ_CELLS: tuple[Callable[[str], int], ...] = (
    _read_label,
    STATE_OF_SOURCE.__getitem__,
    int,
    int,
)


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """The outcome of each judged pair, ascending by code.

    codes: int64 [n], codes of pairs (`pooling.core.pair_space.PairSpace`).
    labels: int64 [n], `NO_LABEL` for a pending pair or a conflict. states: int8 [n], values of
    `annotation.core.consensus.State`.
    judgments, relevant: int64 [n], how many live judgments, and how many of them say relevant.
    """

    codes: IntArray
    labels: IntArray
    states: npt.NDArray[np.int8]
    judgments: IntArray
    relevant: IntArray

    @property
    def adjudicated(self) -> npt.NDArray[np.bool_]:
        return np.asarray(self.states == State.ADJUDICATED)

    @property
    def outcomes(self) -> OutcomeCounts:
        return OutcomeCounts.of(self.states)


def render_labels(labels: Labels, query_keys: Sequence[str], video_keys: Sequence[str]) -> bytes:
    """One line per judged pair: two keys, the label, its source, and two counts.

    A pending or conflicted pair has no label: the cell is empty.
    """
    queries, videos = _cells(query_keys), _cells(video_keys)
    query, video = PairSpace(len(query_keys), len(video_keys)).decode(labels.codes)
    rows = zip(
        query.tolist(),
        video.tolist(),
        labels.labels.tolist(),
        labels.states.tolist(),
        labels.judgments.tolist(),
        labels.relevant.tolist(),
        strict=True,
    )
    lines = (
        f"{queries[q]},{videos[v]},{'' if label == NO_LABEL else label},{SOURCES[s]},{n},{r}\n"
        for q, v, label, s, n, r in rows
    )
    return (LABELS_HEADER + "".join(lines)).encode()


def parse_labels(
    text: bytes, query_numbers: Mapping[str, int], video_numbers: Mapping[str, int]
) -> Labels:
    """What `render_labels` was given, from what it wrote."""
    rows = csv.reader(io.TextIOWrapper(io.BytesIO(text), "utf-8", newline=""))
    next(rows)
    # Flat, and then column by column: half a million lists would keep the garbage collector busy.
    cells = list(chain.from_iterable(rows))
    readers = (query_numbers.__getitem__, video_numbers.__getitem__, *READ_CELLS)
    query, video, labels, states, judgments, relevant = (
        np.fromiter(map(read, cells[place :: len(readers)]), np.int64)
        for place, read in enumerate(readers)
    )
    return Labels(
        codes=query * len(video_numbers) + video,
        labels=labels,
        states=states.astype(np.int8),
        judgments=judgments,
        relevant=relevant,
    )


def render_judgments(
    codes: IntArray,
    pseudonyms: Sequence[str],
    labels: IntArray,
    queues: IntArray,
    query_keys: Sequence[str],
    video_keys: Sequence[str],
) -> bytes:
    """One line per live judgment, sorted by pair and pseudonym; all arguments are [n] but keys."""
    queries, videos = _cells(query_keys), _cells(video_keys)
    order = np.lexsort((queues, np.array(pseudonyms), codes))
    query, video = PairSpace(len(query_keys), len(video_keys)).decode(codes[order])
    rows = zip(
        query.tolist(),
        video.tolist(),
        order.tolist(),
        labels[order].tolist(),
        queues[order].tolist(),
        strict=True,
    )
    lines = (f"{queries[q]},{videos[v]},{pseudonyms[i]},{la},{k}\n" for q, v, i, la, k in rows)
    return (JUDGMENTS_HEADER + "".join(lines)).encode()


def pseudonyms_of(annotators: Iterable[int], secret: bytes) -> dict[int, str]:
    """A name for each person that tells nothing without the secret of the label set.

    Raises ValueError in the (one in some billions) case that two people get the same.
    """
    names = {
        person: hmac.new(secret, str(person).encode(), hashlib.sha256).hexdigest()[
            :PSEUDONYM_DIGITS
        ]
        for person in annotators
    }
    if len(set(names.values())) != len(names):
        raise ValueError("two annotators would share a pseudonym; draw another secret")
    return names


def compress(content: bytes) -> bytes:
    """Gzip without a time stamp."""
    return gzip.compress(content, compresslevel=6, mtime=0)


def _cells(keys: Sequence[str]) -> list[str]:
    """Each key as a CSV cell."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    cells = []
    for key in keys:
        out.seek(0)
        out.truncate()
        # With a second cell, a lone empty or odd first cell is quoted as in a row.
        writer.writerow([key, ""])
        cells.append(out.getvalue().removesuffix(",\n"))
    return cells

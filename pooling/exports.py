"""Proxies as files. Each file is made while it is sent, so its size does not matter.

Keys are written unchanged, even if they begin with a hyphen, because programs read these files.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from hearth.shared.downloads import CSV, JSON
from hearth.shared.errors import InvalidInput
from hearth.shared.limits import check_seed
from hearth.shared.options import Option, Seed
from pooling.core.proxies.training import positive_pairs, triplets
from pooling.models import Proxy
from pooling.selectors.arrays import query_keys, video_keys
from pooling.selectors.proxies import values_of_proxy

NPY: Final = "application/octet-stream"
BYTES_PER_PIECE: Final = 1 << 20
NEGATIVES_MAX: Final = 100
CAPTION, VIDEO = "caption", "video"
ANCHORS: Final = {CAPTION: "Caption, with videos", VIDEO: "Video, with captions"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingOptions:
    """The options of training files. Only triplets have anchors and negatives.

    threshold: The lowest value of a positive.
    seed: The seed that draws the negatives.
    """

    threshold: Annotated[float, Option("Threshold", low=0.01, high=1)] = 0.5
    anchor: Annotated[str, Option("Anchor of triplets", choices=ANCHORS, may_be_empty=True)] = (
        CAPTION
    )
    negatives: Annotated[
        int, Option("Negatives per positive", low=1, high=NEGATIVES_MAX, may_be_empty=True)
    ] = 1
    seed: Annotated[Seed, Option(may_be_empty=True)] = 0

    def check(self) -> None:
        """Raise `InvalidInput` if an option is out of range."""
        if not 0 < self.threshold <= 1:
            raise InvalidInput(
                f"The threshold must be above 0 and at most 1, not {self.threshold:g}."
            )
        if self.anchor not in ANCHORS:
            raise InvalidInput(f"The anchor must be one of {', '.join(ANCHORS)}.")
        if not 1 <= self.negatives <= NEGATIVES_MAX:
            raise InvalidInput(
                f"The number of negatives per positive must be from 1 to {NEGATIVES_MAX}."
            )
        check_seed(self.seed)


@dataclass(frozen=True, slots=True)
class Export:
    """A kind of file. is_training: whether it has `TrainingOptions`."""

    title: str
    content: str
    suffix: str
    content_type: str
    pieces: Callable[[Proxy, TrainingOptions], Iterator[bytes]]
    is_training: bool = False


def file_name(proxy: Proxy, export: str, options: TrainingOptions) -> str:
    """Return a name of letters, digits, dots, hyphens and underscores."""
    kind = EXPORTS[export]
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", proxy.name).strip("-.") or "proxy"
    stem = f"{proxy.benchmark.key}-{name}"
    return f"{stem}-{export}-{options.threshold:g}.csv" if kind.is_training else stem + kind.suffix


def _matrix(proxy: Proxy, options: TrainingOptions) -> Iterator[bytes]:
    with proxy.file.open("rb") as file:
        while piece := file.read(BYTES_PER_PIECE):
            yield piece


def keys_of(proxy: Proxy) -> dict[str, Any]:
    """Return the content of the file of keys: provenance, and the keys of rows and columns."""
    return {
        "proxy": proxy.name,
        "method": proxy.method,
        "options": proxy.options,
        "source": proxy.source,
        "sha256": proxy.sha256,
        "captions_sha256": proxy.captions_sha256,
        "code": proxy.code_version,
        "captions": query_keys(proxy.benchmark),
        "videos": video_keys(proxy.benchmark),
    }


def _keys(proxy: Proxy, options: TrainingOptions) -> Iterator[bytes]:
    encoder = json.JSONEncoder(ensure_ascii=False, indent=1)
    yield from _joined(encoder.iterencode(keys_of(proxy)))


def _positives(proxy: Proxy, options: TrainingOptions) -> Iterator[bytes]:
    captions, videos = query_keys(proxy.benchmark), video_keys(proxy.benchmark)
    yield b"caption_id,video_id,value\n"
    for rows, columns, values in positive_pairs(values_of_proxy(proxy), options.threshold):
        triples = zip(rows.tolist(), columns.tolist(), values.tolist(), strict=True)
        yield _text(
            (captions[row], videos[column], f"{value:.4f}") for row, column, value in triples
        ).encode()


def _triplets(proxy: Proxy, options: TrainingOptions) -> Iterator[bytes]:
    values = values_of_proxy(proxy)
    anchors, others = query_keys(proxy.benchmark), video_keys(proxy.benchmark)
    if options.anchor == VIDEO:
        values, anchors, others = values.T, others, anchors
    other = VIDEO if options.anchor == CAPTION else CAPTION
    yield f"{options.anchor}_id,positive_{other}_id,negative_{other}_id\n".encode()
    parts = triplets(values, options.threshold, options.negatives, options.seed)
    yield from _joined(
        _text(
            (anchors[row], others[positive], others[negative])
            for row, positive, negative in zip(*(part.tolist() for part in found), strict=True)
        )
        for found in parts
    )


def _joined(texts: Iterable[str]) -> Iterator[bytes]:
    """Join short texts into larger pieces, because each piece that is sent takes time."""
    out, size = io.StringIO(), 0
    for text in texts:
        size += out.write(text)
        if size >= BYTES_PER_PIECE:
            yield out.getvalue().encode()
            out, size = io.StringIO(), 0
    yield out.getvalue().encode()


def _text(rows: Iterable[Sequence[str]]) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


EXPORTS: Final = {
    "matrix": Export(
        "Matrix",
        "A .npy matrix of float16 with a row for each caption and a column for each video.",
        ".npy",
        NPY,
        _matrix,
    ),
    "keys": Export(
        "Keys",
        "A JSON file with the keys of the rows and columns, the method, its options and the hash.",
        ".keys.json",
        JSON,
        _keys,
    ),
    "positives": Export(
        "Positives",
        "A CSV file with caption_id, video_id and value of each pair at or above the threshold.",
        ".csv",
        CSV,
        _positives,
        is_training=True,
    ),
    "triplets": Export(
        "Triplets",
        "A CSV file with an anchor, a positive at or above the threshold, and a negative below it.",
        ".csv",
        CSV,
        _triplets,
        is_training=True,
    ),
}

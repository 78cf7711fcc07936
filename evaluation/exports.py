"""A label set in the formats that others read. Made from its frozen files, never from live rows."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings

from config.shared.errors import InvalidInput
from config.shared.files import written_whole
from evaluation.core.fire import Annotation, Response, fire_json
from evaluation.core.label_file import NO_LABEL, IntArray
from evaluation.core.relevance import with_positives
from evaluation.models import LabelSet
from evaluation.selectors import label_set_judged, label_set_labels, original_judged
from pooling.core.pool import NOT_RANKED, ranks_of_pairs
from pooling.models import Pool
from pooling.selectors import (
    find_runs,
    query_keys,
    query_numbers,
    query_texts,
    ranked_matrix,
    video_keys,
    video_numbers,
)

LINES_PER_PIECE = 10_000


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """`suffix` is what a file of this format is called after its stem."""

    title: str
    suffix: str
    content_type: str
    pieces: Callable[[LabelSet], Iterator[bytes]]


def open_export(label_set: LabelSet, format: str) -> Iterator[bytes]:
    """The label set as pieces of bytes. Raises `InvalidInput` for an unknown format."""
    if format not in FORMATS:
        raise InvalidInput(f"no export format {format!r}; there are: {', '.join(FORMATS)}")
    return FORMATS[format].pieces(label_set)


def write_export(label_set: LabelSet, format: str, path: Path) -> int:
    """Write the export to `path`, whole or not at all; returns its bytes."""
    pieces = open_export(label_set, format)
    with written_whole(path) as out:
        return sum(out.write(piece) for piece in pieces)


def file_stem(label_set: LabelSet) -> str:
    return f"{label_set.benchmark.key}-labels-v{label_set.version}"


def _csv(label_set: LabelSet) -> Iterator[bytes]:
    """The frozen file itself, unpacked: its SHA-256 is that of the label set."""
    yield _content(label_set.file)


def _judgments(label_set: LabelSet) -> Iterator[bytes]:
    """The single judgments under the pseudonyms of this release; import_judgments reads it."""
    yield _content(label_set.judgments_file)


def _qrels(label_set: LabelSet) -> Iterator[bytes]:
    """TREC qrels that give the labelled scores of `evaluate`: with the original positives.

    A pair in conflict is left out, which TREC tools read as unjudged.
    """
    benchmark = label_set.benchmark
    judged = with_positives(label_set_judged(label_set), original_judged(benchmark))
    queries, videos = query_keys(benchmark), video_keys(benchmark)
    query, video = (a.tolist() for a in np.divmod(judged.codes, benchmark.n_videos))
    gains = judged.gains.tolist()
    for start in range(0, len(gains), LINES_PER_PIECE):
        piece = slice(start, start + LINES_PER_PIECE)
        rows = zip(query[piece], video[piece], gains[piece], strict=True)
        yield "".join(f"{queries[q]} 0 {videos[v]} {gain}\n" for q, v, gain in rows).encode()


def _fire(label_set: LabelSet) -> Iterator[bytes]:
    """What the published FIRE code loads; the benchmark's key is its `dataset`."""
    benchmark = label_set.benchmark
    published = label_set.created_at.date().isoformat()
    header: dict[str, Any] = {
        "source_ds": published,
        "source_data_md5": _md5(_content(label_set.file)),
        "source_annotator_map_md5": _md5(_content(label_set.judgments_file)),
        "created_ds": published,
        "email": settings.PUBLISHER_EMAIL,
        "creator": settings.PUBLISHER_NAME,
        "website": settings.PUBLISHER_WEBSITE,
        "license": benchmark.licence,
        "datasets": [benchmark.key],
    }
    return fire_json(_annotations(label_set), dataset=benchmark.key, header=header)


def _annotations(label_set: LabelSet) -> list[Annotation]:
    benchmark = label_set.benchmark
    queries, videos = query_numbers(benchmark), video_numbers(benchmark)
    found = label_set_labels(label_set)
    texts, keys = query_texts(benchmark), video_keys(benchmark)
    responses = _responses(label_set, queries, videos)
    systems = _systems_of_pairs(label_set, found.codes)
    annotations = []
    rows = zip(found.codes.tolist(), found.labels.tolist(), systems, strict=True)
    for code, label, named in rows:
        query, video = divmod(code, benchmark.n_videos)
        annotations.append(
            Annotation(
                query=texts[query],
                video=keys[video],
                label=None if label == NO_LABEL else label,
                # None where a lead has ruled on a pair that nobody had labelled.
                responses=responses.get(code, []),
                systems=named,
            )
        )
    return annotations


def _responses(
    label_set: LabelSet, queries: dict[str, int], videos: dict[str, int]
) -> dict[int, list[Response]]:
    """The single judgments by the code of their pair."""
    rows = csv.reader(io.StringIO(_content(label_set.judgments_file).decode(), newline=""))
    next(rows)
    responses: dict[int, list[Response]] = {}
    for number, (query, video, pseudonym, given, queue) in enumerate(rows, start=1):
        code = queries[query] * len(videos) + videos[video]
        response = Response(number, int(pseudonym, 16), int(given), int(queue))
        responses.setdefault(code, []).append(response)
    return responses


def _systems_of_pairs(label_set: LabelSet, codes: IntArray) -> list[list[str]]:
    """For each pair the systems that have it within the pools' depth, best rank first.

    By the runs and pools that were there when the set was published: the export of a frozen set
    does not change with what comes later.
    """
    benchmark, published = label_set.benchmark, label_set.created_at
    pools = Pool.objects.filter(benchmark=benchmark, depth__isnull=False, created_at__lte=published)
    depth = max((pool.depth or 0 for pool in pools), default=0)
    runs = [run for run in find_runs(benchmark) if run.created_at <= published]
    if not runs:
        return [[] for _ in codes]
    names = [run.system.key for run in runs]
    ranks = np.stack(
        [
            ranks_of_pairs(ranked_matrix(run, depth or None), codes, benchmark.n_videos)
            for run in runs
        ],
        axis=1,
    )
    order = np.argsort(ranks, axis=1, kind="stable").tolist()
    return [
        list(dict.fromkeys(names[run] for run in places if row[run] != NOT_RANKED))
        for places, row in zip(order, ranks.tolist(), strict=True)
    ]


def _content(file: Any) -> bytes:
    with file.open("rb") as stream:
        return gzip.decompress(stream.read())


def _md5(content: bytes) -> str:
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


FORMATS: dict[str, ExportFormat] = {
    "csv": ExportFormat("Labels, a line per pair", ".csv", "text/csv; charset=utf-8", _csv),
    "judgments": ExportFormat(
        "Single judgments under pseudonyms", "-judgments.csv", "text/csv; charset=utf-8", _judgments
    ),
    "qrels": ExportFormat("TREC qrels", ".qrels", "text/plain; charset=utf-8", _qrels),
    "fire": ExportFormat("FIRE JSON", ".json", "application/json", _fire),
}

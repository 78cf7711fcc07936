"""Label sets in formats that other programs read, made from the frozen files only."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.conf import settings

from annotation.core.consensus import NO_LABEL
from config.shared.errors import InvalidInput
from evaluation.core.files.fire import Annotation, FireResult, Response, by_text, fire_json, merge
from evaluation.core.files.label_file import IntArray
from evaluation.core.relevance.judged import with_positives
from evaluation.models import LabelSet
from evaluation.release.selectors import label_set_judged, label_set_labels, original_judged
from pooling.core.arrays import Int32s
from pooling.core.equal_texts import EXACT, first_equal
from pooling.core.pool import NOT_RANKED, ranks_of_pairs
from pooling.enums import PoolStrategy
from pooling.models import Pool, Run
from pooling.selectors.arrays import (
    query_keys,
    query_numbers,
    query_texts,
    video_keys,
    video_numbers,
)
from pooling.selectors.pool_plan import allows
from pooling.selectors.runs import ranked_matrix

LINES_PER_PIECE = 10_000
FIRE = "fire"


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """An export format. `suffix`: the end of its file names. `pieces`: yields the file."""

    title: str
    suffix: str
    content_type: str
    pieces: Callable[[LabelSet], Iterator[bytes]]


def open_export(label_set: LabelSet, format: str, *, licence: str = "") -> Iterator[bytes]:
    """Return the label set as pieces of bytes.

    licence: the licence of the labels; only the format `FIRE` has a place for it. Raises
    `InvalidInput` if the format is unknown, or if another format is requested with a licence.
    """
    if format not in FORMATS:
        raise InvalidInput(f"The format must be one of {', '.join(FORMATS)}, not {format!r}.")
    if not licence:
        return FORMATS[format].pieces(label_set)
    if format != FIRE:
        raise InvalidInput(f"The format {format} cannot contain a licence. Only {FIRE} can.")
    return _fire(label_set, licence)


def file_stem(label_set: LabelSet) -> str:
    return f"{label_set.benchmark.key}-labels-v{label_set.version}"


def _csv(label_set: LabelSet) -> Iterator[bytes]:
    """Yield the frozen file, uncompressed. Its SHA-256 is that of the label set."""
    yield _content(label_set.file)


def _judgments(label_set: LabelSet) -> Iterator[bytes]:
    """Yield the single judgments with the pseudonyms of this label set, for import_judgments."""
    yield _content(label_set.judgments_file)


def _qrels(label_set: LabelSet) -> Iterator[bytes]:
    """Yield TREC qrels with the original positives, which reproduce the scores of `evaluate`.

    Pairs in conflict are left out. TREC tools read them as unjudged.
    """
    benchmark = label_set.benchmark
    judged = with_positives(label_set_judged(label_set), original_judged(benchmark, label_set))
    queries, videos = query_keys(benchmark), video_keys(benchmark)
    query, video = (a.tolist() for a in judged.space.decode(judged.codes))
    gains = judged.gains.tolist()
    for start in range(0, len(gains), LINES_PER_PIECE):
        piece = slice(start, start + LINES_PER_PIECE)
        rows = zip(query[piece], video[piece], gains[piece], strict=True)
        yield "".join(f"{queries[q]} 0 {videos[v]} {gain}\n" for q, v, gain in rows).encode()


def _fire(label_set: LabelSet, licence: str = "") -> Iterator[bytes]:
    """Yield the JSON that the published FIRE code loads. The benchmark's key is the `dataset`.

    licence: the licence of the labels, or empty for the licence of the benchmark, which may be
    empty, too.
    """
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
        "license": licence or benchmark.licence,
        "datasets": [benchmark.key],
    }
    return fire_json(_annotations(label_set), dataset=benchmark.key, header=header)


def _annotations(label_set: LabelSet) -> list[Annotation]:
    """Return one annotation for each text and video in the label set."""
    benchmark = label_set.benchmark
    texts, keys = query_texts(benchmark), video_keys(benchmark)
    codes = label_set_labels(label_set).codes.tolist()
    outcomes = _outcomes(label_set)
    # FIRE's loader compares texts character by character, so the benchmark's rule is not used.
    first = first_equal(texts, EXACT).tolist()
    annotations = []
    for places in by_text(first, codes, benchmark.pair_space):
        query, video = benchmark.pair_space.decode(codes[places[0]])
        annotations.append(merge(texts[query], keys[video], [outcomes[place] for place in places]))
    return annotations


def _outcomes(label_set: LabelSet) -> list[FireResult]:
    """Return the outcome of each pair of the label set, ascending by code."""
    benchmark, found = label_set.benchmark, label_set_labels(label_set)
    responses = _responses(label_set, query_numbers(benchmark), video_numbers(benchmark))
    rows = zip(
        found.codes.tolist(),
        found.labels.tolist(),
        found.adjudicated.tolist(),
        _systems_of_pairs(label_set, found.codes),
        strict=True,
    )
    return [
        FireResult(
            label=None if label == NO_LABEL else label,
            ruled=ruled,
            # A lead may rule on a pair without a judgment.
            responses=responses.get(code, []),
            systems=systems,
        )
        for code, label, ruled, systems in rows
    ]


def _responses(
    label_set: LabelSet, queries: dict[str, int], videos: dict[str, int]
) -> dict[int, list[Response]]:
    """Return the single judgments by pair code."""
    rows = csv.reader(io.StringIO(_content(label_set.judgments_file).decode(), newline=""))
    next(rows)
    responses: dict[int, list[Response]] = {}
    for number, (query, video, pseudonym, label, queue) in enumerate(rows, start=1):
        code = queries[query] * len(videos) + videos[video]
        response = Response(number, int(pseudonym, 16), int(label), int(queue))
        responses.setdefault(code, []).append(response)
    return responses


def _systems_of_pairs(label_set: LabelSet, codes: IntArray) -> list[list[str]]:
    """Return the systems that added each pair to a pool, the best rank first.

    A system adds a pair if a pool has one of its runs, the pair is within the pool's depth in that
    run, and the other options of the pool allow it. Only the pools that existed when the set was
    published count, so the export of a frozen set never changes.
    """
    benchmark, published = label_set.benchmark, label_set.created_at
    pools = Pool.objects.filter(
        benchmark=benchmark, strategy=PoolStrategy.DEPTH_K, created_at__lte=published
    ).prefetch_related("runs__system")
    ranks: dict[Run, Int32s] = {}
    for pool in pools:
        is_allowed = allows(pool, codes)
        for run in pool.runs.all():
            found = ranks_of_pairs(ranked_matrix(run, pool.depth), codes, benchmark.pair_space)
            found[~is_allowed] = NOT_RANKED
            ranks[run] = np.minimum(ranks.get(run, found), found)
    if not ranks:
        return [[] for _ in codes]
    # Runs with equal ranks are ordered by name.
    runs = sorted(ranks, key=lambda run: run.name)
    names = [run.system.key for run in runs]
    table = np.stack([ranks[run] for run in runs], axis=1)
    order = np.argsort(table, axis=1, kind="stable").tolist()
    return [
        list(dict.fromkeys(names[run] for run in places if row[run] != NOT_RANKED))
        for places, row in zip(order, table.tolist(), strict=True)
    ]


def _content(file: Any) -> bytes:
    with file.open("rb") as stream:
        return gzip.decompress(stream.read())


def _md5(content: bytes) -> str:
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


FORMATS: dict[str, ExportFormat] = {
    "csv": ExportFormat("Labels, one line per pair", ".csv", "text/csv; charset=utf-8", _csv),
    "judgments": ExportFormat(
        "Single judgments, under pseudonyms",
        "-judgments.csv",
        "text/csv; charset=utf-8",
        _judgments,
    ),
    "qrels": ExportFormat("TREC qrels", ".qrels", "text/plain; charset=utf-8", _qrels),
    FIRE: ExportFormat("FIRE JSON", ".json", "application/json", _fire),
}

"""Label sets in the format of the published FIRE annotations."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from django.conf import settings

from annotation.core.consensus import NO_LABEL
from evaluation.core.files.fire import Annotation, FireResult, Response, fire_json, merge
from evaluation.core.files.label_file import IntArray
from evaluation.models import LabelSet
from evaluation.release.exports.options import ExportOptions
from evaluation.release.exports.tables import frozen_blocks, frozen_pieces
from evaluation.release.selectors import label_set_labels
from pooling.core.arrays import Int32s
from pooling.core.equal_texts import EXACT, first_equal, text_pair_codes
from pooling.core.pool import NOT_RANKED
from pooling.enums import PoolStrategy
from pooling.models import Pool, Run
from pooling.selectors.arrays import query_numbers, query_texts, video_keys, video_numbers
from pooling.selectors.pool_plan import allows
from pooling.selectors.runs import ranks_in_run


def fire(label_set: LabelSet, options: ExportOptions) -> Iterator[bytes]:
    """Yield the JSON that the published FIRE code loads. The benchmark's key is the `dataset`.

    The licence is that of the options, or else that of the benchmark, which may be empty.
    """
    benchmark = label_set.benchmark
    published = label_set.created_at.date().isoformat()
    header: dict[str, Any] = {
        "source_ds": published,
        "source_data_md5": _md5(label_set.file),
        "source_annotator_map_md5": _md5(label_set.judgments_file),
        "created_ds": published,
        "email": settings.PUBLISHER_EMAIL,
        "creator": settings.PUBLISHER_NAME,
        "website": settings.PUBLISHER_WEBSITE,
        "license": options.licence or benchmark.licence,
        "datasets": [benchmark.key],
    }
    pairs = _TextPairs(label_set)
    yield from fire_json(len(pairs), pairs.select, dataset=benchmark.key, header=header)


class _TextPairs:
    """The pairs of a label set, grouped by text and video, in arrays.

    `select` creates an `Annotation` for each selected group.
    """

    def __init__(self, label_set: LabelSet) -> None:
        benchmark = label_set.benchmark
        self.space = benchmark.pair_space
        self.texts, self.keys = query_texts(benchmark), video_keys(benchmark)
        self.found = label_set_labels(label_set)
        codes = self.found.codes
        # FIRE's loader compares texts exactly, so the benchmark's rule for equal texts is not used.
        shared = text_pair_codes(codes, first_equal(self.texts, EXACT), self.space)
        # The indices of the pairs, sorted by text pair, and the position at which each text pair
        # begins in this order.
        self.order = np.argsort(shared, kind="stable")
        first = np.flatnonzero(np.diff(shared[self.order], prepend=-1))
        self.bounds = np.append(first, len(codes))
        self.responses = _Responses(label_set, codes)
        self.systems = _Systems(label_set, codes)

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def select(self, places: Sequence[int]) -> Iterator[Annotation]:
        """Yield the annotations of the text pairs with these numbers."""
        numbers = np.asarray(places)
        starts, ends = self.bounds[numbers], self.bounds[numbers + 1]
        pairs = self.order[_ranges(starts, ends)]
        outcomes = self._outcomes(pairs)
        queries, videos = (found.tolist() for found in self.space.decode(self.found.codes[pairs]))
        start = 0
        for length in (ends - starts).tolist():
            text, key = self.texts[queries[start]], self.keys[videos[start]]
            yield merge(text, key, outcomes[start : start + length])
            start += length

    def _outcomes(self, pairs: IntArray) -> list[FireResult]:
        rows = zip(
            self.found.labels[pairs].tolist(),
            self.found.adjudicated[pairs].tolist(),
            self.responses.select(pairs),
            self.systems.select(pairs),
            strict=True,
        )
        return [
            FireResult(None if label == NO_LABEL else label, ruled, responses, systems)
            for label, ruled, responses, systems in rows
        ]


class _Responses:
    """The single judgments of a label set, in arrays, by pair."""

    def __init__(self, label_set: LabelSet, codes: IntArray) -> None:
        benchmark = label_set.benchmark
        queries, videos = query_numbers(benchmark), video_numbers(benchmark)
        blocks = [np.empty((0, 4), np.int64)]
        for block in frozen_blocks(label_set.judgments_file):
            cells = (
                (queries[q] * len(videos) + videos[v], int(who, 16), int(label), int(queue))
                for q, v, who, label, queue, *_ in block
            )
            blocks.append(np.array(list(cells), np.int64))
        rows = np.concatenate(blocks)
        self.rows = rows[:, 1:]
        # The file is ordered by pair. A pair has no row if a lead ruled on it without a judgment.
        self.starts = np.searchsorted(rows[:, 0], codes)
        self.ends = np.searchsorted(rows[:, 0], codes, side="right")

    def select(self, pairs: IntArray) -> Iterator[list[Response]]:
        """Yield the judgments of each of these pairs."""
        starts, ends = self.starts[pairs], self.ends[pairs]
        places = _ranges(starts, ends)
        columns = ((places + 1).tolist(), *self.rows[places].T.tolist())
        responses = list(map(Response._make, zip(*columns, strict=True)))
        start = 0
        for length in (ends - starts).tolist():
            yield responses[start : start + length]
            start += length


class _Systems:
    """The systems that added each pair to a pool, the best rank first.

    A system adds a pair if a pool has one of its runs, the pair is within the pool's depth in that
    run, and the other options of the pool allow it. Only the pools that existed when the set was
    published count, so the export of a frozen set never changes.
    """

    def __init__(self, label_set: LabelSet, codes: IntArray) -> None:
        benchmark, published = label_set.benchmark, label_set.created_at
        pools = Pool.objects.filter(
            benchmark=benchmark, strategy=PoolStrategy.DEPTH_K, created_at__lte=published
        ).prefetch_related("runs__system")
        ranks: dict[Run, Int32s] = {}
        for pool in pools:
            is_allowed = allows(pool, codes)
            for run in pool.runs.all():
                found = ranks_in_run(run, codes, pool.depth, all_rows=True)
                found[~is_allowed] = NOT_RANKED
                ranks[run] = np.minimum(ranks.get(run, found), found)
        # Runs with equal ranks are ordered by name.
        runs = sorted(ranks, key=lambda run: run.name)
        self.names = [run.system.key for run in runs]
        self.ranks = np.stack([ranks[run] for run in runs], axis=1) if runs else None

    def select(self, pairs: IntArray) -> Iterable[list[str]]:
        """Return the systems of each of these pairs."""
        if self.ranks is None:
            return [[] for _ in pairs]
        ranks = self.ranks[pairs]
        order = np.argsort(ranks, axis=1, kind="stable").tolist()
        return [
            list(dict.fromkeys(self.names[run] for run in places if row[run] != NOT_RANKED))
            for places, row in zip(order, ranks.tolist(), strict=True)
        ]


def _ranges(starts: IntArray, ends: IntArray) -> IntArray:
    """Return the integers of all ranges, one after another. starts, ends: int64 [n]."""
    lengths = ends - starts
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(lengths.sum())


def _md5(file: Any) -> str:
    digest = hashlib.md5(usedforsecurity=False)
    for piece in frozen_pieces(file):
        digest.update(piece)
    return digest.hexdigest()

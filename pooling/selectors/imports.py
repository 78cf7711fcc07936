"""Reading the stored data that an import compares with its files."""

from __future__ import annotations

import numpy as np

from hearth.shared.bulk import read_columns
from pooling.core.import_plan import StoredCaptions
from pooling.models import Benchmark, Pair, Run
from pooling.selectors.arrays import (
    Int64Array,
    original_positives,
    query_keys,
    query_texts,
)
from pooling.signals import judged_captions


def stored_captions(benchmark: Benchmark) -> StoredCaptions:
    """Return the captions, videos and original positives, and which of them are in use.

    Call it in a transaction if the captions are then changed.
    """
    judged = _judged_captions(benchmark)
    queries, videos = original_positives(benchmark)
    rows = list(benchmark.videos.order_by("number").values_list("key", "file", "url"))
    return StoredCaptions(
        query_keys=query_keys(benchmark),
        texts=query_texts(benchmark),
        video_keys=[key for key, _, _ in rows],
        positive_queries=queries,
        positive_videos=videos,
        has_media=np.array([bool(file or url) for _, file, url in rows], np.bool_),
        judged=judged,
        is_numbered=bool(len(judged))
        or Run.everything.filter(benchmark=benchmark).exists()
        or any(rows.exists() for rows in (benchmark.pools, benchmark.proxies)),
        rule=benchmark.equal_texts,
    )


def _judged_captions(benchmark: Benchmark) -> Int64Array:
    """Return the numbers of the captions in pools, gold items and studies, int64 [n].

    The numbers ascend.
    """
    pooled = Pair.objects.filter(query__benchmark=benchmark).order_by().distinct()
    (numbers,) = read_columns(pooled, "query__number")
    answers = judged_captions.send(sender=Benchmark, benchmark=benchmark)
    return np.unique(np.concatenate([numbers, *(found for _, found in answers)]))

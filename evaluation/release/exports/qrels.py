"""Label sets as TREC qrels."""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.core.relevance.judged import with_positives
from evaluation.models import LabelSet
from evaluation.release.exports.options import ExportOptions
from evaluation.release.selectors import label_set_judged, original_judged
from pooling.selectors.arrays import query_keys, video_keys

LINES_PER_PIECE = 20_000


def qrels(label_set: LabelSet, options: ExportOptions) -> Iterator[bytes]:
    """Yield TREC qrels with which TREC tools reproduce the scores of `evaluate`.

    They contain the original positives. Pairs that are pending or in conflict are left out, so that
    TREC tools count these pairs as unjudged.
    """
    benchmark = label_set.benchmark
    judged = with_positives(label_set_judged(label_set), original_judged(benchmark, label_set))
    queries, videos = query_keys(benchmark), video_keys(benchmark)
    for start in range(0, len(judged.codes), LINES_PER_PIECE):
        piece = slice(start, start + LINES_PER_PIECE)
        query, video = (numbers.tolist() for numbers in judged.space.decode(judged.codes[piece]))
        rows = zip(query, video, judged.gains[piece].tolist(), strict=True)
        yield "".join(f"{queries[q]} 0 {videos[v]} {gain}\n" for q, v, gain in rows).encode()

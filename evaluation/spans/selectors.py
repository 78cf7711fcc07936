"""The spans of published label sets."""

from __future__ import annotations

import gzip
from functools import lru_cache

import numpy as np

from annotation.questions.spans.answers import people_spans_of_log
from evaluation.core.arrays import IntArray
from evaluation.core.files.label_file import Labels
from evaluation.core.files.packed import unpack
from evaluation.core.files.span_file import parse_spans, render_spans
from evaluation.core.moments.lists import among
from evaluation.models import LabelSet, LabelSetBasis
from evaluation.spans.models import LabelSetSpans
from pooling.models import Benchmark
from pooling.moments.core.spans import Spans
from pooling.selectors.arrays import query_keys, query_numbers, video_keys, video_numbers


def stored_spans(label_set: LabelSet) -> LabelSetSpans | None:
    return LabelSetSpans.objects.filter(label_set=label_set).first()


def label_set_spans(label_set: LabelSet | None) -> tuple[Spans, IntArray]:
    """Return the spans of a label set and their support; nothing if it has none."""
    found = None if label_set is None else stored_spans(label_set)
    if found is None:
        return Spans.none(), np.empty(0, np.int64)
    return _read(found.pk, found.sha256)


# SQLite gives the primary key of a deleted row again, so the hash belongs to the key of the cache.
@lru_cache(maxsize=4)
def _read(pk: int, sha256: str) -> tuple[Spans, IntArray]:
    found = LabelSetSpans.objects.select_related("label_set__benchmark").get(pk=pk)
    benchmark = found.label_set.benchmark
    numbers = query_numbers(benchmark), video_numbers(benchmark)
    text = content_of(found).decode()
    spans, support, _ = parse_spans(text, *numbers, benchmark.pair_space)
    return spans, support


def spans_content(label_set: LabelSet) -> bytes:
    """Return the spans file of a label set; empty if it has none."""
    found = stored_spans(label_set)
    return content_of(found) if found else b""


def content_of(found: LabelSetSpans) -> bytes:
    with found.file.open("rb") as file:
        return gzip.decompress(file.read())


def spans_text(
    basis: LabelSetBasis, labels: Labels, benchmark: Benchmark
) -> tuple[bytes, int, int]:
    """Return the spans file of a label set, and its numbers of spans and unsettled pairs.

    Pairs whose label is not relevant have no spans. Empty if no relevant pair was located.
    """
    ids = (unpack(bytes(packed)) for packed in (basis.judgments, basis.rulings))
    people = people_spans_of_log(benchmark, *ids)
    relevant = labels.codes[labels.labels >= 1]
    kept = among(people.codes, relevant)
    n_unsettled = int(among(people.unsettled, relevant).sum())
    if not kept.any() and not n_unsettled:
        return b"", 0, 0
    spans = Spans.of(people.codes[kept], people.starts[kept], people.ends[kept])
    keys = query_keys(benchmark), video_keys(benchmark)
    text = render_spans(spans, people.support[kept], benchmark.pair_space, keys, n_unsettled)
    return text, len(spans), n_unsettled

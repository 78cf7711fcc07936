"""The spans of published label sets."""

from __future__ import annotations

import gzip
from functools import lru_cache

import numpy as np

from evaluation.core.arrays import IntArray
from evaluation.core.files.span_file import parse_spans
from evaluation.models import LabelSet
from evaluation.spans.models import LabelSetSpans
from pooling.moments.core.spans import Spans
from pooling.selectors.arrays import query_numbers, video_numbers


def label_set_spans(label_set: LabelSet | None) -> tuple[Spans, IntArray]:
    """Return the spans of a label set and their support; nothing if it has none."""
    found = None if label_set is None else LabelSetSpans.objects.filter(label_set=label_set).first()
    if found is None:
        return Spans.none(), np.empty(0, np.int64)
    return _read(found.pk)


@lru_cache(maxsize=4)
def _read(pk: int) -> tuple[Spans, IntArray]:
    found = LabelSetSpans.objects.select_related("label_set__benchmark").get(pk=pk)
    benchmark = found.label_set.benchmark
    numbers = query_numbers(benchmark), video_numbers(benchmark)
    text = content_of(found).decode()
    spans, support, _ = parse_spans(text, *numbers, benchmark.pair_space)
    return spans, support


def spans_content(label_set: LabelSet) -> bytes:
    """Return the spans file of a label set; empty if it has none."""
    found = LabelSetSpans.objects.filter(label_set=label_set).first()
    return content_of(found) if found else b""


def content_of(found: LabelSetSpans) -> bytes:
    with found.file.open("rb") as file:
        return gzip.decompress(file.read())

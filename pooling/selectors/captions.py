"""Reading which captions have equal texts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from django.db.models import Sum

from pooling.core.equal_texts import first_equal, text_pair_codes
from pooling.core.pool import union_codes
from pooling.enums import EqualTexts
from pooling.models import Benchmark, Query
from pooling.selectors.arrays import Captions, Int64Array, query_ids
from pooling.selectors.pools import pair_arrays
from pooling.signals import equal_texts_fixed


def first_equal_captions(benchmark: Benchmark) -> Int64Array:
    """Return for each caption the number of the first caption with an equal text.

    The benchmark's rule decides which texts are equal. The result, int64 [n_queries], is cached
    until the hash of the captions changes.
    """
    return _first_equal(benchmark.pk, benchmark.captions_sha256, benchmark.equal_texts)


def why_equal_texts_are_fixed(benchmark: Benchmark) -> str:
    """Return why the rule for equal texts cannot change, or an empty text if it can."""
    answers = equal_texts_fixed.send(sender=Benchmark, benchmark=benchmark)
    return next((reason for _, reason in answers if reason), "")


@lru_cache(maxsize=8)
def _first_equal(benchmark_id: int, captions_sha256: str, rule: str) -> Int64Array:
    texts = Query.objects.filter(benchmark=benchmark_id).order_by("number")
    found = first_equal(list(texts.values_list("text", flat=True)), rule)
    found.setflags(write=False)
    return found


@dataclass(frozen=True, slots=True)
class EqualTextCount:
    """The numbers of different texts, pooled pairs and tasks under one rule for equal texts."""

    rule: EqualTexts
    texts: int
    pairs: int
    tasks: int
    is_used: bool

    @property
    def saved(self) -> int:
        return self.pairs - self.tasks


def equal_text_counts(benchmark: Benchmark) -> list[EqualTextCount]:
    """Return one row per rule. Pairs and tasks are those of all pools."""
    codes = pair_arrays(benchmark).codes
    rows = []
    for rule in EqualTexts:
        first = _first_equal(benchmark.pk, benchmark.captions_sha256, rule)
        texts = int((first == np.arange(len(first))).sum())
        tasks = len(union_codes([text_pair_codes(codes, first, benchmark.pair_space)]))
        rows.append(EqualTextCount(rule, texts, len(codes), tasks, rule == benchmark.equal_texts))
    return rows


def caption_parts(benchmark: Benchmark, pairs_per_part: int) -> Iterator[Captions]:
    """Yield all captions in parts of about this number of pooled pairs.

    Captions with equal texts are in the same part. The parts are in the order of the first
    caption of each text.
    """
    first_equal, ids = first_equal_captions(benchmark), query_ids(benchmark)
    order = np.argsort(first_equal, kind="stable")
    n_pairs = benchmark.pools.aggregate(n=Sum("n_new_pairs"))["n"] or 0
    width = max(1, pairs_per_part * benchmark.n_queries // max(1, n_pairs))
    ends = np.arange(width, benchmark.n_queries + width, width)
    for part in np.split(order, np.searchsorted(first_equal[order], ends)):
        if len(part):
            yield Captions(part, ids[part])

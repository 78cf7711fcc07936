"""Reading phrasings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from django.db.models import Count, Max, QuerySet

from pooling.models import Benchmark, Query
from pooling.phrasings.models import Phrasing, PhrasingSet
from pooling.selectors.arrays import Int64Array


@dataclass(frozen=True, slots=True, eq=False)
class PhrasingTexts:
    """All phrasings of a benchmark, by caption and then by number.

    queries, numbers: int64 [n] each. texts, origins: n of each. The captions themselves are not
    among them.
    """

    queries: Int64Array
    numbers: Int64Array
    texts: list[str]
    origins: list[str]


def phrasing_sets_of(benchmark: Benchmark) -> QuerySet[PhrasingSet]:
    return PhrasingSet.objects.filter(benchmark=benchmark).select_related("created_by")


def phrasings_of(benchmark: Benchmark) -> QuerySet[Phrasing]:
    return Phrasing.objects.filter(set__benchmark=benchmark)


def phrasings_of_caption(query: Query) -> QuerySet[Phrasing]:
    return Phrasing.objects.filter(query=query).select_related("set").order_by("number")


def phrasing_texts(benchmark: Benchmark) -> PhrasingTexts:
    rows = phrasings_of(benchmark).order_by("query__number", "number")
    found = list(rows.values_list("query__number", "number", "text", "origin"))
    queries, numbers, texts, origins = zip(*found, strict=True) if found else ((), (), (), ())
    return PhrasingTexts(
        np.array(queries, np.int64), np.array(numbers, np.int64), list(texts), list(origins)
    )


def phrasing_counts(benchmark: Benchmark) -> dict[str, int]:
    """Return the number of phrasings, and of captions that have one."""
    return phrasings_of(benchmark).aggregate(
        phrasings=Count("pk"), captions=Count("query", distinct=True)
    )


def last_numbers(benchmark: Benchmark) -> dict[int, int]:
    """Return the highest phrasing number of each caption that has one, by query number."""
    rows = phrasings_of(benchmark).order_by().values_list("query__number")
    return dict(rows.annotate(last=Max("number")))

"""Reading phrasings."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Count, Max, QuerySet

from hearth.shared.bulk import Among, read_columns
from hearth.shared.caches import process_cache
from hearth.shared.errors import InvalidInput
from hearth.shared.numbers import with_percent
from hearth.shared.progress import Progress, no_progress
from pooling.core.arrays import Float32s
from pooling.core.direction import Direction
from pooling.core.ordering import key_ranks
from pooling.core.packing import unpack_list
from pooling.core.ranked_lists import NO_ITEM, RankedLists
from pooling.models import Benchmark, Query, RankedList, Run
from pooling.phrasings.core.selection import (
    Selector,
    VectorKind,
    Vectors,
    select,
    vectors_of_groups,
)
from pooling.phrasings.core.spread import Spread, TopItems, spread_of
from pooling.phrasings.models import (
    PhrasedList,
    PhrasedLists,
    Phrasing,
    PhrasingSet,
    TextVectors,
    TextVectorsPart,
)
from pooling.selectors.arrays import Int64Array, original_positives, query_numbers, video_numbers
from pooling.signals import phrasings_judged

CACHE_SECONDS = 24 * 3600


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


def judged_faithful(benchmark: Benchmark) -> dict[int, bool]:
    """Return whether judged phrasings say the same as their captions, by primary key."""
    answers: Any = phrasings_judged.send(sender=Benchmark, benchmark=benchmark)
    return {pk: is_faithful for _, found in answers for pk, is_faithful in found.items()}


def with_faithfulness(
    phrasings: QuerySet[Phrasing], benchmark: Benchmark
) -> list[tuple[Phrasing, bool | None]]:
    """Return phrasings, each with whether people found that it says the same; None: not judged."""
    found = list(phrasings)
    judged = judged_faithful(benchmark) if found else {}
    return [(phrasing, judged.get(phrasing.pk)) for phrasing in found]


def unfaithful_captions(benchmark: Benchmark) -> dict[int, Int64Array]:
    """Return the numbers of the captions whose phrasing says something else, by its number."""
    others = [pk for pk, is_faithful in judged_faithful(benchmark).items() if not is_faithful]
    numbers, queries = read_columns(
        phrasings_of(benchmark).filter(Among("pk", np.array(others, np.int64))),
        "number",
        "query__number",
    )
    return {number: queries[numbers == number] for number in np.unique(numbers).tolist()}


def phrasing_texts(benchmark: Benchmark) -> PhrasingTexts:
    rows = phrasings_of(benchmark).order_by("query__number", "number")
    found = list(rows.values_list("query__number", "number", "text", "origin"))
    queries, numbers, texts, origins = zip(*found, strict=True) if found else ((), (), (), ())
    return PhrasingTexts(
        np.array(queries, np.int64), np.array(numbers, np.int64), list(texts), list(origins)
    )


def texts_hash(benchmark: Benchmark) -> str:
    """Return a hash that changes whenever captions or phrasings change."""
    sets = PhrasingSet.objects.filter(benchmark=benchmark).order_by("pk")
    parts = [benchmark.captions_sha256, *sets.values_list("sha256", flat=True)]
    return hashlib.sha256(" ".join(parts).encode()).hexdigest()


def vectors_hash(benchmark: Benchmark) -> str:
    """Return the hash of the texts, and that of their uploaded embeddings."""
    stored = TextVectors.objects.filter(benchmark=benchmark).values_list("sha256", flat=True)
    return " ".join([texts_hash(benchmark), *stored])


def uploaded_vectors(benchmark: Benchmark) -> Float32s:
    """Return the embeddings of the captions, and then of `phrasing_texts`, float32 [n, d].

    Raises `InvalidInput` if there are none, or if they belong to other texts.
    """
    stored = TextVectors.objects.filter(benchmark=benchmark).first()
    if stored is None:
        raise InvalidInput("No embeddings of the phrasings are stored. Import them first.")
    if stored.texts_sha256 != texts_hash(benchmark):
        raise InvalidInput(
            "The captions or phrasings have changed since their embeddings were imported. Import "
            "the embeddings again."
        )
    parts = TextVectorsPart.objects.filter(of=stored).order_by("first")
    whole = b"".join(bytes(rows) for rows in parts.values_list("rows", flat=True).iterator(8))
    return np.frombuffer(whole, "<f4").reshape(stored.n_rows, stored.n_numbers)


def groups_of_lists(texts: PhrasingTexts, lists: Mapping[int, RankedLists]) -> dict[int, list[int]]:
    """Return the rows in `texts` of each caption with a list for the phrasing.

    lists: those of a run by the number of the phrasing.
    """
    held = {number: set(part.query_numbers.tolist()) for number, part in lists.items()}
    found: dict[int, list[int]] = {}
    pairs = zip(texts.queries.tolist(), texts.numbers.tolist(), strict=True)
    for row, (query, number) in enumerate(pairs):
        if query in held.get(number, ()):
            found.setdefault(query, []).append(row)
    return found


def selected_phrasings(
    texts: PhrasingTexts,
    groups: Mapping[int, Sequence[int]],
    vectors: Iterable[Vectors],
    count: int,
    selector: Selector,
    rng: np.random.Generator,
) -> dict[int, Int64Array]:
    """Return the captions for which each phrasing is selected, by its number.

    groups: the rows in `texts` of each caption. vectors: those of each group, the caption first.
    """
    found: dict[int, list[int]] = {}
    for (query, rows), own in zip(groups.items(), vectors, strict=True):
        for place in select(own, count, selector, rng):
            if place:
                found.setdefault(int(texts.numbers[rows[place - 1]]), []).append(query)
    return {number: np.array(queries, np.int64) for number, queries in found.items()}


def vectors_of_phrasings(
    benchmark: Benchmark,
    captions: Sequence[str],
    texts: PhrasingTexts,
    groups: Mapping[int, Sequence[int]],
    kind: VectorKind,
    progress: Progress = no_progress,
) -> list[Vectors]:
    """Return the vectors of each group, the caption first. groups: see `selected_phrasings`."""
    if kind is VectorKind.UPLOADED:
        rows = uploaded_vectors(benchmark)
        n = benchmark.n_queries
        return [rows[[query, *(n + row for row in own)]] for query, own in groups.items()]
    found = [
        [captions[query], *(texts.texts[row] for row in rows)] for query, rows in groups.items()
    ]
    return list(vectors_of_groups(found, kind, progress))


def phrasing_counts(benchmark: Benchmark) -> dict[str, int]:
    """Return the number of phrasings, and of captions that have one."""
    return phrasings_of(benchmark).aggregate(
        phrasings=Count("pk"), captions=Count("query", distinct=True)
    )


def last_numbers(benchmark: Benchmark) -> dict[int, int]:
    """Return the highest phrasing number of each caption that has one, by query number."""
    rows = phrasings_of(benchmark).order_by().values_list("query__number")
    return dict(rows.annotate(last=Max("number")))


def keys_of_phrasings(benchmark: Benchmark, captions: Sequence[str]) -> list[str]:
    """Return the keys of all phrasings in the files of runs, in the order of `phrasing_texts`.

    captions: the keys of the captions by number.
    """
    rows = phrasings_of(benchmark).order_by("query__number", "number")
    return [f"{captions[query]}#{n}" for query, n in rows.values_list("query__number", "number")]


def phrased_lists_of(run: Run) -> list[PhrasedLists]:
    return list(PhrasedLists.objects.filter(run=run).order_by("phrasing"))


def lists_of_run(run: Run, *, scored: bool = False) -> RankedLists:
    """Return the lists of the captions themselves. Rows without a list are left out.

    scored: whether the scores are needed.
    """
    rows = RankedList.objects.filter(run=run).order_by("row")
    return _lists(rows.values_list("row", "items", "scores"), run, run.depth, scored)


def lists_by_phrasing(
    run: Run, numbers: Iterable[int] | None = None, *, scored: bool = False
) -> dict[int, RankedLists]:
    """Return the lists of a run by the number of the phrasing, 0 for the captions themselves.

    A row without a list is left out. numbers: the phrasings besides 0; None for all.
    """
    found = {0: lists_of_run(run, scored=scored)}
    wanted = None if numbers is None else set(numbers)
    for phrased in phrased_lists_of(run):
        if wanted is None or phrased.phrasing in wanted:
            rows = PhrasedList.objects.filter(of=phrased).order_by("row")
            values = rows.values_list("row", "items", "scores")
            found[phrased.phrasing] = _lists(values, run, phrased.depth, scored)
    return found


def _lists(rows: QuerySet[Any, Any], run: Run, depth: int, scored: bool) -> RankedLists:
    found = [
        (row, *unpack_list(bytes(items), bytes(scores))) for row, items, scores in rows.iterator()
    ]
    items = np.full((len(found), depth), NO_ITEM, np.int32)
    scores = np.zeros((len(found) if scored else 0, depth), np.float32)
    for at, (_, own, of_items) in enumerate(found):
        items[at, : len(own)] = own
        if scored:
            scores[at, : len(own)] = of_items
    return RankedLists(
        items,
        run.pair_space.n_videos,
        queries=np.array([row for row, _, _ in found], np.int64),
        scores=scores if scored else None,
    )


def places_of_items(benchmark: Benchmark, direction: Direction) -> Int64Array:
    """Return the place of each item in the order of the keys, int64 [n_items]."""
    of_video = direction is Direction.TEXT_TO_VIDEO
    keys = video_numbers(benchmark) if of_video else query_numbers(benchmark)
    return key_ranks(keys).astype(np.int64)


def origins_of_phrasings(benchmark: Benchmark) -> Mapping[int, set[str]]:
    """Return the origins of the phrasings with each number."""
    found: dict[int, set[str]] = {}
    rows = phrasings_of(benchmark).order_by().values_list("number", "origin").distinct()
    for number, origin in rows:
        found.setdefault(number, set()).add(origin)
    return found


def spread_of_run(run: Run) -> Spread | None:
    """Return the spread over the phrasings of a run by the original positives, cached for a day.

    It is None if the run has no lists of phrasings.
    """
    phrased = phrased_lists_of(run)
    if not phrased:
        return None
    benchmark = run.benchmark
    hashes = [benchmark.captions_sha256, *(one.sha256 for one in phrased)]
    key = f"spread-{run.pk}-{hashlib.sha256(''.join(hashes).encode()).hexdigest()}"
    found: Spread | None = process_cache.get(key)
    if found is None:
        tops = {0: _tops(RankedList.objects.filter(run=run))}
        for one in phrased:
            tops[one.phrasing] = _tops(PhrasedList.objects.filter(of=one))
        positives = benchmark.pair_space.encode(*original_positives(benchmark))
        found = spread_of(tops, positives, benchmark.n_videos)
        process_cache.set(key, found, CACHE_SECONDS)
    return found


def _tops(lists: QuerySet[Any]) -> TopItems:
    """Return the rows of lists, and the first item of each."""
    rows = [
        (row, int.from_bytes(bytes(items[:4]), "little"))
        for row, items in lists.order_by("row").values_list("row", "items").iterator(1000)
    ]
    columns = np.array(rows, np.int64).reshape(-1, 2)
    return columns[:, 0], columns[:, 1]


def spread_table(spread: Spread | None) -> dict[str, Any] | None:
    """Return what the page of a run shows of a spread."""
    if spread is None:
        return None
    rows = [
        (str(number) if number else "0, the captions", spread.n_lists[number], with_percent(share))
        for number, share in spread.correct.items()
    ]
    return {
        "rows": rows,
        "mean": with_percent(spread.mean),
        "range": f"{with_percent(spread.worst)} to {with_percent(spread.best)}",
        "changed": None if spread.changed is None else with_percent(spread.changed),
    }

"""The pooled pairs of a benchmark with their outcomes, part by part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypedDict

import numpy as np

from annotation.core.consensus import NO_LABEL
from evaluation.catalogue.enums import PairOutcome
from evaluation.catalogue.selectors.counts import pooled_pairs_per_caption
from evaluation.catalogue.selectors.outcomes import PairColumns, outcome_name, with_outcomes
from evaluation.core.arrays import BoolArray, IntArray
from evaluation.models import LabelSource
from evaluation.release.selectors import label_set_labels
from hearth.shared.bulk import Among, by_index, read_columns
from pooling.core.pool import union_codes
from pooling.models import Benchmark, Pair, Query, Video
from pooling.selectors.arrays import numbers_of
from pooling.selectors.catalogue import catalogue_of

# A part contains captions with about this number of pairs in total, and at least one caption.
PAIRS_PER_PART = 10_000
# For one video, a part contains the pairs of this number of captions.
CAPTIONS_PER_PART = 20_000
LOOKUPS_PER_QUERY = 10_000


class PairRow(TypedDict):
    """A pair as a JSON object. label, outcome: under the selected labels."""

    query: int
    video: int
    caption_id: str
    video_id: str
    original_positive: bool
    outcome: str
    label: int | None
    judgments: int
    relevant: int


def labelled_of_caption(source: LabelSource | None, benchmark: Benchmark, query: int) -> IntArray:
    """Return the codes of a caption's pairs in a label set or draft, including unpooled ones."""
    if source is None:
        return np.empty(0, np.int64)
    codes, space = label_set_labels(source).codes, benchmark.pair_space
    start, stop = np.searchsorted(codes, [space.encode(query, 0), space.encode(query + 1, 0)])
    return codes[start:stop]


def labelled_of_video(source: LabelSource | None, benchmark: Benchmark, video: int) -> IntArray:
    """Return the codes of a video's pairs in a label set or draft, including unpooled ones."""
    if source is None:
        return np.empty(0, np.int64)
    codes = label_set_labels(source).codes
    found: IntArray = codes[benchmark.pair_space.videos(codes) == video]
    return found


def pooled_codes(benchmark: Benchmark, queries: IntArray) -> IntArray:
    """Return the codes of the pooled pairs with these captions, ascending."""
    return _pooled(benchmark, queries, {})


def pooled_codes_of_video(benchmark: Benchmark, queries: IntArray, video: int) -> IntArray:
    """Return the codes of the pooled pairs of one video with any of these captions, ascending.

    Each caption needs one lookup in the unique index of the pairs.
    """
    of_video = {"video_id": int(catalogue_of(benchmark).video_ids[video])}
    starts = range(0, len(queries), LOOKUPS_PER_QUERY)
    with by_index():
        found = [
            _pooled(benchmark, queries[start : start + LOOKUPS_PER_QUERY], of_video)
            for start in starts
        ]
    return union_codes(found)


def _pooled(benchmark: Benchmark, queries: IntArray, filters: Mapping[str, int]) -> IntArray:
    catalogue = catalogue_of(benchmark)
    found = Pair.objects.filter(Among("query_id", catalogue.query_ids[queries]), **filters)
    query_pks, video_pks = read_columns(found, "query_id", "video_id")
    codes = benchmark.pair_space.encode(
        numbers_of(catalogue.query_ids, query_pks), numbers_of(catalogue.video_ids, video_pks)
    )
    return np.sort(codes)


@dataclass(frozen=True, slots=True, eq=False)
class PairPart:
    """Pairs of some captions. end: the highest code of a pair with one of these captions."""

    columns: PairColumns
    end: int
    is_last: bool


def pair_parts(
    benchmark: Benchmark,
    source: LabelSource | None,
    *,
    query: int | None = None,
    video: int | None = None,
    outcome: str = "",
    after: int = -1,
) -> Iterator[PairPart]:
    """Yield the pooled pairs that pass all filters, part by part, in the order of their codes.

    query, video: numbers. after: the first pair is the one that follows this code. A part reads
    about `PAIRS_PER_PART` pairs. With `video`, it reads the pairs of this video with
    `CAPTIONS_PER_PART` captions. A part can be empty.
    """
    pairs, space = pooled_pairs_per_caption(benchmark), benchmark.pair_space
    is_wanted = pairs > 0
    is_wanted[: space.queries(after + 1)] = False
    if query is not None:
        is_wanted &= np.arange(len(pairs)) == query
    if outcome not in ("", PairOutcome.UNJUDGED):
        is_wanted &= _have_outcome(benchmark, source, outcome)
    queries = np.flatnonzero(is_wanted)
    for part in _parts(queries, pairs[queries], is_one_video=video is not None):
        codes = (
            pooled_codes(benchmark, part)
            if video is None
            else pooled_codes_of_video(benchmark, part, video)
        )
        columns = with_outcomes(benchmark, source, codes[codes > after])
        end = space.encode(int(part[-1]) + 1, 0) - 1
        kept = columns.only(columns.have_outcome(outcome))
        yield PairPart(kept, end, is_last=bool(part[-1] == queries[-1]))


def _have_outcome(benchmark: Benchmark, source: LabelSource | None, outcome: str) -> BoolArray:
    """Return which captions have a pair with this outcome, so that no other caption is read."""
    found = np.zeros(benchmark.n_queries, np.bool_)
    if source is not None:
        columns = with_outcomes(benchmark, source, label_set_labels(source).codes)
        codes = columns.codes[columns.have_outcome(outcome)]
        found[benchmark.pair_space.queries(codes)] = True
    return found


def _parts(queries: IntArray, pairs: IntArray, *, is_one_video: bool) -> Iterator[IntArray]:
    if is_one_video:
        starts = np.arange(len(queries)) // CAPTIONS_PER_PART
    else:
        starts = (np.cumsum(pairs) - pairs) // PAIRS_PER_PART
    edges = np.flatnonzero(np.diff(starts, prepend=-1)).tolist()
    yield from (part for part in np.split(queries, edges[1:]) if len(part))


def pair_rows(benchmark: Benchmark, columns: PairColumns) -> list[PairRow]:
    """Return pairs as JSON objects, with two database queries for the keys."""
    catalogue = catalogue_of(benchmark)
    queries, videos = benchmark.pair_space.decode(columns.codes)
    caption_ids = _keys(Query, catalogue.query_ids, queries)
    video_ids = _keys(Video, catalogue.video_ids, videos)
    return [
        {
            "query": query,
            "video": video,
            "caption_id": caption_ids[query],
            "video_id": video_ids[video],
            "original_positive": is_original,
            "outcome": str(outcome_name(state, label)),
            "label": None if label == NO_LABEL else label,
            "judgments": judgments,
            "relevant": relevant,
        }
        for query, video, is_original, state, label, judgments, relevant in zip(
            queries.tolist(),
            videos.tolist(),
            *(getattr(columns, name).tolist() for name in PairColumns.__slots__[1:]),
            strict=True,
        )
    ]


def _keys(model: type[Query | Video], ids: IntArray, numbers: IntArray) -> dict[int, str]:
    wanted: Any = ids[np.unique(numbers)]
    rows = model._default_manager.filter(Among("id", wanted))
    return dict(rows.values_list("number", "key"))


@dataclass(frozen=True, slots=True, eq=False)
class PairPage:
    """One page of pairs. next: the code after which the next page begins; None after the last."""

    columns: list[PairColumns]
    next: int | None


def pair_page(parts: Iterator[PairPart], limit: int, max_parts: int) -> PairPage:
    """Return the first `limit` pairs of the parts.

    A filter can leave few pairs in each part. A page therefore ends after `max_parts` parts, even
    if it has fewer pairs. Otherwise a page could read the whole table.
    """
    found: list[PairColumns] = []
    free, end = limit, None
    for part in islice(parts, max_parts):
        codes = part.columns.codes
        if len(codes):
            found.append(part.columns.only(slice(0, free)))
        if len(codes) > free:
            return PairPage(found, int(codes[free - 1]))
        free -= len(codes)
        end = None if part.is_last else part.end
        if not free:
            break
    return PairPage(found, end)

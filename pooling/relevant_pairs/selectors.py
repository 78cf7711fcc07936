"""Reading potentially relevant pairs, and the parts of captions that a detector compares."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hearth.shared.errors import InvalidInput
from hearth.shared.progress import Progress, no_progress
from pooling.core.arrays import Int64s
from pooling.core.equal_texts import EXACT, first_equal
from pooling.models import Benchmark, OriginalPositive, Query
from pooling.moments.models import OriginalSpan
from pooling.relevant_pairs.core.detection import Candidates, Detected, candidates_of
from pooling.relevant_pairs.core.phrases import Detector, Parts, parts_of_captions
from pooling.relevant_pairs.models import RelevantPairs
from pooling.selectors.arrays import query_texts


def parts_of_benchmark(
    benchmark: Benchmark, detector: Detector, progress: Progress = no_progress
) -> tuple[Parts, Int64s]:
    """Return the parts of the different captions, and the first caption with each text.

    The first captions are int64 [n_queries].
    """
    texts = query_texts(benchmark)
    equal = first_equal(texts, EXACT)
    return parts_of_captions([texts[n] for n in np.unique(equal)], detector, progress), equal


def get_relevant_pairs(benchmark: Benchmark, name: str) -> RelevantPairs:
    """Return the pairs of this name. If there are none, raises `InvalidInput` with the names."""
    found = {pairs.proxy.name: pairs for pairs in relevant_pairs_of(benchmark)}
    if name not in found:
        known = ", ".join(found) or "none"
        raise InvalidInput(
            f"There are no relevant pairs {name!r} in {benchmark.key}. Known names: {known}."
        )
    return found[name]


def relevant_pairs_of(benchmark: Benchmark) -> list[RelevantPairs]:
    rows = RelevantPairs.objects.filter(proxy__benchmark=benchmark)
    return list(rows.select_related("proxy__benchmark").order_by("proxy__name"))


@dataclass(frozen=True, slots=True, eq=False)
class LoadedPairs:
    """Detected pairs of captions, and the first caption with each text, int64 [n_queries]."""

    detected: Detected
    first_equal: Int64s

    def candidates(self, queries: Int64s) -> Candidates:
        return candidates_of(self.detected, self.first_equal, queries)


def load_pairs(pairs: RelevantPairs) -> LoadedPairs:
    """Return the pairs. Raises `InvalidInput` if the captions have changed since then."""
    proxy = pairs.proxy
    if proxy.is_of_other_captions:
        raise InvalidInput(
            f"The captions have changed since the pairs {proxy.name!r} were found. Find them again."
        )
    rows = np.lib.format.open_memmap(Path(pairs.file.path), "r")
    detected = Detected(
        rows["caption"].astype(np.int64),
        rows["other"].astype(np.int64),
        rows["similarity"].astype(np.float32),
        rows["confidence"].astype(np.float32),
    )
    return LoadedPairs(detected, first_equal(query_texts(proxy.benchmark), EXACT))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A caption whose moment is a candidate.

    videos: the keys of its own videos. moments: its original spans, start and end in seconds.
    """

    query: Query
    videos: list[str]
    moments: list[tuple[float, float]]
    similarity: float
    confidence: float


def candidates_of_caption(
    pairs: RelevantPairs, caption: Query, count: int
) -> tuple[list[Candidate], int]:
    """Return the candidates with the highest confidence, and the number of all candidates."""
    loaded = load_pairs(pairs)
    found = loaded.candidates(np.array([caption.number]))
    confidence = loaded.detected.confidence[found.index]
    first = np.lexsort((found.other, -confidence))[:count]
    others = {
        query.number: query
        for query in caption.benchmark.queries.filter(number__in=found.other[first].tolist())
    }
    videos, moments = _videos_of(others.values()), _moments_of(others.values())
    shown = [
        Candidate(
            others[int(found.other[at])],
            videos[int(found.other[at])],
            moments[int(found.other[at])],
            float(loaded.detected.similarity[found.index[at]]),
            float(confidence[at]),
        )
        for at in first.tolist()
    ]
    return shown, len(found.other)


def _videos_of(queries: Iterable[Query]) -> dict[int, list[str]]:
    """Return the keys of the original positives of captions, by the number of the caption."""
    found: dict[int, list[str]] = defaultdict(list)
    rows = OriginalPositive.objects.filter(query__in=queries).order_by("video__number")
    for number, key in rows.values_list("query__number", "video__key"):
        found[number].append(key)
    return found


def _moments_of(queries: Iterable[Query]) -> dict[int, list[tuple[float, float]]]:
    """Return the original spans of captions, by the number of the caption, each once."""
    found: dict[int, list[tuple[float, float]]] = defaultdict(list)
    rows = OriginalSpan.objects.filter(positive__query__in=queries, grade=None)
    names = ("positive__query__number", "start", "end")
    for number, start, end in rows.values_list(*names).distinct().order_by(*names):
        found[number].append((start, end))
    return found

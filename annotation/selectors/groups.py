"""Tasks that one annotator judges together: the sentences of a paragraph on one video."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pooling.core.pair_space import PairSpace
from pooling.models import Benchmark
from pooling.paragraphs.models import Paragraphs
from pooling.paragraphs.selectors import parts_of

Int64Array = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """The paragraph of each sentence and its place there, int64 [n_queries] each."""

    space: PairSpace
    paragraphs: Int64Array
    places: Int64Array

    def codes(self, units: Int64Array) -> Int64Array:
        """Return the group of each text pair: its paragraph and its video as one number."""
        sentences, videos = self.space.decode(units)
        return self.space.encode(self.paragraphs[sentences], videos)

    def places_of(self, units: Int64Array) -> Int64Array:
        return self.places[self.space.queries(units)]


def groups_of(benchmark: Benchmark) -> Groups | None:
    """Return the groups if the captions of a benchmark are sentences of paragraphs."""
    link = Paragraphs.objects.filter(sentences=benchmark).select_related("benchmark").first()
    if link is None:
        return None
    parts = parts_of(link.benchmark)
    paragraphs, places = np.zeros((2, benchmark.n_queries), np.int64)
    paragraphs[parts.sentences] = parts.paragraphs
    places[parts.sentences] = parts.places
    return Groups(benchmark.pair_space, paragraphs, places)

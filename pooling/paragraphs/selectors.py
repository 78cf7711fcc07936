"""Reading paragraphs, their sentences, and similarities."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hearth.shared.bulk import read_columns
from hearth.shared.errors import InvalidInput
from pooling.core.arrays import Float64s
from pooling.models import Benchmark, Query, Run
from pooling.paragraphs.core.similarities import SimilaritiesOf, StoredSimilarities
from pooling.paragraphs.models import ClipSet, Paragraphs, Sentence, Similarities
from pooling.selectors.arrays import Int64Array, query_numbers, video_numbers


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """The sentences of all paragraphs, ordered by paragraph and place; int64 [n] each.

    sentences: their numbers in the benchmark of sentences. paragraphs: the numbers of their
    paragraphs. places: from 0.
    """

    sentences: Int64Array
    paragraphs: Int64Array
    places: Int64Array

    def counts(self, n_paragraphs: int) -> Int64Array:
        """Return the number of sentences of each paragraph, int64 [n_paragraphs]."""
        return np.bincount(self.paragraphs, minlength=n_paragraphs)


def paragraphs_of(benchmark: Benchmark) -> Paragraphs:
    """Return the row of a benchmark of paragraphs. Raises `InvalidInput` if it has captions."""
    found = Paragraphs.objects.filter(benchmark=benchmark).select_related("sentences").first()
    if found is None:
        raise InvalidInput(
            f"The captions of {benchmark.key} are not paragraphs. Add paragraphs to it, and use "
            "the new benchmark."
        )
    return found


def has_paragraphs(benchmark: Benchmark) -> bool:
    return Paragraphs.objects.filter(benchmark=benchmark).exists()


def parts_of(benchmark: Benchmark) -> Parts:
    """Return the sentences of all paragraphs of a benchmark of paragraphs."""
    rows = Sentence.objects.filter(part_of__benchmark=benchmark)
    names = ("query__number", "part_of__number", "place")
    return Parts(*read_columns(rows.order_by("part_of__number", "place"), *names))


def sentences_of(paragraph: Query) -> list[Query]:
    """Return the captions that make up a paragraph, in order."""
    found = Query.objects.filter(of_paragraph__part_of=paragraph)
    return list(found.order_by("of_paragraph__place"))


def shape_of_similarities(benchmark: Benchmark) -> SimilaritiesOf:
    """Return what a file of similarities for this benchmark must match."""
    paragraphs_of(benchmark)
    counts = parts_of(benchmark).counts(benchmark.n_queries)
    return SimilaritiesOf(query_numbers(benchmark), video_numbers(benchmark), counts.tolist())


def newest_similarities(run: Run) -> Similarities | None:
    return run.clip_similarities.order_by("-pk").first()


def open_similarities(found: Similarities) -> StoredSimilarities:
    return StoredSimilarities.at(Path(found.index.path), Path(found.values.path))


def clips_by_video(found: ClipSet) -> dict[int, Float64s]:
    """Return starts and ends of the clips by the number of their video, float64 [n, 2] each."""
    table = np.load(found.clips.path)
    videos, first = np.unique(table[:, 0].astype(np.int64), return_index=True)
    return dict(zip(videos.tolist(), np.split(table[:, 1:], first[1:]), strict=True))

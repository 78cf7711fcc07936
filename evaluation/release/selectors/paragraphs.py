"""The outcomes of paragraphs, which follow from the labels of their sentences."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotation.core.consensus import NO_LABEL
from evaluation.core.paragraphs.outcomes import Outcome, paragraph_outcomes
from evaluation.release.selectors.labels import live_labels
from pooling.core.pool import union_codes
from pooling.models import Benchmark
from pooling.paragraphs.selectors import paragraphs_of, parts_of
from pooling.selectors.arrays import query_keys, video_keys

Int64Array = npt.NDArray[np.int64]
# The annotator of the labels that follow from those of sentences.
ANNOTATOR = "sentences"
HEADER = ("caption_id", "video_id", "annotator", "label")


@dataclass(frozen=True, slots=True, eq=False)
class ParagraphPairs:
    """The pairs of a paragraph and a video of which a sentence is judged, int64 [n] each.

    codes: pair codes of the benchmark of paragraphs, ascending. sentences: how many sentences the
    paragraph has. found, rejected: how many of them are settled as relevant, and as not relevant.
    outcomes: values of `Outcome`. stored: the label that people's labels of the paragraph already
    have, or NO_LABEL.
    """

    codes: Int64Array
    sentences: Int64Array
    found: Int64Array
    rejected: Int64Array
    outcomes: Int64Array
    stored: Int64Array

    @property
    def is_new(self) -> npt.NDArray[np.bool_]:
        """Whether the outcome is settled, and the pair has no label yet, bool [n]."""
        return np.asarray((self.outcomes != Outcome.PENDING) & (self.stored == NO_LABEL))

    @property
    def is_changed(self) -> npt.NDArray[np.bool_]:
        """Whether the pair has another label than the outcome, bool [n]."""
        return np.asarray((self.stored != NO_LABEL) & (self.stored != self.outcomes))

    def count(self, outcome: Outcome) -> int:
        return int((self.outcomes == outcome).sum())


def paragraph_pairs(benchmark: Benchmark) -> ParagraphPairs:
    """Return the outcomes by the current labels of the sentences.

    Raises `InvalidInput` if the captions of the benchmark are not paragraphs.
    """
    link, space = paragraphs_of(benchmark), benchmark.pair_space
    _, labels = live_labels(link.sentences)
    parts = parts_of(benchmark)
    paragraph_of = np.full(link.sentences.n_queries, -1)
    paragraph_of[parts.sentences] = parts.paragraphs
    sentences, videos = link.sentences.pair_space.decode(labels.codes)
    # Both benchmarks have the same videos in the same order.
    pairs: Int64Array = space.encode(paragraph_of[sentences], videos)
    codes = union_codes([pairs])
    place = np.searchsorted(codes, pairs)
    settled = labels.labels != NO_LABEL
    found, rejected = (
        np.bincount(place[settled & is_right], minlength=len(codes))
        for is_right in (labels.labels >= 1, labels.labels < 1)
    )
    counts = parts.counts(benchmark.n_queries)[space.queries(codes)]
    outcomes = paragraph_outcomes(counts, found, rejected, float(link.share))
    return ParagraphPairs(codes, counts, found, rejected, outcomes, _stored(benchmark, codes))


def _stored(benchmark: Benchmark, codes: Int64Array) -> Int64Array:
    _, labels = live_labels(benchmark)
    stored = np.full(len(codes), NO_LABEL, np.int64)
    _, ours, theirs = np.intersect1d(codes, labels.codes, return_indices=True)
    stored[ours] = np.minimum(labels.labels[theirs], 1)
    return stored


def outcome_lines(benchmark: Benchmark, pairs: ParagraphPairs) -> Iterator[str]:
    """Yield the new outcomes as a CSV file of judgments, line by line."""
    queries, videos = query_keys(benchmark), video_keys(benchmark)
    yield _line(HEADER)
    codes = pairs.codes[pairs.is_new]
    rows = zip(*benchmark.pair_space.decode(codes), pairs.outcomes[pairs.is_new], strict=True)
    for query, video, label in rows:
        yield _line((queries[query], videos[video], ANNOTATOR, str(label)))


def _line(cells: tuple[str, ...]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(cells)
    return out.getvalue()

"""Moments for training in three levels (Maeoki et al., equations 11, 12 and 17).

Each caption has positive moments, potentially relevant moments, which are those of captions that
share an action, and a drawn sample of negative ones. Where people judged a caption and a video,
their label decides the level, and their spans are the moments of a relevant pair.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Final, NamedTuple

import numpy as np

from evaluation.core.arrays import IntArray
from evaluation.models import LabelSet
from evaluation.release.selectors import LATEST, ORIGINAL, find_label_set, label_set_judged
from evaluation.spans.selectors import label_set_spans
from hearth.shared.options import Option, Seed
from hearth.shared.tables import csv_parts
from pooling.moments.core.spans import Spans
from pooling.moments.selectors import original_spans
from pooling.relevant_pairs.core.detection import expand
from pooling.relevant_pairs.models import RelevantPairs
from pooling.relevant_pairs.selectors import LoadedPairs, load_pairs
from pooling.selectors.arrays import original_positives, query_keys, video_keys

COLUMNS: Final = ("caption_id", "video_id", "start", "end", "level", "confidence", "source")
_QUERIES: Final = 200
# A drawn moment can belong to a positive or a candidate, so more are drawn than needed.
_DRAWS: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingMoments:
    """The options of moments for training.

    labels: A version number, latest, or original for no labels of people; by default, the newest
        label set if there is one.
    threshold: The lowest similarity of a candidate; by default, that of the pairs.
    negatives: The number of drawn moments of other videos.
    """

    labels: Annotated[str, Option("Labels", metavar="LABELS")] = ""
    threshold: Annotated[
        float, Option("Threshold", low=0, high=1, may_be_empty=True, attrs={"step": "any"})
    ] = 0
    negatives: Annotated[
        int, Option("Negatives per caption", low=0, high=100, may_be_empty=True)
    ] = 1
    seed: Annotated[Seed, Option(may_be_empty=True)] = 0


class Level(StrEnum):
    POSITIVE = "positive"
    POTENTIAL = "potentially relevant"
    NEGATIVE = "negative"


class Source(StrEnum):
    """What decides a level: the data set, the detector, a draw, or people."""

    ORIGINAL = "original"
    DETECTOR = "detector"
    DRAW = "draw"
    PEOPLE = "people"


class Moment(NamedTuple):
    """A moment of a caption. start, end: seconds, or None for a whole video."""

    video: int
    start: float | None
    end: float | None


Row = tuple[Moment, Level, float, Source]


def file_name(pairs: RelevantPairs) -> str:
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", pairs.proxy.name).strip("-.")
    return f"{pairs.proxy.benchmark.key}-{name}-training.csv"


def training_rows(pairs: RelevantPairs, options: TrainingMoments) -> Iterator[str]:
    """Yield the moments as CSV, by caption."""
    benchmark = pairs.proxy.benchmark
    truth = _Truth(pairs, _labels_of(pairs, options.labels))
    captions, videos = query_keys(benchmark), video_keys(benchmark)

    def cells() -> Iterator[tuple[str | float | None, ...]]:
        for query, rows in _of_captions(truth, load_pairs(pairs), options):
            for (video, start, end), level, confidence, source in rows:
                times = (start, end)
                yield captions[query], videos[video], *times, level, f"{confidence:.4f}", source

    yield from csv_parts(COLUMNS, cells())


def _labels_of(pairs: RelevantPairs, labels: str) -> LabelSet | None:
    benchmark = pairs.proxy.benchmark
    if labels:
        return find_label_set(benchmark, labels)
    return find_label_set(benchmark, LATEST if benchmark.label_sets.exists() else ORIGINAL)


class _Truth:
    """What is known about the pairs of a benchmark.

    moments: the moments of each pair of the data set. own: the videos of each caption. judged: the
    label of each pair that people judged. located: the spans of people.
    """

    def __init__(self, pairs: RelevantPairs, label_set: LabelSet | None) -> None:
        benchmark = pairs.proxy.benchmark
        self.space = benchmark.pair_space
        self.captions, self.videos = original_positives(benchmark)
        home = self.space.encode(self.captions, self.videos).tolist()
        marked = _by_pair(original_spans(benchmark), self.space.n_videos)
        self.moments = {
            code: marked.get(code) or [Moment(code % self.space.n_videos, None, None)]
            for code in home
        }
        self.own: dict[int, list[int]] = defaultdict(list)
        for code in home:
            self.own[code // self.space.n_videos].append(code)
        self.all = [moment for found in self.moments.values() for moment in found]
        self.judged: dict[int, bool] = {}
        if label_set is not None:
            judged = label_set_judged(label_set)
            self.judged = dict(zip(judged.codes.tolist(), (judged.gains > 0).tolist(), strict=True))
        self.located = _by_pair(label_set_spans(label_set)[0], self.space.n_videos)


def _by_pair(spans: Spans, n_videos: int) -> dict[int, list[Moment]]:
    found: dict[int, list[Moment]] = defaultdict(list)
    columns = (spans.codes, spans.starts, spans.ends)
    for code, start, end in zip(*(column.tolist() for column in columns), strict=True):
        moment = Moment(code % n_videos, start, end)
        if moment not in found[code]:
            found[code].append(moment)
    return found


@dataclass(slots=True)
class _Caption:
    """The moments of a caption. pairs: the codes of pairs that have a row."""

    number: int
    truth: _Truth
    rows: list[Row] = field(default_factory=list)
    pairs: set[int] = field(default_factory=set)

    def add(self, code: int, moments: dict[Moment, float], level: Level, source: Source) -> None:
        """Add the moments of a pair with their confidence, unless people decided otherwise."""
        self.pairs.add(code)
        label = self.truth.judged.get(code)
        if label is not None:
            level, source = (Level.POSITIVE if label else Level.NEGATIVE), Source.PEOPLE
            located = self.truth.located.get(code) if label else None
            moments = dict.fromkeys(located or moments, float(label))
        self.rows += [(moment, level, value, source) for moment, value in moments.items()]


def _of_captions(
    truth: _Truth, loaded: LoadedPairs, options: TrainingMoments
) -> Iterator[tuple[int, list[Row]]]:
    space, n_captions = truth.space, truth.space.n_queries
    labelled: dict[int, list[int]] = defaultdict(list)
    for code in sorted(truth.judged):
        labelled[code // space.n_videos].append(code)
    for start in range(0, n_captions, _QUERIES):
        queries = np.arange(start, min(start + _QUERIES, n_captions))
        found = _candidates(truth, loaded, queries, options.threshold)
        for query in queries.tolist():
            caption = _Caption(query, truth)
            for code in truth.own[query]:
                ones = dict.fromkeys(truth.moments[code], 1.0)
                caption.add(code, ones, Level.POSITIVE, Source.ORIGINAL)
            for code, moments in sorted(found[query].items()):
                if code not in caption.pairs:
                    caption.add(code, moments, Level.POTENTIAL, Source.DETECTOR)
            for code in labelled[query]:
                if code not in caption.pairs:
                    whole = {Moment(code % space.n_videos, None, None): 0.0}
                    caption.add(code, whole, Level.NEGATIVE, Source.PEOPLE)
            _draw(caption, options)
            yield query, caption.rows


def _candidates(
    truth: _Truth, loaded: LoadedPairs, queries: IntArray, threshold: float
) -> dict[int, dict[int, dict[Moment, float]]]:
    """Return the candidates of captions: by caption and pair, moments with their confidence."""
    found: dict[int, dict[int, dict[Moment, float]]] = defaultdict(lambda: defaultdict(dict))
    candidates = loaded.candidates(queries)
    of, at = expand(truth.captions, truth.space.n_queries, candidates.other)
    kept = loaded.detected.similarity[candidates.index[of]] >= np.float32(threshold)
    of, at = of[kept], at[kept]
    confidence = loaded.detected.confidence[candidates.index[of]].tolist()
    codes = truth.space.encode(candidates.query[of], truth.videos[at]).tolist()
    sources = truth.space.encode(truth.captions[at], truth.videos[at]).tolist()
    numbers = candidates.query[of].tolist()
    for query, code, source, value in zip(numbers, codes, sources, confidence, strict=True):
        moments = found[query][code]
        for moment in truth.moments[source]:
            moments[moment] = max(value, moments.get(moment, 0.0))
    return found


def _draw(caption: _Caption, options: TrainingMoments) -> None:
    """Add drawn moments of videos that have no row yet."""
    truth = caption.truth
    rng = np.random.default_rng([options.seed, caption.number])
    drawn = rng.integers(len(truth.all), size=options.negatives * _DRAWS).tolist()
    left = options.negatives
    for place in drawn:
        moment = truth.all[place]
        code = int(truth.space.encode(caption.number, moment.video))
        if left and code not in caption.pairs:
            left -= 1
            caption.add(code, {moment: 0.0}, Level.NEGATIVE, Source.DRAW)

"""Widths and coverage of estimates on MSVD, with one run left out of the pool.

The labels of the pairs that the other runs retrieve are known. Those of the run that is left out
are what judging the drawn captions would give.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from evaluation.core.estimates import means, shares
from evaluation.core.estimates.calibration import cross_fit
from evaluation.core.estimates.frames import Frame, TopPairs, frames_of
from evaluation.core.estimates.shares import Interval
from evaluation.core.relevance.judged import Judged, with_positives
from evaluation.core.relevance.measures import Measure, parse_measure
from pooling.core.pair_space import PairSpace
from pooling.core.proxies.compute import BoW, compute
from pooling.core.proxies.stop_words import spacy_stop_words
from pooling.core.ranked_lists import RankedLists
from tests.reference.figures import Figure, Options

RUNS = ("lsa-3cap", "char5-1cap", "tfidf-5cap")
DEPTH = 10
DRAWS = 1000
SOURCE = "estimates, MSVD, lsa-3cap left out"
# Measure, drawn captions, mean width in points with its tolerance.
WIDTHS = [("C@10", 100, 4.4, 0.2), ("C@1", 100, 2.9, 0.2), ("AP@10", 100, 3.2, 0.05)]
UNDECIDED = {"C@1": 8506, "C@5": 10943, "C@10": 8829}

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Msvd:
    """Captions, ranked lists and resolved labels. own: the number of each caption's video."""

    texts: list[str]
    own: Ints
    runs: dict[str, RankedLists]
    labels: Judged

    @property
    def space(self) -> PairSpace:
        return self.labels.space

    @cached_property
    def original(self) -> Judged:
        n = len(self.own)
        ones = np.ones(n, np.int64)
        return Judged.from_pairs(
            np.arange(n), self.own, ones, n_queries=n, n_videos=self.labels.n_videos
        )

    @cached_property
    def truth(self) -> Judged:
        return with_positives(self.labels, self.original)

    @cached_property
    def bag_of_words(self) -> npt.NDArray[np.float32]:
        """The proxy BoW, [captions, videos]."""
        texts: list[list[str]] = [[] for _ in range(self.labels.n_videos)]
        for text, video in zip(self.texts, self.own.tolist(), strict=True):
            texts[video].append(text)
        matrix = compute(BoW(spacy_stop_words()), texts, [[text] for text in self.texts])
        return np.ascontiguousarray(matrix.T)

    def pooled(self, names: Sequence[str]) -> Judged:
        """Return the labels of the pairs that these runs retrieve, and the original positives."""
        codes = np.unique(np.concatenate([self.runs[name].codes.ravel() for name in names]))
        known = self.labels.only(np.isin(self.labels.codes, codes, assume_unique=True))
        return with_positives(known, self.original)

    def calibrated(self, name: str, known: Judged) -> Floats:
        """Return BoW of a run's pairs, calibrated by the known labels of the pools."""
        own = self.space.encode(np.arange(len(self.own)), self.own)
        is_new = ~np.isin(known.codes, own, assume_unique=True)
        queries, videos = self.space.decode(known.codes[is_new])
        items = self.runs[name].items
        rows = np.broadcast_to(np.arange(len(items))[:, None], items.shape)
        return cross_fit(
            self.bag_of_words[queries, videos].astype(np.float64),
            (known.gains[is_new] >= 1).astype(np.float64),
            self.own[queries],
            self.bag_of_words[rows, items].astype(np.float64),
            self.own[rows],
        )

    def frames(self, name: str, known: Judged, measures: Sequence[Measure]) -> dict[Measure, Frame]:
        """Return the frames of a run under known labels, with BoW as the machine."""
        pairs = TopPairs.of(self.runs[name], known)
        return frames_of(pairs, measures, self.calibrated(name, known))

    def without(self, name: str) -> Judged:
        """Return the labels of the pool of the other runs."""
        return self.pooled([other for other in self.runs if other != name])


def read_msvd(folder: Path) -> Msvd:
    with gzip.open(folder / "captions.csv.gz", "rt", encoding="utf-8") as lines:
        captions = list(csv.DictReader(lines))
    queries = {row["caption_id"]: number for number, row in enumerate(captions)}
    videos: dict[str, int] = {}
    own = np.array([videos.setdefault(row["video_id"], len(videos)) for row in captions])
    runs = {}
    for name in RUNS:
        items = np.full((len(captions), DEPTH), -1, np.int32)
        with gzip.open(folder / f"{name}.run.gz", "rt", encoding="utf-8") as lines:
            for line in lines:
                query, _, video, rank, _ = line.split(" ", 4)
                if int(rank) <= DEPTH:
                    items[queries[query], int(rank) - 1] = videos[video]
        runs[name] = RankedLists.of(items, len(videos))
    labels = _resolved(folder / "judgments_sim.csv.gz", queries, videos)
    return Msvd([row["caption"] for row in captions], own, runs, labels)


def _resolved(path: Path, queries: dict[str, int], videos: dict[str, int]) -> Judged:
    """Return the majority of the labels of each pair."""
    space = PairSpace(len(queries), len(videos))
    codes, labels = [], []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            query, video, _, label = line.rstrip().split(",")
            codes.append(queries[query] * space.n_videos + videos[video])
            labels.append(int(label))
    pairs, place = np.unique(np.array(codes, np.int64), return_inverse=True)
    share = np.bincount(place, np.array(labels)) / np.bincount(place)
    kept = share != 0.5
    return Judged(pairs[kept], (share[kept] > 0.5).astype(np.int8), space.n_queries, space.n_videos)


def estimate(frame: Frame, values: Floats, drawn: Ints) -> Interval:
    """Return the estimates of draws of undecided captions, [draws, n] places among them."""
    undecided = np.flatnonzero(frame.undecided)
    m, n_all = values[undecided][drawn], len(values)
    if frame.measure.name == "C":
        x = m.sum(axis=1)
        correct = int(frame.decided_sum)
        return shares.share_of_all(len(undecided), drawn.shape[1], x, correct, n_all)
    found = means.difference_estimate(
        m, frame.predicted[undecided][drawn], frame.mean_predicted, len(undecided), 1.0
    )
    return found.moved(frame.decided_sum / n_all, len(undecided) / n_all)


def draws_of(frame: Frame, n: int, draws: int, rng: np.random.Generator) -> Ints:
    return np.stack([rng.choice(frame.n_undecided, n, replace=False) for _ in range(draws)])


def figures(options: Options) -> Iterator[Figure]:
    msvd = read_msvd(options.data / "msvd")
    name = RUNS[0]
    measures = [parse_measure(text) for text in (*UNDECIDED, "AP@10")]
    frames = msvd.frames(name, msvd.without(name), measures)
    truth = TopPairs.of(msvd.runs[name], msvd.truth)
    values = truth.values(measures, np.zeros(truth.gains.shape))
    rng = np.random.default_rng(2026)
    for measure in measures:
        if str(measure) in UNDECIDED:
            found = frames[measure].n_undecided
            yield Figure(SOURCE, f"{measure}: undecided", UNDECIDED[str(measure)], found)
    for text, n, width, tolerance in WIDTHS:
        measure = parse_measure(text)
        drawn = draws_of(frames[measure], n, DRAWS, rng)
        found = estimate(frames[measure], values[measure], drawn)
        computed = 100 * float((found.high - found.low).mean())
        covered = (found.low <= (mean := values[measure].mean())) & (mean <= found.high)
        yield Figure(SOURCE, f"{text}: width of {n} captions", width, computed, tolerance)
        yield Figure(SOURCE, f"{text}: coverage of {n}", 0.95, float(covered.mean()), 0.02)

"""The pool of the demo, labelled again and again by its simulated annotators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluation.core.people.label_rates import RatesEstimate, rates_from_labels
from evaluation.core.people.label_table import tabulate_labels
from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.label_noise import NoisyScore, Resamples, correct_scores
from evaluation.core.relevance.measures import Measure
from evaluation.core.relevance.noisy_labels import NoisyLabels, best_ranks, rank_strata
from evaluation.core.relevance.scoring import score_run
from evaluation.demo.annotators import make_annotators
from evaluation.demo.benchmark import DemoBenchmark, make_benchmark
from evaluation.demo.files import rank
from evaluation.demo.systems import score_systems
from pooling.core.pair_space import PairSpace
from pooling.core.ranked_lists import RankedLists
from tests.evaluation.core.lists import lists_of

Int64Array = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class DemoWorld:
    """The demo, its runs and its pool.

    codes: int64 [n_pairs], the pairs in the top ten of a run, and the original positives.
    """

    demo: DemoBenchmark
    runs: dict[str, RankedLists]
    codes: Int64Array

    @classmethod
    def make(cls) -> DemoWorld:
        demo = make_benchmark()
        found = score_systems(demo).items()
        captions, videos = demo.truth.shape
        runs = {name: lists_of(rank(scores, 20), videos) for name, scores in found}
        tops = [ranked.top(10).codes.ravel() for ranked in runs.values()]
        own = np.arange(captions) * videos + demo.sources()
        codes = np.unique(np.concatenate([*tops, own]))
        return cls(demo, runs, codes.astype(np.int64))

    @property
    def space(self) -> PairSpace:
        return PairSpace(*self.demo.truth.shape)

    @property
    def original(self) -> Judged:
        captions, videos = self.demo.truth.shape
        codes = np.arange(captions) * videos + self.demo.sources()
        return Judged(codes, np.ones(captions, np.int8), captions, videos)

    @property
    def truth(self) -> Flags:
        """Whether each pair of `codes` is relevant."""
        return np.asarray(self.demo.truth.reshape(-1)[self.codes])

    def judged(self, positive: Flags) -> Judged:
        return Judged(self.codes, positive.astype(np.int8), *self.demo.truth.shape)

    def scores(self, positive: Flags, measures: Sequence[Measure]) -> npt.NDArray[np.float64]:
        """Return the score of each run and measure, [runs, measures]."""
        judged = self.judged(positive)
        found = [score_run(ranked, judged, measures) for ranked in self.runs.values()]
        return np.array(
            [[float(each.per_query(measure).mean()) for measure in measures] for each in found]
        )

    def true_scores(self, measures: Sequence[Measure]) -> npt.NDArray[np.float64]:
        return self.scores(self.truth, measures)

    def correct(
        self,
        labels: NoisyLabels,
        measures: Sequence[Measure],
        seed: int,
        *,
        is_split: bool = True,
        resamples: int = 200,
    ) -> list[NoisyScore]:
        """Correct the scores as the analysis `label-noise` does, with videos as clusters.

        is_split: whether isolated pairs have their own rate of false alarms.
        """
        judged = self.judged(labels.is_positive)
        return correct_scores(
            self.runs,
            judged,
            labels.codes,
            labels.relevance,
            measures,
            self.estimate(labels, seed, is_split=is_split, resamples=resamples),
            self.resamples(seed, resamples),
        )

    def resamples(self, seed: int, number: int) -> Resamples:
        return Resamples(self.demo.sources().astype(np.int64), number, seed)

    def estimate(
        self, labels: NoisyLabels, seed: int, *, is_split: bool = True, resamples: int = 200
    ) -> RatesEstimate:
        """Estimate the error rates from pairs with several labels."""
        drawn = self.resamples(seed, resamples)
        ranks = best_ranks(self.runs.values(), labels.codes)
        strata, _ = rank_strata(labels.codes, ranks, self.original)
        clusters = drawn.clusters[self.space.queries(labels.codes)]
        if is_split:
            table = labels.table(strata, clusters, drawn.n_clusters)
        else:
            used = ~labels.is_known
            columns = (labels.n_labels, labels.relevant, strata, clusters)
            table = tabulate_labels(*(column[used] for column in columns), drawn.n_clusters)
        return rates_from_labels(table, drawn.sums(table.counts))


@dataclass(frozen=True, slots=True, eq=False)
class DemoLabels:
    """The labels of one simulation, and the labels after all positives were confirmed."""

    labels: NoisyLabels
    confirmed: NoisyLabels


def draw_demo(world: DemoWorld, seed: int) -> DemoLabels:
    """Label each pair by a simulated annotator.

    A tenth of the pairs have two labels, or three if the first two differ. A confirmation adds a
    second label to each positive with one label, and a third if the two differ.
    """
    rng = np.random.default_rng(seed)
    rows, columns = world.space.decode(world.codes)
    people = make_annotators(world.demo, seed=seed)
    answers = np.stack([person.judge_many(rows, columns)[0] for person in people])
    order = np.argsort(rng.random(answers.shape), axis=0)
    labels = np.take_along_axis(answers, order, axis=0)[:3].astype(np.int64)
    is_known = np.isin(world.codes, world.original.codes)
    is_doubled = rng.random(len(world.codes)) < 0.1

    def counted(is_doubled: Flags) -> NoisyLabels:
        differ = is_doubled & (labels[0] != labels[1])
        n_labels = 1 + is_doubled + differ
        return NoisyLabels(
            codes=world.codes,
            space=world.space,
            n_labels=n_labels,
            relevant=labels[0] + is_doubled * labels[1] + differ * labels[2],
            ruled=np.full(len(world.codes), -1, np.int8),
            is_known=is_known,
            n_all_labels=n_labels,
        )

    confirmed = is_doubled | ((labels[0] == 1) & ~is_known)
    return DemoLabels(counted(is_doubled), counted(confirmed))

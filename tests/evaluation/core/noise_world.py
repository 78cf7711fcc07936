"""Simulated captions with known relevance, whose labels are wrong at known rates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluation.core.people.label_rates import RatesEstimate, rates_from_labels
from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.label_noise import NoisyScore, Resamples, correct_scores
from evaluation.core.relevance.measures import Measure
from evaluation.core.relevance.noisy_labels import NoisyLabels
from evaluation.core.relevance.scoring import score_run
from pooling.core.pair_space import PairSpace
from pooling.core.ranked_lists import RankedLists
from tests.evaluation.core.lists import lists_of

Flags = npt.NDArray[np.bool_]
POOLED, DEPTH = 20, 10
FALSE_ALARM, MISS = 0.018, 0.05


@dataclass(frozen=True, slots=True)
class Setting:
    """Size and error rates of a simulation. doubled: the share of pairs with a second label."""

    captions: int = 1000
    per_video: int = 5
    false_alarm: float = FALSE_ALARM
    miss: float = MISS
    doubled: float = 0.1


def draw_truth(rng: np.random.Generator, setting: Setting) -> tuple[npt.NDArray[np.int64], Flags]:
    """Return the video of each caption, and whether each of its 20 pooled pairs is relevant.

    Some captions match many videos and some match few. Captions of one video are similar.
    """
    videos = setting.captions // setting.per_video
    video = np.repeat(np.arange(videos), setting.per_video)
    breadth = 0.8 * rng.normal(size=videos)[video] + rng.normal(size=len(video))
    logit = -0.3 - 0.88 * np.log(np.arange(1, POOLED + 1)) + 1.3 * breadth[:, None]
    return video, rng.random((len(video), POOLED)) < 1 / (1 + np.exp(-logit))


def draw_labels(
    rng: np.random.Generator, truth: Flags, setting: Setting
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the number of labels of each pair, and the number of its relevant labels.

    A pair has one label. A share of the pairs has a second label, and a third if the two differ.
    """
    drawn = rng.random((3, *truth.shape))
    labels = np.where(truth, drawn >= setting.miss, drawn < setting.false_alarm) * 1
    is_doubled = rng.random(truth.shape) < setting.doubled
    differ = is_doubled & (labels[0] != labels[1])
    n_labels = 1 + is_doubled + differ
    relevant = labels[0] + is_doubled * labels[1] + differ * labels[2]
    return n_labels.reshape(-1), relevant.reshape(-1)


def lists(captions: int) -> RankedLists:
    """Return a run that ranks the pooled videos in their order."""
    return lists_of(np.tile(np.arange(DEPTH), (captions, 1)), POOLED)


def noisy_labels(n_labels: npt.NDArray[np.int64], relevant: npt.NDArray[np.int64]) -> NoisyLabels:
    """Return the labels, with no rulings, no original positives and no annotators."""
    n = len(n_labels)
    return NoisyLabels(
        codes=np.arange(n),
        space=PairSpace(-(-n // POOLED), POOLED),
        n_labels=n_labels,
        relevant=relevant,
        ruled=np.full(n, -1, np.int8),
        is_known=np.zeros(n, np.bool_),
        n_all_labels=n_labels,
    )


def judged_by(labels: npt.NDArray[np.bool_]) -> Judged:
    captions = labels.size // POOLED
    codes = np.arange(labels.size)
    return Judged(codes, labels.reshape(-1).astype(np.int8), captions, POOLED)


def true_scores(truth: Flags, measures: list[Measure]) -> list[float]:
    scores = score_run(lists(len(truth)), judged_by(truth), measures)
    return [float(scores.per_query(measure).mean()) for measure in measures]


def correct_one(
    seed: int, setting: Setting, measures: list[Measure], resamples: int
) -> tuple[Flags, RatesEstimate, list[NoisyScore]]:
    """Simulate and correct one benchmark. Return its relevance, estimated rates and scores."""
    rng = np.random.default_rng(seed)
    video, truth = draw_truth(rng, setting)
    labels = noisy_labels(*draw_labels(rng, truth, setting))
    drawn = Resamples(video, resamples, seed + 1_000_000)
    strata = np.digitize(labels.codes % POOLED, [1, 3])
    table = labels.table(strata, video[labels.codes // POOLED], drawn.n_clusters)
    estimate = rates_from_labels(table, drawn.sums(table.counts))
    rows = correct_scores(
        {"run": lists(len(truth))},
        judged_by(labels.is_positive),
        labels.codes,
        labels.relevance,
        measures,
        estimate,
        drawn,
    )
    return truth, estimate, rows

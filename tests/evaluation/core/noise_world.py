"""Simulated captions of known truth, whose labels err at known rates."""

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

Flags = npt.NDArray[np.bool_]
POOLED, DEPTH = 20, 10
FALSE_ALARM, MISS = 0.018, 0.05


@dataclass(frozen=True, slots=True)
class Setting:
    captions: int = 1000
    per_video: int = 5
    false_alarm: float = FALSE_ALARM
    miss: float = MISS
    doubled: float = 0.1


def draw_truth(rng: np.random.Generator, setting: Setting) -> tuple[npt.NDArray[np.int64], Flags]:
    """The video of each caption, and which of its 20 pooled pairs are relevant.

    Some captions match many videos and some match few, so that relevant pairs gather; captions of
    one video resemble each other.
    """
    videos = setting.captions // setting.per_video
    video = np.repeat(np.arange(videos), setting.per_video)
    breadth = 0.8 * rng.normal(size=videos)[video] + rng.normal(size=len(video))
    logit = -0.3 - 0.88 * np.log(np.arange(1, POOLED + 1)) + 1.3 * breadth[:, None]
    return video, rng.random((len(video), POOLED)) < 1 / (1 + np.exp(-logit))


def draw_labels(
    rng: np.random.Generator, truth: Flags, setting: Setting
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Labels of each pair and those that say relevant: one or, of a share, two labels, and a third
    where they differ."""
    said = rng.random((3, *truth.shape))
    labels = np.where(truth, said >= setting.miss, said < setting.false_alarm) * 1
    is_doubled = rng.random(truth.shape) < setting.doubled
    differ = is_doubled & (labels[0] != labels[1])
    given = 1 + is_doubled + differ
    relevant = labels[0] + is_doubled * labels[1] + differ * labels[2]
    return given.reshape(-1), relevant.reshape(-1)


def lists(captions: int) -> npt.NDArray[np.int32]:
    """A run that finds the pooled videos in their order."""
    return np.tile(np.arange(DEPTH, dtype=np.int32), (captions, 1))


def noisy_labels(given: npt.NDArray[np.int64], relevant: npt.NDArray[np.int64]) -> NoisyLabels:
    """Labels without rulings, original positives and annotators."""
    n = len(given)
    return NoisyLabels(
        codes=np.arange(n),
        space=PairSpace(-(-n // POOLED), POOLED),
        given=given,
        relevant=relevant,
        ruled=np.full(n, -1, np.int8),
        is_known=np.zeros(n, np.bool_),
        in_all=given,
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
    """One benchmark, labelled once and corrected: its truth, the rates found, and the scores."""
    rng = np.random.default_rng(seed)
    video, truth = draw_truth(rng, setting)
    given, relevant = draw_labels(rng, truth, setting)
    labels = noisy_labels(given, relevant)
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

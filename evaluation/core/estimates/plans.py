"""What drawn captions would bring: the width of the interval, the pairs, and their worth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluation.core.arrays import BoolArray, FloatArray, IntArray
from evaluation.core.estimates.drawn import blocks_to_judge
from evaluation.core.estimates.frames import Frame, TopPairs, is_correct_at
from evaluation.core.estimates.means import CONFIDENCE, weight_of_machine
from evaluation.core.estimates.shares import wilson
from evaluation.core.statistics.proportions import t_quantile

SIZES = (30, 50, 100, 300)


@dataclass(frozen=True, slots=True)
class PlanRow:
    """The plan for one number of captions.

    pairs: the expected pairs to judge, fewer if judging stops early. half_width: half the width of
    the interval. random_half_width: that of captions drawn at random, of which people judge all
    pairs. worth: the number of captions drawn at random with the same width.
    """

    captions: int
    pairs: int
    half_width: float
    random_half_width: float
    worth: int


def plan_measure(
    frame: Frame, pairs: TopPairs, chances: FloatArray, blocks: IntArray, rng: np.random.Generator
) -> list[PlanRow]:
    """Return the plan of one measure for 30, 50, 100 and 300 captions.

    chances: float64 [n_queries, depth], the probability of relevance of each pair. One set of
    labels is drawn from them, and widths and pairs are those of this set. blocks: the block of each
    rank.
    """
    undecided = np.flatnonzero(frame.undecided)
    reads = frame.measure.reads(chances.shape[1])
    labels = (rng.random(chances.shape) < chances).astype(np.int8)
    m = pairs.values([frame.measure], labels.astype(np.float64))[frame.measure]
    top = pairs.rows(undecided)
    unjudged = top.unjudged[:, :reads]
    judged = _judged(top, labels[undecided], blocks, unjudged, is_correct_at(frame.measure))
    per_caption = float(judged.sum(axis=1).mean()) if len(undecided) else 0.0
    rows = []
    for n in SIZES:
        if n <= len(undecided):
            half = _half(frame, m[undecided], frame.predicted[undecided], n)
            half *= len(undecided) / len(m)
            alone = _half(frame, m, np.zeros(len(m)), n)
            worth = round(n * (alone / half) ** 2) if half else len(m)
            rows.append(PlanRow(n, round(n * per_caption), half, alone, min(len(m), worth)))
    return rows


def _half(frame: Frame, m: FloatArray, f: FloatArray, n: int) -> float:
    """Return half the expected width of the mean of a population from n of its captions."""
    size = len(m)
    if is_correct_at(frame.measure):
        share = wilson(n * m.mean(), n, size)
        return float(share.high - share.low) / 2
    rest = m - float(weight_of_machine(m, f)) * f
    error = rest.std() * np.sqrt((1 - n / size) / n)
    return float(t_quantile(CONFIDENCE, n - 2) * error)


def _judged(
    top: TopPairs, labels: np.ndarray, blocks: IntArray, unjudged: BoolArray, stops: bool
) -> BoolArray:
    """Return which pairs people judge. If judging stops early, later blocks are left out."""
    if not stops:
        return unjudged
    kept, current = np.zeros_like(unjudged), np.full_like(top.gains, -1)
    while ((block := blocks_to_judge(top, current, blocks)) >= 0).any():
        now = (blocks[None, :] == block[:, None]) & top.unjudged & (current < 0)
        current = np.where(now, labels, current).astype(np.int8)
        kept |= now[:, : kept.shape[1]]
    return kept

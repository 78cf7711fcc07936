"""Bounds that allow for wrong labels, by hand and in simulations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaluation.core.people.label_rates import RatesEstimate, typed_rates
from evaluation.core.pools.bounds import bound_scores
from evaluation.core.relevance.corrected_bounds import correct_bounds
from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.measures import parse_measure
from evaluation.core.relevance.noisy_labels import NoisyLabels
from evaluation.core.relevance.scoring import score_run
from pooling.core.pair_space import PairSpace
from tests.evaluation.core.lists import lists_of
from tests.evaluation.demo.noise_world import DemoWorld, draw_demo

C1, C2, P2, AP = (parse_measure(name) for name in ("C@1", "C@2", "P@2", "AP"))


def test_bounds_by_hand() -> None:
    """Four captions, whose first videos are labelled 1, 1, 0 and 0. The second is unjudged."""
    labels = NoisyLabels(
        codes=np.arange(4) * 3,
        space=PairSpace(4, 3),
        n_labels=np.ones(4, np.int64),
        relevant=np.array([1, 1, 0, 0]),
        ruled=np.full(4, -1, np.int8),
        is_known=np.zeros(4, np.bool_),
        n_all_labels=np.ones(4, np.int64),
    )
    ranked = lists_of([[0, 1], [0, 1], [0, 1], [0, -1]], 3)
    rates = typed_rates(0.1, 0.2, 10)
    found = correct_bounds(ranked, labels.codes, labels.relevance, [C1, C2, P2, AP], rates)
    assert list(found) == [C1, C2, P2]
    # A relevant label counts 9/7, and any other label -1/7. The variance of a label that counts t
    # is t^2 - t.
    half = 1.959964 * (2 * (9 / 7) * (2 / 7) + 2 * (1 / 7) * (8 / 7)) ** 0.5 / 4
    assert found[C1] == pytest.approx((4 / 7 - half if half < 4 / 7 else 0, min(1, 4 / 7 + half)))
    # The unjudged video of three captions may be relevant: then their C@2 is 1, and only the last
    # caption has a variance.
    half = 1.959964 * ((1 / 7) * (8 / 7)) ** 0.5 / 4
    assert found[C2][1] == pytest.approx(min(1, (3 - 1 / 7) / 4 + half))
    certain = correct_bounds(ranked, labels.codes, labels.relevance, [C2], typed_rates(0, 0, 9))
    assert certain[C2] == pytest.approx((0.5, 0.75))
    unknown = RatesEstimate(None, None, np.empty((0, 2)), 0, 0, "no labels")
    with pytest.raises(ValueError, match="error rates are needed"):
        correct_bounds(ranked, labels.codes, labels.relevance, [C2], unknown)


def test_wrong_labels_move_the_truth_out_of_plain_bounds_only() -> None:
    """In the demo, a twentieth of the pool is unjudged."""
    world = DemoWorld.make()
    measures = [parse_measure(name) for name in ("C@1", "C@5", "C@10")]
    plain, corrected = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        drawn = draw_demo(world, seed).labels
        kept = drawn.is_known | (rng.random(len(drawn.codes)) < 0.95)
        columns = ("codes", "n_labels", "relevant", "ruled", "is_known", "n_all_labels")
        labels = replace(drawn, **{name: getattr(drawn, name)[kept] for name in columns})
        judged = Judged(labels.codes, labels.is_positive.astype(np.int8), *world.demo.truth.shape)
        estimate = world.estimate(labels, seed)
        for ranked in world.runs.values():
            # All pairs in the top ten are in the pool, so the true scores are known.
            top = ranked.top(10)
            truth = score_run(top, world.judged(world.truth), measures)
            bounds = bound_scores(top, judged, measures)
            found = correct_bounds(top, labels.codes, labels.relevance, measures, estimate)
            for measure in measures:
                true = truth.mean(measure).value
                ends = bounds.lower.mean(measure).value, bounds.upper.mean(measure).value
                plain.append(ends[0] <= true <= ends[1])
                corrected.append(found[measure][0] <= true <= found[measure][1])
    assert np.mean(plain) < 0.6
    assert np.mean(corrected) > 0.9

"""xinfAP: by hand, equal to infAP for one stratum, and on average over many draws."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.core.pools.incomplete import inferred_ap
from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.measures import parse_measure
from evaluation.core.relevance.scoring import score_run
from evaluation.core.relevance.strata import Strata
from hearth.shared.errors import InvalidInput
from pooling.core.pair_space import PairSpace
from pooling.core.ranked_lists import RankedLists
from pooling.core.strata import Ranks, Stratum, draw_strata

XINFAP, AP = parse_measure("xinfAP"), parse_measure("AP")
NONE = np.empty(0, np.int64)


def xinfap(ranked: RankedLists, judged: Judged, strata: Strata) -> np.ndarray:
    return score_run(ranked, judged, [XINFAP], strata=strata).per_query(XINFAP)


def test_the_value_by_hand() -> None:
    # Ranks 1 and 2 are judged whole. Of the videos 2 to 5, 3 and 4 were drawn, and 3 is relevant.
    ranked = RankedLists.of(np.array([[0, 1, 2, 3, 4, 9]], np.int32), 10)
    top = Stratum("1-2", Ranks(1, 2, 1.0), np.array([0, 1]), np.array([True, True]))
    deep = Stratum(
        "3-6", Ranks(3, 6, 0.5), np.array([2, 3, 4, 5]), np.array([False, True, True, False])
    )
    judged = Judged.from_pairs([0] * 4, [0, 1, 3, 4], [1, 0, 1, 0], n_queries=1, n_videos=10)
    # Video 0 at rank 1 has precision 1 and stands for itself. Video 3 at rank 4 stands for two
    # pairs: above it, the top has 2 pairs with 1 relevant, and of the deep one pooled pair no label
    # is known, which counts as one half. Its precision is (1 + 1 + 0.5) / 4.
    expected = (1 + 2 * (1 + 1 + 0.5) / 4) / (1 + 2)
    found = xinfap(ranked, judged, Strata.of([top, deep], NONE))
    assert found == pytest.approx([expected], abs=1e-5)
    # An original positive belongs to no stratum, and its label counts although it was not drawn.
    with_two = Judged.from_pairs(
        [0] * 5, [0, 1, 2, 3, 4], [1, 0, 1, 1, 0], n_queries=1, n_videos=10
    )
    third, fourth = (1 + 1) / 3, 1.5 * (1 + 1 + 1) / 4
    known = xinfap(ranked, with_two, Strata.of([top, deep], np.array([2])))
    assert known == pytest.approx([(1 + third + fourth) / (1 + 1 + 1.5)], abs=1e-5)
    # Without that, the label of a pair that was not drawn is not used.
    assert xinfap(ranked, with_two, Strata.of([top, deep], NONE)) == pytest.approx(
        [expected], abs=1e-5
    )


def test_it_needs_strata() -> None:
    ranked = RankedLists.of(np.array([[0]], np.int32), 1)
    judged = Judged.from_pairs([0], [0], [1], n_queries=1, n_videos=1)
    with pytest.raises(InvalidInput, match="measure 'xinfAP' needs a pool with strata"):
        score_run(ranked, judged, [XINFAP])


def world(n_queries: int, n_videos: int, depth: int) -> tuple[RankedLists, np.ndarray, np.ndarray]:
    """Return lists, the relevance of all videos, and the best rank of each in three runs."""
    rng = np.random.default_rng(3)
    worth = rng.normal(size=(n_queries, n_videos))
    relevant = rng.random(worth.shape) < 1 / (1 + np.exp(2.5 - 2.2 * worth))
    best = np.full(worth.shape, n_videos, np.int32)
    for noise in (1.5, 1.0, 0.7):
        items = np.argsort(-(worth + noise * rng.normal(size=worth.shape)), axis=1)[:, :depth]
        at = np.take_along_axis(best, items, axis=1)
        np.put_along_axis(best, items, np.minimum(at, np.arange(depth)), axis=1)
    return RankedLists.of(items.astype(np.int32), n_videos), relevant, best


def labels_of(relevant: np.ndarray, codes: np.ndarray) -> Judged:
    codes = np.sort(codes)
    return Judged(codes, relevant.ravel()[codes].astype(np.int8), *relevant.shape)


def test_one_stratum_gives_infap() -> None:
    ranked, relevant, best = world(20, 200, 30)
    codes = np.flatnonzero(best.ravel() < 30)
    ranks = [Ranks(1, 30, 0.3)]
    (stratum,) = draw_strata(codes, best.ravel()[codes], NONE, ranks, PairSpace(20, 200), 1)
    judged = labels_of(relevant, stratum.codes[stratum.drawn])
    found = xinfap(ranked, judged, Strata.of([stratum], NONE))
    assert np.abs(found - inferred_ap(ranked, judged, 30)).max() < 1e-12
    assert found.mean() > 0.1


def test_it_is_right_on_average_where_captions_have_many_relevant_pairs() -> None:
    """2,000 draws. AP with unjudged pairs as not relevant is 3.9 points too high."""
    shape = (10, 300)
    ranked, relevant, best = world(*shape, 60)
    codes = np.flatnonzero(best.ravel() < 60)
    every = labels_of(relevant, codes)
    truth = score_run(ranked, every, [AP]).mean(AP).value or 0
    ranks = [Ranks(1, 20, 1.0), Ranks(21, 60, 0.4)]
    values, plain = [], []
    for seed in range(2_000):
        strata = draw_strata(codes, best.ravel()[codes], NONE, ranks, PairSpace(*shape), seed)
        drawn = np.concatenate([one.codes[one.drawn] for one in strata])
        judged = labels_of(relevant, drawn)
        scores = score_run(ranked, judged, [XINFAP, AP], strata=Strata.of(strata, NONE))
        values.append(scores.mean(XINFAP).value or 0)
        plain.append(scores.mean(AP).value or 0)
    bias, spread = np.mean(values) - truth, np.std(values)
    assert abs(bias) < 0.003
    assert abs(bias) < 0.25 * spread
    assert abs(np.mean(plain) - truth) > 0.03

"""Orders of captions by people, compared with each other and with proxies."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from scipy import stats

from annotation.questions.order.orders import tau_with_others
from evaluation.core.graded.orderings import (
    FIRST,
    SECOND,
    Orders,
    agreement,
    compare_agreement,
    consistency,
)
from evaluation.core.statistics.resampling import NO_QUERIES

# Video 0: all three people agree. Video 1: one person swaps the first two captions, and another one
# swaps the last two. Video 2: the majorities of the first three captions form a cycle. Video 3 has
# only two people.
RANKS = [
    *([[0, 1, 2, 3, 4]] * 3),
    *([0, 1, 2, 3, 4], [1, 0, 2, 3, 4], [0, 1, 2, 4, 3]),
    *([0, 1, 2, 3, 4], [2, 0, 1, 3, 4], [1, 2, 0, 3, 4]),
    *([0, 1, 2, 3, 4], [4, 3, 2, 1, 0]),
]
VIDEOS = [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3]


def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def test_people_are_compared_with_each_other() -> None:
    orders, videos = Orders.of(RANKS, VIDEOS, 5)
    assert videos.tolist() == [0, 1, 2]
    assert orders.is_consistent.sum(axis=1).tolist() == [10, 8, 7]
    assert orders.majority_ranks().tolist() == [[0, 1, 2, 3, 4], [0, 1, 2, 3, 4], [-1] * 5]
    found = consistency(orders, rng=rng())
    assert (found.videos, found.incomplete, found.pairs, found.consistent) == (3, 2, 30, 25)
    assert found.share.value == 25 / 30
    assert found.expected == 0.25
    assert found.cycles == 1
    # Each video has three pairs of people. Their taus are 1, 1, 1; .8, .8, .6; and .6, .6, .6.
    assert orders.taus() == pytest.approx([1, (0.8 + 0.8 + 0.6) / 3, (0.6 + 0.6 + 0.6) / 3])


def test_a_proxy_is_compared_with_people() -> None:
    orders, _ = Orders.of(RANKS, VIDEOS, 5)
    values = np.array(
        [[0.9, 0.7, 0.5, 0.3, 0.1], [0.9, 0.7, 0.5, 0.5, 0.1], [0.1, 0.2, 0.3, 0.0, 0.0]],
        np.float16,
    )
    found = agreement(orders, values, rng=rng())
    # In video 0, the proxy orders all 10 pairs like the people. In video 1, it orders 7 of the 8
    # consistent pairs like them, and captions 2 and 3 have equal values. In video 2, it orders 6 of
    # 7 like them, and the last two captions have equal values.
    assert (found.consistent, found.alike, found.ties) == (25, 23, 2)
    assert found.share.value == 23 / 25
    assert (found.videos, found.by_video.value) == (3, pytest.approx((1 + 7 / 8 + 6 / 7) / 3))
    # The proxy agrees with 10 of 10 and 9 of 10 majorities. In video 2, it agrees with 6 majorities
    # outside of the cycle 0 < 1 < 2 < 0, and with one of the three in the cycle.
    assert found.majority.value == (10 + 9 + 6 + 1) / 30
    pairs = list(zip(FIRST.tolist(), SECOND.tolist(), strict=True))
    assert pairs == list(combinations(range(5), 2))
    assert dict(zip(pairs, found.by_pair, strict=True)) == {
        (0, 1): (1, 1),
        (0, 2): (2, 2),
        (0, 3): (3, 3),
        (0, 4): (3, 3),
        (1, 2): (2, 2),
        (1, 3): (3, 3),
        (1, 4): (3, 3),
        (2, 3): (3, 2),
        (2, 4): (3, 3),
        (3, 4): (2, 1),
    }
    interval = found.share.interval
    assert interval.method == "wilson"
    assert interval.low < 23 / 25 < interval.high


def test_two_proxies_are_compared_on_the_same_pairs() -> None:
    orders, _ = Orders.of(RANKS, VIDEOS, 5)
    good = np.tile([0.9, 0.7, 0.5, 0.3, 0.1], (3, 1))
    # This proxy is wrong for the last two captions, whose pair is consistent in videos 0 and 2.
    swapped = np.tile([0.9, 0.7, 0.5, 0.1, 0.3], (3, 1))
    found = compare_agreement(orders, swapped, good)
    assert found.value == pytest.approx(-2 / 25)
    assert found.interval.method == "paired"
    # Three videos are too few for a clear difference.
    assert found.interval.low < -2 / 25 < 0 < found.interval.high
    # In each of 40 videos, the other proxy is wrong for three of ten pairs.
    many, _ = Orders.of([[0, 1, 2, 3, 4]] * 120, np.repeat(np.arange(40), 3), 40)
    best, worse = np.tile(good[0], (40, 1)), np.tile([0.5, 0.7, 0.9, 0.3, 0.1], (40, 1))
    behind, ahead = compare_agreement(many, worse, best), compare_agreement(many, best, worse)
    assert behind.value == pytest.approx(-0.3)
    assert behind.interval.high < 0
    assert ahead.interval.ends == pytest.approx([-behind.interval.high, -behind.interval.low])


def test_each_order_is_compared_with_the_others_of_its_video() -> None:
    ranks = [[0, 1, 2, 3, 4], [1, 0, 2, 3, 4], [0, 1, 2, 4, 3], [4, 3, 2, 1, 0]]
    found = tau_with_others(ranks, [7, 7, 7, 9])
    assert found == pytest.approx([0.8, 0.7, 0.7, np.nan], nan_ok=True)


@pytest.mark.parametrize("people", [3, 4, 5])
def test_figures_are_those_of_other_implementations(people: int) -> None:
    draw = np.random.default_rng(people)
    ranks = np.array([draw.permutation(5) for _ in range(40 * people)])
    orders, _ = Orders.of(ranks, np.repeat(np.arange(40), people), 40, people)
    for video, tau in enumerate(orders.taus()):
        own = ranks[video * people : (video + 1) * people]
        pairs = [stats.kendalltau(a, b).statistic for a, b in combinations(own, 2)]
        assert tau == pytest.approx(np.mean(pairs))
    for video, order in enumerate(orders.majority_ranks().tolist()):
        own = ranks[video * people : (video + 1) * people]
        wins = {
            (a, b): np.sum(own[:, a] < own[:, b]) > people / 2 for a in range(5) for b in range(5)
        }
        fitting = [
            list(candidate)
            for candidate in permutations(range(5))
            if all(wins[a, b] for a in range(5) for b in range(5) if candidate[a] < candidate[b])
        ]
        assert [order] == (fitting or [[-1] * 5])


def test_a_quarter_of_the_pairs_is_consistent_by_chance() -> None:
    draw = np.random.default_rng(1)
    ranks = np.array([draw.permutation(5) for _ in range(6000)])
    orders, _ = Orders.of(ranks, np.repeat(np.arange(2000), 3), 2000)
    found = consistency(orders, rng=rng())
    interval = found.share.interval
    assert interval.low < found.expected == 0.25 < interval.high
    assert interval.high - interval.low < 0.03


def test_intervals_contain_the_figure_of_all_videos() -> None:
    draw = np.random.default_rng(2)

    def study(n: int) -> tuple[Orders, np.ndarray]:
        """Draw videos of different difficulty, three people and a proxy with ties."""
        truth, noise = draw.normal(size=(n, 5)), 0.7 * np.exp(0.8 * draw.normal(size=(n, 1)))
        seen = [truth + noise * draw.normal(size=(n, 5)) for _ in range(3)]
        ranks = np.stack([np.argsort(np.argsort(-one)) for one in seen], axis=1)
        orders, _ = Orders.of(ranks, np.repeat(np.arange(n), 3), n)
        return orders, np.round(truth + 1.2 * noise * draw.normal(size=(n, 5)), 1)

    expected = agreement(*study(20_000), rng=rng())
    found = [agreement(*study(30), rng=rng()) for _ in range(80)]
    for figure in ("share", "by_video"):
        value = getattr(expected, figure).value
        ends = [getattr(one, figure).interval for one in found]
        # Of 80 intervals at 95 %, 76 are expected, with a standard deviation of 2.
        assert sum(one.low <= value <= one.high for one in ends) >= 71


def test_without_orders_no_figure_is_defined() -> None:
    orders, videos = Orders.of([[0, 1, 2, 3, 4]], [0], 1)
    assert videos.tolist() == []
    found = agreement(orders, np.empty((0, 5)), rng=rng())
    assert (found.consistent, found.share.value, found.by_video.value) == (0, None, None)
    assert found.share.interval.undefined == NO_QUERIES
    people = consistency(orders, rng=rng())
    assert (people.incomplete, people.expected, people.tau.value) == (1, None, None)


@pytest.mark.parametrize(
    ("ranks", "videos", "message"),
    [
        ([[0, 1, 2, 3, 3]], [0], "the ranks of an order must be 0 to 4, once each"),
        ([[0, 1, 2, 3, 4]], [0, 1], "each order needs a video, and each video at least two people"),
        ([[0, 1, 2, 3, 4]], [2], "videos: a number is outside of 0 to 1"),
    ],
)
def test_invalid_orders_are_refused(
    ranks: list[list[int]], videos: list[int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Orders.of(ranks, videos, 2)


def test_values_must_belong_to_the_videos() -> None:
    orders, _ = Orders.of(RANKS, VIDEOS, 4)
    with pytest.raises(ValueError, match=r"values of shape \(4, 5\) for 3 videos"):
        agreement(orders, np.zeros((4, 5)), rng=rng())

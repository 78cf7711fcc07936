"""Choosing five captions of a video, and the orders in which people put them."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from annotation.questions.order.orders import (
    Levels,
    Refusal,
    by_text,
    choose_captions,
    is_order,
    ranks_in_orders,
    shuffled_places,
    text_of_order,
)
from pooling.core.hashing import mix


def choose(values, equal=None, *, seed=0, levels=Levels.CAPTIONS, first_code=0):
    n = len(values)
    first_equal = np.arange(n) if equal is None else np.array(equal)
    codes = first_code + np.arange(n)
    return choose_captions(np.array(values), by_text(first_equal), codes, seed, levels)


def test_the_extremes_and_the_quartiles_are_chosen() -> None:
    # Places 0, 2, 4, 6 and 8 of nine captions.
    values = np.array([0.5, 0.9, 0.1, 0.7, 0.3, 0.8, 0.2, 0.6, 0.4], np.float16)
    chosen = choose(values)
    assert chosen.captions == (1, 3, 0, 4, 2)
    assert chosen.values == pytest.approx((0.9, 0.7, 0.5, 0.3, 0.1), abs=1e-3)
    assert not chosen.has_ties


@pytest.mark.parametrize(
    ("number", "places"),
    # k (n - 1) / 4 is rounded half up: with seven captions, 1.5 and 4.5 become 2 and 5.
    [(5, (0, 1, 2, 3, 4)), (6, (0, 1, 3, 4, 5)), (7, (0, 2, 3, 5, 6)), (8, (0, 2, 4, 5, 7))],
)
def test_quartiles_between_two_captions_are_rounded(number: int, places: tuple[int, ...]) -> None:
    assert choose(1 - np.arange(number) / 10).captions == places


def test_equal_texts_count_once_with_their_highest_value() -> None:
    # Captions 0, 3 and 5 have the same text. Without caption 6, only four texts are left.
    values, equal = [0.2, 0.8, 0.6, 0.9, 0.4, 0.2, 0.1], [0, 1, 2, 0, 4, 0, 6]
    assert choose(values, equal).captions == (3, 1, 2, 4, 6)
    assert choose(values[:6], equal[:6]) == Refusal.TOO_FEW_TEXTS


def test_the_choice_equals_that_of_a_full_sort() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        values = (rng.integers(0, 40, 500) / 40).astype(np.float16)
        equal = np.minimum(np.arange(500), rng.integers(0, 500, 500))
        equal = equal[equal]
        highest = {text: values[equal == text].max() for text in np.unique(equal)}
        ranked = sorted(highest.values(), reverse=True)
        steps = np.arange(5) * (len(ranked) - 1)
        found = choose(values, equal)
        assert found.values == tuple(float(ranked[step]) for step in (steps + 2) // 4)
        assert found.values == tuple(values[list(found.captions)].tolist())
        assert len({equal[caption] for caption in found.captions}) == 5


def test_a_seeded_draw_decides_between_equal_values() -> None:
    values = [1.0] + [0.5] * 40 + [0.0]
    chosen = [choose(values, seed=seed) for seed in range(400)]
    assert all(one.values == (1, 0.5, 0.5, 0.5, 0) and one.has_ties for one in chosen)
    assert all(len(set(one.captions)) == 5 for one in chosen)
    counts = np.bincount([one.captions[2] for one in chosen], minlength=42)[1:41]
    # scipy is imported here, because processes without this test need not load it.
    from scipy.stats import chisquare

    assert chisquare(counts).pvalue > 0.05
    assert choose(values, seed=7) == choose(values, seed=7)
    assert choose(values, seed=7) != choose(values, seed=7, first_code=42)


def test_quartiles_of_values_have_no_ties() -> None:
    values = [1.0, 0.8, 0.8, 0.6, 0.5, 0.5, 0.4] + [0.0] * 20
    chosen = choose(values, levels=Levels.VALUES)
    # Places 0, 1, 3, 4 and 5 of the six different values.
    assert chosen.values == (1, 0.8, 0.5, 0.4, 0)
    assert {choose(values, levels=Levels.VALUES, seed=s).captions[1] for s in range(9)} == {1, 2}
    assert choose([1, 0.5, 0.2, 0, 0, 0, 0], levels=Levels.VALUES) == Refusal.TOO_FEW_VALUES


@pytest.mark.parametrize(
    ("values", "refusal"),
    [
        ([0.5] * 4, Refusal.TOO_FEW_TEXTS),
        ([0.5] * 9, Refusal.ALL_EQUAL),
        ([], Refusal.TOO_FEW_TEXTS),
    ],
)
def test_a_video_is_refused_with_the_reason(values: list[float], refusal: str) -> None:
    assert choose(values) == refusal


def test_places_are_shuffled_by_the_seed() -> None:
    codes = np.arange(30_000).reshape(-1, 5)
    drawn = shuffled_places(codes, 3)
    assert {tuple(places) for places in drawn.tolist()} == set(permutations(range(5)))
    first = np.bincount(drawn[:, 0])
    assert np.abs(first - 1200).max() < 100  # 3.2 standard deviations
    # A caption keeps its place in whatever order a proxy puts the captions.
    assert (shuffled_places(codes[:, ::-1], 3) == drawn[:, ::-1]).all()
    # Among equal values, the caption with the lowest hash is chosen. Its place is random, too.
    lowest = np.argmin(mix(codes, 3), axis=1)
    first = np.bincount(drawn[np.arange(6000), lowest])
    assert np.abs(first - 1200).max() < 100


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [0, 1, 2, 3, 3], [1, 2, 3, 4, 5], []])
def test_an_order_has_each_place_once(order: list[int]) -> None:
    assert not is_order(order)
    assert is_order([2, 0, 1, 4, 3])
    assert text_of_order([2, 0, 1, 4, 3]) == "3 1 2 5 4"


def test_ranks_of_captions_follow_from_order_and_places() -> None:
    # The captions have the places 3, 0, 4, 1 and 2. The order begins with the caption at place 4.
    assert ranks_in_orders([[4, 1, 0, 3, 2]], [[3, 0, 4, 1, 2]]).tolist() == [[3, 2, 0, 1, 4]]
    assert ranks_in_orders([], np.empty((0, 5))).shape == (0, 5)

"""Gwet's AC1 and AC2, compared with the handbook and with plain loops."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from evaluation.core.people.agreement import NOT_TWO_LABELS, NOT_TWO_PAIRS, Estimate, count_labels
from evaluation.core.people.alpha import ALL_AGREE, NO_VARIATION, ONE_PATTERN, Interval
from evaluation.core.people.chance_agreement import gwet_ac, gwet_interval

# Twelve units rated by four raters in five categories, from Gwet's handbook; 0 means no rating.
UNITS = [
    [1, 1, 0, 1],
    [2, 2, 3, 2],
    [3, 3, 3, 3],
    [3, 3, 3, 3],
    [2, 2, 2, 2],
    [1, 2, 3, 4],
    [4, 4, 4, 4],
    [1, 1, 2, 1],
    [2, 2, 2, 2],
    [0, 5, 5, 5],
    [0, 0, 1, 1],
    [0, 0, 3, 0],
]

Labels = list[list[int]]


def gathered(units: Labels) -> tuple[list[int], list[int]]:
    """Return the pair and the value of each label."""
    rows = [(number, label) for number, labels in enumerate(units) for label in labels]
    return [row[0] for row in rows], [row[1] for row in rows]


def plain(units: Labels, q: int, *, ordinal: bool) -> float:
    """Return AC1 or AC2, computed label by label as in the handbook."""

    def weight(one: int, other: int) -> float:
        if not ordinal:
            return float(one == other)
        steps = abs(one - other)
        return 1 - (steps * (steps + 1) / 2) / (q * (q - 1) / 2)

    observed = []
    for labels in units:
        if len(labels) >= 2:
            others = [(a, b) for a, b in product(range(len(labels)), repeat=2) if a != b]
            observed.append(sum(weight(labels[a], labels[b]) for a, b in others) / len(others))
    p_a = sum(observed) / len(observed)
    rated = [labels for labels in units if labels]
    shares = [sum(labels.count(k) / len(labels) for labels in rated) / len(rated) for k in range(q)]
    total = sum(weight(one, other) for one, other in product(range(q), repeat=2))
    p_e = total / (q * (q - 1)) * sum(share * (1 - share) for share in shares)
    return (p_a - p_e) / (1 - p_e)


def random_units(rng: np.random.Generator, q: int) -> Labels:
    units = []
    for truth in rng.integers(0, q, 60):
        labels = np.where(rng.random(rng.integers(0, 5)) < 0.7, truth, 0)
        units.append([int(label) for label in labels])
    return units


def test_the_example_of_the_handbook() -> None:
    units = [[label - 1 for label in labels if label] for labels in UNITS]
    pairs, labels = gathered(units)
    counts = count_labels(pairs, labels, len(units))
    # The published values, which the irrCAC package also computes.
    assert gwet_ac(counts, 5).value == pytest.approx(0.77544, abs=5e-6)
    assert gwet_ac(counts, 5, ordinal=True).value == pytest.approx(
        plain(units, 5, ordinal=True), abs=1e-12
    )


@pytest.mark.parametrize("ordinal", [False, True])
@pytest.mark.parametrize("q", [2, 4])
def test_ac_equals_the_plain_formula(q: int, ordinal: bool) -> None:
    rng = np.random.default_rng(q)
    for _ in range(20):
        units = random_units(rng, q)
        pairs, labels = gathered(units)
        found = gwet_ac(count_labels(pairs, labels, len(units)), q, ordinal=ordinal)
        assert found.value == pytest.approx(plain(units, q, ordinal=ordinal), abs=1e-12)


def test_the_number_of_categories_includes_those_without_labels() -> None:
    counts = count_labels([0, 0, 1, 1, 2, 2], [0, 0, 2, 2, 0, 2], 3)
    assert gwet_ac(counts, 4).value == pytest.approx(
        plain([[0, 0], [2, 2], [0, 2]], 4, ordinal=False), abs=1e-12
    )
    with pytest.raises(ValueError, match="values must be numbers from 0"):
        gwet_ac(counts, 2)


def test_rare_labels_do_not_lower_ac1() -> None:
    # 95 of 100 pairs agree on "not relevant" and 5 differ. The chance agreement of AC1 is low.
    pairs = np.repeat(np.arange(100), 2)
    labels = np.zeros(200, np.int64)
    labels[:10:2] = 1
    value = gwet_ac(count_labels(pairs, labels, 100), 2).value
    share = 5 / 200
    chance = 2 * share * (1 - share)
    assert value == pytest.approx((0.95 - chance) / (1 - chance), abs=1e-12)


@pytest.mark.parametrize(
    ("pairs", "labels", "reason", "of_interval"),
    [
        ([], [], NOT_TWO_LABELS, NOT_TWO_LABELS),
        ([0, 1], [0, 1], NOT_TWO_LABELS, NOT_TWO_LABELS),
        ([0, 0, 1, 1], [1, 1, 1, 1], NO_VARIATION, NO_VARIATION),
        ([0, 0, 1], [0, 1, 1], None, NOT_TWO_PAIRS),
        ([0, 0, 1, 1], [0, 1, 0, 1], None, ONE_PATTERN),
        ([0, 0, 1, 1], [0, 0, 1, 1], None, ALL_AGREE),
    ],
)
def test_undefined_with_a_reason(
    pairs: list[int], labels: list[int], reason: str | None, of_interval: str
) -> None:
    counts = count_labels(pairs, labels, 2)
    found = gwet_ac(counts, 2)
    assert found.undefined == reason
    assert (found.value is None) == (reason is not None)
    interval = gwet_interval(counts, 2, rng=np.random.default_rng(0))
    assert interval == Interval(None, None, 0.95, 0, 0, of_interval)


def test_the_interval_covers_the_truth() -> None:
    """Half of the pairs have two labels, which are relevant with the same probability."""
    rng = np.random.default_rng(3)
    chances = np.array([0.02, 0.9])
    prevalence, observed = 0.15, np.array([0.02**2 + 0.98**2, 0.9**2 + 0.1**2])
    share = (1 - prevalence) * 0.02 + prevalence * 0.9
    chance = 2 * share * (1 - share)
    p_a = (1 - prevalence) * observed[0] + prevalence * observed[1]
    truth = (p_a - chance) / (1 - chance)
    inside = 0
    for _ in range(300):
        p = chances[(rng.random(600) < prevalence).astype(int)]
        labels = (rng.random((2, 600)) < p).astype(np.int64)
        pairs = np.concatenate([np.arange(600), np.arange(300)])
        counts = count_labels(pairs, np.concatenate([labels[0], labels[1][:300]]), 600)
        found = gwet_interval(counts, 2, 400, rng=rng)
        assert found.low is not None
        assert found.high is not None
        inside += found.low <= truth <= found.high
    assert 0.92 <= inside / 300 <= 0.98


def test_estimate_is_a_plain_number() -> None:
    counts = count_labels([0, 0, 1, 1], [0, 0, 0, 1], 2)
    assert isinstance(gwet_ac(counts, 2), Estimate)
    assert type(gwet_ac(counts, 2).value) is float

"""Sample sizes: formulas computed by hand, and the power in simulated studies."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from evaluation.core.arrays import BoolArray, FloatArray, IntArray
from evaluation.core.statistics.design_effect import Clustering, independent_captions
from evaluation.core.statistics.pilot import (
    IndependentPilot,
    PairedPilot,
    Pilot,
    measure_pilot,
    one_per_cluster,
)
from evaluation.core.statistics.planner import (
    Effort,
    Rates,
    captions_needed,
    estimate_effort,
    videos_needed,
)
from evaluation.core.statistics.randomisation import randomisation_test

RATES = Rates(
    pairs_per_caption=22.0,
    doubled=0.1,
    disagreement=0.05,
    seconds_per_judgment=6.0,
    money_per_hour=20.0,
)
STUDIES = 20_000
# The standard error of a power of .8 in these studies is .003.
NEAR_80 = pytest.approx(0.8, abs=0.02)
Z = 1.959964


def discordant(psi: float, clustering: Clustering | None = None) -> PairedPilot:
    """Return a pilot of C@k with the discordant share psi."""
    return PairedPilot(
        difference=0.0,
        deviation=math.sqrt(psi),
        mean_square=psi,
        magnitude=psi,
        binary=True,
        clustering=clustering or independent_captions(1000),
    )


def known(pilot: Pilot | None) -> Pilot:
    assert pilot is not None
    return pilot


# --- By hand --------------------------------------------------------------------------------------


def test_paired_shares_by_the_formula_of_connor() -> None:
    # (1.959964 * sqrt(0.26) + 1.281552 * sqrt(0.26 - 0.01))^2 / 0.01 = 269.01
    assert captions_needed(discordant(0.26), 0.1, power=0.9) == 270
    # (1.959964 * sqrt(0.3) + 0.841621 * sqrt(0.2999))^2 / 0.0001 = 23,544.3
    assert captions_needed(discordant(0.3), 0.01) == 23_545
    # (1.644854 * sqrt(0.3) + 0.841621 * sqrt(0.2975))^2 / 0.0025 = 739.8
    assert captions_needed(discordant(0.3), 0.05, confidence=0.9) == 740


def test_the_discordant_share_is_at_least_the_difference() -> None:
    # Psi is raised to 0.2: (1.959964 * sqrt(0.2) + 0.841621 * sqrt(0.16))^2 / 0.04 = 36.8
    assert discordant(0.1).mean_square_at(0.2) == 0.2
    assert captions_needed(discordant(0.1), 0.2) == 37
    assert discordant(0.1).mean_square_at(0.05) == 0.1


def test_two_shares_of_independent_captions() -> None:
    # Fleiss 1981: p = 0.65, with 0.6 and 0.7 for a difference of 0.1.
    # (1.959964 * sqrt(2 * 0.65 * 0.35) + 0.841621 * sqrt(0.6 * 0.4 + 0.7 * 0.3))^2 / 0.01 = 355.9
    pilot = IndependentPilot(0.0, 0.6, 0.65, True, independent_captions(100))
    assert captions_needed(pilot, 0.1) == 356
    # 0.98 + 0.05 is above 1, so the shares are shifted to 0.9 and 1:
    # (1.959964 * sqrt(2 * 0.95 * 0.05) + 0.841621 * sqrt(0.9 * 0.1))^2 / 0.01
    # = (0.604098 + 0.252486)^2 / 0.01 = 73.4
    high = IndependentPilot(0.0, 0.2, 0.98, True, independent_captions(100))
    assert captions_needed(high, 0.1) == 74


def test_other_measures_by_hand() -> None:
    # The differences are 0.5, -0.3, 0.1, 0.1, twice: mean square 0.09, mean magnitude 0.25.
    differences = np.tile([0.5, -0.3, 0.1, 0.1], 2)
    paired = measure_pilot(differences, np.zeros(8), "paired")
    assert isinstance(paired, PairedPilot)
    assert paired.formula == "paired-normal"
    assert (paired.mean_square, paired.magnitude) == pytest.approx((0.09, 0.25), abs=1e-15)
    # (1.959964 * 0.3 + 0.841621 * sqrt(0.09 - 0.0004))^2 / 0.0004 = 1,763.4
    assert captions_needed(paired, 0.02) == 1764
    # For a difference of 0.3, the mean square is multiplied by 0.3 / 0.25.
    assert paired.mean_square_at(0.3) == pytest.approx(0.108, abs=1e-15)
    # A mean square is never below the squared mean.
    assert paired.mean_square_at(0.5) == 0.25
    # (1.959964 + 0.841621)^2 * 2 * 0.25 / 0.0001 = 39,244.4
    means = IndependentPilot(0.0, math.sqrt(0.5), 0.5, False, independent_captions(100))
    assert (means.formula, captions_needed(means, 0.01)) == ("two-means", 39_245)


def test_fewer_captions_could_not_be_significant() -> None:
    # The smallest p is 2 / 64 = 0.031 with six signs, and 2 / 32 = 0.063 with five.
    assert captions_needed(discordant(1.0), 1.0) == 6
    assert randomisation_test(np.ones(6), rng=np.random.default_rng(0)).p == pytest.approx(2 / 64)
    assert captions_needed(discordant(1.0), 1.0, confidence=0.9) == 5
    by_video = Clustering(clusters=10, mean_size=4.5, weighted_size=5.0, effect=1.0)
    assert captions_needed(discordant(1.0, by_video), 1.0) == 27
    tiny = IndependentPilot(0.0, 0.001, 0.5, False, independent_captions(10))
    assert captions_needed(tiny, 0.5) == 2


def test_pilots_of_both_designs() -> None:
    values, others = np.array([1.0, 0.0, 1.0, 1.0]), np.array([1.0, 0.0, 0.0, 1.0])
    # The differences are 0 0 1 0: variance 0.25, and a quarter differ. The variances of the two
    # systems are 0.25 and 1/3.
    paired = measure_pilot(values, others, "paired")
    assert isinstance(paired, PairedPilot)
    assert (paired.formula, paired.binary) == ("connor", True)
    assert (paired.difference, paired.mean_square, paired.magnitude) == (0.25, 0.25, 0.25)
    assert paired.deviation == pytest.approx(0.5, abs=1e-15)
    for second in (others, others[:3]):
        independent = measure_pilot(values, second, "independent")
        assert isinstance(independent, IndependentPilot)
        assert (independent.formula, independent.clustering.icc) == ("two-proportions", None)
        assert independent.middle == (0.75 + second.mean()) / 2
        assert independent.deviation == pytest.approx(math.sqrt(0.25 + 1 / 3), abs=1e-15)
    with pytest.raises(ValueError, match="4 values cannot be paired with 3"):
        measure_pilot(values, others[:3], "paired")


def test_pilots_without_variation_are_undefined() -> None:
    for design in ("paired", "independent"):
        assert measure_pilot([1.0], [0.0], design) is None
        assert measure_pilot([0.1, 0.1, 0.1], [0.1, 0.1, 0.1], design) is None
        # There is only one video.
        assert measure_pilot([1.0, 0.0, 1.0], [0.0, 1.0, 1.0], design, clusters=[4, 4, 4]) is None
    # One system is always correct and the other never, so all differences are 1.
    opposite = known(measure_pilot([1.0, 1.0], [0.0, 0.0], "paired"))
    assert (opposite.deviation, opposite.mean_square_at(0.5)) == (0, 1)  # type: ignore[union-attr]


def test_plans_by_video_and_with_one_caption_of_each() -> None:
    # With four captions per video and rho 0.5, the effect is 1 + 3 * 0.5 = 2.5, times 23,544.3.
    clustering = Clustering(clusters=50, mean_size=4.0, weighted_size=4.0, effect=2.5)
    pilot = discordant(0.3, clustering)
    assert clustering.icc == 0.5
    assert captions_needed(pilot, 0.01) == 58_861
    assert videos_needed(pilot, 58_861) == 14_716
    single = one_per_cluster(pilot)
    assert captions_needed(single, 0.01) == videos_needed(single, 23_545) == 23_545
    # A design effect below 1 is due to chance, so the plan uses 1.
    lucky = discordant(0.3, Clustering(50, 4.0, 4.0, 0.7))
    assert captions_needed(lucky, 0.01) == 23_545


# --- Simulated power ------------------------------------------------------------------------------


def shares_that_differ(difference: float, psi: float) -> list[float]:
    """Return the shares of captions that the first system wins, the second wins, or both tie."""
    return [(psi + difference) / 2, (psi - difference) / 2, 1 - psi]


def is_significant(sums: FloatArray | IntArray) -> BoolArray:
    """Return whether the randomisation test with the normal approximation rejects, bool [studies].

    sums: [studies, units]. With random signs, the variance of a total is the sum of squares.
    """
    total = sums.sum(axis=1)
    return np.asarray(np.abs(total) >= Z * np.sqrt(np.square(sums).sum(axis=1)))


@pytest.mark.parametrize(("pilot_difference", "difference"), [(0.0, 0.02), (0.2, 0.05)])
def test_power_of_paired_shares(pilot_difference: float, difference: float) -> None:
    """The power does not depend on the pilot's difference, for exact and approximate tests."""
    rng = np.random.default_rng(1)
    kinds = rng.choice(3, 200_000, p=shares_that_differ(pilot_difference, 0.25))
    pilot = known(measure_pilot(kinds == 0, kinds == 1, "paired"))
    captions = captions_needed(pilot, difference)
    drawn = rng.multinomial(captions, shares_that_differ(difference, 0.25), size=STUDIES)
    wins, losses = drawn[:, 0], drawn[:, 1]
    assert np.mean(np.abs(wins - losses) >= Z * np.sqrt(wins + losses)) == NEAR_80
    exact = 2 * stats.binom.sf(np.maximum(wins, losses) - 1, wins + losses, 0.5)
    signs = np.repeat([1.0, -1.0], [wins[0], losses[0]])
    assert randomisation_test(signs, rng=rng).p == pytest.approx(exact[0], rel=1e-9)
    assert np.mean(exact <= 0.05) == NEAR_80


def test_power_of_independent_shares() -> None:
    rng = np.random.default_rng(2)
    values, others = (rng.random((2, 200_000)) < [[0.75], [0.55]]).astype(float)
    captions = captions_needed(known(measure_pilot(values, others, "independent")), 0.05)
    first, second = rng.binomial(captions, [[0.675], [0.625]], size=(2, STUDIES)) / captions
    middle = (first + second) / 2
    error = np.sqrt(2 * middle * (1 - middle) / captions)
    assert np.mean(np.abs(first - second) >= Z * error) == NEAR_80


def test_power_of_a_continuous_measure() -> None:
    """The differences resemble those of AP: a third are 0, many are small and few are large."""
    rng = np.random.default_rng(3)

    def draw(shape: tuple[int, ...], difference: float) -> FloatArray:
        magnitudes = rng.beta(0.6, 2.0, shape)  # with the mean 3 / 13
        wins = (1 + difference / (2 / 3 * 3 / 13)) / 2
        signs = np.where(rng.random(shape) < wins, 1.0, -1.0)
        return np.asarray(np.where(rng.random(shape) < 2 / 3, signs * magnitudes, 0.0))

    pilot = known(measure_pilot(draw((200_000,), 0.08), np.zeros(200_000), "paired"))
    captions = captions_needed(pilot, 0.02)
    assert np.mean(is_significant(draw((3000, captions), 0.02))) == NEAR_80


def test_power_of_shares_by_video() -> None:
    """Videos have about twenty captions, whose differences have the correlation 0.1."""
    rng = np.random.default_rng(4)

    def draw(sizes: IntArray, difference: float) -> IntArray:
        """Draw wins, losses and ties of each video, with rho = 1 / (1 + sum of alpha)."""
        alpha = np.array(shares_that_differ(difference, 0.3)) * (1 / 0.1 - 1)
        tendencies = rng.standard_gamma(alpha, (*sizes.shape, 3))
        return rng.multinomial(sizes, tendencies / tendencies.sum(axis=-1, keepdims=True))

    sizes = rng.integers(10, 31, 20_000)
    counts = draw(sizes, 0.12)
    kinds = np.repeat(np.tile([1.0, -1.0, 0.0], len(sizes)), counts.reshape(-1))
    videos = np.repeat(np.arange(len(sizes)), sizes)
    pilot = known(measure_pilot(kinds == 1, kinds == -1, "paired", clusters=videos))
    assert pilot.clustering.icc == pytest.approx(0.1, abs=0.005)

    needed = videos_needed(pilot, captions_needed(pilot, 0.05))
    studies = draw(rng.integers(10, 31, (6000, needed)), 0.05)
    sums = studies[..., 0] - studies[..., 1]
    found = is_significant(sums)
    assert np.mean(found) == NEAR_80
    some = sums[:100].astype(float)
    sampled = [randomisation_test(study, 2000, rng=rng).p <= 0.05 for study in some]
    assert np.count_nonzero(sampled != found[:100]) <= 3
    # A plan by caption has too few captions: the power is below one half.
    by_caption = known(measure_pilot(kinds == 1, kinds == -1, "paired"))
    few = videos_needed(pilot, captions_needed(by_caption, 0.05))
    assert np.mean(is_significant(sums[:, :few])) < 0.45
    # A plan with one caption of each video has the planned power, too.
    single = one_per_cluster(pilot)
    captions = captions_needed(single, 0.05)
    assert captions == pytest.approx(captions_needed(by_caption, 0.05), abs=1)
    ones = draw(np.ones((3000, captions), np.int64), 0.05)
    assert np.mean(is_significant(ones[..., 0] - ones[..., 1])) == NEAR_80


# --- Effort ---------------------------------------------------------------------------------------


def test_effort_by_hand() -> None:
    # Each of 66,000 pairs has one label and, on average, 0.1 * (1 + 0.05) further labels. A label
    # takes six seconds, and an hour costs 20.
    assert estimate_effort(3000, RATES) == Effort(
        3000, 66_000, 72_930, pytest.approx(121.55), pytest.approx(2431.0)
    )
    assert estimate_effort(0, RATES) == Effort(0, 0, 0, 0.0, 0.0)
    # 33 * 1.1 = 36.3 pairs and 40.1 judgments. A rounding error must not add a pair.
    odd = Rates(1.1, 0.1, 0.05, 3600.0, 1.0)
    assert (estimate_effort(33, odd).pairs, estimate_effort(33, odd).judgments) == (37, 41)
    assert estimate_effort(3000, odd).pairs == 3300


@pytest.mark.parametrize(
    ("difference", "confidence", "power", "message"),
    [
        (0.0, 0.95, 0.8, "the difference must be finite and above 0"),
        (math.inf, 0.95, 0.8, "the difference must be finite and above 0"),
        (0.1, 1.0, 0.8, "confidence must lie between 0 and 1"),
        (0.1, 0.95, 0.0, "power must lie between 0 and 1"),
        (0.1, 0.5, 0.1, "the power is so low that no captions are needed"),
        (1.1, 0.95, 0.8, "two shares cannot differ by more than 1"),
    ],
)
def test_plan_rejects_bad_parameters(
    difference: float, confidence: float, power: float, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        captions_needed(discordant(0.5), difference, confidence=confidence, power=power)


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ((22, 1.1, 0.05, 6, 20), "doubled and disagreement must lie between 0 and 1"),
        ((22, 0.1, -0.1, 6, 20), "doubled and disagreement must lie between 0 and 1"),
        ((-1, 0.1, 0.1, 6, 20), "must be finite and not negative"),
        ((22, 0.1, 0.1, math.nan, 20), "must be finite and not negative"),
    ],
)
def test_rates_reject_impossible_values(numbers: tuple[float, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Rates(*numbers)

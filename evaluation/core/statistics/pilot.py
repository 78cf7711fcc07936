"""Variances for planning a comparison of two systems, estimated from a pilot.

A test compares the observed difference with the standard deviation that it would have if the
systems were equal. The null variance is the square of this standard deviation. The probability of
finding a true difference d depends on the standard deviation that the observed difference has if
the true one is d. The alternative variance is the square of that standard deviation. The difference
in the pilot is neither 0 nor d, so both variances are computed from quantities that stay the same
in the plan.

Paired design: both systems on the same captions. The plan uses the mean square q of the pilot's
differences. For zeros and ones, q is the discordant share psi, the share of captions on which
exactly one system is correct. If the systems were equal, each difference could have either sign, so
the null variance is q. The alternative variance is q - d^2. For zeros and ones, these are the
variances of Connor (1987), Sample size for testing differences in proportions for the paired-sample
design, Biometrics 43:207-211. For any measure, they are those of the randomisation test. If d is
greater than the mean absolute difference E|x| of the pilot, more captions must differ, and q is
multiplied by d / E|x|. For zeros and ones this ensures psi >= d. For other measures, q is at least
d^2, because no mean of squares is below the square of the mean.

Independent design: each system on its own captions. For zeros and ones the plan uses the mean p of
the pilot's two shares: p1 = p + d/2 and p2 = p - d/2, shifted together if one of them would be
outside of 0 to 1. The variances are 2 p (1 - p) and p1 (1 - p1) + p2 (1 - p2) (Fleiss 1981,
Statistical Methods for Rates and Proportions, chapter 3, without the continuity correction). For
other measures, both variances are the sum of the two systems' variances.

If captions are clustered by video, both variances are multiplied by a design effect of the pilot.
In the paired design it is the effect of the differences, in the independent design that of both
systems' values together. A measured effect below 1 counts as 1. The effect is for a plan with as
many captions per video as in the pilot. With one caption per video it is 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import FloatArray
from evaluation.core.statistics import design_effect
from evaluation.core.statistics.resampling import check_values, paired_differences

Design: TypeAlias = Literal["paired", "independent"]
Formula: TypeAlias = Literal["connor", "paired-normal", "two-proportions", "two-means"]


@dataclass(frozen=True, slots=True)
class Variances:
    """The variance of one caption's difference, under two assumptions.

    Divided by the number of captions, it is the variance of the mean difference. null: the variance
    if the systems are equal. alternative: the variance if they differ by the planned difference.
    """

    null: float
    alternative: float


@dataclass(frozen=True, slots=True)
class PairedPilot:
    """A pilot with both systems on the same captions.

    difference: mean difference in the pilot. deviation: standard deviation of the differences of
    single captions. mean_square, magnitude: means of the squared and of the absolute differences.
    binary: whether all values are 0 or 1; mean_square and magnitude are then the discordant share
    psi.
    """

    difference: float
    deviation: float
    mean_square: float
    magnitude: float
    binary: bool
    clustering: design_effect.Clustering

    @property
    def design(self) -> Design:
        return "paired"

    @property
    def formula(self) -> Formula:
        return "connor" if self.binary else "paired-normal"

    def mean_square_at(self, difference: float) -> float:
        """Return the mean square of a plan: that of the pilot, increased for large differences.

        It is at least difference^2, because the variance of the differences cannot be negative.
        """
        raised = self.mean_square * max(1.0, difference / self.magnitude)
        return max(raised, difference**2)

    def discordant_at(self, difference: float) -> float | None:
        """Return the discordant share of a plan, or None if there are values other than 0 and 1."""
        return self.mean_square_at(difference) if self.binary else None

    def variances(self, difference: float) -> Variances:
        """Return the variances of a plan that is to find `difference`."""
        effect, square = self.clustering.planned_effect, self.mean_square_at(difference)
        return Variances(effect * square, effect * (square - difference**2))

    def fewest_units(self, confidence: float) -> int:
        """Return the minimum number of captions, or of videos, for a significant test.

        With n units, the smallest p of the randomisation test is 2 / 2^n.
        """
        return math.ceil(1 - math.log2(1 - confidence))


@dataclass(frozen=True, slots=True)
class IndependentPilot:
    """A pilot with each system on its own captions.

    difference: difference between the two means in the pilot. deviation: sqrt(var_a + var_b), where
    var_a and var_b are the variances of one caption's value. middle: mean of the two means. binary:
    whether all values are 0 or 1. clustering: the clustering of both samples together.
    """

    difference: float
    deviation: float
    middle: float
    binary: bool
    clustering: design_effect.Clustering

    @property
    def design(self) -> Design:
        return "independent"

    @property
    def formula(self) -> Formula:
        return "two-proportions" if self.binary else "two-means"

    def discordant_at(self, difference: float) -> float | None:
        """Return None, because systems on different captions have no discordant share."""
        return None

    def variances(self, difference: float) -> Variances:
        """Return the variances of a plan that is to find `difference`."""
        effect = self.clustering.planned_effect
        if not self.binary:
            return Variances(effect * self.deviation**2, effect * self.deviation**2)
        middle = min(max(self.middle, difference / 2), 1 - difference / 2)
        null = 2 * middle * (1 - middle)
        # p1 (1 - p1) + p2 (1 - p2) at p1, p2 = middle ± d/2
        return Variances(effect * null, effect * max(0.0, null - difference**2 / 2))

    def fewest_units(self, confidence: float) -> int:
        """Return 2, because a variance needs at least two units."""
        return 2


Pilot: TypeAlias = PairedPilot | IndependentPilot


def measure_pilot(
    values: npt.ArrayLike,
    others: npt.ArrayLike,
    design: Design,
    *,
    clusters: npt.ArrayLike | None = None,
) -> Pilot | None:
    """Measure a pilot from the values of two systems.

    values, others: float64 [n_queries] each, the value of each caption. clusters: whole numbers
    [n_queries], such as the video of each caption, or None if captions are independent. In an
    independent design without clusters, the two arrays can have different lengths.

    A plan is undefined, and the function returns None, if there are fewer than two captions or
    clusters, if all differences are 0 (paired), or if neither system's values vary (independent).
    Raises ValueError if a value is not finite, or if the lengths differ in a paired design or in a
    design with clusters.
    """
    first, second = check_values(values, 1), check_values(others, 1)
    if design == "paired":
        return _measure_paired(first, second, clusters)
    return _measure_independent(first, second, clusters)


def one_per_cluster(pilot: Pilot) -> Pilot:
    """Return the pilot for a plan with one caption of each video."""
    return replace(pilot, clustering=design_effect.independent_captions(pilot.clustering.clusters))


def _measure_paired(
    first: FloatArray, second: FloatArray, clusters: npt.ArrayLike | None
) -> PairedPilot | None:
    differences = paired_differences(first, second)
    if len(differences) < 2 or not differences.any():
        return None
    clustering = design_effect.measure_clustering([differences], clusters)
    if clustering is None:
        return None
    return PairedPilot(
        difference=float(differences.mean()),
        deviation=math.sqrt(design_effect.sample_variance(differences)),
        mean_square=float(np.square(differences).mean()),
        magnitude=float(np.abs(differences).mean()),
        binary=_is_binary(first, second),
        clustering=clustering,
    )


def _measure_independent(
    first: FloatArray, second: FloatArray, clusters: npt.ArrayLike | None
) -> IndependentPilot | None:
    if min(len(first), len(second)) < 2:
        return None
    variance = design_effect.sample_variance(first) + design_effect.sample_variance(second)
    clustering = design_effect.measure_clustering([first, second], clusters)
    if clustering is None or not variance:
        return None
    return IndependentPilot(
        difference=float(first.mean() - second.mean()),
        deviation=math.sqrt(variance),
        middle=float(first.mean() + second.mean()) / 2,
        binary=_is_binary(first, second),
        clustering=clustering,
    )


def _is_binary(*samples: FloatArray) -> bool:
    return all(bool(np.isin(sample, (0.0, 1.0)).all()) for sample in samples)

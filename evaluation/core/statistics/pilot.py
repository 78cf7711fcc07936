"""The variance of a planned comparison of two systems, derived from a pilot.

A test compares the observed difference with its deviation if the systems were equal (null). The
chance to find a true difference d depends on the deviation at d (alternative). The pilot's own
difference is neither of the two, so both variances are derived from what a plan can keep:

paired, both systems on the same captions. Kept is the mean square q of the pilot's differences,
    for zeros and ones the discordant share psi: captions on which one system alone is right.
    If the systems were equal, each difference could as well have the other sign, and its variance
    is q. At d it is q - d^2. These are the variances of Connor (1987), Sample size for testing
    differences in proportions for the paired-sample design, Biometrics 43:207-211, and of the
    randomisation test for any measure. A wished d may exceed the pilot's mean magnitude E|x|; q
    then grows by d / E|x|, as more captions must differ. For zeros and ones this means psi >= d.

independent, each system on captions of its own. For zeros and ones the mean p of both shares is
    kept: p1 = p + d/2, p2 = p - d/2, moved together where one would leave 0 to 1. The variances are
    2 p (1 - p) and p1 (1 - p1) + p2 (1 - p2) (Fleiss 1981, Statistical Methods for Rates and
    Proportions, chapter 3, without the continuity correction). For other measures, both are the sum
    of the two systems' variances.

By video, the design effect of the pilot's differences multiplies both variances. It is that of a
plan with as many captions per video as in the pilot; with one caption per video it is 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import FloatArray
from evaluation.core.statistics.design_effect import (
    Clustering,
    independent_captions,
    measure_clustering,
    sample_variance,
)
from evaluation.core.statistics.resampling import check_values, paired_differences

Design: TypeAlias = Literal["paired", "independent"]
Formula: TypeAlias = Literal["connor", "paired-normal", "two-proportions", "two-means"]


@dataclass(frozen=True, slots=True)
class Variances:
    """Variance that one caption adds to a difference: if it is 0, and if it is as wished."""

    null: float
    alternative: float


@dataclass(frozen=True, slots=True)
class PairedPilot:
    """Both systems on the same captions.

    difference: their mean difference in the pilot. deviation: standard deviation of a caption's
    difference around it. mean_square, magnitude: means of the squared and of the absolute
    differences; for zeros and ones (`binary`) both are the discordant share psi.
    """

    difference: float
    deviation: float
    mean_square: float
    magnitude: float
    binary: bool
    clustering: Clustering

    @property
    def design(self) -> Design:
        return "paired"

    @property
    def formula(self) -> Formula:
        return "connor" if self.binary else "paired-normal"

    def mean_square_at(self, difference: float) -> float:
        """The mean square of the plan: the pilot's, raised for a large difference."""
        raised = self.mean_square * max(1.0, difference / self.magnitude)
        return max(raised, difference**2)

    def discordant_at(self, difference: float) -> float | None:
        """The discordant share of the plan; None for measures with values other than 0 and 1."""
        return self.mean_square_at(difference) if self.binary else None

    def variances(self, difference: float) -> Variances:
        effect, square = self.clustering.planned_effect, self.mean_square_at(difference)
        return Variances(effect * square, effect * (square - difference**2))

    def fewest_units(self, confidence: float) -> int:
        """Captions, or videos, below which no randomisation test is significant.

        2 of the 2^n assignments of signs are as far from 0 as possible.
        """
        return math.ceil(1 - math.log2(1 - confidence))


@dataclass(frozen=True, slots=True)
class IndependentPilot:
    """Each system on captions of its own.

    difference: of the two means in the pilot. deviation: sqrt(var_a + var_b) of one caption each.
    middle: mean of the two means. clustering: of both samples together.
    """

    difference: float
    deviation: float
    middle: float
    binary: bool
    clustering: Clustering

    @property
    def design(self) -> Design:
        return "independent"

    @property
    def formula(self) -> Formula:
        return "two-proportions" if self.binary else "two-means"

    def discordant_at(self, difference: float) -> float | None:
        """None, because systems on different captions have no discordant share."""
        return None

    def variances(self, difference: float) -> Variances:
        effect = self.clustering.planned_effect
        if not self.binary:
            return Variances(effect * self.deviation**2, effect * self.deviation**2)
        middle = min(max(self.middle, difference / 2), 1 - difference / 2)
        null = 2 * middle * (1 - middle)
        # p1 (1 - p1) + p2 (1 - p2) at p1, p2 = middle ± d/2
        return Variances(effect * null, effect * max(0.0, null - difference**2 / 2))

    def fewest_units(self, confidence: float) -> int:
        """A variance needs at least two units."""
        return 2


Pilot: TypeAlias = PairedPilot | IndependentPilot


def measure_pilot(
    values: npt.ArrayLike,
    others: npt.ArrayLike,
    design: Design,
    *,
    clusters: npt.ArrayLike | None = None,
) -> Pilot | None:
    """Measure two systems' values, float64 [n_queries] each.

    clusters: whole numbers [n_queries], such as the video of each caption. If it is None, the
    captions are independent, and independent designs take values of different lengths. Returns None
    below two captions or clusters, and if no two values differ, because there is nothing to plan
    with. Raises ValueError for values that are not finite or, if they belong together, of different
    lengths.
    """
    first, second = check_values(values, 1), check_values(others, 1)
    if design == "paired":
        return _measure_paired(first, second, clusters)
    return _measure_independent(first, second, clusters)


def one_per_cluster(pilot: Pilot) -> Pilot:
    """The same pilot for a plan with one caption of each video."""
    return replace(pilot, clustering=independent_captions(pilot.clustering.clusters))


def _measure_paired(
    first: FloatArray, second: FloatArray, clusters: npt.ArrayLike | None
) -> PairedPilot | None:
    differences = paired_differences(first, second)
    if len(differences) < 2 or not differences.any():
        return None
    clustering = measure_clustering([differences], clusters)
    if clustering is None:
        return None
    return PairedPilot(
        difference=float(differences.mean()),
        deviation=math.sqrt(sample_variance(differences)),
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
    variance = sample_variance(first) + sample_variance(second)
    clustering = measure_clustering([first, second], clusters)
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

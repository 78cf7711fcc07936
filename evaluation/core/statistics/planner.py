"""The number of captions needed to find a difference between two systems, and what they cost.

A two-sided test of n captions finds a true difference d with the requested power if

    n >= ((z_confidence * sqrt(null) + z_power * sqrt(alternative)) / d)^2

z_confidence is 1.96 at 95 % (two-sided), and z_power is 0.84 at 80 % (one-sided). null and
alternative are the variances of one caption's difference if the systems are equal, and if they
differ by d. For paired zeros and ones this is the formula of Connor (1987). For independent zeros
and ones it is the formula for two proportions. `pilot` computes the variances and lists their
sources.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from evaluation.core.statistics.pilot import Pilot
from evaluation.core.statistics.resampling import normal_quantile


@dataclass(frozen=True, slots=True)
class Rates:
    """Rates from which the cost of annotation is computed.

    pairs_per_caption: mean number of pooled pairs of a caption. doubled: share of the pairs
    that two annotators judge. disagreement: share of these pairs whose two labels differ, so a
    third label is needed. seconds_per_judgment: median time of a judgment. money_per_hour: the
    payment for an hour, in any currency. Raises ValueError if a number is negative or not finite,
    or a share is above 1.
    """

    pairs_per_caption: float
    doubled: float
    disagreement: float
    seconds_per_judgment: float
    money_per_hour: float

    def __post_init__(self) -> None:
        shares = (self.doubled, self.disagreement)
        amounts = (self.pairs_per_caption, self.seconds_per_judgment, self.money_per_hour)
        if not all(0 <= share <= 1 for share in shares):
            raise ValueError("doubled and disagreement must lie between 0 and 1")
        if not all(0 <= amount < math.inf for amount in amounts):
            raise ValueError("pairs, seconds and money must be finite and not negative")

    @property
    def judgments_per_pair(self) -> float:
        """Expected number of judgments per pair."""
        return 1 + self.doubled * (1 + self.disagreement)


@dataclass(frozen=True, slots=True)
class Effort:
    """Expected cost of annotating `captions`. Pairs and judgments are rounded up."""

    captions: int
    pairs: int
    judgments: int
    hours: float
    money: float


def captions_needed(
    pilot: Pilot, difference: float, *, confidence: float = 0.95, power: float = 0.8
) -> int:
    """Return the number of captions needed to find `difference` with this power, rounded up.

    In an independent design, this is the number for each of the two systems. If the pilot's
    captions are clustered by video, all captions of a video are annotated. The result is at least
    the number of captions below which no test can be significant. Raises ValueError if the
    difference, the confidence or the power is out of bounds, or if shares would differ by more than
    1.
    """
    _check_plan(difference, confidence, power)
    if pilot.binary and difference > 1:
        raise ValueError("two shares cannot differ by more than 1")
    variances = pilot.variances(difference)
    null, alternative = math.sqrt(variances.null), math.sqrt(variances.alternative)
    deviation = normal_quantile(confidence) * null + _power_quantile(power) * alternative
    fewest = math.ceil(pilot.fewest_units(confidence) * pilot.clustering.mean_size)
    return max(fewest, math.ceil((deviation / difference) ** 2))


def videos_needed(pilot: Pilot, captions: int) -> int:
    """Return the number of videos for `captions` captions, with the pilot's captions per video."""
    return _round_up(captions / pilot.clustering.mean_size)


def estimate_effort(captions: int, rates: Rates) -> Effort:
    """Return the expected effort of annotating `captions`."""
    pairs = captions * rates.pairs_per_caption
    judgments = pairs * rates.judgments_per_pair
    hours = judgments * rates.seconds_per_judgment / 3600
    return Effort(
        captions, _round_up(pairs), _round_up(judgments), hours, hours * rates.money_per_hour
    )


def _round_up(amount: float) -> int:
    # 3,000 * 1.1 is 3300.0000000000005 in floating point and must not be rounded up to 3,301.
    return math.ceil(round(amount, 6))


def _power_quantile(power: float) -> float:
    if not 0 < power < 1:
        raise ValueError("power must lie between 0 and 1")
    return NormalDist().inv_cdf(power)


def _check_plan(difference: float, confidence: float, power: float) -> None:
    if not 0 < difference < math.inf:
        raise ValueError("the difference must be finite and above 0")
    if normal_quantile(confidence) + _power_quantile(power) <= 0:
        raise ValueError("the power is so low that no captions are needed")

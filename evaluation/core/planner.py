"""How many captions to annotate so that a difference can be seen, and what that takes.

The two-sided normal approximation (Cohen 1988, Statistical Power Analysis, chapter 2): a mean of n
captions has the standard error deviation / sqrt(n), and a true difference d is found significant
with the wanted power if

    n >= ((z_confidence + z_power) * deviation / d)^2

where z_confidence is 1.96 at 95 percent (two-sided) and z_power 0.84 at 80 percent (one-sided).
The deviation is that of one caption and comes from a pilot: of the differences where both systems
are scored on the same captions (paired), sqrt(var_a + var_b) where each has captions of its own
(independent; n is then for each of the two). It holds for captions that are independent of each
other: where many captions of few videos are annotated, more are needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy.typing as npt

from evaluation.core.arrays import FloatArray
from evaluation.core.resampling import check_values, normal_quantile, paired_differences

Design: TypeAlias = Literal["paired", "independent"]


@dataclass(frozen=True, slots=True)
class Rates:
    """What annotation costs.

    pairs_per_caption: mean number of pooled pairs of a caption. double_share: share of the pairs
    that two people judge. disagreement: share of these whose two labels differ, so that a third is
    asked for. seconds_per_judgment: the median. money_per_hour: in any currency.
    Raises ValueError for negative numbers and for shares above 1.
    """

    pairs_per_caption: float
    double_share: float
    disagreement: float
    seconds_per_judgment: float
    money_per_hour: float

    def __post_init__(self) -> None:
        shares = (self.double_share, self.disagreement)
        amounts = (self.pairs_per_caption, self.seconds_per_judgment, self.money_per_hour)
        if not all(0 <= share <= 1 for share in shares):
            raise ValueError("double_share and disagreement must lie between 0 and 1")
        if not all(0 <= amount < math.inf for amount in amounts):
            raise ValueError("pairs, seconds and money must be finite and not negative")

    @property
    def judgments_per_pair(self) -> float:
        return 1 + self.double_share * (1 + self.disagreement)


@dataclass(frozen=True, slots=True)
class Effort:
    """What annotating `captions` is expected to take; pairs and judgments are rounded up."""

    captions: int
    pairs: int
    judgments: int
    hours: float
    money: float


def difference_deviation(
    values: npt.ArrayLike, others: npt.ArrayLike, design: Design
) -> float | None:
    """Standard deviation that one caption brings to the difference; None below two captions."""
    if design == "paired":
        samples = [paired_differences(values, others)]
    else:
        samples = [check_values(values, 1), check_values(others, 1)]
    if min(map(len, samples)) < 2:
        return None
    return math.sqrt(sum(map(_variance, samples)))


def captions_needed(
    deviation: float, difference: float, *, confidence: float = 0.95, power: float = 0.8
) -> int:
    """Captions, rounded up, with which `difference` is found with the wanted power; at least 2."""
    _check_wish(difference, confidence, power)
    return max(2, math.ceil((_quantiles(confidence, power) * deviation / difference) ** 2))


def estimate_effort(captions: int, rates: Rates) -> Effort:
    """What annotating so many captions is expected to take."""
    pairs = captions * rates.pairs_per_caption
    judgments = pairs * rates.judgments_per_pair
    hours = judgments * rates.seconds_per_judgment / 3600
    return Effort(
        captions, _round_up(pairs), _round_up(judgments), hours, hours * rates.money_per_hour
    )


def _variance(sample: FloatArray) -> float:
    # Of equal numbers, the mean may differ from them in its last digit.
    return 0.0 if sample.min() == sample.max() else float(sample.var(ddof=1))


def _round_up(amount: float) -> int:
    # 3,000 * 1.1 is 3300.0000000000005, which is not 3,301.
    return math.ceil(round(amount, 6))


def _quantiles(confidence: float, power: float) -> float:
    if not 0 < power < 1:
        raise ValueError("power must lie between 0 and 1")
    return normal_quantile(confidence) + NormalDist().inv_cdf(power)


def _check_wish(difference: float, confidence: float, power: float) -> None:
    if not 0 < difference < math.inf:
        raise ValueError("the difference must be finite and above 0")
    if _quantiles(confidence, power) <= 0:
        raise ValueError("a power so low needs no captions")

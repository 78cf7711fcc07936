"""Estimates of C@k corrected for wrong labels of pairs.

f is the rate of false alarms, f_i for an isolated pair (no other relevant label in its caption) and
f_n otherwise, m the rate of misses, c = 1 / (1 - f - m). The unbiased relevance of a pair is
t = (L - f) / (1 - f - m) for its label L. The corrected value of a caption with labels in the top k
is 1 - product of (1 - t). A pair without a label enters as 1 - p, p the calibrated machine.

The interval joins that of the drawn share (Wilson) with the variances of labels and rates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.estimates.shares import Interval, wilson
from evaluation.core.estimates.values import Z

# The step of the complex-step derivative, which has no rounding error.
_STEP = 1e-30


@dataclass(frozen=True, slots=True)
class Rates:
    """Error rates f_i, f_n and m, and their covariance matrix, float64 [3, 3]."""

    isolated: float
    other: float
    miss: float
    covariance: FloatArray

    @classmethod
    def one(cls, false_alarm: float, miss: float, covariance: npt.ArrayLike) -> Rates:
        """Return rates with f_i = f_n. covariance: [2, 2], of the false alarm rate and the miss."""
        spread = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        return cls(
            false_alarm, false_alarm, miss, spread @ np.asarray(covariance, np.float64) @ spread.T
        )

    @property
    def values(self) -> FloatArray:
        return np.array([self.isolated, self.other, self.miss])


@dataclass(frozen=True, slots=True, eq=False)
class Captions:
    """Labels of captions: positive and negative ones in the top k, [n] each.

    weight: [n], the number of captions for which each stands. unknown: [n], the product of 1 - p
    over the unlabelled pairs. certain: [n], whether an original positive decides the caption, which
    is 1 then.
    """

    positive: FloatArray
    negative: FloatArray
    weight: FloatArray
    unknown: FloatArray
    certain: FloatArray

    @classmethod
    def of(
        cls,
        positive: npt.ArrayLike,
        negative: npt.ArrayLike,
        weight: npt.ArrayLike = 1.0,
        unknown: npt.ArrayLike = 1.0,
        certain: npt.ArrayLike = 0.0,
    ) -> Captions:
        """Return captions from arrays that fit together."""
        columns = (positive, negative, weight, unknown, certain)
        return cls(*np.broadcast_arrays(*(np.asarray(column, np.float64) for column in columns)))

    def rows(self, rows: IntArray) -> Captions:
        """Return some of the captions."""
        columns = (self.positive, self.negative, self.weight, self.unknown, self.certain)
        return Captions(*(column[rows] for column in columns))


def corrected_values(captions: Captions, rates: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the corrected value of each caption, [n]. rates: [f_i, f_n, m]."""
    isolated, other, miss = rates
    c_i, c_n = 1 / (1 - isolated - miss), 1 / (1 - other - miss)
    a, b = captions.positive, captions.negative
    none = ((1 - miss) * c_i) ** b
    single = -miss * c_i * ((1 - miss) * c_n) ** b
    several = (-miss * c_n + 0j) ** np.where(a >= 2, a, 2) * ((1 - miss) * c_n) ** b
    if not np.iscomplexobj(rates):
        several = several.real
    wrong = np.where(a == 0, none, np.where(a == 1, single, several)) * captions.unknown
    return np.where(captions.certain > 0, 1, 1 - wrong)


def corrected_share(
    decided: Captions,
    drawn: Captions,
    rates: Rates,
    undecided: int,
    n_all: int,
    z: float = Z,
) -> Interval:
    """Return the corrected share of correct captions with its interval.

    decided: the captions that labels decide. drawn: the drawn ones of the `undecided`.
    """
    n = drawn.weight.sum()
    share = undecided / n_all

    def theta(values: npt.NDArray[Any]) -> Any:
        of_drawn = (corrected_values(drawn, values) * drawn.weight).sum() / n
        of_decided = (corrected_values(decided, values) * decided.weight).sum() / n_all
        return of_decided + share * of_drawn

    point = rates.values
    gradient = np.array([theta(point + 1j * _STEP * unit).imag / _STEP for unit in np.eye(3)])
    value = float(theta(point))
    of_drawn: FloatArray = corrected_values(drawn, point)
    of_decided: FloatArray = corrected_values(decided, point)
    noise = ((of_decided**2 - of_decided) * decided.weight).sum()
    noise += undecided * ((of_drawn**2 - of_drawn) * drawn.weight).sum() / n
    variance = max(0.0, float(noise)) / n_all**2 + float(gradient @ rates.covariance @ gradient)
    has_one = drawn.positive > 0
    hits = drawn.weight[has_one].sum()
    p = wilson(hits, int(n), undecided, z)
    c0 = _mean(of_drawn[~has_one], drawn.weight[~has_one], 0.0)
    c1 = _mean(of_drawn[has_one], drawn.weight[has_one], 1.0)
    reach = share * (c1 - c0)
    down = np.hypot(reach * (p.value - p.low), z * np.sqrt(variance))
    up = np.hypot(reach * (p.high - p.value), z * np.sqrt(variance))
    return Interval(np.asarray(value), value - down, value + up)


def _mean(values: FloatArray, weights: FloatArray, otherwise: float) -> float:
    return float((values * weights).sum() / weights.sum()) if weights.sum() else otherwise

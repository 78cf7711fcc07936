"""Error rates of labels, estimated without known truth.

A label can be wrong in two ways: a false alarm (labelled relevant, truly not) and a miss (labelled
not relevant, truly relevant). Given the truth, labels of one pair are independent. Both rates are
those of an average label.

From pairs with several labels (`fit_rates`): n labels of a pair, r of them relevant, have the
chance pi (1 - m)^r m^(n - r) + (1 - pi) f^r (1 - f)^(n - r), fitted by EM (Dawid and Skene 1979,
equations 2.3 to 2.5, with annotators pooled). Two labels and one prevalence pi give two numbers for
three unknowns. Third labels on disagreement give the third number: the share of disagreements that
end as relevant. Strata of different prevalence give it as well (Hui and Walter 1980, Biometrics
36:167). Without either, the rates are not identified and `rates_from_labels` returns the reason.
That a third label is requested only on disagreement does not bias the fit: the request depends on
the labels that are in the likelihood.

Pairs of captions that match little are easier to reject than near misses. So there are two rates of
false alarms if the table separates strata by it: of pairs `alone`, for which no other pair of the
caption is labelled relevant, and of pairs `beside` others. Each rate is drawn towards the mean of
both, as if two more wrong labels had been seen at that mean.

From gold (`rates_from_gold`): shares of wrong answers to pairs whose truth is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import BoolArray, FloatArray
from evaluation.core.people.label_table import LabelTable, fit_rates

NO_SECOND_LABELS: Final = "no pair has two labels"
FEW_DISAGREEMENTS: Final = "fewer than 10 pairs have differing labels"
NOT_IDENTIFIED: Final = (
    "two labels per pair and one prevalence cannot separate misses from false alarms"
)
NO_BETTER_THAN_CHANCE: Final = "the labels are no better than chance"
FEW_GOLD: Final = "fewer than 10 answers to relevant or to not relevant gold pairs"

LEAST_DISAGREEMENTS: Final = 10
LEAST_DECIDED: Final = 10
LEAST_GOLD: Final = 10
# Two strata identify the rates if their shares of relevant labels differ by at least this much.
_APART: Final = 0.1
_STRATUM_PAIRS: Final = 100

_START: Final = (0.02, 0.05)
_ROUNDS: Final = 5000
_REFIT_ROUNDS: Final = 400


@dataclass(frozen=True, slots=True)
class ErrorRates:
    """Chances that a label is wrong: `false_alarm` on pairs that are not relevant, `miss` on
    others.

    alone, beside: false alarms on pairs whose caption has no other pair labelled relevant, and on
    other pairs; both None if they are not separated. `false_alarm` is their mean over pairs.
    """

    false_alarm: float
    miss: float
    alone: float | None = None
    beside: float | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for rates outside of 0 to 1 and for labels no better than chance."""
        if not all(0 <= rate < 1 for rate in self.values):
            raise ValueError("error rates must be at least 0 and below 1")
        if max(self.values[0], *self.values[2:], 0.0) + self.miss >= 1:
            raise ValueError(NO_BETTER_THAN_CHANCE)

    @property
    def values(self) -> tuple[float, ...]:
        """Return two rates, or four."""
        if self.alone is None or self.beside is None:
            return self.false_alarm, self.miss
        return self.false_alarm, self.miss, self.alone, self.beside

    def false_alarms(self, is_alone: BoolArray) -> FloatArray:
        """Return the rate of false alarms of each pair, from flags [n_pairs]."""
        if self.alone is None or self.beside is None:
            return np.full(is_alone.shape, self.false_alarm)
        return np.where(is_alone, self.alone, self.beside)


@dataclass(frozen=True, slots=True, eq=False)
class RatesEstimate:
    """Error rates with resampled ones, or the name of the reason why there are none.

    prevalence: the share of truly relevant pairs among those that were used. draws: [resamples, 2
    or 4], `ErrorRates.values` of each resample; pairs, disagreements: what the estimate rests on
    (answers and wrong answers for gold).
    """

    rates: ErrorRates | None
    prevalence: float | None
    draws: FloatArray
    pairs: int
    disagreements: int
    undefined: str | None = None

    def interval(self, column: int, confidence: float = 0.95) -> tuple[float, float] | None:
        """Return the percentile interval of the false alarm rate (0) or the miss rate (1)."""
        if self.rates is None or not len(self.draws):
            return None
        tail = (1 - confidence) / 2
        low, high = np.quantile(self.draws[:, column], [tail, 1 - tail]).tolist()
        return low, high


def rates_from_labels(table: LabelTable, resampled: FloatArray) -> RatesEstimate:
    """Return error rates from pairs with several labels.

    resampled: float64 [resamples, S * P], the table's counts summed over resampled clusters.
    """
    total = table.total
    differ = (table.relevant > 0) & (table.relevant < table.given)
    pairs, disagreements = int(total.sum()), int(total[:, differ].sum())
    undefined = _why_undefined(table, total, pairs, disagreements)
    if undefined is None:
        start = np.array([[*_START]])
        fitted, prevalence = fit_rates(total[None], table, start, _ROUNDS)
        values = fitted[0].tolist()
        if max(values[0], *values[2:], 0.0) + values[1] >= 1:
            undefined = NO_BETTER_THAN_CHANCE
    if undefined is not None:
        return RatesEstimate(None, None, np.empty((0, 2)), pairs, disagreements, undefined)
    tables = resampled.reshape(len(resampled), *total.shape)
    draws, _ = fit_rates(tables, table, np.repeat(fitted, len(tables), axis=0), _REFIT_ROUNDS)
    share = float((prevalence[0] * total.sum(axis=1)).sum() / pairs)
    return RatesEstimate(ErrorRates(*values), share, draws, pairs, disagreements)


def _why_undefined(
    table: LabelTable, total: FloatArray, pairs: int, disagreements: int
) -> str | None:
    if pairs == 0:
        return NO_SECOND_LABELS
    if disagreements < LEAST_DISAGREEMENTS:
        return FEW_DISAGREEMENTS
    if total[:, table.given >= 3].sum() >= LEAST_DECIDED:
        return None
    large = total[total.sum(axis=1) >= _STRATUM_PAIRS]
    shares = (large @ table.relevant) / np.maximum(large @ table.given, 1)
    return None if len(shares) > 1 and np.ptp(shares) >= _APART else NOT_IDENTIFIED


def rates_from_gold(
    is_relevant: npt.NDArray[np.bool_],
    is_wrong: npt.NDArray[np.bool_],
    resamples: int,
    *,
    rng: np.random.Generator,
) -> RatesEstimate:
    """Return error rates from answers to pairs whose truth is known, flags [answers] each.

    Draws are from the Jeffreys posterior Beta(wrong + 1/2, right + 1/2). So a rate is not taken for
    0 if no answer is wrong.
    """
    wrong = np.array([(is_wrong & ~is_relevant).sum(), (is_wrong & is_relevant).sum()])
    answers = np.array([(~is_relevant).sum(), is_relevant.sum()])
    n_answers, n_wrong = int(answers.sum()), int(wrong.sum())
    if answers.min() < LEAST_GOLD:
        return RatesEstimate(None, None, np.empty((0, 2)), n_answers, n_wrong, FEW_GOLD)
    shares = (wrong + 0.5) / (answers + 1)
    if shares.sum() >= 1:
        return RatesEstimate(
            None, None, np.empty((0, 2)), n_answers, n_wrong, NO_BETTER_THAN_CHANCE
        )
    draws = np.asarray(rng.beta(wrong + 0.5, answers - wrong + 0.5, (resamples, 2)))
    return RatesEstimate(ErrorRates(*shares.tolist()), None, draws, n_answers, n_wrong)


def typed_rates(false_alarm: float, miss: float, resamples: int) -> RatesEstimate:
    """Return rates that a person has entered; they count as exact.

    Raises ValueError as `ErrorRates` does.
    """
    rates = ErrorRates(false_alarm, miss)
    draws = np.repeat([[false_alarm, miss]], resamples, axis=0)
    return RatesEstimate(rates, None, draws, 0, 0)

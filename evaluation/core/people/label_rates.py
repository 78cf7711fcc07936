"""Estimates of how often labels are wrong.

A label can be wrong in two ways. A false alarm is the label "relevant" for a pair that is not
relevant. A miss is the label "not relevant" for a relevant pair. The model assumes that wrong
labels of one pair are independent. It does not distinguish annotators, so both rates are those of
an average label. The rates can be estimated in two ways.

From pairs with several labels (`rates_from_labels`). Let n labels of a pair include r relevant
ones. The probability of this is

    pi (1 - m)^r m^(n - r) + (1 - pi) f^r (1 - f)^(n - r)

with prevalence pi (the share of relevant pairs), miss rate m and false alarm rate f. EM
(expectation maximisation) fits these three numbers (Dawid and Skene 1979, equations 2.3 to 2.5,
with all annotators pooled). Two labels per pair and one prevalence give two equations for three
unknowns. Third labels after disagreement give a third equation: the share of disagreements that end
as relevant. Strata with different prevalences give additional equations (Hui and Walter 1980,
Biometrics 36:167). With neither, the rates are not identified, and `rates_from_labels` returns
`NOT_IDENTIFIED`. Requesting third labels only after disagreement does not bias the fit, because the
request depends only on labels that are in the likelihood.

Videos that do not match a caption at all are easier to reject than videos that nearly match. A pair
is called isolated if no other pair of its caption is labelled relevant. If the strata of the table
distinguish isolated pairs, there are two rates of false alarms: for isolated pairs and for other
pairs. Each of the two is shrunk towards the rate f of both kinds together: its number of false
alarms is increased by 2, and its number of labels by 2 / f.

From control pairs (`rates_from_gold`). The rates are estimated from the numbers of correct and
wrong answers to pairs whose correct answer is known.
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
FEW_GOLD: Final = (
    "fewer than 10 answers to relevant control pairs, or fewer than 10 to other control pairs"
)

# Minimum number of pairs with different labels, of pairs with three labels or more, and of answers
# to relevant control pairs as well as of answers to other control pairs.
MIN_DISAGREEMENTS: Final = 10
MIN_DECIDED: Final = 10
MIN_GOLD: Final = 10
# Strata identify the rates if their shares of relevant labels differ by at least this much.
_MIN_DIFFERENCE: Final = 0.1
# Minimum number of pairs of such a stratum.
_STRATUM_PAIRS: Final = 100

_START: Final = (0.02, 0.05)
_ROUNDS: Final = 5000
_REFIT_ROUNDS: Final = 400


@dataclass(frozen=True, slots=True)
class ErrorRates:
    """Probabilities that a label is wrong, at least 0 and below 1.

    false_alarm: probability that a pair that is not relevant is labelled relevant. miss:
    probability that a relevant pair is labelled not relevant. isolated, not_isolated: false alarm
    rate of isolated pairs and of other pairs (see the module); both None if they are not
    distinguished. `false_alarm` is the rate of both kinds together.
    """

    false_alarm: float
    miss: float
    isolated: float | None = None
    not_isolated: float | None = None

    def __post_init__(self) -> None:
        """Raise ValueError if a rate is out of range, or if labels are no better than chance."""
        if not all(0 <= rate < 1 for rate in self.values):
            raise ValueError("error rates must be at least 0 and below 1")
        if max(self.values[0], *self.values[2:], 0.0) + self.miss >= 1:
            raise ValueError(NO_BETTER_THAN_CHANCE)

    @property
    def values(self) -> tuple[float, ...]:
        """The two rates, or all four if isolated pairs are distinguished."""
        if self.isolated is None or self.not_isolated is None:
            return self.false_alarm, self.miss
        return self.false_alarm, self.miss, self.isolated, self.not_isolated

    def false_alarms(self, is_isolated: BoolArray) -> FloatArray:
        """Return the false alarm rate of each pair, float64 [n_pairs], from flags [n_pairs]."""
        if self.isolated is None or self.not_isolated is None:
            return np.full(is_isolated.shape, self.false_alarm)
        return np.where(is_isolated, self.isolated, self.not_isolated)


@dataclass(frozen=True, slots=True, eq=False)
class RatesEstimate:
    """Estimated error rates with resampled rates, or the reason why they are undefined.

    prevalence: estimated share of relevant pairs among the pairs used; None if it is not estimated.
    draws: float64 [resamples, 2 or 4], `ErrorRates.values` of each resample. pairs, disagreements:
    number of pairs used, and number of those with different labels. For control pairs these are the
    numbers of answers and of wrong answers.
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
    """Estimate error rates from pairs with several labels.

    resampled: float64 [resamples, S * P], the counts of the table, summed over resampled clusters.
    """
    total = table.total
    differ = (table.relevant > 0) & (table.relevant < table.n_labels)
    pairs, disagreements = int(total.sum()), int(total[:, differ].sum())
    undefined = _undefined_reason(table, total, pairs, disagreements)
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


def _undefined_reason(
    table: LabelTable, total: FloatArray, pairs: int, disagreements: int
) -> str | None:
    if pairs == 0:
        return NO_SECOND_LABELS
    if disagreements < MIN_DISAGREEMENTS:
        return FEW_DISAGREEMENTS
    if total[:, table.n_labels >= 3].sum() >= MIN_DECIDED:
        return None
    large = total[total.sum(axis=1) >= _STRATUM_PAIRS]
    shares = (large @ table.relevant) / np.maximum(large @ table.n_labels, 1)
    return None if len(shares) > 1 and np.ptp(shares) >= _MIN_DIFFERENCE else NOT_IDENTIFIED


def rates_from_gold(
    is_relevant: npt.NDArray[np.bool_],
    is_wrong: npt.NDArray[np.bool_],
    resamples: int,
    *,
    rng: np.random.Generator,
) -> RatesEstimate:
    """Estimate error rates from answers to control pairs.

    is_relevant: bool [answers], the correct answer. is_wrong: bool [answers]. A rate is the mean of
    the Jeffreys posterior Beta(wrong + 1/2, correct + 1/2), so it is above 0 even if no answer is
    wrong. The draws are from the same posterior.
    """
    wrong = np.array([(is_wrong & ~is_relevant).sum(), (is_wrong & is_relevant).sum()])
    answers = np.array([(~is_relevant).sum(), is_relevant.sum()])
    n_answers, n_wrong = int(answers.sum()), int(wrong.sum())
    if answers.min() < MIN_GOLD:
        return RatesEstimate(None, None, np.empty((0, 2)), n_answers, n_wrong, FEW_GOLD)
    shares = (wrong + 0.5) / (answers + 1)
    if shares.sum() >= 1:
        return RatesEstimate(
            None, None, np.empty((0, 2)), n_answers, n_wrong, NO_BETTER_THAN_CHANCE
        )
    draws = np.asarray(rng.beta(wrong + 0.5, answers - wrong + 0.5, (resamples, 2)))
    return RatesEstimate(ErrorRates(*shares.tolist()), None, draws, n_answers, n_wrong)


def typed_rates(false_alarm: float, miss: float, resamples: int) -> RatesEstimate:
    """Return rates that a researcher entered. They count as exact: all resamples have these rates.

    Raises ValueError for the reasons of `ErrorRates`.
    """
    rates = ErrorRates(false_alarm, miss)
    draws = np.repeat([[false_alarm, miss]], resamples, axis=0)
    return RatesEstimate(rates, None, draws, 0, 0)

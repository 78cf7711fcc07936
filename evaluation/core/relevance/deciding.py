"""Sole positives, and the effect of second labels for them.

A sole positive is the only positive in the top k of a caption. The C@k of the caption depends on
it. If a caption has two positives in the top k, its C@k stays 1 when one of them is wrong. If it
has a sole positive that is wrong, its C@k becomes 0. A second label is therefore most useful for
sole positives.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluation.core.arrays import BoolArray, IntArray
from evaluation.core.people.label_rates import ErrorRates
from evaluation.core.relevance.corrected_scores import locate
from evaluation.core.relevance.judged import Judged, look_up_gains
from evaluation.core.relevance.noisy_labels import NoisyLabels
from pooling.core.ranked_lists import RankedLists


@dataclass(frozen=True, slots=True)
class Confirmation:
    """Expected effect of second labels for the sole positives of one run.

    deciding: number of captions whose C@k depends on a sole positive that is not an original
    positive. to_confirm: number of these whose sole positive has one label. wrong: estimated number
    of false alarms among `to_confirm`. score: C@k by the labels, without correction. confirmed:
    expected C@k after a second label for each of `to_confirm`, and a third label if two differ.
    """

    deciding: int
    to_confirm: int
    wrong: float
    score: float
    confirmed: float


def sole_positives(
    lists: RankedLists, judged: Judged, k: int, certain: Judged | None = None
) -> IntArray:
    """Return the pair codes of the sole positives of a run, int64, ascending.

    judged: the labels and the original positives. certain: pairs that need no confirmation, such as
    the original positives; they are not returned. Raises ValueError if k < 1, or if `lists` does
    not match `judged`.
    """
    if k < 1:
        raise ValueError("k must be at least 1")
    top = lists.top(k)
    is_positive = look_up_gains(top, judged) >= 1
    codes: IntArray = top.codes[is_positive & (is_positive.sum(axis=1) == 1)[:, None]]
    if certain is None:
        return codes
    known, _ = certain.positives()
    unsure: IntArray = codes[~np.isin(codes, known)]
    return unsure


def expect_confirmation(
    lists: RankedLists, judged: Judged, k: int, labels: NoisyLabels, rates: ErrorRates
) -> Confirmation:
    """Estimate the effect of second labels for the sole positives of C@k.

    judged: the labels and original positives from which the score without correction is computed.
    Raises ValueError as `sole_positives` does.

    Let f be the false alarm rate of a pair (`ErrorRates.false_alarms`), and t an unbiased estimate
    of its relevance (`noise_relevance.unbiased_relevance`). If a pair has one label, the mean of
    f (1 - t) is the probability that it is labelled relevant and is not relevant. The expected
    number of wrong sole positives with one label is the sum of f (1 - t) over the ranked pairs that
    have one label and no other positive in the top k of their caption. This needs no assumption
    about the number of relevant pairs.
    """
    codes = sole_positives(lists, judged, k)
    place = np.searchsorted(labels.codes, codes)
    place = place[~labels.is_known[place]]
    to_confirm = int((labels.n_all_labels[place] == 1).sum())
    located = locate(lists.top(k), labels.codes)
    has_one_label = (labels.n_labels == 1) & (labels.ruled < 0) & ~labels.is_known
    positive = _at(labels.is_positive, located.places)
    other_positives = positive.sum(axis=0) - positive
    single = _at(has_one_label, located.places) & (other_positives == 0)
    false = rates.false_alarms(labels.is_isolated) * (1 - labels.relevance(rates))
    n_single = int((single & positive).sum())
    share = min(1.0, max(0.0, float(false[located.places[single]].sum()) / max(1, n_single)))
    # A positive is rejected if the second and the third label are both “not relevant”.
    rejected = to_confirm * (share * (1 - rates.false_alarm) ** 2 + (1 - share) * rates.miss**2)
    n = max(1, len(lists))
    score = float((look_up_gains(lists.top(k), judged) >= 1).any(axis=1).sum()) / n
    return Confirmation(len(place), to_confirm, to_confirm * share, score, score - rejected / n)


def _at(flags: BoolArray, places: IntArray) -> BoolArray:
    """Return the flags [J] at these places, and False for the place -1."""
    return np.append(flags, False)[places]

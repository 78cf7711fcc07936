"""Positives that decide a C@k alone and therefore most need a second label.

If a caption has two positives in the top k, its C@k stays 1 when one of them is wrong. With a
single positive, one false alarm makes the caption correct. A second label is worth most there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import BoolArray, IntArray
from evaluation.core.people.label_rates import ErrorRates
from evaluation.core.relevance.corrected_scores import locate
from evaluation.core.relevance.judged import Judged, check_ranked, look_up_gains
from evaluation.core.relevance.noisy_labels import NoisyLabels


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The expected effect of second labels of the deciding positives of one run.

    deciding: captions whose C@k depends on a single positive that is not known to be relevant.
    to_confirm: those of them whose positive has a single label. wrong: the estimated number of
    false alarms among `to_confirm`. score: raw C@k. confirmed: its expected value after a second
    label for each of `to_confirm`, and a third label if the two differ.
    """

    deciding: int
    to_confirm: int
    wrong: float
    score: float
    confirmed: float


def deciding_positives(
    ranked: npt.NDArray[Any], judged: Judged, k: int, certain: Judged | None = None
) -> IntArray:
    """Return the codes of the positives that are alone in the top k of their caption, ascending.

    ranked: [n_queries, depth]. judged: with the original positives, which also count as positives.
    certain: pairs that need no confirmation, such as the original positives. They are not returned.
    Raises ValueError if k < 1, or if `ranked` does not fit `judged`.
    """
    if k < 1:
        raise ValueError("k must be at least 1")
    check_ranked(ranked, judged)
    top = ranked[:, :k]
    is_positive = look_up_gains(top, judged) >= 1
    queries = np.flatnonzero(is_positive.sum(axis=1) == 1)
    videos = top[queries, is_positive[queries].argmax(axis=1)].astype(np.int64)
    codes = judged.space.encode(queries, videos)
    if certain is None:
        return codes
    known, _ = certain.positives()
    unsure: IntArray = codes[~np.isin(codes, known)]
    return unsure


def expect_confirmation(
    ranked: npt.NDArray[Any], judged: Judged, k: int, labels: NoisyLabels, rates: ErrorRates
) -> Confirmation:
    """Estimate the effect of second labels of the deciding positives of C@k.

    judged: what raw scores use. Let f be the false alarm rate of pairs beside no other positive,
    and t a number that is right on average for the truth (`noise_relevance.unbiased_relevance`).
    For a pair with one label, f (1 - t) is then right on average for "labelled relevant and not
    relevant". So the number of wrong deciding positives is the sum over captions and ranks of
    f (1 - t), times the product over the other pairs of the top k of (1 - positive). No prevalence
    is needed.
    """
    codes = deciding_positives(ranked, judged, k)
    place = np.searchsorted(labels.codes, codes)
    place = place[~labels.is_known[place]]
    to_confirm = int((labels.in_all[place] == 1).sum())
    lists = locate(ranked[:, :k], labels.codes, judged.n_videos)
    single = (labels.given == 1) & (labels.ruled < 0) & ~labels.is_known
    positive = _at(labels.is_positive, lists.places)
    others = positive.sum(axis=0) - positive
    alone = _at(single, lists.places) & (others == 0)
    false = rates.false_alarms(labels.is_alone) * (1 - labels.relevance(rates))
    found = int((alone & positive).sum())
    share = min(1.0, max(0.0, float(false[lists.places[alone]].sum()) / max(1, found)))
    # A positive is corrected if both further labels are “not relevant”.
    taken_back = to_confirm * (share * (1 - rates.false_alarm) ** 2 + (1 - share) * rates.miss**2)
    n = max(1, len(ranked))
    score = float((look_up_gains(ranked[:, :k], judged) >= 1).any(axis=1).sum()) / n
    return Confirmation(len(place), to_confirm, to_confirm * share, score, score - taken_back / n)


def _at(flags: BoolArray, places: IntArray) -> BoolArray:
    """Return flags [J] at places; False for the place -1."""
    return np.append(flags, False)[places]

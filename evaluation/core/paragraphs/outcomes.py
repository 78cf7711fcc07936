"""The outcome of a paragraph, which follows from those of its sentences."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import IntArray

SHARE = 1.0
"""The default share of the sentences that a relevant video must contain."""

# Products such as 0.55 * 20 have small errors.
_DECIMALS = 9


class Outcome(IntEnum):
    PENDING = -1
    NOT_RELEVANT = 0
    RELEVANT = 1


def needed(sentences: npt.ArrayLike, share: float = SHARE) -> IntArray:
    """Return the number of sentences that must be found, of `sentences`, int64 [n].

    Raises ValueError unless 0 < share <= 1.
    """
    if not 0 < share <= 1:
        raise ValueError("the share must be above 0 and at most 1")
    return np.ceil(np.round(np.asarray(sentences) * share, _DECIMALS)).astype(np.int64)


def paragraph_outcomes(
    sentences: npt.ArrayLike, found: npt.ArrayLike, rejected: npt.ArrayLike, share: float = SHARE
) -> IntArray:
    """Return the outcome of each paragraph on a video, int64 [n], values of `Outcome`.

    sentences: the number of sentences of the paragraph. found, rejected: how many of them are
    settled as relevant, and as not relevant. All others are pending, in conflict or unjudged, and
    could still be found.
    """
    total, right, wrong = (np.asarray(values, np.int64) for values in (sentences, found, rejected))
    least = needed(total, share)
    outcome = np.full(total.shape, Outcome.PENDING, np.int64)
    outcome[right >= least] = Outcome.RELEVANT
    outcome[total - wrong < least] = Outcome.NOT_RELEVANT
    return outcome

"""Original positives that annotators judged not relevant, and labels without them.

Captioning data sets contain wrong captions. The FIRE study (see `measures`) counts every original
positive as relevant. In its published labels of MSR-VTT, 219 of the 927 judged original positives
are not relevant.
"""

from __future__ import annotations

import numpy as np

from evaluation.core.arrays import BoolArray
from evaluation.core.relevance.judged import Judged, gains_of, with_positives


def rejected(labels: Judged, original: Judged) -> BoolArray:
    """Return whether each original positive is labelled not relevant.

    The result is bool, with one value for each code of `original`.
    """
    return np.asarray(gains_of(original.codes, labels) == 0)


def drop_rejected(labels: Judged, original: Judged) -> Judged:
    """Join labels and original positives, except original positives labelled not relevant.

    All other original positives stay positive. If such a pair also has a positive label, the higher
    gain counts, as in `with_positives`. Raises ValueError if the two belong to benchmarks of
    different sizes.
    """
    return with_positives(labels, original.only(~rejected(labels, original)))

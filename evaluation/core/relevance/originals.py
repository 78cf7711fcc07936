"""Original positives that people judge: which ones they reject, and labels without these.

Captioning data sets contain wrong captions. The FIRE study keeps every original positive; in its
published labels of MSR-VTT, 219 of the 927 judged original positives are not relevant.
"""

from __future__ import annotations

import numpy as np

from evaluation.core.arrays import BoolArray
from evaluation.core.relevance.judged import Judged, gains_of, with_positives


def rejected(labels: Judged, original: Judged) -> BoolArray:
    """Return which pairs of `original` are labelled not relevant, bool [J of original]."""
    return np.asarray(gains_of(original.codes, labels) == 0)


def drop_rejected(labels: Judged, original: Judged) -> Judged:
    """Join labels and original positives without those that the labels call not relevant.

    All other original positives stay positive; where a label is positive too, the higher gain
    counts, as in `with_positives`.
    Raises ValueError if the two belong to benchmarks of different size.
    """
    kept = ~rejected(labels, original)
    upheld = Judged(
        original.codes[kept], original.gains[kept], original.n_queries, original.n_videos
    )
    return with_positives(labels, upheld)

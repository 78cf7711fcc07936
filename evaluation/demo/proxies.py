"""How well proxies order the pairs of the demo benchmark, whose true relevance is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluation.core.graded.calibration import Labelled, count_by_value
from evaluation.demo.benchmark import DemoBenchmark


def auc_by_truth(demo: DemoBenchmark, values: npt.NDArray[Any]) -> float:
    """Return the AUC of a proxy over all pairs except the original positives.

    values: [captions, videos]. The AUC is the chance that a relevant pair has a higher value than
    an irrelevant one. A proxy is computed from the original positives, so they are left out.
    """
    is_other = np.ones(demo.truth.shape, np.bool_)
    sources = np.array([caption.source for caption in demo.captions])
    is_other[np.arange(len(sources)), sources] = False
    pairs = Labelled.of(demo.truth[is_other], np.nonzero(is_other)[0])
    return float(count_by_value(values[is_other], pairs).auc()[0])


def proxy_lines(auc: Mapping[str, float]) -> list[str]:
    return [
        "How often a relevant pair has a higher value than an irrelevant one (AUC, in %).",
        "Guessing gives 50.",
        *(f"{name:14}{100 * value:26.1f}" for name, value in auc.items()),
    ]

"""Proxies compared with the truth of the demo benchmark."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.stats import mannwhitneyu

from evaluation.demo.benchmark import make_benchmark
from evaluation.demo.proxies import auc_by_truth, proxy_lines


def test_auc_leaves_out_the_original_positives() -> None:
    demo = make_benchmark()
    truth = np.array([[True, True, False], [False, True, True], [True, False, True]])
    # The original positive of caption n is video n.
    own = [replace(demo.captions[0], source=number) for number in range(3)]
    small = replace(demo, captions=own, truth=truth)
    values = np.array([[0, 0.8, 0.3], [0.3, 0, 0.5], [0.2, 0.9, 0]])

    expected = mannwhitneyu([0.8, 0.5, 0.2], [0.3, 0.3, 0.9]).statistic / 9

    assert auc_by_truth(small, values) == expected == 4 / 9
    assert proxy_lines({"BoW": 0.5})[-1].split() == ["BoW", "50.0"]

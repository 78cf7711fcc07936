"""The formulas of the proxies for sets of words, one pair at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def iou(first: frozenset[str], second: frozenset[str]) -> float:
    """Return the intersection over union of two sets, and 0 if both are empty."""
    return len(first & second) / len(first | second) if first | second else 0.0


def mean_iou(rows: Sequence[Sequence[frozenset[str]]], columns) -> np.ndarray:
    """Return the mean IoU of each row with each column over the parts of speech.

    rows, columns: one list per part of speech, with a set of words per row or column.
    """
    cells = [
        [
            sum(iou(a[i], b[j]) for a, b in zip(rows, columns, strict=True)) / len(rows)
            for j in range(len(columns[0]))
        ]
        for i in range(len(rows[0]))
    ]
    return np.array(cells).reshape(len(rows[0]), len(columns[0]))

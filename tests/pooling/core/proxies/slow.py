"""The formulas of the proxies, one pair at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def iou(first: frozenset[str], second: frozenset[str]) -> float:
    return len(first & second) / len(first | second) if first | second else 0.0


def mean_iou(rows: Sequence[Sequence[frozenset[str]]], columns) -> np.ndarray:
    """rows, columns: the sets of each part of speech."""
    cells = [
        [
            sum(iou(a[i], b[j]) for a, b in zip(rows, columns, strict=True)) / len(rows)
            for j in range(len(columns[0]))
        ]
        for i in range(len(rows[0]))
    ]
    return np.array(cells).reshape(len(rows[0]), len(columns[0]))

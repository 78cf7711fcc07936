"""A run whose import takes some seconds, for tests that interrupt it.

This module does not need Django.
"""

from __future__ import annotations

import numpy as np

CAPTIONS, VIDEOS = 400, 1000


def long_run(seed: int = 0) -> bytes:
    """Return a TREC file of 400,000 lines. Each seed gives a different run."""
    order = np.argsort(np.random.default_rng(seed).random((CAPTIONS, VIDEOS)), axis=1)
    return "".join(
        f"c{query} Q0 v{video} {rank} {VIDEOS - rank} t\n"
        for query, videos in enumerate(order.tolist())
        for rank, video in enumerate(videos, start=1)
    ).encode()

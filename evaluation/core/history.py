"""What was known of the labels while they came in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evaluation.core.agreement import ValueCounts, count_opinions
from evaluation.core.arrays import BoolArray, FloatArray, IntArray
from evaluation.core.relevance import Judged


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """After the first `labels` labels: what the majority of each pair says, and all opinions.

    judged: pairs that more than half of their labels so far call relevant, or not; a tie is
    unjudged.
    """

    labels: int
    judged: Judged
    opinions: ValueCounts


def look_back(
    codes: IntArray,
    pair_of: IntArray,
    relevant: IntArray,
    moments: IntArray,
    *,
    n_queries: int,
    n_videos: int,
) -> Iterator[Moment]:
    """What was known after each of `moments`, ascending numbers of labels from 0 to L.

    codes: int64 [n_pairs], ascending. pair_of, relevant: int64 [L] in the order of arrival, a place
    in `codes` and 0 or 1. Each label is counted once, however many moments.
    """
    given = np.zeros(len(codes), np.int64)
    yes = np.zeros(len(codes), np.int64)
    done = 0
    for moment in moments.tolist():
        new, done = slice(done, moment), moment
        given += np.bincount(pair_of[new], minlength=len(codes))
        yes += np.bincount(pair_of[new][relevant[new] > 0], minlength=len(codes))
        known = 2 * yes != given  # no label is a tie, too
        gains = (2 * yes[known] > given[known]).astype(np.int8)
        yield Moment(
            moment, Judged(codes[known], gains, n_queries, n_videos), count_opinions(given, yes)
        )


def settled_from(moments: IntArray, scores: FloatArray, within: float) -> int:
    """From how many labels on no score is further than `within` from what it came to be.

    moments: int64 [n], ascending numbers of labels. scores: float64 [n, n_systems].
    """
    return _last_run_begins(moments, (np.abs(scores - scores[-1]) <= within).all(axis=1))


def order_settled_from(moments: IntArray, scores: FloatArray) -> int:
    """From how many labels on the systems stand in the order in which they came to stand; those
    with equal scores have no order. Arguments as above."""
    signs = np.sign(scores[:, :, None] - scores[:, None, :])
    return _last_run_begins(moments, (signs == signs[-1]).all(axis=(1, 2)))


def _last_run_begins(moments: IntArray, holds: BoolArray) -> int:
    """The first moment from which on it holds to the end, where it does."""
    fails = np.flatnonzero(~holds)
    return int(moments[fails[-1] + 1 if len(fails) else 0])

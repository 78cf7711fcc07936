"""What was known of the labels while they came in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evaluation.core.arrays import BoolArray, FloatArray, IntArray
from evaluation.core.people.agreement import ValueCounts, count_opinions
from evaluation.core.relevance.judged import Judged


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """The state after the first `labels` labels: the majority of each pair, and opinions.

    judged: pairs that more than half of their labels so far call relevant, or not; a tie is
    unjudged. opinions: of the first labels of each pair, to measure agreement.
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
    is_first: BoolArray,
    n_queries: int,
    n_videos: int,
) -> Iterator[Moment]:
    """Return the state after each of `moments`, ascending numbers of labels from 0 to L.

    codes: int64 [n_pairs], ascending. pair_of, relevant: int64 [L] in the order of arrival, a place
    in `codes` and 0 or 1. is_first: bool [L], the labels whose agreement counts. Each label is
    counted once, however many moments.
    """
    given, yes, first_given, first_yes = np.zeros((4, len(codes)), np.int64)
    done = 0
    for moment in moments.tolist():
        new, done = slice(done, moment), moment
        first, says_yes = is_first[new], relevant[new] > 0
        given += np.bincount(pair_of[new], minlength=len(codes))
        yes += np.bincount(pair_of[new][says_yes], minlength=len(codes))
        first_given += np.bincount(pair_of[new][first], minlength=len(codes))
        first_yes += np.bincount(pair_of[new][first & says_yes], minlength=len(codes))
        known = 2 * yes != given  # no label is a tie, too
        gains = (2 * yes[known] > given[known]).astype(np.int8)
        yield Moment(
            moment,
            Judged(codes[known], gains, n_queries, n_videos),
            count_opinions(first_given, first_yes),
        )


@dataclass(frozen=True, slots=True, eq=False)
class UnitOrder:
    """The order in which units (captions, or videos with all their captions) were judged.

    units: int64 [N], all units that have labels or wait for labels. seen: the number of complete
    units before the first incomplete one. labels: int64 [seen], the number of labels when the first
    1, 2, … units were complete.
    """

    units: IntArray
    seen: int
    labels: IntArray


def units_as_judged(pair_of: IntArray, unit_of: IntArray, waiting: BoolArray) -> UnitOrder:
    """Order the units by the arrival of the first label of their first pair.

    pair_of: int64 [L], the pair of each label, in the order of arrival. unit_of: int64 [n_pairs],
    each pair with a label or more. waiting: bool [n_units], units that wait for labels.

    One pair represents each unit. The first label of any pair would be biased: the more pairs a
    unit has, the earlier one of them arrives, even in random order.
    """
    first, last = np.full((2, len(unit_of)), -1, dtype=np.int64)
    numbers = np.arange(len(pair_of))
    first[pair_of[::-1]] = numbers[::-1]
    last[pair_of] = numbers
    judged, own_pair = np.unique(unit_of, return_index=True)
    complete_at = np.zeros(len(waiting), dtype=np.int64)
    np.maximum.at(complete_at, unit_of, last + 1)
    come = judged[np.argsort(first[own_pair])]
    seen = _before_first(waiting[come])
    labels = np.maximum.accumulate(complete_at[come[:seen]])
    return UnitOrder(_with_waiting(come, waiting), seen, labels)


def units_drawn(
    pair_of: IntArray,
    unit_of: IntArray,
    waiting: BoolArray,
    rng: np.random.Generator,
    answer_of: IntArray | None = None,
) -> UnitOrder:
    """Draw a random order, as if each unit had been judged completely before the next one.

    Arguments as above, labels in any order. answer_of: int64 [L], numbers from 0 of the answers
    behind the labels. An answer that holds for several pairs counts once, with its first unit.
    """
    units_of = unit_of[pair_of]
    counts = np.bincount(units_of, minlength=len(waiting))
    units = rng.permutation(np.flatnonzero((counts > 0) | waiting))
    seen = _before_first(waiting[units])
    if answer_of is None:
        return UnitOrder(units, seen, np.cumsum(counts[units[:seen]]))
    place = np.zeros(len(waiting), dtype=np.int64)
    place[units] = np.arange(len(units))
    given = np.full(int(answer_of.max(initial=-1)) + 1, len(units))
    np.minimum.at(given, answer_of, place[units_of])
    return UnitOrder(units, seen, np.cumsum(np.bincount(given, minlength=seen)[:seen]))


def _before_first(flags: BoolArray) -> int:
    return int(flags.argmax()) if flags.any() else len(flags)


def _with_waiting(units: IntArray, waiting: BoolArray) -> IntArray:
    """Return these units, followed by those that wait for their first label."""
    return np.concatenate([units, np.setdiff1d(np.flatnonzero(waiting), units)])


def settled_from(moments: IntArray, scores: FloatArray, within: float) -> int:
    """Return the number of labels from which on no score is further than `within` from the last
    one.

    This is hindsight: the last score must be known.

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

"""The history of a benchmark's labels.

It consists of the judged pairs and the agreement after each number of labels, the order in which
groups were judged, and the number of labels from which scores are stable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evaluation.core.arrays import BoolArray, FloatArray, IntArray
from evaluation.core.people.agreement import ValueCounts, count_opinions
from evaluation.core.relevance.judged import Judged


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """The state after the first `labels` labels.

    judged: the pairs with a majority among their labels so far. The gain is 1 if the majority is
    relevant, and 0 if not. A tie counts as unjudged. opinions: the planned labels of each pair,
    from which agreement is measured.
    """

    labels: int
    judged: Judged
    opinions: ValueCounts


def replay_labels(
    codes: IntArray,
    pair_of: IntArray,
    relevant: IntArray,
    checkpoints: IntArray,
    *,
    is_first: BoolArray,
    n_queries: int,
    n_videos: int,
) -> Iterator[Checkpoint]:
    """Yield the state after each number of labels in `checkpoints`.

    codes: int64 [n_pairs], pair codes, ascending. pair_of, relevant: int64 [L], in the order in
    which the labels arrived: the index of the pair in `codes`, and 0 or 1. checkpoints: int64,
    ascending numbers of labels from 0 to L. is_first: bool [L], whether a label is one of the
    planned labels of its pair, from which agreement is measured. The running time is linear in L
    and in (number of pairs) * (number of checkpoints).
    """
    n_labels, n_relevant, n_first_labels, n_first_relevant = np.zeros((4, len(codes)), np.int64)
    done = 0
    for checkpoint in checkpoints.tolist():
        new, done = slice(done, checkpoint), checkpoint
        first, is_relevant = is_first[new], relevant[new] > 0
        n_labels += np.bincount(pair_of[new], minlength=len(codes))
        n_relevant += np.bincount(pair_of[new][is_relevant], minlength=len(codes))
        n_first_labels += np.bincount(pair_of[new][first], minlength=len(codes))
        n_first_relevant += np.bincount(pair_of[new][first & is_relevant], minlength=len(codes))
        has_majority = 2 * n_relevant != n_labels  # False for pairs without a label
        gains = (2 * n_relevant[has_majority] > n_labels[has_majority]).astype(np.int8)
        yield Checkpoint(
            checkpoint,
            Judged(codes[has_majority], gains, n_queries, n_videos),
            count_opinions(n_first_labels, n_first_relevant),
        )


@dataclass(frozen=True, slots=True, eq=False)
class GroupOrder:
    """The order in which groups were judged. A group is a caption, or a video with its captions.

    groups: int64 [N], all groups that have labels or need labels. seen: number of complete groups
    before the first incomplete one. labels: int64 [seen], the number of labels at which the first
    1, 2, … groups were complete.
    """

    groups: IntArray
    seen: int
    labels: IntArray


def order_as_judged(pair_of: IntArray, group_of: IntArray, incomplete: BoolArray) -> GroupOrder:
    """Order the groups by the time of the first label of one fixed pair of each group.

    pair_of: int64 [L], the pair of each label, in the order of arrival. group_of: int64 [n_pairs],
    the group of each pair; each pair has at least one label. incomplete: bool [n_groups], whether a
    group needs more labels.

    Each group is represented by one of its pairs, the first in `group_of`. The time of the first
    label of any pair of the group would be biased: the more pairs a group has, the earlier this
    label arrives, even in random order.
    """
    first, last = np.full((2, len(group_of)), -1, dtype=np.int64)
    numbers = np.arange(len(pair_of))
    first[pair_of[::-1]] = numbers[::-1]
    last[pair_of] = numbers
    judged, own_pair = np.unique(group_of, return_index=True)
    complete_at = np.zeros(len(incomplete), dtype=np.int64)
    np.maximum.at(complete_at, group_of, last + 1)
    ordered = judged[np.argsort(first[own_pair])]
    seen = _before_first(incomplete[ordered])
    labels = np.maximum.accumulate(complete_at[ordered[:seen]])
    unlabelled = np.setdiff1d(np.flatnonzero(incomplete), ordered)
    return GroupOrder(np.concatenate([ordered, unlabelled]), seen, labels)


def order_at_random(
    pair_of: IntArray,
    group_of: IntArray,
    incomplete: BoolArray,
    rng: np.random.Generator,
    answer_of: IntArray | None = None,
) -> GroupOrder:
    """Draw a random order, as if each group had been judged completely before the next one.

    Arguments as in `order_as_judged`, but labels can be in any order. answer_of: int64 [L], the
    number of the answer from which each label comes, from 0. An answer for several pairs counts
    once, in the first of their groups.
    """
    label_group = group_of[pair_of]
    counts = np.bincount(label_group, minlength=len(incomplete))
    groups = rng.permutation(np.flatnonzero((counts > 0) | incomplete))
    seen = _before_first(incomplete[groups])
    if answer_of is None:
        return GroupOrder(groups, seen, np.cumsum(counts[groups[:seen]]))
    place = np.zeros(len(incomplete), dtype=np.int64)
    place[groups] = np.arange(len(groups))
    first_place = np.full(int(answer_of.max(initial=-1)) + 1, len(groups))
    np.minimum.at(first_place, answer_of, place[label_group])
    return GroupOrder(groups, seen, np.cumsum(np.bincount(first_place, minlength=seen)[:seen]))


def _before_first(flags: BoolArray) -> int:
    """Return the number of flags before the first one that is set."""
    return int(flags.argmax()) if flags.any() else len(flags)


def settled_from(checkpoints: IntArray, scores: FloatArray, within: float) -> int:
    """Return the number of labels after which every score stays near its last value.

    checkpoints: int64 [n], ascending numbers of labels. scores: float64 [n, n_systems]. within: the
    largest allowed difference from the last score. The result is known only after the last label.
    """
    return _first_of_last_run(checkpoints, (np.abs(scores - scores[-1]) <= within).all(axis=1))


def order_settled_from(checkpoints: IntArray, scores: FloatArray) -> int:
    """Return the number of labels after which the order of the systems stays the same.

    Arguments as in `settled_from`. Systems with equal scores have no order.
    """
    signs = np.sign(scores[:, :, None] - scores[:, None, :])
    return _first_of_last_run(checkpoints, (signs == signs[-1]).all(axis=(1, 2)))


def _first_of_last_run(checkpoints: IntArray, is_met: BoolArray) -> int:
    """Return the first checkpoint from which on a condition is always met.

    is_met: bool [n]. The last checkpoint must meet the condition.
    """
    fails = np.flatnonzero(~is_met)
    return int(checkpoints[fails[-1] + 1 if len(fails) else 0])

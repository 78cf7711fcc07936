"""Orders in which people put the captions of videos, compared with proxies.

Three people order five captions of a video (Wray et al. 2021, supplement A).
`annotation.questions.order.orders` chooses the captions. Each order decides ten pairs of captions.

consistent     A pair of captions is consistent if all people order it alike. If three orders are
               random, a quarter of the pairs is expected to be consistent.
agreement      The share of the consistent pairs that the proxy orders like the people. A pair with
               equal values of the proxy counts as wrong. Such pairs are also counted separately.
by video       The mean of the agreement in each video, over all videos with a consistent pair.
majority       If the number of people is odd, more than half of them order a pair in one way. The
               majorities of a video are an order (the Condorcet order) unless they form a cycle.
tau            Kendall's tau of two people on one video, (alike - unlike) / 10. The mean is over the
               pairs of people of a video, and then over videos.

Pairs of one video are dependent, because they share captions and people. Intervals therefore treat
each video as a cluster: see `statistics.proportions` for shares, and `statistics.resampling` for
means, which are resampled by video. They generalise to other videos, but not to other people.

In simulations (12, 30 and 100 videos, three people whose errors depend on the video), the coverage
at 95 % is .94 to .98 for shares of pairs, and .92 to .97 for means of videos.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from annotation.questions.order.orders import CAPTIONS, FIRST, SECOND, signs_of_pairs
from evaluation.core.arrays import BoolArray, FloatArray, IntArray, whole_numbers
from evaluation.core.graded.calibration import Ends, share_of
from evaluation.core.statistics.resampling import difference_interval, mean_interval


@dataclass(frozen=True, slots=True, eq=False)
class Orders:
    """The orders of videos that enough people have ordered.

    signs: int64 [n_videos, 10], the number of people who put the first caption of each pair
    (`FIRST` and `SECOND`) before the second one, minus the number of those who did the opposite.
    people: int64 [n_videos], the number of people. incomplete: number of videos that too few people
    ordered.
    """

    signs: IntArray
    people: IntArray
    incomplete: int

    @classmethod
    def of(
        cls, ranks: npt.ArrayLike, videos: npt.ArrayLike, n_videos: int, needed: int = 3
    ) -> tuple[Orders, IntArray]:
        """Return the orders, and the video of each of their rows, ascending.

        ranks: [n, 5], the rank of each caption in each order, 0 to 4, the most similar caption
        first. videos: [n], the video of each order, from 0 to n_videos - 1. needed: number of
        people who must have ordered a video, at least two. Raises ValueError if a row of `ranks`
        is not an order, or if a number is out of bounds.
        """
        table = np.asarray(ranks, np.int64).reshape(-1, CAPTIONS)
        if (np.sort(table, axis=1) != np.arange(CAPTIONS)).any():
            raise ValueError("the ranks of an order must be 0 to 4, once each")
        of = whole_numbers(videos, "videos", n_videos - 1)
        if len(of) != len(table) or needed < 2:
            raise ValueError("each order needs a video, and each video at least two people")
        signs = np.zeros((n_videos, len(FIRST)), np.int64)
        np.add.at(signs, of, np.sign(table[:, SECOND] - table[:, FIRST]))
        people = np.bincount(of, minlength=n_videos)
        complete = np.flatnonzero(people >= needed)
        return cls(signs[complete], people[complete], n_videos - len(complete)), complete

    @property
    def is_consistent(self) -> BoolArray:
        """Whether all people order a pair alike, bool [n_videos, 10]."""
        return np.asarray(np.abs(self.signs) == self.people[:, None])

    def taus(self) -> FloatArray:
        """Return the mean tau of two people of each video, float64 [n_videos].

        For a pair of captions, two people add 1 to tau if they order it alike, and -1 otherwise. If
        s is the entry of `signs`, the sum over every two of n people is (s^2 - n) / 2.
        """
        products = np.square(self.signs) - self.people[:, None]
        return np.asarray(products.mean(axis=1) / (self.people * (self.people - 1)))

    def majority_ranks(self) -> IntArray:
        """Return the rank of each caption by majorities, int64 [n_videos, 5].

        The ranks are -1 if the majorities are not an order, because they form a cycle or a pair has
        no majority.
        """
        wins = np.zeros((len(self.signs), CAPTIONS), np.int64)
        for pair, (first, second) in enumerate(zip(FIRST, SECOND, strict=True)):
            wins[:, first] += self.signs[:, pair] > 0
            wins[:, second] += self.signs[:, pair] < 0
        # Majorities are an order if and only if the captions win 0, 1, 2, 3 and 4 of their pairs.
        is_order = (np.sort(wins, axis=1) == np.arange(CAPTIONS)).all(axis=1)
        return np.where(is_order[:, None], CAPTIONS - 1 - wins, -1)


@dataclass(frozen=True, slots=True)
class Consistency:
    """How people agree with each other.

    videos: number of videos that enough people ordered. incomplete: number of the other videos.
    pairs: number of pairs of captions, ten for each video. consistent: number of these that are
    consistent. share: consistent / pairs. expected: the expected share for random orders. tau: the
    mean over videos. cycles: number of videos whose majorities are not an order.
    """

    videos: int
    incomplete: int
    pairs: int
    consistent: int
    share: Ends
    expected: float | None
    tau: Ends
    cycles: int


@dataclass(frozen=True, slots=True)
class Agreement:
    """How a proxy agrees with people: a row of table 2 of Wray et al. 2021.

    consistent: number of consistent pairs. alike: number of these that proxy and people order
    alike. ties: number of consistent pairs with equal values of the proxy. share: alike /
    consistent. videos: number of videos with a consistent pair. by_video: the mean of the share
    over these videos. majority: among all pairs with a majority, the share that the proxy orders
    like the majority. by_pair: for each of the ten pairs of captions, the number of videos in which
    it is consistent, and the number of these in which proxy and people order it alike.
    """

    consistent: int
    alike: int
    ties: int
    share: Ends
    videos: int
    by_video: Ends
    majority: Ends
    by_pair: tuple[tuple[int, int], ...]


def consistency(
    orders: Orders, *, rng: np.random.Generator, confidence: float = 0.95
) -> Consistency:
    """Compare people with each other."""
    flags, taus = orders.is_consistent, orders.taus()
    n_videos = len(flags)
    ranks = orders.majority_ranks()
    return Consistency(
        videos=n_videos,
        incomplete=orders.incomplete,
        pairs=flags.size,
        consistent=int(flags.sum()),
        share=_share(flags, np.ones_like(flags), confidence),
        expected=float(np.mean(0.5 ** (orders.people - 1))) if n_videos else None,
        tau=_mean(taus, rng, confidence),
        cycles=int((ranks[:, 0] < 0).sum()),
    )


def agreement(
    orders: Orders,
    values: npt.NDArray[Any],
    *,
    rng: np.random.Generator,
    confidence: float = 0.95,
) -> Agreement:
    """Compare a proxy with people.

    values: [n_videos, 5], the proxy's values for the captions of each video. Raises ValueError if
    the shape differs.
    """
    if values.shape != (len(orders.signs), CAPTIONS):
        raise ValueError(f"values of shape {values.shape} for {len(orders.signs)} videos")
    signs = signs_of_pairs(values)
    flags, is_alike = orders.is_consistent, signs * orders.signs > 0
    alike = flags & is_alike
    counts = flags.sum(axis=1)
    judged = counts > 0
    shares = alike.sum(axis=1)[judged] / counts[judged]
    return Agreement(
        consistent=int(flags.sum()),
        alike=int(alike.sum()),
        ties=int((flags & (signs == 0)).sum()),
        share=_share(is_alike, flags, confidence),
        videos=int(judged.sum()),
        by_video=_mean(shares, rng, confidence),
        majority=_share(is_alike, orders.signs != 0, confidence),
        by_pair=tuple(zip(flags.sum(axis=0).tolist(), alike.sum(axis=0).tolist(), strict=True)),
    )


def compare_agreement(
    orders: Orders, values: npt.NDArray[Any], others: npt.NDArray[Any], *, confidence: float = 0.95
) -> Ends:
    """Return the agreement of one proxy minus that of another, with an interval.

    The agreement is the share of the consistent pairs that a proxy orders like the people.
    values, others: [n_videos, 5], the values of the two proxies for the captions of each video.
    """
    flags = orders.is_consistent
    alike, other = (
        (signs_of_pairs(of) * orders.signs > 0)[flags].astype(float) for of in (values, others)
    )
    interval = difference_interval(
        alike,
        other,
        rng=np.random.default_rng(0),  # not used: differences of shares need no random numbers
        confidence=confidence,
        clusters=np.nonzero(flags)[0],
    )
    return Ends(float((alike - other).mean()) if len(alike) else None, interval)


def _share(part: BoolArray, of: BoolArray, confidence: float) -> Ends:
    """Return the share of the pairs in `of` that are also in `part`, flags [n_videos, 10] each."""
    videos = np.repeat(np.arange(len(part)), part.shape[1])
    return share_of(part.reshape(-1), of.reshape(-1), (videos,), confidence)


def _mean(values: FloatArray, rng: np.random.Generator, confidence: float) -> Ends:
    """Return the mean of the values of videos, float64 [n]."""
    interval = mean_interval(values, rng=rng, confidence=confidence)
    return Ends(float(values.mean()) if len(values) else None, interval)

"""The options of a pool, and the pairs that a budget selects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from hearth.shared.errors import InvalidInput
from hearth.shared.options import (
    DEPTH_MAX,
    SEED_MAX,
    Entry,
    Group,
    Option,
    OptionFault,
    Seed,
)
from pooling.core.arrays import Bools, Int32s, Int64s
from pooling.core.hashing import lowest, mix
from pooling.core.pair_space import PairSpace
from pooling.core.pool import NOT_RANKED, new_codes, union_codes
from pooling.core.strata import Ranks, parse_strata

RANKED, ADDED, LEFT_OUT = "ranked", "added", "left-out"
ORIGINALS = {
    RANKED: "Only those that a run ranks, like other pairs",
    ADDED: "All of them, even those that no run ranks",
    LEFT_OUT: "None of them",
}
"""What a pool does with original positives."""
SIMILARITY = 0.5
PROXY_FROM = 0.5
SIMILAR_MAX = 100
# The time of an answer. A longer one probably contains a break.
SECONDS_MIN, SECONDS_EACH = 0.1, 120.0
OTHERS = Group("Samples, original positives and similar captions", is_folded=True)
SAMPLED = Group("Judge deep ranks by a sample", is_folded=True)
BY_PROXY = Group(
    "Add pairs by a proxy, to find positives that the runs miss",
    "A proxy is a machine’s estimate of relevance. Pairs with a high value are pooled even if no "
    "run ranks them. A pair that no run ranks, but that people judge as relevant, is a positive "
    "that the runs miss. The runs may miss other positives, too.",
    is_folded=True,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolOptions:
    """What a pool contains: the top `depth` of the named runs, or of all runs if none is named.

    depth: The number of items to pool from the top of each ranked list.
    runs: If no run is selected, all runs are pooled.
    sample: Number of captions to pool, drawn with the seed; by default, all captions.
    video_sample: Number of videos to pool, drawn with the seed; by default, all videos.
    similar: The number of similar texts per caption. The original positives of the captions with
        these texts are also pooled for this caption. Texts are similar if they share rare words.
        With this option, the preview runs as a job, because it takes up to a minute.
    similar_from: From 0 to 1; equal texts have 1.
    proxy: Adds each pair with a high value, even if no run ranks it.
    proxy_from: From 0 to 1. The page of the proxy shows how many pairs reach each value.
    strata: The share of the pairs to judge at each range of ranks, one per line, such as 1-10=1
        and 11-50=20%, rounded up for each caption. The last rank is the depth. A pair has the best
        rank that a run gives it. Scores are then estimated by the measure xinfAP.
    budget: If there are more new pairs, the pool keeps those that the largest number of systems
        rank. Among pairs with equal numbers, the best rank in any run decides, then the value by
        the proxy if one is selected, and then the seed.
    """

    depth: Annotated[int, Option("Depth", low=1, high=DEPTH_MAX, metavar="K", suggested=10)]
    runs: Annotated[Sequence[str], Option("Runs", entry=Entry.CHECKBOXES, flag="run")] = ()
    sample: Annotated[int | None, Option("Sample of captions", low=1, group=OTHERS)] = None
    video_sample: Annotated[int | None, Option("Sample of videos", low=1, group=OTHERS)] = None
    seed: Annotated[Seed, Option(low=-SEED_MAX, group=OTHERS)] = 0
    originals: Annotated[
        str,
        Option(
            "Original positives",
            choices=ORIGINALS,
            entry=Entry.RADIO,
            may_be_empty=True,
            group=OTHERS,
        ),
    ] = RANKED
    similar: Annotated[
        int | None, Option("Similar captions", low=1, high=SIMILAR_MAX, group=OTHERS)
    ] = None
    similar_from: Annotated[
        float, Option("Lowest similarity", low=0.01, high=1, may_be_empty=True, group=OTHERS)
    ] = SIMILARITY
    strata: Annotated[
        tuple[str, ...],
        Option("Strata", entry=Entry.LINES, flag="strata", metavar="RANKS=SHARE", group=SAMPLED),
    ] = ()
    proxy: Annotated[str, Option("Proxy", entry=Entry.OFFERED, group=BY_PROXY, metavar="NAME")] = ""
    proxy_from: Annotated[
        float, Option("Lowest value", low=0.01, high=1, may_be_empty=True, group=BY_PROXY)
    ] = PROXY_FROM
    budget: Annotated[int | None, Option("Maximum new pairs", low=1, high=2**31 - 1)] = None

    def check(self) -> None:
        """Raise `OptionFault` if the strata are not valid, or contradict another option."""
        try:
            ranks = self.ranks
        except InvalidInput as error:
            raise OptionFault("strata", str(error)) from None
        if ranks and ranks[-1].last != self.depth:
            raise OptionFault(
                "strata",
                f"The strata end at rank {ranks[-1].last}, and the depth is {self.depth}. They "
                "must be equal.",
            )
        if ranks and self.budget is not None:
            raise OptionFault("strata", "A pool has either strata or a maximum of new pairs.")

    @property
    def ranks(self) -> tuple[Ranks, ...]:
        """The strata. Raises `InvalidInput` if a text is none."""
        return parse_strata(self.strata)

    @property
    def needs_runs(self) -> bool:
        return self.originals != ADDED and self.similar is None and not self.proxy

    @property
    def is_plain_top(self) -> bool:
        """Whether the pool is just the top `depth` of its runs, without other options."""
        plain = PoolOptions(depth=self.depth, runs=self.runs, seed=self.seed, strata=self.strata)
        return self == plain and not self.strata


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolRequest:
    """A pool to preview or to build.

    rate: Only the preview uses it. It can be in any currency.
    seconds: Only the preview uses it. By default, it is the median of the recorded times, or 8
        seconds before the first one.
    expected: The `sha256` of a plan. The job fails if the new pairs have changed since then.
    """

    pool: PoolOptions
    rate: Annotated[float | None, Option("Cost per hour", low=0, high=1000000, metavar="MONEY")] = (
        None
    )
    seconds: Annotated[
        float | None, Option("Seconds per answer", low=SECONDS_MIN, high=SECONDS_EACH)
    ] = None
    expected: Annotated[
        str,
        Option("Preview", pattern="\\A([0-9a-f]{64})?\\Z", entry=Entry.HIDDEN, in_commands=False),
    ] = ""

    def check(self) -> None:
        self.pool.check()


def drawn_numbers(count: int, size: int | None, seed: int) -> Bools:
    """Return which of the numbers 0..count-1 are in a sample; all of them if `size` is None."""
    if size is None:
        return np.ones(count, dtype=np.bool_)
    return lowest(np.arange(count), size, seed)


def is_drawn(codes: Int64s, space: PairSpace, options: PoolOptions) -> Bools:
    """Return which pairs have a caption and a video in the samples, bool [n].

    The sample of videos is drawn with the seed plus 1, so that it is independent of the captions.
    """
    queries, videos = space.decode(codes)
    captions = drawn_numbers(space.n_queries, options.sample, options.seed)
    others = drawn_numbers(space.n_videos, options.video_sample, options.seed + 1)
    drawn: Bools = captions[queries] & others[videos]
    return drawn


def in_or_out(codes: Int64s, originals: Int64s, rule: str) -> Int64s:
    """Add the original positives to the pairs, remove them, or leave the pairs as they are."""
    if rule == ADDED:
        return union_codes([codes, originals])
    return new_codes(codes, originals) if rule == LEFT_OUT else codes


class Priority:
    """The values that determine the priority of each pair.

    codes: int64 [n], ascending. n_systems: int32 [n], the number of systems that rank the pair.
    best: int32 [n], its best rank, `NOT_RANKED` if no run ranks it. values: float32 [n], its value
    in a proxy; 0 without a proxy.
    """

    def __init__(self, codes: Int64s) -> None:
        self.codes = codes
        self.n_systems = np.zeros(len(codes), dtype=np.int32)
        self.values = np.zeros(len(codes), dtype=np.float32)
        self.best = np.full(len(codes), NOT_RANKED, dtype=np.int32)

    def add_system(self, ranks: Sequence[Int32s]) -> None:
        """Add one system. ranks: for each of its runs, the ranks of the pairs, int32 [n]."""
        best = np.minimum.reduce(ranks)
        self.n_systems += best != NOT_RANKED
        self.best = np.minimum(self.best, best)

    def first(self, selected: Int64s, count: int, seed: int) -> Int64s:
        """Return the `count` pairs of `selected` with the highest priority, ascending codes.

        Pairs that more systems rank come first. Among pairs with equally many systems, a better
        rank decides, then a higher value, and last a hash of the pair and the seed, so that no
        caption or video is preferred.
        """
        at = np.searchsorted(self.codes, selected)
        order = np.lexsort(
            (mix(selected, seed), -self.values[at], self.best[at], -self.n_systems[at])
        )
        return np.sort(selected[order[:count]])

"""Systems left out of the pool, by hand and compared with sets of pairs in plain Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from math import comb

import numpy as np
import pytest

from evaluation.core.people.agreement import Estimate
from evaluation.core.pools.leave_out import (
    Growth,
    LeftOut,
    PooledLabels,
    _choose_pools,
    gather_pool,
    grow_pool,
    leave_one_out,
)
from evaluation.core.relevance.judged import Judged, with_positives
from evaluation.core.relevance.measure import NO_QUERIES
from evaluation.core.relevance.measures import MEDIAN_BEYOND_DEPTH, parse_measure
from evaluation.core.relevance.scoring import score_run
from pooling.core.ranked_lists import RankedLists
from tests.evaluation.core.lists import lists_of
from tests.evaluation.core.relevance.test_scoring import random_judged, random_run

Pairs = dict[tuple[int, int], int]

MEASURES = [parse_measure(name) for name in "C@1 C@2 P@2 R@2 AP RR nDCG MeanR Judged@2".split()]
P, R, AP = (parse_measure(name) for name in ("P@2", "R@2", "AP"))


def make_judged(pairs: Pairs, n_queries: int = 2, n_videos: int = 6) -> Judged:
    return Judged.from_pairs(
        [query for query, _ in pairs],
        [video for _, video in pairs],
        list(pairs.values()),
        n_queries=n_queries,
        n_videos=n_videos,
    )


def as_pairs(labels: Judged) -> Pairs:
    query, video = labels.space.decode(labels.codes)
    return dict(
        zip(zip(query.tolist(), video.tolist(), strict=True), labels.gains.tolist(), strict=True)
    )


# --- by hand --------------------------------------------------------------------------------------

RUNS = {
    "a": lists_of([[0, 1, 3], [2, 3, 4]], 6),  # rank 3 is below the pool
    "b": lists_of([[0, 2, -1], [2, 4, -1]], 6),
    "c": lists_of([[3, 1, -1], [5, -1, -1]], 6),
}
# (0, 0) was judged not relevant, but is an original positive. Only c contributed (1, 5), which is
# also an original positive. No system contributed (1, 0).
ORIGINAL: Pairs = {(0, 0): 1, (1, 5): 1}
JUDGED: Pairs = {
    (0, 0): 0, (0, 1): 1, (0, 2): 1, (0, 3): 0, (1, 0): 1, (1, 2): 1, (1, 3): 1, (1, 4): 0,
    (1, 5): 1,
}  # fmt: skip


def hand_pool() -> PooledLabels:
    return gather_pool(
        {system: ranked.top(2) for system, ranked in RUNS.items()},
        2,
        make_judged(JUDGED),
        make_judged(ORIGINAL),
    )


def test_gather_pool_by_hand() -> None:
    pool = gather_pool(RUNS, 2, make_judged(JUDGED), make_judged(ORIGINAL))
    assert as_pairs(pool.labels) == JUDGED | ORIGINAL
    contributed = dict(zip(as_pairs(pool.labels), pool.contributed.T.tolist(), strict=True))
    a, b, c = [True, False, False], [False, True, False], [False, False, True]
    assert contributed == {
        (0, 0): [True, True, False], (0, 1): [True, False, True], (0, 2): b, (0, 3): c,
        (1, 0): [False] * 3, (1, 2): [True, True, False], (1, 3): a, (1, 4): b, (1, 5): c,
    }  # fmt: skip
    unique = {system: as_pairs(pool.unique_pairs(system)) for system in RUNS}
    assert unique == {"a": {(1, 3): 1}, "b": {(0, 2): 1, (1, 4): 0}, "c": {(0, 3): 0}}
    assert as_pairs(pool.without("b").labels) == {
        pair: gain for pair, gain in (JUDGED | ORIGINAL).items() if pair not in unique["b"]
    }


def test_leave_one_out_by_hand() -> None:
    rows = {row.system: row for row in leave_one_out(hand_pool(), [P, R, AP])}
    counts = {system: (row.pairs, row.positives) for system, row in rows.items()}
    assert counts == {"a": (1, 1), "b": (2, 1), "c": (1, 0)}
    # Positives: (0, 0), (0, 1), (0, 2); (1, 0), (1, 2), (1, 3), (1, 5).
    with_all, without = rows["a"].with_all, rows["a"].without
    assert with_all.per_query(P).tolist() == [1, 1]
    assert with_all.per_query(AP).tolist() == [2 / 3, 2 / 4]
    assert without.per_query(P).tolist() == [1, 1 / 2]
    assert without.per_query(R).tolist() == [2 / 3, 1 / 3]
    assert without.per_query(AP).tolist() == [2 / 3, 1 / 3]
    assert rows["a"].bias(P) == Estimate(-1 / 4)
    # The only relevant pair that only c contributed is an original positive, which stays.
    assert [rows["c"].bias(measure) for measure in (P, R, AP)] == [Estimate(0.0)] * 3


def test_unique_positives_depend_on_the_threshold() -> None:
    graded = JUDGED | {(1, 3): 2}
    pool = gather_pool(RUNS, 2, make_judged(graded), make_judged(ORIGINAL))
    for rel, expected in ((1, [1, 1, 0]), (2, [1, 0, 0])):
        rows = leave_one_out(pool, [P], rel)
        assert [row.positives for row in rows] == expected
        assert [row.pairs for row in rows] == [1, 2, 1]


def test_grow_pool_by_hand() -> None:
    growth = grow_pool(hand_pool(), [P, AP], rng=np.random.default_rng(1))
    assert [(row.system, row.pooled, row.pools, row.possible) for row in growth] == [
        (system, pooled, pools, pools) for system in "abc" for pooled, pools in ((1, 2), (2, 1))
    ]
    one, both = growth[0].bias, growth[1].bias
    # With only system "b" pooled, system "a" has P@2 of 1/2, 1/2 and AP of 1/2, 1/3. With only
    # system "c" pooled, system "a" has P@2 of 1, 0 and AP of 1, 0.
    assert one[P].value == pytest.approx(1 / 2 - 1)
    assert one[AP].value == pytest.approx((5 / 12 + 1 / 2) / 2 - 7 / 12)
    assert both[P].value == pytest.approx(-1 / 4)
    assert both[AP].value == pytest.approx(-1 / 12)


def test_undefined_scores_have_an_undefined_bias() -> None:
    median = parse_measure("MedR")
    judged = make_judged({(0, 1): 1, (1, 3): 1})
    runs = {"a": lists_of([[1], [3]], 6), "b": lists_of([[0], [3]], 6)}
    pool = gather_pool(runs, 1, judged, make_judged({}))
    by_system = {row.system: row for row in leave_one_out(pool, [median])}
    assert by_system["a"].with_all.mean(median).value == 1
    assert by_system["a"].bias(median) == Estimate(None, MEDIAN_BEYOND_DEPTH)
    growth = grow_pool(pool, [median], rng=np.random.default_rng(1))
    assert [row.bias[median] for row in growth] == [Estimate(None, MEDIAN_BEYOND_DEPTH)] * 2


def test_a_single_system_no_system_and_no_query() -> None:
    judged, original, rng = make_judged(JUDGED), make_judged(ORIGINAL), np.random.default_rng(1)
    single = gather_pool({"a": RUNS["a"]}, 2, judged, original)
    (row,) = leave_one_out(single, [P])
    assert row.pairs == 3  # (0, 1), (1, 2), (1, 3)
    assert grow_pool(single, [P], rng=rng) == ()
    assert leave_one_out(gather_pool({}, 2, judged, original), [P]) == ()
    nothing = make_judged({}, 0, 0)
    empty = {name: lists_of(np.empty((0, 3)), 0) for name in "ab"}
    for row in leave_one_out(gather_pool(empty, 2, nothing, nothing), [P]):
        assert (row.pairs, row.bias(P)) == (0, Estimate(None, NO_QUERIES))


def test_bad_input_is_refused() -> None:
    judged, original = make_judged(JUDGED), make_judged(ORIGINAL)
    with pytest.raises(ValueError, match="the depth of a pool must be at least 1"):
        gather_pool(RUNS, 0, judged, original)
    with pytest.raises(ValueError, match="ranked has 1 rows for 2 queries"):
        gather_pool({"a": RUNS["a"][:1]}, 2, judged, original)
    with pytest.raises(ValueError, match="benchmarks of different size"):
        gather_pool(RUNS, 2, judged, make_judged({}, 3))
    with pytest.raises(ValueError, match="not in the pool: x, y"):
        hand_pool().only(["a", "y", "x"])
    with pytest.raises(ValueError, match="max_pools must be at least 1"):
        grow_pool(hand_pool(), [P], rng=np.random.default_rng(1), max_pools=0)


# --- plain Python ---------------------------------------------------------------------------------


def draw_pool(seed: int, n_systems: int) -> tuple[Mapping[str, RankedLists], Judged, Judged]:
    rng = np.random.default_rng(seed)
    runs = {f"system {number}": random_run(rng) for number in range(n_systems)}
    original = random_judged(rng, 1)
    return runs, random_judged(rng, 2), Judged(*original.positives(), 60, 15)


def remaining_labels(
    runs: Mapping[str, RankedLists],
    pooled: Iterable[str],
    depth: int,
    judged: Judged,
    original: Judged,
) -> Judged:
    """Return the judged pairs without those that only systems outside of `pooled` contributed."""
    contributed = {
        system: {
            (query, video)
            for query, row in enumerate(ranked.items[:, :depth].tolist())
            for video in row
            if video >= 0
        }
        for system, ranked in runs.items()
    }
    inside = set().union(*(contributed[system] for system in pooled))
    outside = set().union(*contributed.values()) - inside - as_pairs(original).keys()
    kept = {pair: gain for pair, gain in as_pairs(judged).items() if pair not in outside}
    return with_positives(make_judged(kept, 60, 15), original)


@pytest.mark.parametrize("depth", [1, 3, 20])
@pytest.mark.parametrize("rel", [1, 2])
def test_leave_one_out_equals_sets(rel: int, depth: int) -> None:
    runs, judged, original = draw_pool(depth, 4)
    rows = leave_one_out(gather_pool(runs, depth, judged, original), MEASURES, rel)
    assert [row.system for row in rows] == list(runs)
    for row in rows:
        others = [system for system in runs if system != row.system]
        remaining = remaining_labels(runs, others, depth, judged, original)
        full = with_positives(judged, original)
        lost = as_pairs(full).items() - as_pairs(remaining).items()
        assert row.pairs == len(lost)
        assert row.positives == sum(gain >= rel for _, gain in lost)
        expected = score_run(runs[row.system], remaining, MEASURES, rel)
        with_all = score_run(runs[row.system], full, MEASURES, rel)
        for measure in MEASURES:
            assert row.without.per_query(measure).tolist() == expected.values[measure].tolist()
            assert row.with_all.per_query(measure).tolist() == with_all.values[measure].tolist()


def test_grow_pool_equals_sets_and_ends_at_leave_one_out() -> None:
    runs, judged, original = draw_pool(7, 4)
    pool = gather_pool(runs, 3, judged, original)
    left_out: dict[str, LeftOut] = {row.system: row for row in leave_one_out(pool, MEASURES)}
    growth = grow_pool(pool, MEASURES, rng=np.random.default_rng(1))
    assert len(growth) == 4 * 3
    for row in growth:
        others = [system for system in runs if system != row.system]
        with_all = left_out[row.system].with_all
        scores = [
            score_run(
                runs[row.system],
                remaining_labels(runs, pooled, 3, judged, original),
                MEASURES,
            )
            for pooled in combinations(others, row.pooled)
        ]
        for measure in MEASURES:
            means = [float(score.per_query(measure).mean()) for score in scores]
            expected = np.mean(means) - with_all.per_query(measure).mean()
            assert row.bias[measure].value == pytest.approx(expected, abs=1e-12)
            if row.pooled == 3:
                assert row.bias[measure] == left_out[row.system].bias(measure)


def test_many_pools_are_sampled_with_the_seed() -> None:
    runs, judged, original = draw_pool(8, 6)
    pool = gather_pool(runs, 3, judged, original)

    def grow(seed: int) -> tuple[Growth, ...]:
        return grow_pool(pool, [P], rng=np.random.default_rng(seed), max_pools=4)

    first = grow(1)
    assert first == grow(1) != grow(2)
    counts = [(row.pooled, row.pools, row.possible) for row in first[:5]]
    assert counts == [(1, 4, 5), (2, 4, 10), (3, 4, 10), (4, 4, 5), (5, 1, 1)]


@pytest.mark.parametrize(("size", "limit"), [(2, 9), (2, 10), (3, 1), (1, 4), (5, 1)])
def test_chosen_pools_differ(size: int, limit: int) -> None:
    pools = _choose_pools("abcde", size, limit, np.random.default_rng(3))
    assert len({frozenset(pool) for pool in pools}) == len(pools) == min(limit, comb(5, size))
    assert all(len(set(pool)) == size for pool in pools)

"""Replayed pools: orders by hand, strategies in plain Python, and properties of all replays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, kstest  # type: ignore[import-untyped]

from evaluation.core.people.agreement import Estimate
from evaluation.core.people.alpha import NO_VARIATION
from evaluation.core.pools import judging_orders
from evaluation.core.pools.judging_orders import STRATEGIES, depth_sizes, pooled_rows
from evaluation.core.pools.leave_out import PooledLabels, gather_pool
from evaluation.core.pools.replay import SHARES, Budget, Replay, replay_seeds
from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.measures import Measure, parse_measure
from evaluation.core.relevance.scoring import score_run
from evaluation.core.statistics.rank_stability import NOT_TWO_SYSTEMS
from pooling.core.ranked_lists import RankedLists
from tests.evaluation.core.lists import lists_of

Lists = list[list[int]]
N_VIDEOS = 9
CORRECT_AT_1 = Measure("C", 1)


def replay(pool: PooledLabels, measure: Measure, *args: Any, **options: Any) -> tuple[Replay, ...]:
    """Replay each strategy once."""
    replays = replay_seeds(pool, measure, *args, seeds=1, **options)
    return tuple(found for (found,) in replays)


def as_run(lists: Lists) -> RankedLists:
    ranked = np.full((len(lists), max(map(len, lists))), -1, dtype=np.int32)
    for row, videos in zip(ranked, lists, strict=True):
        row[: len(videos)] = videos
    return lists_of(ranked, N_VIDEOS)


def judged_of(gains: dict[tuple[int, int], int], n_queries: int) -> Judged:
    queries, videos = [query for query, _ in gains], [video for _, video in gains]
    return Judged.from_pairs(
        queries, videos, [*gains.values()], n_queries=n_queries, n_videos=N_VIDEOS
    )


def pool_of(
    runs: dict[str, Lists],
    gains: dict[tuple[int, int], int],
    original: list[tuple[int, int]] | None = None,
    depth: int = 4,
) -> PooledLabels:
    ranked = {name: as_run(lists) for name, lists in runs.items()}
    n_queries = len(next(iter(ranked.values())))
    originals = judged_of(dict.fromkeys(original or [], 1), n_queries)
    return gather_pool(ranked, depth, judged_of(gains, n_queries), originals)


def order_of(strategy: str, pool: PooledLabels, seed: int = 1, rel: int = 1) -> list[Any]:
    """Return (query, video) of all pooled pairs, in the order of judging."""
    rows = rows_of(strategy, pool, seed, rel)
    return [pool.labels.space.decode(code) for code in pool.labels.codes[rows].tolist()]


def rows_of(strategy: str, pool: PooledLabels, seed: int, rel: int = 1) -> npt.NDArray[np.int64]:
    """Return the indices of the labels, in the order of judging."""
    place = STRATEGIES[strategy](pool, rel)(np.random.default_rng(seed))
    assert sorted(place.tolist()) == [*range(len(place))]
    return pooled_rows(pool)[np.argsort(place)]


def videos_of(order: list[tuple[int, int]], query: int) -> list[int]:
    return [video for own, video in order if own == query]


# --- orders by hand -------------------------------------------------------------------------------

# There are three runs, A, B and C. Videos 1 and 3 are relevant. Every query has the same lists.
RUNS = {"A": [0, 1, 2, 7], "B": [3, 0, 4, 6], "C": [1, 5, 3, 8]}
RELEVANT = {1, 3}


def repeated(n_queries: int, relevant: set[int] = RELEVANT) -> PooledLabels:
    gains = {(q, v): int(v in relevant) for q in range(n_queries) for v in range(N_VIDEOS)}
    return pool_of({name: [videos] * n_queries for name, videos in RUNS.items()}, gains)


# A judged video is a hit of its run if it is relevant, and a miss if not. A run skips videos that
# are already judged. In move-to-front, its points are -misses. In max-mean, they are
# (hits + 1) / (hits + misses + 2). The run with the most points is next. If points are equal, it is
# the first of these runs.
BY_HAND = [
    # Rank 1: A, B, C. Rank 2: only C's 5, because A's and B's are known. Rank 3: A, B. Rank 4: all.
    ("depth", 0, [0, 3, 1, 5, 2, 4, 7, 6, 8]),
    # The second query begins with B, the third with C, the fourth with A again.
    ("depth", 1, [3, 1, 0, 5, 4, 2, 6, 8, 7]),
    ("depth", 2, [1, 0, 3, 5, 2, 4, 8, 7, 6]),
    ("depth", 3, [0, 3, 1, 5, 2, 4, 7, 6, 8]),
    # A misses with 0 and has -1 points. B, with 0 points, hits with 3, skips 0 and misses with 4:
    # -1. C, with 0 points, hits with 1 and misses with 5: -1. All are equal: A skips 1 and misses
    # with 2: -2. B misses with 6: -2. C, with -1, skips 3 and misses with 8: -2. A has 7 left.
    ("move-to-front", 0, [0, 3, 4, 1, 5, 2, 6, 8, 7]),
    # B hits with 3 and misses with 0: -1. C hits with 1 and misses with 5: -1. A, with 0 points,
    # skips 0 and 1 and misses with 2: -1. B misses with 4: -2. C misses with 8: -2. A misses with
    # 7: -2. B has 6 left.
    ("move-to-front", 1, [3, 0, 1, 5, 2, 4, 8, 7, 6]),
    # A misses: 1/3. B, with 1/2, hits with 3: 2/3, and misses with 4: 2/4. It equals C, but B is
    # first: it misses with 6: 2/5, and its list ends. C, with 1/2, hits with 1: 2/3, misses with 5:
    # 2/4 and with 8: 2/5, and its list ends. A has 2 and 7 left.
    ("max-mean", 0, [0, 3, 4, 6, 1, 5, 8, 2, 7]),
    # B hits with 3: 2/3, and misses with 0: 2/4 and with 4: 2/5. C and A have 1/2, and C is before
    # A: it hits with 1: 2/3, misses with 5: 2/4 and with 8: 2/5, and its list ends. A, with 1/2,
    # misses with 2: 1/3. B has 6 left, and then A has 7.
    ("max-mean", 1, [3, 0, 4, 1, 5, 8, 2, 6, 7]),
]


@pytest.mark.parametrize(("strategy", "query", "expected"), BY_HAND)
def test_order_by_hand(strategy: str, query: int, expected: list[int]) -> None:
    assert videos_of(order_of(strategy, repeated(4)), query) == expected


def test_rel_is_the_lowest_relevant_grade() -> None:
    runs = {"A": [[0, 1, 2]], "B": [[3, 4, 5]]}
    graded = pool_of(runs, {(0, video): 1 + (video == 3) for video in range(6)})
    assert videos_of(order_of("move-to-front", graded), 0) == [0, 1, 2, 3, 4, 5]
    assert videos_of(order_of("move-to-front", graded, rel=2), 0) == [0, 3, 4, 1, 5, 2]


@pytest.mark.parametrize("strategy", ["move-to-front", "max-mean", "thompson"])
def test_each_round_has_one_pair_of_every_query(strategy: str) -> None:
    order = order_of(strategy, repeated(6))
    rounds = [{query for query, _ in order[start : start + 6]} for start in range(0, 54, 6)]
    assert rounds == [set(range(6))] * 9


def test_queries_come_in_a_random_order() -> None:
    pool = repeated(50)
    first, again, other = (
        [query for query, _ in order_of("depth", pool, seed)[:50]] for seed in (1, 1, 2)
    )
    assert first == again != other
    assert sorted(first) == sorted(other) == list(range(50)) != first


def test_thompson_learns_which_run_is_good() -> None:
    # After some hits of the good run and misses of the bad one, the bad run is hardly ever used.
    runs = {"bad": [[0, 1, 2, 3]] * 400, "good": [[4, 5, 6, 7]] * 400}
    pool = pool_of(runs, {(q, v): int(v >= 4) for q in range(400) for v in range(8)})
    order = np.array([video >= 4 for _, video in order_of("thompson", pool)]).reshape(8, 400)
    by_step = order.mean(axis=1)
    # The first run is random. After a hit, the good run follows with the probability
    # P(Beta(2, 1) > Beta(1, 1)) = 2/3, and after a miss, too.
    assert by_step[:2].tolist() == pytest.approx([1 / 2, 2 / 3], abs=0.08)
    assert by_step[2] > by_step[1]
    assert by_step[-1] < 0.1


def test_uniform_is_a_random_order() -> None:
    pool = repeated(100)
    places = np.array([order_of("uniform", pool, seed)[:9] for seed in range(200)])
    assert places[:, :, 0].mean() == pytest.approx(49.5, abs=3)
    assert places[:, :, 1].mean() == pytest.approx(4, abs=0.3)


# --- what is pooled -------------------------------------------------------------------------------


def test_depth_sizes() -> None:
    assert depth_sizes(repeated(1)).tolist() == [3, 4, 6, 9]
    assert depth_sizes(repeated(5)).tolist() == [15, 20, 30, 45]
    # The depth is one more than the length of the lists.
    assert depth_sizes(pool_of({"A": [[0, 1]]}, {(0, 0): 1, (0, 1): 0}, depth=3)).tolist() == [
        1,
        2,
        2,
    ]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_only_labelled_pairs_down_to_the_depth_are_replayed(strategy: str) -> None:
    # Video 1 has no label, 4 is below the depth, 8 is in no run, and 6 is an original positive that
    # is in no run.
    runs = {"A": [[0, 1, 2, 4]], "B": [[1, 3]]}
    gains = {(0, video): 0 for video in (0, 2, 3, 4, 8)}
    pool = pool_of(runs, gains, original=[(0, 6), (0, 2)], depth=3)
    assert sorted(videos_of(order_of(strategy, pool), 0)) == [0, 2, 3]


# --- replays by hand ------------------------------------------------------------------------------

TWO_RUNS = {"A": [[0], [0]], "B": [[1], [0]]}
GAINS = {(0, 0): 1, (0, 1): 0, (1, 0): 1}


def test_replay_by_hand() -> None:
    # The first two pairs are video 0 of each query, in random order.
    pool = pool_of(TWO_RUNS, GAINS, depth=1)
    (found,) = replay(
        pool,
        CORRECT_AT_1,
        {"depth": STRATEGIES["depth"]},
        (0, 0.5, 2 / 3),
        rng=np.random.default_rng(3),
    )
    no_tau, tau = Estimate(None, NO_VARIATION), Estimate(1.0)
    assert found == Replay(
        "depth",
        CORRECT_AT_1,
        ("A", "B"),
        (1.0, 0.5),
        (
            Budget(0, 0.0, 0, (0.0, 0.0), 1.0, no_tau),
            Budget(2, 2 / 3, 2, (1.0, 0.5), 0.0, tau),
            Budget(3, 1.0, 2, (1.0, 0.5), 0.0, tau),
        ),
    )
    assert found.enough(0.999) == found.budgets[1]
    assert found.enough(1.0) == found.budgets[0]


def test_original_positives_are_known_from_the_start() -> None:
    pool = pool_of(TWO_RUNS, GAINS, original=[(0, 0)], depth=1)
    for found in replay(pool, CORRECT_AT_1, rng=np.random.default_rng(3)):
        assert found.budgets[0].scores == (0.5, 0.0)
        assert found.budgets[0].tau == Estimate(1.0)


def test_runs_are_scored_down_to_the_depth_of_the_pool() -> None:
    # Video 6 is an original positive below the depth.
    pool = pool_of({"A": [[0, 6]]}, {(0, 0): 0}, original=[(0, 6)], depth=1)
    (found, *_) = replay(pool, Measure("C", 3), rng=np.random.default_rng(1))
    assert found.scores == (0.0,)


def test_labels_outside_of_the_pool_are_ignored() -> None:
    # Query 0 has two positives, video 0 and the original positive 6, so its recall is 1/2. Video 1
    # is not in the pool.
    pool = pool_of({"A": [[0], [1]]}, {(0, 0): 1, (0, 1): 1, (1, 1): 0}, [(0, 6)], depth=1)
    (found, *_) = replay(pool, Measure("R", 1), rng=np.random.default_rng(1))
    assert found.scores == (0.25,)


def test_enough_examines_all_larger_budgets() -> None:
    def budget(pairs: int, error: float) -> Budget:
        return Budget(pairs, pairs / 4, 0, (), error, Estimate(1.0))

    budgets = tuple(budget(*pair) for pair in [(1, 0.01), (2, 0.2), (3, 0.05), (4, 0.0)])
    found = Replay("any", CORRECT_AT_1, (), (), budgets)
    assert found.enough(0.05) == budgets[2]
    assert found.enough(0.2) == budgets[0]
    assert found.enough(0) == budgets[3]
    assert Replay("any", CORRECT_AT_1, (), (), budgets[:3]).enough(0) is None


def test_a_single_system_has_no_ranking() -> None:
    pool = pool_of({"A": [[0]]}, {(0, 0): 1}, depth=1)
    (found, *_) = replay(pool, CORRECT_AT_1, rng=np.random.default_rng(1))
    assert {budget.tau for budget in found.budgets} == {Estimate(None, NOT_TWO_SYSTEMS)}


def test_replay_does_not_depend_on_the_other_strategies() -> None:
    pool = repeated(30)
    everything = replay(pool, CORRECT_AT_1, rng=np.random.default_rng(8))
    for found in everything:
        single = {found.strategy: STRATEGIES[found.strategy]}
        assert replay(pool, CORRECT_AT_1, single, rng=np.random.default_rng(8)) == (found,)
    assert [found.strategy for found in everything] == list(STRATEGIES)


def test_shares_are_rounded_up_to_pairs() -> None:
    runs = {"A": [[video] for _ in range(20) for video in range(5)]}
    pool = pool_of(runs, {(q, v): 1 for q in range(100) for v in range(5)}, depth=1)
    (found, *_) = replay(pool, CORRECT_AT_1, shares=(0.07, 0.071), rng=np.random.default_rng(1))
    assert [budget.pairs for budget in found.budgets] == [7, 8, 100]


def test_replay_rejects_bad_parameters() -> None:
    pool, rng = repeated(1), np.random.default_rng(1)
    with pytest.raises(ValueError, match="MedR can be undefined"):
        replay(pool, Measure("MedR"), rng=rng)
    for share in (-0.1, 1.1):
        with pytest.raises(ValueError, match="a share must be between 0 and 1"):
            replay(pool, CORRECT_AT_1, shares=(share,), rng=rng)
    for empty in (pool_of({"A": [[0]]}, {}), pool_of({"A": [[0]]}, {(0, 1): 1})):
        with pytest.raises(ValueError, match="no pair of the pool has a label"):
            replay(empty, CORRECT_AT_1, rng=rng)


# --- plain Python ---------------------------------------------------------------------------------


def judge_by_hand(
    lists: Lists,
    relevant: set[int],
    labelled: set[int],
    first_run: int,
    points: Callable[[int, int], float],
) -> list[int]:
    """Return the order of one query if the run with the most `points` is always next.

    points: a function of hits and misses. If points are equal, the first run is next. The order of
    the runs begins with `first_run`.
    """
    runs = lists[first_run:] + lists[:first_run]
    hits, misses, revealed = [0] * len(runs), [0] * len(runs), list[int]()
    while True:
        offers = [
            next((v for v in run if v in labelled and v not in revealed), None) for run in runs
        ]
        unfinished = [run for run, offer in enumerate(offers) if offer is not None]
        if not unfinished:
            return revealed
        best = max(unfinished, key=lambda run: (points(hits[run], misses[run]), -run))
        video = offers[best]
        hits[best] += video in relevant
        misses[best] += video not in relevant
        revealed.append(video)


def by_depth(lists: Lists, labelled: set[int], first_run: int, depth: int) -> list[int]:
    runs = lists[first_run:] + lists[:first_run]
    cells = [run[rank] for rank in range(depth) for run in runs if rank < len(run)]
    return list(dict.fromkeys(video for video in cells if video in labelled))


@st.composite
def pools(draw: st.DrawFn, queries: int = 5) -> tuple[dict[str, Lists], PooledLabels]:
    """Generate pools of one to four runs with some unlabelled pairs, and original positives."""
    n_queries, depth = draw(st.integers(1, queries)), draw(st.integers(1, 4))
    one_list = st.lists(st.integers(0, N_VIDEOS - 1), unique=True, max_size=5)
    lists = st.lists(one_list, min_size=n_queries, max_size=n_queries)
    # At least one list of each run is not empty.
    runs = {name: draw(lists.filter(any)) for name in "ABCD"[: draw(st.integers(1, 4))]}
    pairs = st.tuples(st.integers(0, n_queries - 1), st.integers(0, N_VIDEOS - 1))
    original = draw(st.lists(pairs, unique=True, max_size=3))
    gain = st.sampled_from([0, 0, 1, 2, None])
    gains = {(q, v): draw(gain) for q in range(n_queries) for v in range(N_VIDEOS)}
    known = {pair: gain for pair, gain in gains.items() if gain is not None}
    return runs, pool_of(runs, known, original, depth)


@given(pools())
def test_orders_equal_plain_python(case: tuple[dict[str, Lists], PooledLabels]) -> None:
    runs, pool = case
    labels, n_runs = pool.labels, len(runs)
    points = {
        "move-to-front": lambda hits, misses: -misses,
        "max-mean": lambda hits, misses: (hits + 1) / (hits + misses + 2),
    }
    orders = {name: order_of(name, pool) for name in ("depth", *points)}
    for query in range(labels.n_queries):
        lists = [lists[query][: pool.depth] for lists in runs.values()]
        known = labels.rows_of(query, query + 1)
        videos = (labels.codes[known] % N_VIDEOS).tolist()
        relevant = {v for v, gain in zip(videos, labels.gains[known], strict=True) if gain >= 1}
        expected = by_depth(lists, {*videos}, query % n_runs, pool.depth)
        assert videos_of(orders["depth"], query) == expected
        for name, rule in points.items():
            expected = judge_by_hand(lists, relevant, {*videos}, query % n_runs, rule)
            assert videos_of(orders[name], query) == expected


# --- properties of all replays --------------------------------------------------------------------


@given(pools(), st.integers(0, 9))
def test_every_order_is_a_permutation_of_the_pool(
    case: tuple[dict[str, Lists], PooledLabels], seed: int
) -> None:
    runs, pool = case
    labelled = set(pool.labels.codes.tolist())
    pooled = {
        query * N_VIDEOS + video
        for lists in runs.values()
        for query, videos in enumerate(lists)
        for video in videos[: pool.depth]
    }
    for strategy in STRATEGIES:
        rows = rows_of(strategy, pool, seed)
        assert sorted(pool.labels.codes[rows].tolist()) == sorted(pooled & labelled)


@given(pools(), st.sampled_from(["C@1", "C@3", "R@3", "AP", "RR", "nDCG", "MeanR", "Judged@2"]))
def test_all_labels_leave_no_error(
    case: tuple[dict[str, Lists], PooledLabels], measure: str
) -> None:
    _, pool = case
    if not pool.contributed.any():
        return
    for found in replay(pool, parse_measure(measure), rng=np.random.default_rng(1)):
        last = found.budgets[-1]
        assert (last.share, last.error, last.scores) == (1.0, 0.0, found.scores)
        assert last.tau.value == pytest.approx(1.0) or last.tau.undefined
        pairs = [budget.pairs for budget in found.budgets]
        positives = [budget.positives for budget in found.budgets]
        assert pairs == sorted(set(pairs))
        assert positives == sorted(positives)
        assert found.enough(0.0) is not None


def scores_by_hand(
    pool: PooledLabels, rows: npt.NDArray[np.int64], measure: Measure
) -> tuple[float, ...]:
    """Score all runs only by the original positives and the labels of these rows."""
    used = pool.is_original.copy()
    used[rows] = True
    labels = pool.labels
    known = Judged(labels.codes[used], labels.gains[used], labels.n_queries, labels.n_videos)
    lists = (ranked.top(pool.depth) for ranked in pool.runs.values())
    scores = (score_run(ranked, known, (measure,)) for ranked in lists)
    return tuple(float(score.per_query(measure).mean()) for score in scores)


@given(
    pools(),
    st.sampled_from([*STRATEGIES]),
    st.sampled_from(["C@1", "P@2", "R@2", "AP", "nDCG", "RR", "MeanR", "Judged@2"]),
)
def test_every_budget_of_every_seed_is_scored_by_revealed_labels(
    case: tuple[dict[str, Lists], PooledLabels], strategy: str, name: str
) -> None:
    """The code scores each state of a query once. This test scores each budget separately."""
    _, pool = case
    if not pool.contributed.any():
        return
    measure, selected = parse_measure(name), {strategy: STRATEGIES[strategy]}
    shares = [share / 7 for share in range(8)]
    rng = np.random.default_rng(5)
    (found,) = replay_seeds(pool, measure, selected, shares, seeds=4, rng=rng)
    seeds = np.random.default_rng(5).integers(1 << 62, size=4)
    for seed, replayed in zip(seeds, found, strict=True):
        rows = rows_of(strategy, pool, int(seed))
        for budget in replayed.budgets:
            known = rows[: budget.pairs]
            assert budget.scores == scores_by_hand(pool, known, measure)
            assert budget.positives == np.count_nonzero(pool.labels.gains[known] >= 1)


def test_seeds_are_independent_and_reproducible() -> None:
    pool = repeated(60)
    selected = {"uniform": STRATEGIES["uniform"]}
    first, again = (
        replay_seeds(pool, CORRECT_AT_1, selected, seeds=5, rng=np.random.default_rng(2))
        for _ in range(2)
    )
    assert first == again
    assert len({tuple(budget.positives for budget in replay.budgets) for replay in first[0]}) == 5
    (single,) = replay(pool, CORRECT_AT_1, selected, rng=np.random.default_rng(2))
    assert single == first[0][0]
    with pytest.raises(ValueError, match="at least 1"):
        replay_seeds(pool, CORRECT_AT_1, seeds=0, rng=np.random.default_rng(2))


def test_posterior_draws_are_beta_distributed() -> None:
    rng = np.random.default_rng(4)
    for hits, misses in [(0, 0), (0, 5), (3, 0), (2, 6)]:
        cells = np.ones((1, 4000), np.float32)
        points = judging_orders._posterior_draws(cells * hits, cells * misses, rng)
        drawn = 1 - np.exp(-points[0].astype(np.float64))
        assert kstest(drawn, beta(hits + 1, misses + 1).cdf).pvalue > 0.01


@given(pools(queries=1), st.sampled_from([*STRATEGIES]), st.data())
def test_an_order_does_not_look_ahead(
    case: tuple[dict[str, Lists], PooledLabels], strategy: str, data: st.DataObject
) -> None:
    """Labels of unrevealed pairs do not affect the order up to the next pair."""
    _, pool = case
    rows = rows_of(strategy, pool, 1)
    size = data.draw(st.integers(0, len(rows)))
    pool.labels.gains[rows[size:]] = 1 - np.minimum(pool.labels.gains[rows[size:]], 1)
    again = rows_of(strategy, pool, 1)
    assert rows[: size + 1].tolist() == again[: size + 1].tolist()


@pytest.mark.parametrize("strategy", ["depth", "move-to-front", "max-mean"])
def test_blocks_change_nothing(strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = repeated(40)
    expected, sizes = order_of(strategy, pool), depth_sizes(pool)
    monkeypatch.setattr(judging_orders, "_BLOCK_CELLS", 100)
    assert order_of(strategy, pool) == expected
    assert depth_sizes(pool).tolist() == sizes.tolist()


def test_the_default_shares_span_the_pool() -> None:
    (found, *_) = replay(repeated(100), CORRECT_AT_1, rng=np.random.default_rng(1))
    assert {*SHARES} <= {budget.share for budget in found.budgets}

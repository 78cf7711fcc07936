"""Expected scores, compared with the mean of all outcomes, and tested on a simulated pool."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.pools import expectations
from evaluation.core.pools.bounds import bound_scores
from evaluation.core.pools.expectations import check_expectations, expect_scores, pool_chances
from evaluation.core.pools.incomplete import bpref, condense, inferred_ap
from evaluation.core.pools.leave_out import PooledLabels, gather_pool
from evaluation.core.relevance.judged import Judged, look_up_gains, with_positives
from evaluation.core.relevance.measures import parse_measure
from evaluation.core.relevance.scoring import score_run
from evaluation.core.statistics.resampling import mean_interval
from pooling.core.ranked_lists import RankedLists
from tests.evaluation.core.lists import lists_of
from tests.evaluation.core.pools.test_bounds import (
    HAND_LABELS,
    HAND_RANKED,
    N_VIDEOS,
    parse,
    single_queries,
    stack,
)
from tests.evaluation.core.pools.test_leave_out import make_judged

ESTIMATED = [
    parse_measure(name)
    for name in (
        "C@1 C@3 P@1 P@3 P@9 R@1 R@3 RR RR@2 AP AP@2 AP(found) AP(found)@2 AP@9 AP(found)@9"
    ).split()
]


def outcomes(ranked: RankedLists, labels: Judged, gain: int) -> Iterator[tuple[list[int], Judged]]:
    """Yield all outcomes of a list's unjudged videos: the relevant ranks, and the labels."""
    unjudged = np.flatnonzero((look_up_gains(ranked, labels)[0] < 0) & ranked.is_item[0])
    for relevant in product([False, True], repeat=len(unjudged)):
        found = {
            (0, int(ranked.items[0, column])): gain * is_relevant
            for column, is_relevant in zip(unjudged, relevant, strict=True)
        }
        ranks = [int(column) for column in unjudged[np.array(relevant, dtype=np.bool_)]]
        yield ranks, with_positives(labels, make_judged(found, 1, N_VIDEOS))


@given(
    single_queries(),
    st.integers(1, 2),
    st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.8, 1.0]), min_size=12, max_size=12),
)
def test_expected_scores_are_the_mean_of_all_outcomes(
    case: tuple[RankedLists, Judged], rel: int, shares: list[float]
) -> None:
    ranked, labels = case
    chances = np.array(shares).reshape(2, 6)
    has_positive = (look_up_gains(ranked, labels)[0] >= rel).any()
    chance = chances[int(has_positive)]
    unjudged = np.flatnonzero((look_up_gains(ranked, labels)[0] < 0) & ranked.is_item[0])
    expected = dict.fromkeys(ESTIMATED, 0.0)
    for relevant, judged in outcomes(ranked, labels, rel):
        weight = np.prod([chance[r] if r in relevant else 1 - chance[r] for r in unjudged])
        scores = score_run(ranked, judged, ESTIMATED, rel)
        for measure in ESTIMATED:
            expected[measure] += float(weight * scores.per_query(measure)[0])
    found = expect_scores(ranked, labels, chances, ESTIMATED, rel)
    assert {measure: float(values[0]) for measure, values in found.items()} == pytest.approx(
        expected, abs=1e-12
    )


@given(st.lists(single_queries(), min_size=1, max_size=4), st.floats(0, 1), st.floats(0, 1))
def test_expected_scores_are_within_the_bounds(
    cases: list[tuple[RankedLists, Judged]], few: float, many: float
) -> None:
    ranked, labels = stack(cases)
    result = bound_scores(ranked, labels, ESTIMATED)
    chances = np.repeat([[few], [many]], 5, axis=1)
    for measure, values in expect_scores(ranked, labels, chances, ESTIMATED).items():
        assert (result.lower.per_query(measure) <= values + 1e-12).all()
        assert (values <= result.upper.per_query(measure) + 1e-12).all()


def test_many_positives_outside_of_the_list_and_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one unjudged video at rank 1, the expected AP is chance / (positives outside + 1)."""
    labels = Judged.from_pairs(
        np.repeat(np.arange(40), 300),
        np.tile(np.arange(1, 301), 40),
        (np.arange(300) < 7 * np.arange(40)[:, None]).astype(np.int64).reshape(-1),
        n_queries=40,
        n_videos=301,
    )
    ranked = lists_of([[0]] * 40, 301)
    monkeypatch.setattr(expectations, "_BLOCK_QUERIES", 7)
    (ap,) = parse("AP")
    values = expect_scores(ranked, labels, np.array([[0.25], [0.5]]), [ap])[ap]
    np.testing.assert_allclose(values, 0.25 / (7 * np.arange(40) + 1), rtol=0, atol=1e-12)


def test_expect_scores_rejects_other_measures_and_bad_chances() -> None:
    chances = np.full((2, 4), 0.5)
    for name in ("nDCG", "nDCG(exp)@3", "MedR", "MeanR", "Judged@3"):
        with pytest.raises(ValueError, match="supported measures: C, R, P, AP, AP"):
            expect_scores(HAND_RANKED, HAND_LABELS, chances, parse(name))
    for wrong in (chances[0], chances[:1], chances + 1, -chances):
        with pytest.raises(ValueError, match="chances must be two rows of shares"):
            expect_scores(HAND_RANKED, HAND_LABELS, wrong, parse("AP"))
    with pytest.raises(ValueError, match="the lists have more ranks than `chances`; cut the lists"):
        expect_scores(HAND_RANKED, HAND_LABELS, chances[:, :3], parse("AP"))


def test_pool_chances_by_hand() -> None:
    # Only system "a" ranks the pairs (0, 1), (1, 2) and (1, 3), which are relevant, not relevant
    # and relevant. Only system "b" ranks (2, 4), which is relevant. Without these pairs, only the
    # lists of query 0 contain a positive, the original one. Both systems rank (2, 5), so it does
    # not count.
    runs = {
        "a": lists_of([[0, 1, 9], [2, 3, 9], [5, -1, -1]], 10),
        "b": lists_of([[0, -1, -1], [-1, -1, -1], [4, 5, -1]], 10),
    }
    judged = make_judged({(0, 1): 1, (1, 2): 0, (1, 3): 2, (2, 4): 1, (2, 5): 0}, 3, 10)
    pool = gather_pool(runs, 2, judged, make_judged({(0, 0): 1}, 3, 10))
    # Row 0 is for lists without another positive, and row 1 for lists with one. Row 1 has no pair
    # at rank 1, so there it has its share over all ranks.
    assert pool_chances(pool).tolist() == [[1 / 2, 1], [1, 1]]
    # With rel = 2 no list contains a positive, so row 1 uses the share of row 0: one of four.
    assert pool_chances(pool, rel=2).tolist() == [[0, 1 / 2], [1 / 4, 1 / 4]]
    with pytest.raises(ValueError, match="no judged pair was contributed by only one system"):
        pool_chances(pool.only([]))


def simulated_pool(rng: np.random.Generator, chance: float) -> PooledLabels:
    """Return a pool of three random systems. Each video is relevant with the same probability."""
    n_queries, n_videos = 3000, 60
    runs = {
        name: lists_of(np.argsort(rng.random((n_queries, n_videos)), axis=1)[:, :4], n_videos)
        for name in "abc"
    }
    pooled = np.zeros((n_queries, n_videos), dtype=np.bool_)
    for ranked in runs.values():
        np.put_along_axis(pooled, ranked.items, True, axis=1)
    query, video = np.nonzero(pooled)
    gains = (rng.random(len(query)) < chance).astype(np.int64)
    judged = Judged.from_pairs(query, video, gains, n_queries=n_queries, n_videos=n_videos)
    return gather_pool(runs, 4, judged, make_judged({}, n_queries, n_videos))


def test_estimates_are_correct_if_their_assumption_is_met() -> None:
    rng = np.random.default_rng(11)
    measures = parse("C@1 C@4 P@4 AP RR R@4")
    pool = simulated_pool(rng, 0.3)
    checks = check_expectations(pool, measures)
    assert [check.system for check in checks] == ["a", "b", "c"]
    for check in checks:
        others = pool.without(check.system)
        ranked = pool.runs[check.system]
        values = expect_scores(ranked, others.labels, pool_chances(others), measures)
        for measure in measures:
            truth, known, expected = (
                side[measure].value for side in (check.truth, check.known, check.expected)
            )
            assert expected == values[measure].mean()
            assert truth == score_run(ranked, pool.labels, measures).mean(measure).value
            assert known == score_run(ranked, others.labels, measures).mean(measure).value
            # The standard error of C@1 with 3,000 queries is 0.008.
            assert expected == pytest.approx(truth, abs=0.025)
            if measure.name in {"C", "P", "RR"}:
                assert truth - known > 0.1
            interval = mean_interval(values[measure], 200, rng=np.random.default_rng(1))
            assert interval.low < expected < interval.high


def test_a_benchmark_without_queries() -> None:
    nothing, ranked = make_judged({}, 0, 0), lists_of(np.empty((0, 3)), 0)
    (ap,) = parse("AP")
    assert expect_scores(ranked, nothing, np.full((2, 3), 0.5), [ap])[ap].shape == (0,)


def test_queries_without_ranked_videos_or_positives() -> None:
    """Test queries without ranked videos, positives or judged pairs, and one missed positive.

    Query 0 is not in the run, query 1 has no positive, query 2 has no judged pair, and the list of
    query 3 does not contain the only positive.
    """
    ranked = lists_of([[-1, -1], [0, 1], [0, 1], [0, 1]], 4)
    labels = make_judged({(0, 3): 1, (1, 0): 0, (1, 1): 0, (3, 0): 0, (3, 2): 1}, 4, 4)
    assert bpref(ranked, labels).tolist() == [0, 0, 0, 0]
    assert inferred_ap(ranked, labels, 2).tolist() == [0, 0, 0, 0]
    assert condense(ranked, labels).items.tolist() == [[-1, -1], [0, 1], [-1, -1], [0, -1]]
    found = bound_scores(ranked, labels, parse("C@1 R@2 P@2 AP RR"))
    # If all unjudged pairs are relevant, query 2 has two of two positives in its list, and query 3
    # one of two, at rank 2.
    most = {
        "C@1": [0, 0, 1, 0],
        "R@2": [0, 0, 1, 1 / 2],
        "P@2": [0, 0, 1, 1 / 2],
        "AP": [0, 0, 1, 1 / 4],
        "RR": [0, 0, 1, 1 / 2],
    }
    for name, values in most.items():
        assert found.upper.per_query(parse_measure(name)).tolist() == values, name
        assert found.lower.per_query(parse_measure(name)).tolist() == [0, 0, 0, 0], name
    # Unjudged videos are relevant with probability 1/2: both of query 2, and rank 2 of query 3.
    expected = expect_scores(ranked, labels, np.full((2, 2), 1 / 2), parse("C@1 P@2 AP"))
    by_name = {str(measure): values.tolist() for measure, values in expected.items()}
    assert by_name["C@1"] == pytest.approx([0, 0, 1 / 2, 0])
    assert by_name["P@2"] == pytest.approx([0, 0, 1 / 2, 1 / 4])
    # AP of query 2 is 1 (both relevant), 1 (only the first), 1/2 (only the second) or 0. AP of
    # query 3 is 1/4 or 0.
    assert by_name["AP"] == pytest.approx([0, 0, (1 + 1 + 1 / 2) / 4, 1 / 8])

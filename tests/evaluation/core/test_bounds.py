"""Bounds and estimates against all outcomes, one by one; bpref and infAP against trec_eval."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import log2

import numpy as np
import numpy.typing as npt
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core import bounds
from evaluation.core.bounds import (
    bound_scores,
    bpref,
    check_expectations,
    condense,
    expect_scores,
    inferred_ap,
    pool_chances,
)
from evaluation.core.leave_out import PooledLabels, gather_pool
from evaluation.core.measures import DEFAULT_MEASURES, Measure, parse_measure
from evaluation.core.relevance import Judged, look_up_gains, with_positives
from evaluation.core.resampling import mean_interval
from evaluation.core.scoring import MEDIAN_BEYOND_DEPTH, NO_QUERIES, Score, score_run
from tests.evaluation.core.test_leave_out import as_pairs, make_judged
from tests.evaluation.core.test_scoring import (
    RANKS,
    SHARES,
    as_dictionaries,
    random_judged,
    random_run,
)

Ranked = npt.NDArray[np.int32]

N_VIDEOS = 7
JUDGED_AT_3 = parse_measure("Judged@3")
MOVING = [measure for measure in SHARES + RANKS if measure != JUDGED_AT_3]
ESTIMATED = [
    parse_measure(name)
    for name in (
        "C@1 C@3 P@1 P@3 P@9 R@1 R@3 RR RR@2 AP AP@2 AP(found) AP(found)@2 AP@9 AP(found)@9"
    ).split()
]


def parse(text: str) -> list[Measure]:
    return [parse_measure(name) for name in text.split()]


@st.composite
def single_queries(draw: st.DrawFn, highest: int = 3) -> tuple[Ranked, Judged]:
    """One list of at most five videos and gains for some pairs, in the list and outside."""
    depth = draw(st.integers(1, 5))
    videos = draw(st.permutations(range(N_VIDEOS)))[: draw(st.integers(0, depth))]
    ranked = np.full((1, depth), -1, dtype=np.int32)
    ranked[0, : len(videos)] = videos
    gains = draw(st.dictionaries(st.integers(0, N_VIDEOS - 1), st.integers(0, highest)))
    return ranked, make_judged({(0, video): gain for video, gain in gains.items()}, 1, N_VIDEOS)


def outcomes(ranked: Ranked, labels: Judged, gain: int) -> Iterator[tuple[list[int], Judged]]:
    """All ways in which the unjudged videos of a single list may turn out: ranks, labels."""
    unjudged = np.flatnonzero((look_up_gains(ranked, labels)[0] < 0) & (ranked[0] >= 0))
    for relevant in product([False, True], repeat=len(unjudged)):
        found = {
            (0, int(ranked[0, column])): gain * is_relevant
            for column, is_relevant in zip(unjudged, relevant, strict=True)
        }
        ranks = [int(column) for column in unjudged[np.array(relevant, dtype=np.bool_)]]
        yield ranks, with_positives(labels, make_judged(found, 1, N_VIDEOS))


# --- bounds ---------------------------------------------------------------------------------------

# Ranks of the first query: relevant, unjudged, not relevant, unjudged; one more positive outside.
HAND_RANKED = np.array([[0, 1, 2, 3], [1, 0, -1, -1], [-1, -1, -1, -1]], dtype=np.int32)
HAND_LABELS = make_judged({(0, 0): 1, (0, 2): 0, (0, 5): 1, (1, 0): 0}, 3, 6)
HAND_BOUNDS: dict[str, tuple[list[float], list[float]]] = {
    "C@1": ([1, 0, 0], [1, 1, 0]),
    "C@3": ([1, 0, 0], [1, 1, 0]),
    "P@4": ([1 / 4, 0, 0], [3 / 4, 1 / 4, 0]),
    "RR": ([1, 0, 0], [1, 1, 0]),
    "MeanR": ([1, 1, 5], [1, 5, 5]),
    # Lowest with rank 4 relevant, which is beyond the cutoff and one more to be found.
    "R@2": ([1 / 3, 0, 0], [2 / 3, 1, 0]),
    "R@4": ([1 / 2, 0, 0], [3 / 4, 1, 0]),
    # Of 1 / 2, (1 + 1) / 3, (1 + 2 / 4) / 3, (1 + 1 + 3 / 4) / 4.
    "AP": ([1 / 2, 0, 0], [11 / 16, 1, 0]),
    "AP@2": ([1 / 3, 0, 0], [2 / 3, 1, 0]),
    "AP(found)": ([(1 + 2 / 4) / 2, 0, 0], [1, 1, 0]),
    "nDCG@2": (
        [1 / (1 + 1 / log2(3)), 0, 0],
        [1, 1, 0],
    ),
    "Judged@2": ([1 / 2, 1 / 2, 0], [1 / 2, 1 / 2, 0]),
}


@pytest.mark.parametrize("name", HAND_BOUNDS)
def test_bound_scores_by_hand(name: str) -> None:
    """By itself and with others: monotone measures alone take another way."""
    measure = parse_measure(name)
    for measures in ([measure], [measure, *DEFAULT_MEASURES]):
        result = bound_scores(HAND_RANKED, HAND_LABELS, measures)
        found = (result.lower.per_query(measure), result.upper.per_query(measure))
        for values, expected in zip(found, HAND_BOUNDS[name], strict=True):
            assert values.tolist() == pytest.approx(expected, abs=1e-15)
        known = score_run(HAND_RANKED, HAND_LABELS, [measure])
        assert result.known.per_query(measure).tolist() == known.per_query(measure).tolist()
    assert (result.lower.not_retrieved, result.upper.not_retrieved) == (1, 2)


def test_the_median_is_bounded_or_undefined() -> None:
    (median,) = parse("MedR")
    result = bound_scores(HAND_RANKED, HAND_LABELS, [median])
    assert result.lower.mean(median) == Score(1.0, 3)
    assert result.upper.mean(median) == Score(None, 3, MEDIAN_BEYOND_DEPTH)


@given(single_queries(), st.integers(1, 2), st.integers(0, 2))
def test_bounds_are_the_extremes_of_all_outcomes(
    case: tuple[Ranked, Judged], rel: int, more: int
) -> None:
    ranked, labels = case
    gain = rel + more
    result = bound_scores(ranked, labels, MOVING, rel, gain)
    scores = [
        score_run(ranked, judged, MOVING, rel) for _, judged in outcomes(ranked, labels, gain)
    ]
    for measure in MOVING:
        values = [float(score.per_query(measure)[0]) for score in scores]
        bounded = [float(side.per_query(measure)[0]) for side in (result.lower, result.upper)]
        assert bounded == pytest.approx([min(values), max(values)], abs=1e-12), measure
    missed = [score.not_retrieved for score in scores]
    assert result.lower.not_retrieved == min(missed)
    assert result.upper.not_retrieved == max(missed)


def stack(cases: list[tuple[Ranked, Judged]]) -> tuple[Ranked, Judged]:
    """Single queries as one benchmark."""
    depth = max(ranked.shape[1] for ranked, _ in cases)
    ranked = np.full((len(cases), depth), -1, dtype=np.int32)
    pairs = {}
    for query, (row, labels) in enumerate(cases):
        ranked[query, : row.shape[1]] = row[0]
        pairs |= {(query, video): gain for (_, video), gain in as_pairs(labels).items()}
    return ranked, make_judged(pairs, len(cases), N_VIDEOS)


@given(st.lists(single_queries(), min_size=1, max_size=4), st.data())
def test_means_of_any_outcome_are_within_the_bounds(
    cases: list[tuple[Ranked, Judged]], data: st.DataObject
) -> None:
    ranked, labels = stack(cases)
    result = bound_scores(ranked, labels, [*MOVING, JUDGED_AT_3])
    query, column = np.nonzero((look_up_gains(ranked, labels) < 0) & (ranked >= 0))
    relevant = data.draw(st.lists(st.booleans(), min_size=len(query), max_size=len(query)))
    pairs = zip(query.tolist(), ranked[query, column].tolist(), strict=True)
    outcome = make_judged(dict(zip(pairs, map(int, relevant), strict=True)), len(ranked), N_VIDEOS)
    scores = score_run(ranked, with_positives(labels, outcome), MOVING)
    for measure in MOVING:
        lowest, value, highest = (
            side.mean(measure).value for side in (result.lower, scores, result.upper)
        )
        assert lowest is None or value is None or lowest <= value + 1e-12
        assert highest is None or value is None or value <= highest + 1e-12
        assert lowest is not None or value is None
    for side in (result.lower, result.upper):
        assert side.mean(JUDGED_AT_3) == result.known.mean(JUDGED_AT_3)


def test_lists_without_gaps_have_no_room() -> None:
    rng = np.random.default_rng(2)
    labels = random_judged(rng, 3)
    ranked = condense(random_run(rng), labels)
    result = bound_scores(ranked, labels, DEFAULT_MEASURES)
    for measure in DEFAULT_MEASURES:
        known = result.known.per_query(measure).tolist()
        assert result.lower.per_query(measure).tolist() == known
        assert result.upper.per_query(measure).tolist() == known


@pytest.mark.parametrize("gain", [1, 128])
def test_bound_scores_refuses_a_gain_out_of_bounds(gain: int) -> None:
    with pytest.raises(ValueError, match="gain of a relevant pair must be from rel to 127"):
        bound_scores(HAND_RANKED, HAND_LABELS, MOVING, rel=2, gain=gain)


def test_a_benchmark_without_queries() -> None:
    nothing, ranked = make_judged({}, 0, 0), np.empty((0, 3), np.int32)
    result = bound_scores(ranked, nothing, DEFAULT_MEASURES)
    assert {side.mean(m) for side in (result.lower, result.upper) for m in DEFAULT_MEASURES} == {
        Score(None, 0, NO_QUERIES)
    }
    assert condense(ranked, nothing).shape == (0, 3)
    assert bpref(ranked, nothing).shape == inferred_ap(ranked, nothing, 2).shape == (0,)
    assert expect_scores(ranked, nothing, np.full((2, 3), 0.5), parse("AP"))[
        parse_measure("AP")
    ].shape == (0,)


# --- lists without gaps, and measures for them ----------------------------------------------------


def test_condense_by_hand() -> None:
    condensed = condense(HAND_RANKED, HAND_LABELS)
    assert condensed.tolist() == [[0, 2, -1, -1], [0, -1, -1, -1], [-1, -1, -1, -1]]
    assert condensed.dtype == HAND_RANKED.dtype


@given(st.lists(single_queries(), min_size=1, max_size=4))
def test_condensed_lists_keep_the_judged_in_order(cases: list[tuple[Ranked, Judged]]) -> None:
    ranked, labels = stack(cases)
    known = as_pairs(labels)
    condensed = condense(ranked, labels)
    assert condensed.shape == ranked.shape
    for query, (before, after) in enumerate(zip(ranked.tolist(), condensed.tolist(), strict=True)):
        kept = [video for video in before if (query, video) in known]
        assert after == kept + [-1] * (len(before) - len(kept))
    assert condense(condensed, labels).tolist() == condensed.tolist()


def peer_values(
    name: str, ranked: Ranked, qrels: dict[str, dict[str, int]], rel: int
) -> list[float]:
    run, _ = as_dictionaries(ranked, make_judged({}, len(ranked), 15))
    peer = pytrec_eval.RelevanceEvaluator(qrels, {name}, relevance_level=rel)
    answers = peer.evaluate(run)
    return [answers.get(str(query), {}).get(name, 0.0) for query in range(len(ranked))]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rel", [1, 2])
def test_bpref_equals_trec_eval(rel: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "_BLOCK_QUERIES", 25)
    rng = np.random.default_rng([seed, rel])
    ranked, labels = random_run(rng), random_judged(rng, 3)
    _, qrels = as_dictionaries(ranked, labels)
    expected = peer_values("bpref", ranked, qrels, rel)
    np.testing.assert_allclose(bpref(ranked, labels, rel), expected, rtol=0, atol=1e-9)
    assert max(expected) > 0


@pytest.mark.parametrize("pool_depth", [0, 3, 8])
@pytest.mark.parametrize("rel", [1, 2])
def test_inferred_ap_equals_trec_eval(
    rel: int, pool_depth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "_BLOCK_QUERIES", 25)
    rng = np.random.default_rng([pool_depth, rel])
    ranked, labels = random_run(rng), random_judged(rng, 3)
    _, qrels = as_dictionaries(ranked, labels)
    # trec_eval marks with -1 what is in the pool and was not judged.
    for query, row in enumerate(ranked[:, :pool_depth].tolist()):
        for video in row:
            if video >= 0:
                qrels.setdefault(str(query), {}).setdefault(str(video), -1)
    expected = peer_values("infAP", ranked, qrels, rel)
    found = inferred_ap(ranked, labels, pool_depth, rel)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    assert max(expected) > 0


@given(single_queries())
def test_measures_without_gaps_are_the_usual_ones(case: tuple[Ranked, Judged]) -> None:
    """Where all of a list is judged, infAP is AP but for its epsilon."""
    ranked, labels = case
    condensed = condense(ranked, labels)
    (ap,) = parse("AP")
    usual = score_run(condensed, labels, [ap]).per_query(ap)
    np.testing.assert_allclose(inferred_ap(condensed, labels, 5), usual, rtol=0, atol=1e-4)
    np.testing.assert_allclose(bpref(condensed, labels), bpref(ranked, labels), rtol=0, atol=1e-15)


# --- estimates ------------------------------------------------------------------------------------


@given(
    single_queries(),
    st.integers(1, 2),
    st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.8, 1.0]), min_size=12, max_size=12),
)
def test_expected_scores_are_the_mean_of_all_outcomes(
    case: tuple[Ranked, Judged], rel: int, shares: list[float]
) -> None:
    ranked, labels = case
    chances = np.array(shares).reshape(2, 6)
    holds = (look_up_gains(ranked, labels)[0] >= rel).any()
    chance = chances[int(holds)]
    unjudged = np.flatnonzero((look_up_gains(ranked, labels)[0] < 0) & (ranked[0] >= 0))
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
    cases: list[tuple[Ranked, Judged]], few: float, many: float
) -> None:
    ranked, labels = stack(cases)
    result = bound_scores(ranked, labels, ESTIMATED)
    chances = np.repeat([[few], [many]], 5, axis=1)
    for measure, values in expect_scores(ranked, labels, chances, ESTIMATED).items():
        assert (result.lower.per_query(measure) <= values + 1e-12).all()
        assert (values <= result.upper.per_query(measure) + 1e-12).all()


def test_many_positives_outside_of_the_list_and_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Expected AP of one unjudged video at rank 1: chance / (positives outside + 1)."""
    labels = Judged.from_pairs(
        np.repeat(np.arange(40), 300),
        np.tile(np.arange(1, 301), 40),
        (np.arange(300) < 7 * np.arange(40)[:, None]).astype(np.int64).reshape(-1),
        n_queries=40,
        n_videos=301,
    )
    ranked = np.zeros((40, 1), dtype=np.int32)
    monkeypatch.setattr(bounds, "_BLOCK_QUERIES", 7)
    (ap,) = parse("AP")
    values = expect_scores(ranked, labels, np.array([[0.25], [0.5]]), [ap])[ap]
    np.testing.assert_allclose(values, 0.25 / (7 * np.arange(40) + 1), rtol=0, atol=1e-12)


def test_expect_scores_refuses_what_it_cannot_estimate() -> None:
    chances = np.full((2, 4), 0.5)
    for name in ("nDCG", "nDCG(exp)@3", "MedR", "MeanR", "Judged@3"):
        with pytest.raises(ValueError, match="cannot be estimated; C, P, R, RR, AP, AP"):
            expect_scores(HAND_RANKED, HAND_LABELS, chances, parse(name))
    for wrong in (chances[0], chances[:1], chances + 1, -chances):
        with pytest.raises(ValueError, match="chances must be two rows of shares"):
            expect_scores(HAND_RANKED, HAND_LABELS, wrong, parse("AP"))
    with pytest.raises(ValueError, match="the lists are deeper than the chances: cut them"):
        expect_scores(HAND_RANKED, HAND_LABELS, chances[:, :3], parse("AP"))


def test_pool_chances_by_hand() -> None:
    # Without a, the list of query 0 holds an original positive and that of query 1 holds none, and
    # the videos that it alone found are relevant, not relevant, relevant. The same for b and query
    # 2: nothing held, relevant. Both found (2, 5), which does not count.
    runs = {
        "a": np.array([[0, 1, 9], [2, 3, 9], [5, -1, -1]], dtype=np.int32),
        "b": np.array([[0, -1, -1], [-1, -1, -1], [4, 5, -1]], dtype=np.int32),
    }
    judged = make_judged({(0, 1): 1, (1, 2): 0, (1, 3): 2, (2, 4): 1, (2, 5): 0}, 3, 10)
    pool = gather_pool(runs, 2, judged, make_judged({(0, 0): 1}, 3, 10))
    # Row 1 knows nothing of rank 1 and takes its share over all ranks.
    assert pool_chances(pool).tolist() == [[1 / 2, 1], [1, 1]]
    # At rel = 2 no list holds a positive, so row 1 takes the share of row 0: one of four.
    assert pool_chances(pool, rel=2).tolist() == [[0, 1 / 2], [1 / 4, 1 / 4]]
    with pytest.raises(ValueError, match="no pair was judged that one system alone brought"):
        pool_chances(pool.only([]))


def simulated_pool(rng: np.random.Generator, chance: float) -> PooledLabels:
    """Three systems that choose among videos by lot, each relevant with the same chance."""
    n_queries, n_videos = 3000, 60
    runs = {
        name: np.argsort(rng.random((n_queries, n_videos)), axis=1)[:, :4].astype(np.int32)
        for name in "abc"
    }
    pooled = np.zeros((n_queries, n_videos), dtype=np.bool_)
    for ranked in runs.values():
        np.put_along_axis(pooled, ranked, True, axis=1)
    query, video = np.nonzero(pooled)
    gains = (rng.random(len(query)) < chance).astype(np.int64)
    judged = Judged.from_pairs(query, video, gains, n_queries=n_queries, n_videos=n_videos)
    return gather_pool(runs, 4, judged, make_judged({}, n_queries, n_videos))


def test_estimates_are_right_where_their_assumption_holds() -> None:
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
            # C@1 of 3,000 queries has a standard error of 0.008.
            assert expected == pytest.approx(truth, abs=0.025)
            if measure.name in {"C", "P", "RR"}:
                assert truth - known > 0.1
            interval = mean_interval(values[measure], 200, rng=np.random.default_rng(1))
            assert interval.low < expected < interval.high

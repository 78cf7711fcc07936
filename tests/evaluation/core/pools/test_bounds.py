"""Bounds compared with all possible outcomes."""

from __future__ import annotations

from itertools import product
from math import log2
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.core.pools.bounds import Bounds, bound_scores
from evaluation.core.pools.incomplete import condense
from evaluation.core.relevance.judged import Judged, look_up_gains, with_positives
from evaluation.core.relevance.measure import NO_QUERIES, Score
from evaluation.core.relevance.measures import (
    DEFAULT_MEASURES,
    MEDIAN_BEYOND_DEPTH,
    Measure,
    parse_measure,
)
from evaluation.core.relevance.scoring import RunScores, score_run
from pooling.core.ranked_lists import RankedLists
from tests.evaluation.core.lists import lists_of
from tests.evaluation.core.pools.test_leave_out import as_pairs, make_judged
from tests.evaluation.core.relevance.test_scoring import RANKS, SHARES, random_judged, random_run

N_VIDEOS = 7
JUDGED_AT_3 = parse_measure("Judged@3")
BOUNDED = [measure for measure in SHARES + RANKS if measure != JUDGED_AT_3]


def bounds_of(result: Bounds, measure: Measure) -> list[float]:
    """Return the bounds of the first query: lower and upper of listed pairs, and lower of all."""
    sides = (result.lower, result.upper, result.lower_all)
    return [float(side.per_query(measure)[0]) for side in sides]


def near(values: Any) -> Any:
    return pytest.approx(values, abs=1e-12)


def parse(text: str) -> list[Measure]:
    return [parse_measure(name) for name in text.split()]


@st.composite
def single_queries(
    draw: st.DrawFn, highest: int = 3, n_videos: int = N_VIDEOS
) -> tuple[RankedLists, Judged]:
    """Draw one list of at most five videos, and gains of some pairs in the list and outside."""
    depth = draw(st.integers(1, 5))
    videos = draw(st.permutations(range(n_videos)))[: draw(st.integers(0, depth))]
    ranked = np.full((1, depth), -1, dtype=np.int32)
    ranked[0, : len(videos)] = videos
    gains = draw(st.dictionaries(st.integers(0, n_videos - 1), st.integers(0, highest)))
    judged = make_judged({(0, video): gain for video, gain in gains.items()}, 1, n_videos)
    return lists_of(ranked, n_videos), judged


def all_outcomes(ranked: RankedLists, labels: Judged, free: list[int], highest: int) -> RunScores:
    """Score a single list for each outcome of the videos in `free`, one query for each outcome."""
    grades = list(product(range(highest + 1), repeat=len(free)))
    known = {video: gain for (_, video), gain in as_pairs(labels).items()}
    pairs = {
        (query, video): gain
        for query, outcome in enumerate(grades)
        for video, gain in (known | dict(zip(free, outcome, strict=True))).items()
    }
    judged = make_judged(pairs, len(grades), labels.n_videos)
    repeated = lists_of(np.repeat(ranked.items, len(grades), axis=0), labels.n_videos)
    return score_run(repeated, judged, BOUNDED)


def unjudged_videos(ranked: RankedLists, labels: Judged) -> tuple[list[int], list[int]]:
    """Return the unjudged videos in a single list, and those outside of it."""
    listed, known = set(ranked.items[0].tolist()), {video for _, video in as_pairs(labels)}
    free = [video for video in range(labels.n_videos) if video not in known]
    return [video for video in free if video in listed], [
        video for video in free if video not in listed
    ]


HAND_RANKED = lists_of([[0, 1, 2, 3], [1, 0, -1, -1], [-1, -1, -1, -1]], 6)
HAND_LABELS = make_judged({(0, 0): 1, (0, 2): 0, (0, 5): 1, (1, 0): 0}, 3, 6)
HAND_BOUNDS: dict[str, tuple[list[float], list[float]]] = {
    "C@1": ([1, 0, 0], [1, 1, 0]),
    "C@3": ([1, 0, 0], [1, 1, 0]),
    "P@4": ([1 / 4, 0, 0], [3 / 4, 1 / 4, 0]),
    "RR": ([1, 0, 0], [1, 1, 0]),
    "MeanR": ([1, 1, 5], [1, 5, 5]),
    # R@2 is lowest if rank 4 is relevant, which adds a positive only to the divisor.
    "R@2": ([1 / 3, 0, 0], [2 / 3, 1, 0]),
    "R@4": ([1 / 2, 0, 0], [3 / 4, 1, 0]),
    # The outcomes are 1 / 2, (1 + 1) / 3, (1 + 2 / 4) / 3 and (1 + 1 + 3 / 4) / 4.
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
    """A measure has the same bounds when it is computed together with other measures."""
    measure = parse_measure(name)
    for measures in ([measure], [measure, *DEFAULT_MEASURES]):
        result = bound_scores(HAND_RANKED, HAND_LABELS, measures)
        sides = (result.lower.per_query(measure), result.upper.per_query(measure))
        for values, expected in zip(sides, HAND_BOUNDS[name], strict=True):
            assert values.tolist() == pytest.approx(expected, abs=1e-15)
        known = score_run(HAND_RANKED, HAND_LABELS, [measure])
        assert result.known.per_query(measure).tolist() == known.per_query(measure).tolist()
    assert (result.lower.not_retrieved, result.upper.not_retrieved) == (1, 2)
    assert (result.listed.tolist(), result.unlisted.tolist()) == ([2, 1, 0], [1, 4, 6])


def test_the_median_is_bounded_or_undefined() -> None:
    (median,) = parse("MedR")
    result = bound_scores(HAND_RANKED, HAND_LABELS, [median])
    assert result.lower.mean(median) == Score(1.0, 3)
    assert result.upper.mean(median) == Score(None, 3, MEDIAN_BEYOND_DEPTH)


@settings(deadline=None)
@given(single_queries(), st.integers(1, 3))
def test_bounds_are_the_extremes_of_all_grades_of_the_listed_pairs(
    case: tuple[RankedLists, Judged], highest: int
) -> None:
    """Known gains are up to 3, so some are above the highest grade."""
    ranked, labels = case
    listed, unlisted = unjudged_videos(ranked, labels)
    result = bound_scores(ranked, labels, BOUNDED, highest=highest)
    scores = all_outcomes(ranked, labels, listed, highest)
    for measure in BOUNDED:
        values = scores.per_query(measure)
        assert bounds_of(result, measure)[:2] == near([values.min(), values.max()]), measure
    missed = (scores.per_query(parse_measure("MeanR")) > ranked.depth).tolist()
    assert result.lower.not_retrieved == min(missed)
    assert result.upper.not_retrieved == max(missed)
    assert (result.listed.tolist(), result.unlisted.tolist()) == ([len(listed)], [len(unlisted)])


@settings(deadline=None)
@given(single_queries(n_videos=6), st.integers(1, 2))
def test_bounds_are_the_extremes_of_all_grades_of_all_pairs(
    case: tuple[RankedLists, Judged], highest: int
) -> None:
    ranked, labels = case
    listed, unlisted = unjudged_videos(ranked, labels)
    result = bound_scores(ranked, labels, BOUNDED, highest=highest)
    scores = all_outcomes(ranked, labels, [*listed, *unlisted], highest)
    for measure in BOUNDED:
        values = scores.per_query(measure)
        _, upper, lower_all = bounds_of(result, measure)
        assert [lower_all, upper] == near([values.min(), values.max()]), measure
        if not measure.kind.divides_by_all:
            assert lower_all == bounds_of(result, measure)[0]


@given(single_queries(), st.integers(2, 3))
def test_bounds_of_binary_measures_depend_on_the_threshold(
    case: tuple[RankedLists, Judged], highest: int
) -> None:
    """Bounds with rel=2 equal those with rel=1 if grades of 2 or more become 1, and others 0."""
    ranked, labels = case
    binary = parse("C@2 R@2 P@3 AP AP@2 AP(found) RR MeanR")
    folded = Judged(
        labels.codes, (labels.gains >= 2).astype(np.int8), labels.n_queries, labels.n_videos
    )
    found = bound_scores(ranked, labels, binary, rel=2, highest=highest)
    expected = bound_scores(ranked, folded, binary)
    for measure in binary:
        assert bounds_of(found, measure) == bounds_of(expected, measure)


def test_ndcg_can_be_highest_at_a_middle_grade() -> None:
    """The score is highest if the pair at rank 2 has grade 1 instead of 3.

    The known pairs have grade 1, one at rank 1 and one outside of the list.
    """
    labels = make_judged({(0, 0): 1, (0, 3): 1}, 1, 5)
    ranked = lists_of([[0, 1]], 5)
    (ndcg,) = parse("nDCG")
    found = bound_scores(ranked, labels, [ndcg], highest=3)
    discount = [1 / log2(place + 1) for place in range(1, 6)]
    known = 1 / sum(discount[:2])
    as_one = sum(discount[:2]) / sum(discount[:3])
    as_three = (1 + 3 * discount[1]) / (3 + discount[1] + discount[2])
    assert known < as_three < as_one
    # In the lower bound over all pairs, the two unjudged pairs outside of the list have the highest
    # grade. A relevant pair at rank 2 would raise the score.
    lowest = 1 / (3 * sum(discount[:2]) + discount[2] + discount[3])
    assert bounds_of(found, ndcg) == near([known, as_one, lowest])


def test_bounds_over_all_pairs_by_hand() -> None:
    """Ranks 1 and 3 are positive, rank 2 is unjudged, and one positive is not in the list."""
    labels = make_judged({(0, 0): 1, (0, 2): 1, (0, 9): 1, (0, 8): 0}, 1, 10)
    ranked = lists_of([[0, 1, 2]], 10)
    found = bound_scores(ranked, labels, parse("AP R@2 AP(found) C@1"))
    assert (found.listed.tolist(), found.unlisted.tolist()) == ([1], [5])
    expected = {
        # AP is (1 + 2/3) / 3 or (1 + 1 + 1) / 4. With five more positives outside of the list, AP
        # is (1 + 2/3) / 8 or 3 / 9.
        "AP": [5 / 9, 3 / 4, 5 / 24],
        "R@2": [1 / 3, 2 / 4, 1 / 8],
        "AP(found)": [5 / 6, 1, 5 / 6],
        "C@1": [1, 1, 1],
    }
    for name, sides in expected.items():
        assert bounds_of(found, parse_measure(name)) == near(sides)


def test_ap_can_be_lowest_if_only_some_pairs_are_relevant() -> None:
    """Rank 1 is positive, and ranks 2 to 6 are unjudged. AP is lowest if 5 and 6 are relevant."""
    ranked, (ap,) = lists_of([range(6)], 8), parse("AP")
    found = bound_scores(ranked, make_judged({(0, 0): 1}, 1, 8), [ap])
    # (1 + 2/6) / 2 and (1 + 2/4 + 3/5 + 4/6) / 4 are higher. With two more positives outside of the
    # list, AP is lowest if none of the listed pairs is relevant, 1 / 3.
    assert bounds_of(found, ap) == near([(1 + 2 / 5 + 3 / 6) / 3, 1, 1 / 3])


def test_the_highest_grade_is_by_default_the_highest_known() -> None:
    labels, (ndcg,) = make_judged({(0, 0): 2, (0, 5): 1}, 1, 6), parse("nDCG(exp)")
    first = lists_of(HAND_RANKED.items[:1], 6)
    by_default = bound_scores(first, labels, [ndcg])
    assert bounds_of(by_default, ndcg) == bounds_of(
        bound_scores(first, labels, [ndcg], highest=2), ndcg
    )
    assert bounds_of(by_default, ndcg) != bounds_of(
        bound_scores(first, labels, [ndcg], highest=3), ndcg
    )


def stack(cases: list[tuple[RankedLists, Judged]]) -> tuple[RankedLists, Judged]:
    """Join single queries to one benchmark."""
    depth = max(ranked.depth for ranked, _ in cases)
    ranked = np.full((len(cases), depth), -1, dtype=np.int32)
    pairs = {}
    for query, (row, labels) in enumerate(cases):
        ranked[query, : row.depth] = row.items[0]
        pairs |= {(query, video): gain for (_, video), gain in as_pairs(labels).items()}
    return lists_of(ranked, N_VIDEOS), make_judged(pairs, len(cases), N_VIDEOS)


@given(st.lists(single_queries(), min_size=1, max_size=4), st.data())
def test_means_of_any_outcome_are_within_the_bounds(
    cases: list[tuple[RankedLists, Judged]], data: st.DataObject
) -> None:
    ranked, labels = stack(cases)
    result = bound_scores(ranked, labels, [*BOUNDED, JUDGED_AT_3])
    query, column = np.nonzero((look_up_gains(ranked, labels) < 0) & ranked.is_item)
    relevant = data.draw(st.lists(st.booleans(), min_size=len(query), max_size=len(query)))
    pairs = zip(query.tolist(), ranked.items[query, column].tolist(), strict=True)
    outcome = make_judged(dict(zip(pairs, map(int, relevant), strict=True)), len(ranked), N_VIDEOS)
    scores = score_run(ranked, with_positives(labels, outcome), BOUNDED)
    for measure in BOUNDED:
        lowest, value, highest = (
            side.mean(measure).value for side in (result.lower, scores, result.upper)
        )
        assert lowest is None or value is None or lowest <= value + 1e-12
        assert highest is None or value is None or value <= highest + 1e-12
        assert lowest is not None or value is None
    for side in (result.lower, result.upper):
        assert side.mean(JUDGED_AT_3) == result.known.mean(JUDGED_AT_3)


def test_blocks_of_queries_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    labels, ranked = random_judged(rng, 3), random_run(rng)
    whole = bound_scores(ranked, labels, BOUNDED)
    monkeypatch.setattr("evaluation.core.pools.bounds._BLOCK_QUERIES", 7)
    parts = bound_scores(ranked, labels, BOUNDED)
    for measure in BOUNDED:
        for side in ("lower", "upper", "lower_all"):
            values = getattr(parts, side).per_query(measure)
            assert values.tolist() == getattr(whole, side).per_query(measure).tolist()


def test_condensed_lists_have_equal_bounds() -> None:
    rng = np.random.default_rng(2)
    labels = random_judged(rng, 3)
    ranked = condense(random_run(rng), labels)
    result = bound_scores(ranked, labels, DEFAULT_MEASURES)
    for measure in DEFAULT_MEASURES:
        known = result.known.per_query(measure).tolist()
        assert result.lower.per_query(measure).tolist() == known
        assert result.upper.per_query(measure).tolist() == known


@pytest.mark.parametrize("highest", [1, 128])
def test_bound_scores_refuses_a_grade_out_of_bounds(highest: int) -> None:
    with pytest.raises(ValueError, match="the highest grade must be from rel to 127"):
        bound_scores(HAND_RANKED, HAND_LABELS, BOUNDED, rel=2, highest=highest)


def test_a_benchmark_without_queries() -> None:
    nothing, ranked = make_judged({}, 0, 0), lists_of(np.empty((0, 3)), 0)
    result = bound_scores(ranked, nothing, DEFAULT_MEASURES)
    assert {side.mean(m) for side in (result.lower, result.upper) for m in DEFAULT_MEASURES} == {
        Score(None, 0, NO_QUERIES)
    }

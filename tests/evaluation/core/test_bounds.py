"""Bounds against all outcomes, one by one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import log2

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.bounds import bound_scores
from evaluation.core.incomplete import condense
from evaluation.core.measures import DEFAULT_MEASURES, Measure, parse_measure
from evaluation.core.relevance import Judged, look_up_gains, with_positives
from evaluation.core.scoring import MEDIAN_BEYOND_DEPTH, NO_QUERIES, Score, score_run
from tests.evaluation.core.test_leave_out import as_pairs, make_judged
from tests.evaluation.core.test_scoring import RANKS, SHARES, random_judged, random_run

Ranked = npt.NDArray[np.int32]

N_VIDEOS = 7
JUDGED_AT_3 = parse_measure("Judged@3")
MOVING = [measure for measure in SHARES + RANKS if measure != JUDGED_AT_3]


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

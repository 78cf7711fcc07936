"""Overlap of runs compared with published values, the equations, and continued lists.

The paper is the one that the docstring of `overlap` names.
"""

from __future__ import annotations

from itertools import pairwise
from math import log
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.pools import overlap
from evaluation.core.pools.overlap import Overlap, PairOverlap, compare_all_runs, compare_runs
from evaluation.core.relevance.measure import NO_QUERIES, Score
from pooling.core.ranked_lists import RankedLists
from tests.evaluation.core.lists import lists_of

N_VIDEOS = 9
VALUES = ("common", "truncated", "minimum", "residual", "extrapolated")


def as_run(*lists: str | list[int], depth: int = 10) -> RankedLists:
    """Return a run with lists of letters or numbers, padded to `depth`."""
    ranked = np.full((len(lists), depth), -1, dtype=np.int32)
    for row, entries in zip(ranked, lists, strict=True):
        numbers = [ord(entry) - ord("a") if isinstance(entry, str) else entry for entry in entries]
        row[: len(numbers)] = numbers
    return lists_of(ranked, 26)


def values_of(result: Overlap, query: int = 0) -> dict[str, float]:
    return {name: float(getattr(result, name)[query]) for name in VALUES}


# --- published values -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("depth", "agreement"),
    [(1, 0), (2, 0), (3, 0.667), (4, 0.5), (5, 0.4), (6, 0.333), (7, 0.286)],
)
def test_common_videos_of_the_papers_figure_5(depth: int, agreement: float) -> None:
    result = compare_runs(as_run("abcdefg"), as_run("zcavwxy"), depth)
    assert result.common.tolist() == pytest.approx([agreement], abs=5e-4)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        # From the documentation of two implementations (dlukes/rbo, b4ny4n/rankmeasures).
        ("abcdefg", "abcdefg", {"minimum": 0.767, "residual": 0.233, "extrapolated": 1.0}),
        ("abcdefg", "bacdefg", {"minimum": 0.667, "residual": 0.233, "extrapolated": 0.9}),
        ("abcde", "bcdae", {"extrapolated": 0.828}),
        # The weight of the first ten ranks is "86 %" in the paper, equation 21.
        ("abcdefghij", "abcdefghij", {"minimum": 0.8556}),
    ],
)
def test_rank_biased_overlap_equals_other_implementations(
    first: str, second: str, expected: dict[str, float]
) -> None:
    result = values_of(compare_runs(as_run(first), as_run(second), len(first)))
    assert {name: result[name] for name in expected} == pytest.approx(expected, abs=5e-4)


# --- by hand --------------------------------------------------------------------------------------

# With p = 1/2, depth d has the weight 1 / 2^d. A video that is common from depth 1 on contributes
# the sum of 1 / (d 2^d), which is log 2. The depth is 3, and the values are in the order of VALUES.
BY_HAND: list[tuple[str, str, list[float]]] = [
    # X_d, the number of common videos down to depth d, is 0 for d = 1, and 2 from depth 2 on. At
    # best, all further videos are common.
    (
        "ab",
        "ba",
        [2 / 3, 1 / 4 + 2 / 3 / 8, 2 * (log(2) - 1 / 2), 1 / 2 - 2 * (log(2) - 1 / 2), 1 / 2],
    ),
    # The second list ends at rank 1, and the lists agree there.
    ("abc", "a", [1 / 3, 1 / 2 + 1 / 2 / 4 + 1 / 3 / 8, log(2), 1 - log(2), 1]),
    # At best, the second list continues with b and c. The agreement is then 0, 1 / 2, and 1 from
    # depth 3 on.
    ("bca", "a", [1 / 3, 1 / 24, log(2) - 5 / 8, 3 / 8 - (log(2) - 5 / 8), 1 / 24 + 1 / 24]),
    # At best, the agreement is 0, 0, 2 / 3, and 1 from depth 4 on.
    ("ab", "cd", [0, 0, 0, 2 / 3 / 8 + 1 / 8, 0]),
    ("", "ab", [0, 0, 0, 1, 0]),
    ("", "", [0, 0, 0, 1, 0]),
]


@pytest.mark.parametrize(("first", "second", "expected"), BY_HAND)
def test_compare_runs_by_hand(first: str, second: str, expected: list[float]) -> None:
    for one, other in ((first, second), (second, first)):
        result = values_of(compare_runs(as_run(one), as_run(other), depth=3, p=0.5))
        assert list(result.values()) == pytest.approx(expected, abs=1e-15)


def test_compare_runs_uses_only_the_top() -> None:
    first, second = as_run("abcd", "ab"), as_run("badc", "cd")
    assert compare_runs(first, second, depth=1).common.tolist() == [0, 0]
    assert compare_runs(first, second, depth=3).common.tolist() == [2 / 3, 0]
    assert compare_runs(first, second.top(1), depth=3).common.tolist() == [1 / 3, 0]


def test_compare_all_runs_compares_every_two() -> None:
    runs = {"x": as_run("abc", "ab"), "y": as_run("cba", "ab"), "z": as_run("def", "")}
    pairs = compare_all_runs(runs, depth=3, p=0.8)
    assert [(pair.first, pair.second) for pair in pairs] == [("x", "y"), ("x", "z"), ("y", "z")]
    for pair in pairs:
        single = compare_runs(runs[pair.first], runs[pair.second], depth=3, p=0.8)
        expected = {name: Score(float(getattr(single, name).mean()), 2) for name in VALUES}
        assert {name: getattr(pair, name) for name in VALUES} == expected
    assert pairs[0].common == Score((1 + 2 / 3) / 2, 2)


def test_a_benchmark_without_queries_and_fewer_than_two_runs() -> None:
    nothing = lists_of(np.empty((0, 3)), 26)
    undefined = Score(None, 0, NO_QUERIES)
    assert compare_all_runs({"x": nothing, "y": nothing}) == (
        PairOverlap("x", "y", undefined, undefined, undefined, undefined, undefined),
    )
    assert compare_all_runs({"x": as_run("abc")}) == compare_all_runs({}) == ()
    without_ranks = lists_of(np.empty((2, 0)), 26)
    assert compare_runs(without_ranks, without_ranks).residual.tolist() == [1, 1]


def test_compare_runs_refuses_bad_input() -> None:
    run = as_run("abc", "ab")
    with pytest.raises(ValueError, match="ranked has 1 rows for 2 queries"):
        compare_runs(run, run[:1])
    for depth, p in ((0, 0.9), (10, 0.0), (10, 1.0)):
        with pytest.raises(ValueError, match="depth must be at least 1 and p between 0 and 1"):
            compare_runs(run, run, depth, p)


# --- plain Python, and continued lists ----------------------------------------------------


def sum_of_agreement(first: list[Any], second: list[Any], p: float) -> float:
    """Return equation 4 down to the depth of the longer list. The other list can be shorter."""
    return sum(
        (1 - p) * p ** (d - 1) * len(set(first[:d]) & set(second[:d])) / d
        for d in range(1, max(len(first), len(second)) + 1)
    )


def extrapolate(first: list[int], second: list[int], p: float) -> float:
    """Return equation 32, written as in the paper."""
    small, large = sorted((first, second), key=len)
    s, l = len(small), len(large)  # noqa: E741
    if s == 0:
        return 0.0
    x = [len(set(small[:d]) & set(large[:d])) for d in range(l + 1)]
    known = sum(x[d] / d * p**d for d in range(1, l + 1))
    taken = sum(x[s] * (d - s) / (s * d) * p**d for d in range(s + 1, l + 1))
    return (1 - p) / p * (known + taken) + ((x[l] - x[s]) / l + x[s] / s) * p**l


def continue_lists(first: list[int], second: list[int], depth: int) -> tuple[list[Any], list[Any]]:
    """Return the two lists, continued to `depth` so that they agree as early as possible."""
    small, large = sorted((first, second), key=len)
    small = small + [video for video in large if video not in small]
    large = large + [video for video in small if video not in large]
    rest = [f"new {number}" for number in range(depth)]
    return (small + rest)[:depth], (large + rest)[:depth]


@st.composite
def two_runs(draw: st.DrawFn) -> tuple[RankedLists, RankedLists]:
    n_queries = draw(st.integers(1, 5))
    runs = []
    for _ in range(2):
        width = draw(st.integers(1, N_VIDEOS))
        lists = [
            draw(st.permutations(range(N_VIDEOS)))[: draw(st.integers(0, width))]
            for _ in range(n_queries)
        ]
        runs.append(as_run(*lists, depth=width))
    return runs[0], runs[1]


PERSISTENCE = st.sampled_from([0.05, 0.3, 0.5, 0.8, 0.9])


@given(two_runs(), st.integers(1, 12), PERSISTENCE)
def test_rank_biased_overlap_equals_its_definition(
    runs: tuple[RankedLists, RankedLists], depth: int, p: float
) -> None:
    result = compare_runs(*runs, depth, p)
    for query, rows in enumerate(zip(*(run.items for run in runs), strict=True)):
        first, second = ([video for video in row[:depth].tolist() if video >= 0] for row in rows)
        far = 400  # 0.9^400 is smaller than the rounding error of a float64 near 1
        apart = [f"first {d}" for d in range(far)], [f"second {d}" for d in range(far)]
        missing = [f"gap {d}" for d in range(depth)]
        lowest = sum_of_agreement(first + apart[0], second + apart[1], p)
        expected = {
            "common": len(set(first) & set(second)) / depth,
            "truncated": sum_of_agreement((first + missing)[:depth], second, p),
            "minimum": lowest,
            "residual": sum_of_agreement(*continue_lists(first, second, far), p) - lowest,
            "extrapolated": extrapolate(first, second, p),
        }
        assert values_of(result, query) == pytest.approx(expected, abs=1e-12)


@given(two_runs(), st.integers(1, 12), PERSISTENCE)
def test_overlap_is_symmetric_and_bounded(
    runs: tuple[RankedLists, RankedLists], depth: int, p: float
) -> None:
    result, swapped = compare_runs(*runs, depth, p), compare_runs(*runs[::-1], depth, p)
    for name in VALUES:
        np.testing.assert_array_equal(getattr(result, name), getattr(swapped, name))
    ladder = [
        np.zeros(len(runs[0])),
        result.truncated,
        result.minimum,
        result.extrapolated,
        result.minimum + result.residual,
        np.ones(len(runs[0])),
    ]
    for lower, higher in pairwise(ladder):
        assert (lower <= higher + 1e-12).all()


@given(two_runs(), st.integers(1, 12), PERSISTENCE)
def test_a_run_equals_itself(runs: tuple[RankedLists, RankedLists], depth: int, p: float) -> None:
    run = runs[0]
    lengths = run.top(depth).lengths
    result = compare_runs(run, run, depth, p)
    assert result.common.tolist() == (lengths / depth).tolist()
    np.testing.assert_allclose(result.extrapolated, lengths > 0, atol=1e-12)
    np.testing.assert_allclose(result.minimum + result.residual, 1, atol=1e-12)
    full = lengths == depth
    np.testing.assert_allclose(result.truncated[full], 1 - p**depth, atol=1e-12)


def test_blocks_of_queries_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    first, second = (
        lists_of(np.argsort(rng.random((50, 30)), axis=1)[:, :10], 30) for _ in range(2)
    )
    whole = compare_runs(first, second)
    monkeypatch.setattr(overlap, "_TABLE_CELLS", 100)
    parts = compare_runs(first, second)
    for name in VALUES:
        assert getattr(whole, name).tolist() == getattr(parts, name).tolist()

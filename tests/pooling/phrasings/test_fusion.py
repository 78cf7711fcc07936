"""Fusion, on lists whose scores were computed by hand from the formulas."""

from __future__ import annotations

import numpy as np
import pytest

from pooling.core.ranked_lists import RankedLists
from pooling.phrasings.core.fusion import Method, Norm, Rule, fuse, oracle

A, B, C, D = range(4)


def lists_of(*texts: list[dict[int, float]], n_items: int = 4) -> list[RankedLists]:
    """Return a run per argument. Each has for each query the scores of its items."""
    width = max(len(found) for text in texts for found in text)
    runs = []
    for text in texts:
        items = np.full((len(text), width), -1, np.int32)
        scores = np.zeros((len(text), width))
        for row, found in enumerate(text):
            best = sorted(found, key=lambda item, found=found: (-found[item], item))
            items[row, : len(best)] = best
            scores[row, : len(best)] = [found[item] for item in best]
        runs.append(RankedLists.of(items, n_items, scores=scores))
    return runs


RUNS = lists_of([{A: 9, B: 7, C: 5}], [{B: 4, A: 1}], [{D: 3}])


def fused(rule: Rule, runs: list[RankedLists] = RUNS, **options) -> dict[int, float]:
    found = fuse(runs, rule, **options)
    assert found.scores is not None
    pairs = zip(found.items[0].tolist(), found.scores[0].tolist(), strict=True)
    return {item: score for item, score in pairs if item >= 0}


@pytest.mark.parametrize(
    ("method", "norm", "expected"),
    [
        (Method.COMBSUM, Norm.MIN_MAX, {B: 1.5, A: 1, C: 0, D: 0}),
        (Method.COMBSUM, Norm.NONE, {B: 11, A: 10, C: 5, D: 3}),
        (Method.COMBSUM, Norm.MAX, {B: 7 / 9 + 1, A: 1.25, D: 1, C: 5 / 9}),
        (Method.COMBSUM, Norm.SUM, {B: 1 / 3 + 1, A: 2 / 3, C: 0, D: 0}),
        (Method.COMBSUM, Norm.ZMUV, {B: 1, A: 1.5**0.5 - 1, D: 0, C: -(1.5**0.5)}),
        (Method.COMBSUM, Norm.RANK, {B: 2 / 3 + 1, A: 1.5, D: 1, C: 1 / 3}),
        # Four candidates: an absent item has 1/4, 3/8 and 1/2 in the lists of 3, 2 and 1 items.
        (Method.COMBSUM, Norm.BORDA, {A: 2.25, B: 2.25, D: 1.625, C: 1.375}),
        (Method.COMBMNZ, Norm.NONE, {B: 22, A: 20, C: 5, D: 3}),
        (Method.COMBANZ, Norm.NONE, {B: 5.5, A: 5, C: 5, D: 3}),
        (Method.COMBMED, Norm.NONE, {B: 5.5, A: 5, C: 5, D: 3}),
        (Method.COMBMAX, Norm.NONE, {A: 9, B: 7, C: 5, D: 3}),
        (Method.COMBMIN, Norm.NONE, {C: 5, B: 4, D: 3, A: 1}),
        (Method.RRF, Norm.NONE, {A: 1 / 61 + 1 / 62, B: 1 / 61 + 1 / 62, D: 1 / 61, C: 1 / 63}),
        (Method.RBC, Norm.NONE, {A: 0.36, B: 0.36, D: 0.2, C: 0.128}),
        (Method.BORDA, Norm.NONE, {A: 9, B: 9, D: 6.5, C: 5.5}),
        (Method.ISR, Norm.NONE, {A: 2.5, B: 2.5, D: 1, C: 1 / 9}),
        (Method.LOG_ISR, Norm.NONE, {A: 1.25 * np.log(2), B: 1.25 * np.log(2), C: 0, D: 0}),
        (
            Method.LOGN_ISR,
            Norm.NONE,
            {A: 1.25 * np.log(2.01), B: 1.25 * np.log(2.01), D: np.log(1.01), C: np.log(1.01) / 9},
        ),
    ],
)
def test_scores(method, norm, expected) -> None:
    found = fused(Rule(method, norm))
    assert list(found) == list(expected)
    assert found == pytest.approx(expected, abs=1e-12)


def test_the_median_is_the_middle_value_or_the_mean_of_both() -> None:
    runs = lists_of([{A: 1, B: 2}], [{A: 5, B: 4}], [{A: 2}], n_items=2)
    assert fused(Rule(Method.COMBMED, Norm.NONE), runs) == {B: 3, A: 2}


def test_plurality() -> None:
    """Three lists give one vote each; the mean ranks are 1.67, 2 and 2.33."""
    runs = lists_of([{A: 3, B: 2, C: 1}], [{B: 3, A: 2, C: 1}], [{C: 3, A: 2, B: 1}])
    assert fused(Rule(Method.PLURALITY), runs) == {A: 3, B: 2, C: 1}


def test_ties_of_votes_are_decided_by_the_original_phrasing() -> None:
    runs = lists_of([{B: 2, A: 1}], [{A: 2, B: 1}], n_items=2)
    assert list(fused(Rule(Method.PLURALITY), runs)) == [B, A]
    assert list(fused(Rule(Method.PLURALITY), runs[::-1])) == [A, B]


def test_bucklin() -> None:
    """B is in two of three lists at depth 2, A in two at depth 3, C and D in one."""
    runs = lists_of([{C: 4, B: 3, A: 2}], [{B: 4, D: 3}], [{D: 5, C: 4, A: 3}])
    # C holds two lists at depth 2, B two at depth 2, D two at depth 2: sums of ranks 6, 7 and 7.
    assert list(fused(Rule(Method.BUCKLIN), runs)) == [C, B, D, A]


def test_an_item_of_a_minority_comes_last_by_its_mean_rank() -> None:
    runs = lists_of([{A: 4, B: 3, C: 2}], [{B: 4, A: 3, D: 2}], [{D: 9}], n_items=4)
    # D has two lists at depth 3. C has one: it comes last.
    assert list(fused(Rule(Method.BUCKLIN), runs)) == [A, B, D, C]


def test_equal_scores_are_ordered_by_key() -> None:
    places = np.array([3, 2, 1, 0])
    assert list(fused(Rule(Method.RRF))) == [A, B, D, C]
    assert list(fused(Rule(Method.RRF), places=places)) == [B, A, D, C]
    assert list(fused(Rule(Method.RRF), depth=2)) == [A, B]


def test_a_missing_list_is_left_out() -> None:
    """The second query has no list in the first run, and no row in the second one."""
    first, second = lists_of([{A: 2, B: 1}, {}], [{B: 2, C: 1}, {D: 1}])
    second = second[0:1]
    third = lists_of([{A: 1}, {C: 2, D: 1}])[0]
    found = fuse([first, second, third], Rule(Method.BORDA))
    assert found.items.tolist() == [[A, B, C], [C, D, -1]]
    assert found.scores.tolist() == [[7, 6.5, 4.5], [2, 1, 0]]
    assert found.query_numbers.tolist() == [0, 1]
    assert fuse([first[1:], third[1:]], Rule(Method.BORDA)).query_numbers.tolist() == [1]


def test_blocks_of_queries_do_not_change_the_lists() -> None:
    """A query's list is the same alone and among 3,000 others, which need several blocks."""
    rng = np.random.default_rng(7)
    items = [rng.permuted(np.tile(np.arange(60), (3000, 1)), axis=1)[:, :50] for _ in range(3)]
    scores = -np.sort(rng.random((3, 3000, 50)), axis=2)[:, :, ::-1]
    runs = [RankedLists.of(i, 60, scores=-s[:, ::-1]) for i, s in zip(items, scores, strict=True)]
    whole = fuse(runs, Rule(Method.COMBMNZ))
    part = fuse([run[2900:2901] for run in runs], Rule(Method.COMBMNZ))
    assert part.items[0].tolist() == whole.items[2900, : part.depth].tolist()
    assert part.scores[0].tolist() == whole.scores[2900, : part.depth].tolist()


def test_the_oracle_takes_the_best_list_and_the_original_in_ties() -> None:
    runs = lists_of([{A: 2, B: 1}, {A: 2, B: 1}], [{B: 2, A: 1}, {C: 2, D: 1}])
    positives = np.array([0 * 4 + B, 1 * 4 + D])
    assert oracle(runs, positives).items.tolist() == [[B, A], [C, D]]
    assert oracle(runs, np.array([7])).items.tolist() == [[A, B], [C, D]]
    assert oracle(runs, np.array([], np.int64)).items.tolist() == [[A, B], [A, B]]


def test_runs_that_cannot_be_fused() -> None:
    bare = RankedLists(RUNS[0].items, 4)
    with pytest.raises(ValueError, match="CombSUM min-max needs the scores"):
        fuse([bare], Rule(Method.COMBSUM))
    assert fuse([bare], Rule(Method.COMBSUM, Norm.RANK)).items.tolist() == [[A, B, C]]
    with pytest.raises(ValueError, match="different numbers of items"):
        fuse([bare, RankedLists(RUNS[0].items, 5)], Rule(Method.RRF))
    with pytest.raises(ValueError, match="several lists for a query"):
        fuse([RankedLists(bare.items.repeat(2, 0), 4, queries=np.array([0, 0]))], Rule(Method.RRF))


def test_names_and_options_of_rules() -> None:
    assert str(Rule(Method.COMBMNZ)) == "CombMNZ min-max"
    assert str(Rule(Method.RRF)) == "RRF k=60"
    assert str(Rule(Method.PLURALITY)) == "Plurality vote"
    assert Rule(Method.RBC).options == {"phi": 0.8}

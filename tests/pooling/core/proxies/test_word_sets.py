"""The mean IoU of all pairs, compared with the formula for one pair."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooling.core.proxies import word_sets
from pooling.core.proxies.word_sets import fill_mean_iou, frequent_words
from tests.pooling.core.proxies import slow

SETS = st.lists(st.frozensets(st.sampled_from("abcdefgh"), max_size=5), max_size=12)


def filled(rows, columns) -> np.ndarray:
    out = np.full((len(rows[0]), len(columns[0])), -1.0)
    fill_mean_iou(out, rows, columns)
    return out


@given(SETS, SETS, st.sampled_from([1, 3, 1 << 22]))
def test_one_part_of_speech(rows, columns, cells) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_sets, "_BLOCK_CELLS", cells)
        found = filled([rows], [columns])
    assert found.tolist() == slow.mean_iou([rows], [columns]).tolist()
    assert filled([columns], [rows]).T.tolist() == found.tolist()


@given(SETS, SETS, st.randoms(use_true_random=False))
def test_two_parts_of_speech(rows, columns, rng) -> None:
    other_rows, other_columns = rng.sample(rows, len(rows)), rng.sample(columns, len(columns))
    found = filled([rows, other_rows], [columns, other_columns])
    expected = slow.mean_iou([rows, other_rows], [columns, other_columns])
    assert found.tolist() == expected.tolist()
    assert ((found >= 0) & (found <= 1)).all()


def test_empty_sets_have_no_overlap() -> None:
    """A caption without verbs reaches at most ½, even with itself."""
    verbs, nouns = [frozenset[str]()], [frozenset(["can"])]
    assert filled([verbs], [verbs]).tolist() == [[0.0]]
    assert filled([verbs, nouns], [verbs, nouns]).tolist() == [[0.5]]


def test_a_matrix_of_half_precision_can_be_filled() -> None:
    out = np.zeros((1, 2), np.float16)
    fill_mean_iou(out, [[frozenset("abc")]], [[frozenset("abc"), frozenset("a")]])
    assert out.tolist() == [[1.0, float(np.float16(1 / 3))]]


def test_parts_and_shapes_must_fit() -> None:
    sets = [frozenset("a")]
    with pytest.raises(ValueError, match="must have the same parts of speech"):
        fill_mean_iou(np.zeros((1, 1)), [sets], [sets, sets])
    with pytest.raises(ValueError, match="must have a cell for each row and column"):
        fill_mean_iou(np.zeros((1, 2)), [sets], [sets])


def test_frequent_words_are_in_at_least_a_quarter_of_the_captions() -> None:
    five_of_20 = [["a", "a", "b"]] * 4 + [["a"]] + [["c"]] * 15
    assert frequent_words(five_of_20, 25) == {"a", "c"}
    assert frequent_words([["a"], ["b"], ["c"], ["d"]], 25) == set("abcd")
    assert frequent_words([["a"], ["b"], ["c"], ["d"], ["a"]], 25) == {"a"}
    assert frequent_words([], 25) == frozenset()

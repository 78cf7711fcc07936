"""Codes of pairs: properties of `PairSpace`, and its values for a small space."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from pooling.core.pair_space import PairSpace

sizes = st.integers(1, 2**31 - 1)
spaces = st.builds(PairSpace, sizes, sizes)


@st.composite
def spaces_with_pairs(
    draw: st.DrawFn,
) -> tuple[PairSpace, npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Draw a space, and numbers of queries and videos in it: int32, same shape, 1 or 2 axes."""
    space = draw(spaces)
    shape = draw(arrays.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=5))
    queries = draw(arrays.arrays(np.int32, shape, elements=st.integers(0, space.n_queries - 1)))
    videos = draw(arrays.arrays(np.int32, shape, elements=st.integers(0, space.n_videos - 1)))
    return space, queries, videos


def test_codes_of_a_small_space() -> None:
    space = PairSpace(n_queries=2, n_videos=3)
    assert space.n_pairs == 6
    codes = space.encode(np.arange(2)[:, None], np.arange(3))
    assert codes.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert [space.decode(code) for code in range(6)] == [
        (0, 0),
        (0, 1),
        (0, 2),
        (1, 0),
        (1, 1),
        (1, 2),
    ]
    assert space.transpose(codes).tolist() == [[0, 2, 4], [1, 3, 5]]
    assert space.transposed == PairSpace(n_queries=3, n_videos=2)


@given(spaces_with_pairs())
def test_decoding_reverses_encoding(
    drawn: tuple[PairSpace, npt.NDArray[np.int32], npt.NDArray[np.int32]],
) -> None:
    space, queries, videos = drawn
    codes = space.encode(queries, videos)

    assert codes.dtype == np.int64
    decoded_queries, decoded_videos = space.decode(codes)
    assert decoded_queries.dtype == decoded_videos.dtype == np.int64
    assert decoded_queries.tolist() == space.queries(codes).tolist() == queries.tolist()
    assert decoded_videos.tolist() == space.videos(codes).tolist() == videos.tolist()


@given(spaces_with_pairs())
def test_arrays_and_integers_get_the_same_codes(
    drawn: tuple[PairSpace, npt.NDArray[np.int32], npt.NDArray[np.int32]],
) -> None:
    space, queries, videos = drawn
    codes = space.encode(queries, videos).ravel().tolist()
    pairs = list(zip(queries.ravel().tolist(), videos.ravel().tolist(), strict=True))

    assert [space.encode(query, video) for query, video in pairs] == codes
    assert [space.decode(code) for code in codes] == pairs
    assert [(space.queries(code), space.videos(code)) for code in codes] == pairs
    assert all(0 <= code < space.n_pairs for code in codes)


@given(spaces_with_pairs())
def test_codes_have_the_order_of_their_pairs(
    drawn: tuple[PairSpace, npt.NDArray[np.int32], npt.NDArray[np.int32]],
) -> None:
    space, queries, videos = drawn
    codes = np.sort(space.encode(queries, videos).ravel())
    pairs = sorted(zip(queries.ravel().tolist(), videos.ravel().tolist(), strict=True))

    assert [space.decode(code) for code in codes.tolist()] == pairs


@given(spaces_with_pairs())
def test_transposing_exchanges_queries_and_videos(
    drawn: tuple[PairSpace, npt.NDArray[np.int32], npt.NDArray[np.int32]],
) -> None:
    space, queries, videos = drawn
    codes = space.encode(queries, videos)
    transposed = space.transpose(codes)

    assert transposed.tolist() == space.transposed.encode(videos, queries).tolist()
    assert space.transposed.transpose(transposed).tolist() == codes.tolist()
    assert [space.transpose(code) for code in codes.ravel().tolist()] == transposed.ravel().tolist()


@given(spaces)
def test_codes_of_a_query_begin_after_those_of_the_previous_query(space: PairSpace) -> None:
    last = space.n_queries - 1
    assert space.encode(space.n_queries, 0) == space.n_pairs
    assert space.encode(last, space.n_videos - 1) == space.n_pairs - 1
    assert space.encode(last, np.array([0])).tolist() == [last * space.n_videos]


def test_numbers_of_32_bits_do_not_overflow() -> None:
    space = PairSpace(n_queries=100_000, n_videos=100_000)
    last = np.array([99_999], dtype=np.int32)
    assert space.encode(last, last).tolist() == [9_999_999_999]
    assert space.encode(99_999, last).tolist() == [9_999_999_999]


@pytest.mark.parametrize("space", [PairSpace(0, 0), PairSpace(3, 0), PairSpace(0, 3)])
def test_a_space_without_pairs_decodes_no_codes(space: PairSpace) -> None:
    queries, videos = space.decode(np.empty(0, dtype=np.int64))
    assert (queries.tolist(), videos.tolist(), space.n_pairs) == ([], [], 0)


def test_spaces_are_equal_by_value_and_cannot_change() -> None:
    assert PairSpace(2, 3) == PairSpace(2, 3) != PairSpace(3, 2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        PairSpace(2, 3).n_videos = 4  # type: ignore[misc]

"""Packing and unpacking of ranked lists, numbers and texts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooling.core.packing import (
    pack_list,
    pack_numbers,
    pack_texts,
    packed_lists,
    unpack_into,
    unpack_list,
    unpack_numbers,
    unpack_texts,
)
from tests.pooling.core.tiny import read, write


def unpacked(blobs: Sequence[bytes], numbers: Sequence[int], n_queries: int) -> list[list[int]]:
    ranked = np.full((n_queries, 2), -1, np.int32)
    unpack_into(ranked, blobs, np.array(numbers, np.int32))
    return ranked.tolist()


def test_list_is_packed_as_little_endian() -> None:
    videos, scores = np.array([1, 258], np.int32), np.array([1.0, -0.1], np.float32)
    packed = pack_list(videos, scores)

    assert packed[0] == b"\x01\0\0\0\x02\x01\0\0"
    assert packed[1] == b"\0\0\x80?\xcd\xcc\xcc\xbd"
    assert [part.tolist() for part in unpack_list(*packed)] == [videos.tolist(), scores.tolist()]


def test_ragged_lists_are_padded_and_cut(tmp_path: Path) -> None:
    rows = ["q2 Q0 vB 1 3 t", "q2 Q0 vA 2 2 t", "q2 Q0 vC 3 1 t", "q0 Q0 vC 1 1 t"]
    run = read(write(tmp_path, "\n".join(rows)))
    numbers, videos, scores = zip(*packed_lists(run), strict=True)

    assert numbers == (0, 2)
    assert unpack_list(videos[0], scores[0])[1].tolist() == [3.0, 2.0, 1.0]
    expected = [[1, 2], [-1, -1], [0, -1]]
    assert unpacked(videos, numbers, n_queries=3) == expected


def test_without_lists_all_is_padding() -> None:
    assert unpacked([], [], n_queries=1) == [[-1, -1]]


def test_incomplete_values_are_an_error() -> None:
    with pytest.raises(ValueError, match="ends within a value"):
        unpacked([b"123", b"12345"], [0, 1], n_queries=2)


@given(st.lists(st.integers(0, 2**31 - 1)))
def test_unpacking_reverses_packing_of_numbers(numbers: list[int]) -> None:
    packed = pack_numbers(np.array(numbers, np.int32))
    assert len(packed) == 4 * len(numbers)
    assert unpack_numbers(packed).tolist() == numbers


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@given(st.lists(TEXT, min_size=1))
def test_unpacking_reverses_packing_of_texts(texts: list[str]) -> None:
    assert unpack_texts(pack_texts(texts)) == texts

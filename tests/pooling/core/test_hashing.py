"""The seeded hash, pinned by literal values."""

from __future__ import annotations

import numpy as np
import pytest

from pooling.core.hashing import lowest, mix


def test_mix_returns_the_published_outputs_of_splitmix64() -> None:
    # These are the first outputs of splitmix64.c for the seed 1234567.
    assert mix(np.arange(5), 1234567).tolist() == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_mix_accepts_any_code_and_seed() -> None:
    top = np.array([2**64 - 1], dtype=np.uint64)
    assert mix(top, 0).tolist() == [0]
    assert mix(np.array([3]), -1).tolist() == mix(np.array([3]), 2**64 - 1).tolist()


def test_lowest_selects_the_smallest_hashes_in_any_order() -> None:
    codes = np.arange(0, 3000, 3)
    mask = lowest(codes, 100, seed=7)
    hashes = mix(codes, 7)

    assert mask.sum() == 100
    assert hashes[mask].max() < hashes[~mask].min()
    assert lowest(codes[::-1], 100, seed=7).tolist() == mask[::-1].tolist()


@pytest.mark.parametrize("count", [0, 3])
def test_lowest_can_select_none_or_all(count: int) -> None:
    assert lowest(np.arange(3), count, 1).tolist() == [count == 3] * 3


@pytest.mark.parametrize("count", [-1, 4])
def test_an_impossible_number_of_lowest_hashes_is_an_error(count: int) -> None:
    with pytest.raises(ValueError, match="of 3 codes"):
        lowest(np.arange(3), count, 1)

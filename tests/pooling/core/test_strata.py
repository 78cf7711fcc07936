"""Strata of a pool: their texts, which pairs are drawn, and their bytes."""

from __future__ import annotations

import numpy as np
import pytest

from hearth.shared.errors import InvalidInput
from hearth.shared.options import OptionFault
from pooling.core.pair_space import PairSpace
from pooling.core.pool_options import PoolOptions
from pooling.core.strata import (
    EARLIER,
    OTHERS,
    Ranks,
    draw_strata,
    drawn_codes,
    pack_stratum,
    parse_strata,
    unpack_stratum,
)

SPACE = PairSpace(2, 100)
# Caption 0 has the videos 0 to 39 at these ranks, caption 1 only seven.
CODES = np.array([*range(40), *range(100, 107)], np.int64)
BEST = np.array([*range(40), *range(8, 15)], np.int32)
RANKS = parse_strata(["1-10=1", "11-30 = 20%"])


def test_texts_are_ranges_of_ranks_with_shares() -> None:
    assert (Ranks(1, 10, 1.0), Ranks(11, 30, 0.2)) == RANKS
    assert [str(each) for each in RANKS] == ["1-10=1", "11-30=0.2"]


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        (["1-10"], "must have the form"),
        (["2-10=1"], "must begin at rank 1"),
        (["1-10=1", "12-20=0.5"], "must begin at rank 11"),
        (["1-10=1", "11-9=0.5"], "must begin at rank 11 and not end before it"),
        (["1-10=0"], "above 0 and at most 1"),
        (["1-10=120%"], "above 0 and at most 1"),
    ],
)
def test_other_texts_are_refused(texts: list[str], reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        parse_strata(texts)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"depth": 20}, "The strata end at rank 30, and the depth is 20"),
        ({"depth": 30, "budget": 5}, "either strata or a maximum"),
    ],
)
def test_strata_must_fit_the_other_options(options: dict[str, int], reason: str) -> None:
    with pytest.raises(OptionFault, match=reason):
        PoolOptions(strata=("1-10=1", "11-30=0.2"), **options).check()


def test_a_share_of_each_caption_is_drawn_rounded_up() -> None:
    earlier = np.array([1, 12, 105], np.int64)
    strata = draw_strata(CODES, BEST, earlier, RANKS, SPACE, seed=3)
    assert [stratum.name for stratum in strata] == [EARLIER, "1-10", "11-30", OTHERS]
    whole, top, deep, rest = strata
    assert whole.codes.tolist() == [1, 12, 105]
    assert (len(top.codes), top.n_drawn) == (9 + 2, 9 + 2)
    # 19 of caption 0 make ceil(3.8) = 4, and 4 of caption 1 make ceil(0.8) = 1.
    assert len(deep.codes) == 19 + 4
    assert np.bincount(SPACE.queries(deep.codes[deep.drawn])).tolist() == [4, 1]
    assert rest.codes.tolist() == list(range(30, 40))
    assert len(drawn_codes(strata)) == 3 + 11 + 5 + 10


def test_the_draw_depends_on_the_seed_and_is_uniform() -> None:
    counts = np.zeros(len(CODES))
    for seed in range(2000):
        (_, deep) = draw_strata(CODES, BEST, CODES[:0], RANKS, SPACE, seed)[:2]
        counts[np.isin(CODES, deep.codes[deep.drawn])] += 1
    # 20 pairs of caption 0 with a share of 4 / 20, and 5 of caption 1 with 1 / 5.
    inside = counts[(BEST >= 10) & (BEST < 30)] / 2000
    assert np.abs(inside - 0.2).max() < 4.5 * np.sqrt(0.2 * 0.8 / 2000)
    first, again = (draw_strata(CODES, BEST, CODES[:0], RANKS, SPACE, 5) for _ in range(2))
    assert np.array_equal(drawn_codes(first), drawn_codes(again))


def test_a_stratum_survives_its_bytes() -> None:
    deep = draw_strata(CODES, BEST, CODES[:0], RANKS, SPACE, 3)[1]
    found = unpack_stratum(deep.name, deep.ranks, len(deep.codes), *pack_stratum(deep))
    assert np.array_equal(found.codes, deep.codes)
    assert np.array_equal(found.drawn, deep.drawn)
    with pytest.raises(ValueError, match="does not have 3 pairs"):
        unpack_stratum("x", None, 3, *pack_stratum(deep))
    with pytest.raises(ValueError, match="damaged"):
        unpack_stratum("x", None, 3, b"no", b"")

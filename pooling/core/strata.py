"""Strata of a pool: pairs that are judged whole or by a sample, by the best rank that a run gives.

A sampling rate for deep ranks makes a deep pool affordable. Which pairs are drawn depends on
nothing but their codes and the seed, so that scores can be estimated from the drawn ones.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from hearth.shared.errors import InvalidInput
from pooling.core.arrays import Bools, Int32s, Int64s
from pooling.core.hashing import mix
from pooling.core.pair_space import PairSpace

STRATA_MAX: Final = 100
NAME_MAX: Final = 40
EARLIER: Final = "earlier pools"
OTHERS: Final = "not ranked"
_TEXT = re.compile(r"([0-9]{1,7})-([0-9]{1,7})\s*[=:]\s*([0-9]*\.?[0-9]+)\s*(%?)")
_CODE = np.dtype("<i8")


@dataclass(frozen=True, slots=True)
class Ranks:
    """The ranks of a stratum, from 1, and the share of its pairs to judge, above 0."""

    first: int
    last: int
    rate: float

    def __str__(self) -> str:
        return f"{self.first}-{self.last}={self.rate:g}"


@dataclass(frozen=True, slots=True, eq=False)
class Stratum:
    """The pairs of a stratum.

    ranks: None if ranks do not define it. codes: int64 [n], ascending. drawn: bool [n], the pairs
    to judge.
    """

    name: str
    ranks: Ranks | None
    codes: Int64s
    drawn: Bools

    @property
    def n_drawn(self) -> int:
        return int(self.drawn.sum())


def parse_strata(texts: Sequence[str]) -> tuple[Ranks, ...]:
    """Return the strata of texts such as `1-10=1` and `11-50=20%`.

    Raises `InvalidInput` if one has another form, or if they do not follow each other from rank 1.
    """
    found: list[Ranks] = []
    for text in texts:
        match = _TEXT.fullmatch(text.strip())
        if match is None:
            raise InvalidInput(f"The stratum {text!r} must have the form 1-10=1 or 11-50=20%.")
        first, last, share, percent = match.groups()
        rate = float(share) / (100 if percent else 1)
        expected = found[-1].last + 1 if found else 1
        if int(first) != expected or int(last) < int(first):
            raise InvalidInput(
                f"The stratum {text!r} must begin at rank {expected} and not end before it."
            )
        if not 0 < rate <= 1:
            raise InvalidInput(f"The share of the stratum {text!r} must be above 0 and at most 1.")
        found.append(Ranks(int(first), int(last), rate))
    if len(found) > STRATA_MAX:
        raise InvalidInput(f"There are more than {STRATA_MAX} strata.")
    return tuple(found)


def draw_strata(
    codes: Int64s,
    best: Int32s,
    earlier: Int64s,
    ranks: Sequence[Ranks],
    space: PairSpace,
    seed: int,
) -> list[Stratum]:
    """Divide the pairs of a pool, and draw the pairs to judge.

    codes: int64 [n], ascending. best: int32 [n], the best rank of each pair, from 0. earlier: the
    codes of pairs that earlier pools contain whole. They are a stratum of their own, because their
    labels are no sample. So are the pairs that no run ranks.

    Of each caption and stratum, the share is rounded up, so that at least one pair is drawn.
    """
    is_earlier = np.isin(codes, earlier, assume_unique=True)
    parts = [_whole(EARLIER, codes[is_earlier])]
    for each in ranks:
        inside = ~is_earlier & (best >= each.first - 1) & (best < each.last)
        found = codes[inside]
        drawn = _drawn(found, space.queries(found), each.rate, seed)
        parts.append(Stratum(f"{each.first}-{each.last}", each, found, drawn))
    last = ranks[-1].last if ranks else 0
    parts.append(_whole(OTHERS, codes[~is_earlier & (best >= last)]))
    return [part for part in parts if part.ranks or len(part.codes)]


def _whole(name: str, codes: Int64s) -> Stratum:
    return Stratum(name, None, codes, np.ones(len(codes), np.bool_))


def _drawn(codes: Int64s, queries: Int64s, rate: float, seed: int) -> Bools:
    """Return which pairs have the lowest hashes of their caption, bool [n]."""
    order = np.lexsort((mix(codes, seed), queries))
    counts = np.bincount(queries)[queries[order]] if len(codes) else np.empty(0, np.int64)
    starts = np.searchsorted(queries[order], queries[order])
    place = np.arange(len(codes)) - starts
    drawn = np.zeros(len(codes), np.bool_)
    drawn[order] = place < np.ceil(rate * counts - 1e-9)
    return drawn


def stated_strata(
    names: Sequence[str], stratum: Int32s, codes: Int64s, judged: Bools
) -> list[Stratum]:
    """Return the strata that a file states.

    stratum: int [n], the index of the name of each pair. codes: int64 [n], distinct, in any order.
    judged: bool [n], the drawn pairs.
    """
    order = np.argsort(codes, kind="stable")
    stratum, codes, judged = stratum[order], codes[order], judged[order]
    return [
        Stratum(name, None, codes[stratum == number], judged[stratum == number])
        for number, name in enumerate(names)
    ]


def drawn_codes(strata: Iterable[Stratum]) -> Int64s:
    """Return the codes of the pairs to judge, int64, ascending."""
    found = [stratum.codes[stratum.drawn] for stratum in strata]
    return np.sort(np.concatenate(found)) if found else np.empty(0, np.int64)


def pack_stratum(stratum: Stratum) -> tuple[bytes, bytes]:
    """Return the codes and the flags of a stratum as bytes."""
    steps = np.diff(stratum.codes, prepend=0).astype(_CODE)
    return zlib.compress(steps.tobytes()), np.packbits(stratum.drawn).tobytes()


def unpack_stratum(
    name: str, ranks: Ranks | None, n_pairs: int, codes: bytes, drawn: bytes
) -> Stratum:
    """Reverse `pack_stratum`. Raises `ValueError` if the bytes are damaged."""
    try:
        steps = np.frombuffer(zlib.decompress(codes), _CODE)
    except zlib.error as error:
        raise ValueError(f"the pairs of the stratum {name} are damaged") from error
    flags = np.unpackbits(np.frombuffer(drawn, np.uint8), count=n_pairs).astype(np.bool_)
    if len(steps) != n_pairs or len(flags) != n_pairs:
        raise ValueError(f"the stratum {name} does not have {n_pairs} pairs")
    return Stratum(name, ranks, np.cumsum(steps, dtype=np.int64), flags)

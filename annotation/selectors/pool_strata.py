"""What the judging of each stratum of a planned pool gives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypedDict

import numpy as np

from annotation.models import JudgmentTask
from hearth.shared.bulk import read_columns
from pooling.core.arrays import Int64s
from pooling.core.strata import Stratum
from pooling.models import Benchmark
from pooling.selectors.pools import pair_arrays

# With fewer judged pairs in a stratum, the share of relevant pairs is not shown.
JUDGED_MIN = 20
_Z = 1.959964  # of a 95 % interval


class StratumReport(TypedDict):
    """A stratum of a planned pool.

    drawn: the pairs to judge; new: those of them that no earlier pool contains. stands_for: the
    pairs for which a drawn pair stands. judged, relevant: pairs of the stratum that have a label so
    far. share: the share of relevant pairs; null with few labels. relevant_expected: in the
    stratum. margin: half the width of the 95 % interval of the number of relevant pairs of the
    stratum after judging the drawn pairs; without a share, the largest possible one.
    """

    name: str
    rate: float | None
    pairs: int
    drawn: int
    new: int
    stands_for: float
    judged: int
    relevant: int
    share: float | None
    relevant_expected: float | None
    margin: float


def strata_reports(
    benchmark: Benchmark, strata: Sequence[Stratum], new: Int64s
) -> list[StratumReport]:
    """Return what judging each stratum gives. new: the codes of the new pairs, ascending."""
    judged, relevant = _labelled(benchmark) if strata else (new[:0], new[:0])
    reports = []
    for stratum in strata:
        size, drawn = len(stratum.codes), stratum.n_drawn
        n_judged = int(np.isin(stratum.codes, judged).sum())
        n_relevant = int(np.isin(stratum.codes, relevant).sum())
        share = n_relevant / n_judged if n_judged >= JUDGED_MIN else None
        reports.append(
            StratumReport(
                name=stratum.name,
                rate=stratum.ranks.rate if stratum.ranks else None,
                pairs=size,
                drawn=drawn,
                new=int(np.isin(stratum.codes[stratum.drawn], new).sum()),
                stands_for=size / drawn if drawn else 0.0,
                judged=n_judged,
                relevant=n_relevant,
                share=share,
                relevant_expected=None if share is None else share * size,
                margin=_margin(size, drawn, 0.5 if share is None else share),
            )
        )
    return reports


def _margin(size: int, drawn: int, share: float) -> float:
    """Return the half width for a sample without replacement."""
    if not 0 < drawn < size:
        return 0.0
    variance = size**2 * share * (1 - share) / drawn * (size - drawn) / max(1, size - 1)
    return _Z * math.sqrt(variance)


def _labelled(benchmark: Benchmark) -> tuple[Int64s, Int64s]:
    """Return the codes of the pairs with a label, and of the relevant ones, int64."""
    tasks = JudgmentTask.objects.filter(
        campaign__benchmark=benchmark, pair__isnull=False, label__isnull=False
    )
    ids, labels = read_columns(tasks, "pair_id", "label")
    pairs = pair_arrays(benchmark)
    order = np.argsort(pairs.ids, kind="stable")
    codes = pairs.codes[order[np.searchsorted(pairs.ids, ids, sorter=order)]] if len(ids) else ids
    return np.unique(codes), np.unique(codes[labels > 0])

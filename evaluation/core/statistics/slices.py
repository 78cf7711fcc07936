"""A measure by groups of queries, and how it goes along with an attribute of theirs.

An attribute is one number for each query, such as the words of a caption, its positives, or the
agreement of its annotators; per-query values of a measure are float64 [n_queries].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import FloatArray, IntArray, whole_numbers
from evaluation.core.people.agreement import Estimate
from evaluation.core.people.alpha import NO_VARIATION, Interval
from evaluation.core.relevance.scoring import NO_QUERIES
from evaluation.core.statistics.resampling import ONE_QUERY, check_values, mean_interval
from evaluation.core.statistics.ties import merge_ties

NO_GROUP: Final = -1


@dataclass(frozen=True, slots=True)
class Slice:
    """The queries of one group: how many, their mean value and its interval."""

    name: str
    n: int
    mean: Estimate
    interval: Interval


@dataclass(frozen=True, slots=True, eq=False)
class Bins:
    """Groups of queries by an attribute.

    groups: int64 [n_queries], numbers into `names`, NO_GROUP where the attribute is unknown.
    names: readable, such as "up to 4", "5–8" and "9 and more".
    """

    groups: IntArray
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Tagged:
    """Groups of queries that may overlap, with a place for each query in each of its groups.

    queries, groups: int64 [n_places], numbers of queries and into `names`. left_out: how many tags
    are none of the groups.
    """

    queries: IntArray
    groups: IntArray
    names: tuple[str, ...]
    left_out: int


def slice_means(
    values: npt.ArrayLike,
    groups: npt.ArrayLike,
    names: Sequence[str],
    resamples: int = 10_000,
    *,
    rng: np.random.Generator,
    confidence: float = 0.95,
    clusters: npt.ArrayLike | None = None,
) -> tuple[Slice, ...]:
    """The mean of each group, with its bootstrap interval, in the order of `names`.

    values: [n]; groups: whole numbers [n], NO_GROUP or a place in `names`; clusters: whole numbers
    [n], drawn together. Each group is resampled by itself. A query with several tags may stand
    there several times, once for each. Raises ValueError for anything else.
    """
    known = check_values(values, 1)
    group = _check_groups(groups, len(known), len(names))
    cluster = None if clusters is None else whole_numbers(clusters, "clusters", None)
    if cluster is not None and len(cluster) != len(known):
        raise ValueError(f"{len(cluster)} clusters for {len(known)} values")
    # Grouped once by a sort: with many tags, a search for each would take long.
    order = np.argsort(group, kind="stable")
    edges = np.searchsorted(group[order], np.arange(len(names) + 1))
    slices = []
    for number, name in enumerate(names):
        rows = order[edges[number] : edges[number + 1]]
        interval = mean_interval(
            known[rows],
            resamples,
            rng=rng,
            confidence=confidence,
            clusters=None if cluster is None else cluster[rows],
        )
        mean = Estimate(float(known[rows].mean())) if len(rows) else Estimate(None, NO_QUERIES)
        slices.append(Slice(name, len(rows), mean, interval))
    return tuple(slices)


def _check_groups(groups: npt.ArrayLike, length: int, n_groups: int) -> IntArray:
    array = np.asarray(groups)
    if array.shape != (length,):
        raise ValueError("groups must be one number for each value")
    return whole_numbers(array + 1, "groups, counted from -1", n_groups) - 1


# --- Bins -----------------------------------------------------------------------------------------


def cut_at(attribute: npt.ArrayLike, cuts: Sequence[float]) -> Bins:
    """Group queries by where their attribute [n_queries] lies among ascending `cuts`.

    A bin begins at its cut and ends below the next one; the first and the last are open. NaN
    stands for an unknown attribute. Raises ValueError for cuts that do not ascend.
    """
    numbers = _check_attribute(attribute)
    if not np.isfinite(cuts).all() or any(b <= a for a, b in pairwise(cuts)):
        raise ValueError("cuts must be finite and ascending")
    known = ~np.isnan(numbers)
    groups = np.searchsorted(np.asarray(cuts, dtype=np.float64), numbers, side="right")
    whole = all(float(cut).is_integer() for cut in cuts) and bool(
        np.all(numbers[known] == np.rint(numbers[known]))
    )
    return Bins(np.where(known, groups, NO_GROUP), _name_bins(cuts, whole))


def cut_by_quantiles(attribute: npt.ArrayLike, n_bins: int) -> Bins:
    """Group queries into at most `n_bins` bins of about as many queries each.

    Queries of the same attribute stay together, so an attribute that is often the same makes fewer
    and unequal bins. NaN stands for an unknown attribute.
    """
    numbers = _check_attribute(attribute)
    if n_bins < 1:
        raise ValueError("n_bins must be at least 1")
    known = numbers[~np.isnan(numbers)]
    if known.size == 0:
        return cut_at(numbers, ())
    shares = np.arange(1, n_bins) / n_bins
    # A value that occurs, and with which a bin begins; below the least there is nothing.
    cuts = np.unique(np.quantile(known, shares, method="higher"))
    return cut_at(numbers, cuts[cuts > known.min()].tolist())


def _check_attribute(attribute: npt.ArrayLike) -> FloatArray:
    numbers = np.asarray(attribute, dtype=np.float64)
    if numbers.ndim != 1 or np.isinf(numbers).any():
        raise ValueError("an attribute must be one number for each query, or NaN")
    return numbers


def _name_bins(cuts: Sequence[float], whole: bool) -> tuple[str, ...]:
    if len(cuts) == 0:
        return ("all",)
    first, last = cuts[0], cuts[-1]
    if whole:
        between = [f"{a:.0f}–{b - 1:.0f}" if b - a > 1 else f"{a:.0f}" for a, b in pairwise(cuts)]
        return (f"up to {first - 1:.0f}", *between, f"{last:.0f} and more")
    between = [f"{a:.4g} to below {b:.4g}" for a, b in pairwise(cuts)]
    return (f"below {first:.4g}", *between, f"{last:.4g} and more")


# --- Named groups ---------------------------------------------------------------------------------


def group_by_tags(
    tags: Mapping[str, npt.NDArray[Any]], n_queries: int, most: int, untagged: str
) -> Tagged:
    """A group for each of the `most` tags with the most queries, by their number, then by name.

    At the end one called `untagged` for the queries that have no tag at all, if there are any.

    tags: whole numbers of queries, each once, by tag. A query is in as many groups as it has tags.
    """
    ordered = sorted(tags, key=lambda tag: (-len(tags[tag]), tag))
    groups = {tag: tags[tag] for tag in ordered[:most]}
    without = np.setdiff1d(np.arange(n_queries), np.concatenate([*tags.values(), []]))
    if len(without):
        groups[untagged] = without
    sizes = [len(queries) for queries in groups.values()]
    return Tagged(
        queries=np.concatenate([*groups.values(), []]).astype(np.int64),
        groups=np.repeat(np.arange(len(sizes)), sizes),
        names=tuple(groups),
        left_out=max(0, len(tags) - most),
    )


AGREE, DIFFER, NOT_TOLD = range(3)


def annotator_agreement(
    queries: npt.ArrayLike, judgments: npt.ArrayLike, relevant: npt.ArrayLike, n_queries: int
) -> IntArray:
    """Whether the labels of each query's pairs agree, as far as a pair has several: [n_queries].

    queries, judgments, relevant: whole numbers [n_pairs], the query of each pair, how many labels
    it has, and how many of them say relevant. DIFFER where they are not unanimous for some pair,
    AGREE where they are for each that has several, NOT_TOLD where none has.
    """
    query = whole_numbers(queries, "queries", n_queries - 1)
    labels, yes = whole_numbers(judgments, "judgments", None), np.asarray(relevant)
    several = np.bincount(query[labels > 1], minlength=n_queries) > 0
    differ = np.bincount(query[(yes > 0) & (yes < labels)], minlength=n_queries) > 0
    found = np.where(differ, DIFFER, np.where(several, AGREE, NOT_TOLD))
    return np.asarray(found, dtype=np.int64)


# --- Correlation ----------------------------------------------------------------------------------


def spearman(attribute: npt.ArrayLike, values: npt.ArrayLike) -> Estimate:
    """Spearman's rank correlation of two sequences [n]: Pearson's of their ranks (1904).

    Equal numbers, up to rounding noise, share their mean rank. Undefined below two queries and
    if all numbers of a sequence are equal. Raises ValueError for numbers that are not finite.
    """
    return _correlation("spearmanr", attribute, values)


def kendall_tau_b(attribute: npt.ArrayLike, values: npt.ArrayLike) -> Estimate:
    """Kendall's tau-b of two sequences [n] (Kendall 1945); undefined as `spearman` is.

    (concordant - discordant pairs) / sqrt(pairs untied in the one * pairs untied in the other).
    """
    return _correlation("kendalltau", attribute, values)


def _correlation(name: str, attribute: npt.ArrayLike, values: npt.ArrayLike) -> Estimate:
    # Takes as long to import as all of Hearth, and few correlate.
    from scipy import stats  # type: ignore[import-untyped]

    x, y = map(merge_ties, _check_pair(attribute, values))
    undefined = _why_undefined(x, y)
    if undefined is not None:
        return Estimate(None, undefined)
    return Estimate(float(getattr(stats, name)(x, y).statistic))


def _check_pair(attribute: npt.ArrayLike, values: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    x, y = check_values(attribute, 1), check_values(values, 1)
    if len(x) != len(y):
        raise ValueError(f"an attribute of {len(x)} queries cannot be paired with {len(y)} values")
    return x, y


def _why_undefined(x: FloatArray, y: FloatArray) -> str | None:
    if len(x) < 2:
        return ONE_QUERY if len(x) else NO_QUERIES
    return NO_VARIATION if x.min() == x.max() or y.min() == y.max() else None

"""A measure for groups of queries, and its correlation with an attribute of the queries.

An attribute is one number for each query, such as the number of words of a caption or the number of
its positives. The values of a measure are float64 [n_queries].
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
from evaluation.core.relevance.measure import NO_QUERIES
from evaluation.core.statistics.resampling import ONE_QUERY, check_values, mean_interval
from evaluation.core.statistics.ties import merge_ties

NO_GROUP: Final = -1


@dataclass(frozen=True, slots=True)
class Slice:
    """One group of queries: its size n, its mean value and the interval of the mean."""

    name: str
    n: int
    mean: Estimate
    interval: Interval


@dataclass(frozen=True, slots=True, eq=False)
class Bins:
    """Groups of queries by an attribute.

    groups: int64 [n_queries], indices into `names`; NO_GROUP if the attribute is unknown.
    names: readable names, such as "up to 4", "5–8" and "9 and more".
    """

    groups: IntArray
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Tagged:
    """Groups of queries that can overlap, with one entry for each query in each of its groups.

    queries, groups: int64 [n_entries], query numbers and indices into `names`. left_out: number of
    tags that have no group.
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
    """Return the mean of each group with its bootstrap interval, in the order of `names`.

    values: [n]. groups: integers [n], an index into `names` or NO_GROUP. clusters: integers [n];
    entries of one cluster are drawn together. A query with several tags has one entry for each of
    them. Each group is resampled separately.

    Raises ValueError if the arrays have another shape or type, or a group is out of bounds.
    """
    known = check_values(values, 1)
    group = _check_groups(groups, len(known), len(names))
    cluster = None if clusters is None else whole_numbers(clusters, "clusters", None)
    if cluster is not None and len(cluster) != len(known):
        raise ValueError(f"{len(cluster)} clusters for {len(known)} values")
    # One sort groups all entries. With many tags, a search for each group would take long.
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
    return whole_numbers(array + 1, "groups plus 1", n_groups) - 1


# --- Bins -----------------------------------------------------------------------------------------


def cut_at(attribute: npt.ArrayLike, cuts: Sequence[float]) -> Bins:
    """Group queries by their attribute, float [n_queries], at ascending `cuts`.

    A bin begins at its cut and ends below the next one. The first and the last bin are open. NaN
    means that the attribute is unknown. Raises ValueError if the cuts do not ascend.
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
    """Group queries into at most `n_bins` bins of about equal size.

    attribute: float [n_queries]; NaN means that it is unknown. Queries with equal attributes are in
    the same bin. If one value is frequent, there are fewer bins, and they differ in size. Raises
    ValueError if `n_bins` is below 1.
    """
    numbers = _check_attribute(attribute)
    if n_bins < 1:
        raise ValueError("n_bins must be at least 1")
    known = numbers[~np.isnan(numbers)]
    if known.size == 0:
        return cut_at(numbers, ())
    shares = np.arange(1, n_bins) / n_bins
    # Each cut is a value that occurs. A cut at the lowest value would make an empty bin below it.
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
    tags: Mapping[str, npt.NDArray[Any]], n_queries: int, max_tags: int, untagged: str
) -> Tagged:
    """Return one group for each of the `max_tags` tags with the most queries.

    Groups are ordered by size, and groups of equal size by name. If some queries have no tag at
    all, a last group with the name `untagged` contains them.

    tags: for each tag, the numbers of its queries, each once. A query is in one group for each of
    its tags.
    """
    ordered = sorted(tags, key=lambda tag: (-len(tags[tag]), tag))
    groups = {tag: tags[tag] for tag in ordered[:max_tags]}
    without = np.setdiff1d(np.arange(n_queries), np.concatenate([*tags.values(), []]))
    if len(without):
        groups[untagged] = without
    sizes = [len(queries) for queries in groups.values()]
    return Tagged(
        queries=np.concatenate([*groups.values(), []]).astype(np.int64),
        groups=np.repeat(np.arange(len(sizes)), sizes),
        names=tuple(groups),
        left_out=max(0, len(tags) - max_tags),
    )


AGREE, DIFFER, NO_REPEATED_LABELS = range(3)


def annotator_agreement(
    queries: npt.ArrayLike, judgments: npt.ArrayLike, relevant: npt.ArrayLike, n_queries: int
) -> IntArray:
    """Return whether the labels of each query's pairs agree, int64 [n_queries].

    queries, judgments, relevant: integers [n_pairs], the query of each pair, the number of its
    labels, and the number of its labels that are relevant. The result is DIFFER if a pair of the
    query has different labels, AGREE if all pairs with several labels are unanimous, and
    NO_REPEATED_LABELS if no pair has several labels.
    """
    query = whole_numbers(queries, "queries", n_queries - 1)
    labels, n_relevant = whole_numbers(judgments, "judgments", None), np.asarray(relevant)
    has_several = np.bincount(query[labels > 1], minlength=n_queries) > 0
    is_split = (n_relevant > 0) & (n_relevant < labels)
    differ = np.bincount(query[is_split], minlength=n_queries) > 0
    agreement = np.where(differ, DIFFER, np.where(has_several, AGREE, NO_REPEATED_LABELS))
    return np.asarray(agreement, dtype=np.int64)


# --- Correlation ----------------------------------------------------------------------------------


def spearman(attribute: npt.ArrayLike, values: npt.ArrayLike) -> Estimate:
    """Return Spearman's rank correlation (1904) of two sequences [n].

    It is Pearson's correlation of the ranks. Numbers that are equal up to rounding errors share
    their mean rank. The correlation is undefined for fewer than two queries, and if all numbers of
    a sequence are equal. Raises ValueError if a number is not finite or the lengths differ.
    """
    return _correlation("spearmanr", attribute, values)


def kendall_tau_b(attribute: npt.ArrayLike, values: npt.ArrayLike) -> Estimate:
    """Return Kendall's tau-b (Kendall 1945) of two sequences [n].

    tau-b = (concordant - discordant pairs) / sqrt(pairs untied in the first * pairs untied in the
    second). It is undefined, and raises ValueError, in the same cases as `spearman`.
    """
    return _correlation("kendalltau", attribute, values)


def _correlation(name: str, attribute: npt.ArrayLike, values: npt.ArrayLike) -> Estimate:
    # This import takes as long as importing all of Hearth, and few processes need it.
    from scipy import stats  # type: ignore[import-untyped]

    x, y = map(merge_ties, _check_pair(attribute, values))
    undefined = _undefined_reason(x, y)
    if undefined is not None:
        return Estimate(None, undefined)
    return Estimate(float(getattr(stats, name)(x, y).statistic))


def _check_pair(attribute: npt.ArrayLike, values: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    x, y = check_values(attribute, 1), check_values(values, 1)
    if len(x) != len(y):
        raise ValueError(f"an attribute of {len(x)} queries cannot be paired with {len(y)} values")
    return x, y


def _undefined_reason(x: FloatArray, y: FloatArray) -> str | None:
    if len(x) < 2:
        return ONE_QUERY if len(x) else NO_QUERIES
    return NO_VARIATION if x.min() == x.max() or y.min() == y.max() else None

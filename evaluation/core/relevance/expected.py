"""The expected value of a sum over ranked positives, divided by the number of all positives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evaluation.core.arrays import FloatArray, IntArray


def expect_ratio(
    chance: FloatArray,
    outside: IntArray,
    dividend: Callable[[FloatArray, float], FloatArray],
) -> FloatArray:
    """Return the expected value for B queries, float64 [B].

    chance: [depth, B], the probability that the video at a rank is relevant. outside: [B], the
    number of positives that are not in the list.

    Let h_r be 1 for a positive at rank r and 0 otherwise, p_r the probability that h_r is 1, and
    M = outside. Then 1 / (M + sum of h) is the integral of z^(M - 1 + sum of h) over z from 0 to 1.
    Because the h_r are independent,

        E[h_r z^(sum of h)] = z * s_r * prod of (1 - p_i + p_i z),  s_r = p_r / (1 - p_r + p_r z)

    With h_r h_q instead of h_r, the factor is z^2 * s_r * s_q instead of z * s_r. `dividend(s, z)`
    is the sum of such factors, divided by z. The integrand is a polynomial in z of degree below
    M + depth. Gauss's quadrature is therefore exact with half as many nodes as this degree.
    """
    degree = int(outside.max(initial=0)) + len(chance)
    nodes, weights = np.polynomial.legendre.leggauss(degree // 2 + 1)
    expected = np.zeros(chance.shape[1], dtype=np.float64)
    for z, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        factor = 1 - chance * (1 - z)
        product = z**outside * factor.prod(axis=0)
        expected += weight * product * dividend(chance / factor, z)
    return expected


def ranks_of(by_rank: FloatArray) -> IntArray:
    """Return the ranks 1, 2, … as a column, for an array [depth, B]."""
    return np.arange(1, len(by_rank) + 1)[:, None]

"""Made benchmarks of which the score is known, and draws from them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evaluation.core.estimates import means, sequences, shares
from evaluation.core.estimates.shares import Interval

Floats = npt.NDArray[np.float64]
N = 2000


class World(NamedTuple):
    """The value and the prediction of each caption."""

    m: Floats
    f: Floats


def shares_world(rate: float, rng: np.random.Generator) -> World:
    """Return captions of which `rate` are correct."""
    m = np.zeros(N)
    m[: round(N * rate)] = 1
    return World(rng.permutation(m), np.zeros(N))


def means_world(rate: float, skill: float, rng: np.random.Generator) -> World:
    """Return average precisions with this mean, and a machine from useless (0) to perfect (1)."""
    m = rng.beta(2 * rate, 2 * (1 - rate), N)
    noise = rng.beta(2 * rate, 2 * (1 - rate), N)
    return World(m, np.where(rng.random(N) < skill, m + 0.05 * (noise - m), noise))


def draw(n: int, draws: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Return the captions of each draw, without replacement, [draws, n]."""
    return np.stack([rng.choice(N, n, replace=False, shuffle=True) for _ in range(draws)])


def estimate_share(world: World, drawn: npt.NDArray[np.int64]) -> Interval:
    n = drawn.shape[1]
    return shares.share_of_all(N, n, world.m[drawn].sum(axis=1), 0, N)


def estimate_mean(world: World, drawn: npt.NDArray[np.int64], *, machine: bool = True) -> Interval:
    f = world.f if machine else np.zeros(N)
    return means.difference_estimate(world.m[drawn], f[drawn], float(f.mean()), N, 1.0)


def covers(found: Interval, truth: float) -> float:
    return float(((found.low <= truth + 1e-12) & (truth - 1e-12 <= found.high)).mean())


def sequence_covers(world: World, drawn: npt.NDArray[np.int64], alpha: float) -> float:
    """Return how often the sequence contains the truth after every number of captions."""
    x = np.cumsum(world.m[drawn], axis=1)
    n = np.arange(1, drawn.shape[1] + 1)
    kept = sequences.is_kept(world.m.sum(), N, n[None, :], x, alpha)
    return float(kept.all(axis=1).mean())

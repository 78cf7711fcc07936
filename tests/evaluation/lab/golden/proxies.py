"""Proxies by word overlap, and their comparison with labels.

scipy computes AUC and correlations, the `krippendorff` package computes alpha, and plain Python
computes the rest.
"""

from __future__ import annotations

import math
import statistics
from typing import Any

import krippendorff
import numpy as np
from scipy import stats

from tests.evaluation.lab.golden import resampled
from tests.evaluation.lab.golden.scores import score
from tests.evaluation.lab.golden.world import Pair, World, as_qrels

# The proxies, each with a share (%). A word is one of the words of a video if at least this share
# of the video's captions contain it. Names are in alphabetical order, as in the results.
SHARES = {"any": 1, "some": 25}
# The arguments of `compute_proxy` for these proxies.
COMMANDS = [
    ["bow", "--name", name, "--stop-words", "none", "--percent", str(share)]
    for name, share in SHARES.items()
]

CHOSEN = ("threshold", "precision", "recall", "f1", "alpha")

Values = dict[Pair, float]


def proxy(world: World, name: str) -> Values:
    """Return the word overlap of each caption and video. Original positives have the value 1."""
    captions_of: dict[str, list[set[str]]] = {video: [] for video in world.videos}
    for key, video in world.original:
        captions_of[video].append(set(world.captions[key].split(" ")))
    words = {video: _frequent(sets, SHARES[name]) for video, sets in captions_of.items()}
    values = {
        (key, video): _overlap(set(text.split(" ")), words[video])
        for key, text in world.captions.items()
        for video in world.videos
    }
    return values | dict.fromkeys(world.original, 1.0)


def _frequent(sets: list[set[str]], percent: int) -> set[str]:
    return {
        word
        for word in set().union(*sets)
        if 100 * sum(word in one for one in sets) >= percent * len(sets)
    }


def _overlap(one: set[str], other: set[str]) -> float:
    either = one | other
    return len(one & other) / len(either) if either else 0.0


def thresholds(world: World, limits: list[float]) -> dict[str, Any]:
    rows = []
    for name in SHARES:
        values = proxy(world, name)
        for limit in limits:
            called = {pair for pair, value in values.items() if value >= limit}
            others = called - set(world.original)
            rows.append(
                {
                    "proxy": name,
                    "threshold": limit,
                    "pairs": len(called),
                    "own": len(called) - len(others),
                    "captions_per_video": len(called) / len(world.videos),
                    "lonely_captions": len(world.captions) - len({key for key, _ in others}),
                    "lonely_videos": len(world.videos) - len({video for _, video in others}),
                }
            )
    return {"rows": rows}


def correlation(world: World) -> dict[str, Any]:
    first, second = (
        {pair: float(np.float16(value)) for pair, value in proxy(world, name).items()}
        for name in SHARES
    )
    by_video = [
        [(first[key, video], second[key, video]) for key in world.captions]
        for video in world.videos
    ]
    by_caption = [
        [(first[key, video], second[key, video]) for video in world.videos]
        for key in world.captions
    ]
    rows = []
    for lists in (by_video, by_caption):
        varied = [row for row in lists if all(len(set(one)) > 1 for one in zip(*row, strict=True))]
        found = [float(stats.pearsonr(*zip(*row, strict=True)).statistic) for row in varied]
        rows.append(
            {
                "proxies": list(SHARES),
                "correlation": statistics.fmean(found),
                "queries": len(found),
                "left_out": len(lists) - len(found),
            }
        )
    return {"rows": rows}


def calibration(world: World, measure: str, limits: list[float]) -> dict[str, Any]:
    original = set(world.original)
    pairs = {pair: bool(label) for pair, label in world.settled.items() if pair not in original}
    rows, curve, scores, orders = [], [], [], []
    for name in SHARES:
        values = proxy(world, name)
        points = [_point(pairs, values, limit) for limit in limits]
        for point in points:
            every = sum(values[pair] >= point["threshold"] for pair in values.keys() - original)
            curve.append({"proxy": name, **point, "pairs": every})
        best = _middle_of_best([point["alpha"] for point in points])
        rows.append(
            {
                "proxy": name,
                "auc": _auc(pairs, values),
                "ap": _average_precision(pairs, values),
                **{key: points[best][key] for key in CHOSEN},
                **_intervals(world, pairs, values, limits[best]),
            }
        )
        own = _scores(world, measure, values, limits[best])
        scores += [{"proxy": name, **row} for row in own]
        tau = stats.kendalltau(
            [round(row["by_proxy"], 9) for row in own], [round(row["by_people"], 9) for row in own]
        )
        orders.append({"proxy": name, "tau": float(tau.statistic)})
    return {
        "pairs": len(pairs),
        "relevant": sum(pairs.values()),
        "known": len(original),
        "rows": rows,
        "curve": curve,
        "scores": scores,
        "orders": orders,
    }


def _point(pairs: dict[Pair, bool], values: Values, limit: float) -> dict[str, Any]:
    called = [pair for pair in pairs if values[pair] >= limit]
    correct, relevant = sum(pairs[pair] for pair in called), sum(pairs.values())
    outcomes = [[values[pair] >= limit for pair in pairs], list(pairs.values())]
    alpha = krippendorff.alpha(np.array(outcomes, float), level_of_measurement="nominal")
    return {
        "alpha": float(alpha),
        "threshold": limit,
        "called": len(called),
        "correct": correct,
        "precision": correct / len(called) if called else None,
        "recall": correct / relevant,
        "f1": 2 * correct / (len(called) + relevant),
    }


def _middle_of_best(alpha: list[float]) -> int:
    """Return the place of the highest alpha, or the middle of adjacent places that have it."""
    first = alpha.index(max(alpha))
    last = first
    while last + 1 < len(alpha) and alpha[last + 1] == alpha[first]:
        last += 1
    return first + (last - first) // 2


def _auc(pairs: dict[Pair, bool], values: Values) -> float:
    relevant = [values[pair] for pair, label in pairs.items() if label]
    others = [values[pair] for pair, label in pairs.items() if not label]
    u = stats.mannwhitneyu(relevant, others).statistic
    return float(u) / len(relevant) / len(others)


def _average_precision(pairs: dict[Pair, bool], values: Values) -> float:
    precisions = []
    for pair, label in pairs.items():
        if label:
            above = [pairs[other] for other in pairs if values[other] >= values[pair]]
            precisions.append(statistics.fmean(above))
    return math.fsum(precisions) / len(precisions)


def _intervals(
    world: World, pairs: dict[Pair, bool], values: Values, limit: float
) -> dict[str, Any]:
    called = [pair for pair in pairs if values[pair] >= limit]
    relevant = [pair for pair, label in pairs.items() if label]
    return {
        "precision_interval": resampled.cluster_interval(
            [float(pairs[pair]) for pair in called], [world.first_videos[key] for key, _ in called]
        ),
        "recall_interval": resampled.cluster_interval(
            [float(values[pair] >= limit) for pair in relevant],
            [world.first_videos[key] for key, _ in relevant],
        ),
    }


def _scores(world: World, measure: str, values: Values, limit: float) -> list[dict[str, Any]]:
    called = {pair: 1 for pair, value in values.items() if value >= limit}
    qrels = as_qrels(called | dict.fromkeys(world.original, 1))
    return [
        {
            "run": name,
            "measure": measure,
            "original": score(world, lists, world.by_original, measure),
            "by_proxy": score(world, lists, qrels, measure),
            "by_people": score(world, lists, world.by_labels, measure),
        }
        for name, lists in world.runs.items()
    ]

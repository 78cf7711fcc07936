"""Statistics by scipy, and texts compared by term weights in plain Python."""

from __future__ import annotations

import math
import statistics
import unicodedata
from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
from scipy import stats

from tests.evaluation.lab.golden import resampled
from tests.evaluation.lab.golden.scores import per_caption, score
from tests.evaluation.lab.golden.tables import positives_of
from tests.evaluation.lab.golden.world import World, as_qrels

# --- Intervals, differences, sub-samples ----------------------------------------------------------


def intervals(world: World, measures: str, *, by_videos: bool = False) -> dict[str, Any]:
    rows = []
    for measure in measures.split():
        for name, lists in world.runs.items():
            labelled = per_caption(world, lists, world.by_labels, measure)
            original = per_caption(world, lists, world.by_original, measure)
            change = [one - other for one, other in zip(labelled, original, strict=True)]
            rows.append(
                {
                    "run": name,
                    "measure": measure,
                    "labelled": statistics.fmean(labelled),
                    "labelled_interval": _interval(world, labelled, by_videos),
                    "original": statistics.fmean(original),
                    "original_interval": _interval(world, original, by_videos),
                    "difference": statistics.fmean(change),
                    "difference_interval": resampled.cluster_interval(
                        change, _videos(world), difference=True
                    )
                    if by_videos
                    else resampled.difference_interval(labelled, original),
                }
            )
    return {"rows": rows}


def _interval(world: World, values: list[float], by_videos: bool) -> Any:
    if by_videos:
        return resampled.cluster_interval(values, _videos(world))
    return resampled.mean_interval(values)


def _videos(world: World) -> list[str]:
    return [world.first_videos[caption] for caption in world.captions]


def significance(world: World, measure: str, *, by_videos: bool = False) -> dict[str, Any]:
    """Return the tests of all pairs of runs, for a measure of zeros and ones.

    By caption, the randomisation test equals the sign test of the captions that differ. By video,
    all signs of a video change together.
    """
    values = {
        name: per_caption(world, lists, world.by_labels, measure)
        for name, lists in world.runs.items()
    }
    rows = []
    for first, second in combinations(values, 2):
        change = np.array(values[first]) - np.array(values[second])
        wins, losses = int((change > 0).sum()), int((change < 0).sum())
        rows.append(
            {
                "first": first,
                "second": second,
                "difference": float(change.mean()),
                "interval": resampled.cluster_interval(
                    change.tolist(), _videos(world), difference=True
                )
                if by_videos
                else resampled.difference_interval(values[first], values[second]),
                "effect": float(change.mean() / change.std(ddof=1)),
                "wins": wins,
                "ties": int((change == 0).sum()),
                "losses": losses,
                "p_randomisation": _p_by_video(change.tolist(), _videos(world))
                if by_videos
                else float(stats.binomtest(wins, wins + losses).pvalue),
            }
        )
    for row, adjusted in zip(rows, _holm([row["p_randomisation"] for row in rows]), strict=True):
        row["p_holm"] = adjusted
    before = [score(world, lists, world.by_original, measure) for lists in world.runs.values()]
    after = [score(world, lists, world.by_labels, measure) for lists in world.runs.values()]
    return {
        "comparisons": rows,
        "ranking": {"tau": float(stats.kendalltau(before, after).statistic)},
        "ranks": [
            {"run": name, "original": original, "labelled": other, "mean": mean, "gap": 1 - mean}
            for name, original, other, mean in zip(
                values, _ranked(before), _ranked(after), after, strict=True
            )
        ],
    }


def _p_by_video(change: list[float], videos: list[str]) -> float:
    """Return the p-value: the share of sign assignments to videos whose sum is at least as far from
    0 as the observed one."""
    sums, _ = resampled.cluster_totals(change, videos)
    # The number of assignments that reach each sum.
    ways = Counter({0: 1})
    for total in map(round, sums):
        ways = Counter(
            {
                reached: ways[reached - total] + ways[reached + total]
                for reached in {so_far + sign * total for so_far in ways for sign in (-1, 1)}
            }
        )
    far = sum(number for reached, number in ways.items() if abs(reached) >= abs(sum(sums)))
    return far / sum(ways.values())


def _ranked(scores: list[Any]) -> list[int]:
    return [int(rank) for rank in stats.rankdata([-score for score in scores], method="min")]


def _holm(p_values: list[float]) -> list[float]:
    adjusted, so_far = {}, 0.0
    for place, number in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        so_far = max(so_far, min(1.0, (len(p_values) - place) * p_values[number]))
        adjusted[number] = so_far
    return [adjusted[number] for number in range(len(p_values))]


def sub_samples(
    world: World, measure: str, sizes: list[int], *, by_videos: bool = False
) -> dict[str, Any]:
    """Return the means and deviations of sub-samples.

    By caption, the mean and the deviation sigma / sqrt(size) are exact. By video, the deviation is
    estimated from samples that this function draws. For a difference of two systems, the deviation
    is multiplied by the root of (mean square / variance), so that it is measured around 0.
    """
    rows, pairs = [], []
    z = float(stats.norm.ppf(0.975))
    for by, qrels in (("labelled", world.by_labels), ("original", world.by_original)):
        values = {
            name: np.array(per_caption(world, lists, qrels, measure))
            for name, lists in world.runs.items()
        }
        for size in sizes:
            for name, own in values.items():
                deviation = _sampled_deviation(world, own, size, by_videos)
                error = deviation / math.sqrt(resampled.OURS)
                # A ratio of two sums is biased by a small part of its deviation.
                bias = deviation**2 / 2 if by_videos else 0.0
                rows.append(
                    {
                        "run": name,
                        "by": by,
                        "size": size,
                        "mean": resampled.about(float(own.mean()), 4 * error + bias),
                        "deviation": _about_deviation(deviation, by_videos),
                        "smallest": _about_deviation(z * math.sqrt(2) * deviation, by_videos),
                    }
                )
            for first, second in combinations(values, 2):
                change = values[first] - values[second]
                around_zero = math.sqrt(float(np.mean(change**2)) / float(change.var()))
                deviation = _sampled_deviation(world, change, size, by_videos)
                pairs.append(
                    {
                        "first": first,
                        "second": second,
                        "by": by,
                        "size": size,
                        "difference": float(change.mean()),
                        "smallest": _about_deviation(z * around_zero * deviation, by_videos),
                    }
                )
    return {"rows": rows, "pairs": pairs}


def _sampled_deviation(world: World, values: Any, size: int, by_videos: bool) -> float:
    if not by_videos:
        return float(values.std()) / math.sqrt(size)
    videos = list(dict.fromkeys(_videos(world)))
    of_video = [[n for n, own in enumerate(_videos(world)) if own == video] for video in videos]
    sums = np.array([values[own].sum() for own in of_video])
    sizes = np.array([len(own) for own in of_video])
    number = max(1, round(size / float(sizes.mean())))
    drawn = np.random.default_rng(1).integers(0, len(videos), (resampled.THEIRS, number))
    return float(ratio_of(sums[drawn], sizes[drawn]).std())


def ratio_of(sums: Any, sizes: Any) -> Any:
    return sums.sum(axis=1) / sizes.sum(axis=1)


def _about_deviation(deviation: float, drawn: bool = False) -> dict[str, float]:
    """Return the deviation with a tolerance. drawn: whether the deviation itself is from draws.

    The standard deviation of B normal draws has the standard error sd / sqrt(2 B).
    """
    draws = resampled.OURS / 2 if drawn else resampled.OURS
    return resampled.about(deviation, 4 * deviation / math.sqrt(2 * draws))


RATES = {"pairs": 20, "double": 0.1, "disagreement": 0.05, "seconds": 7, "money": 15}
# A plan is computed for these multiples of the requested difference.
STEPS = (0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4)


def plan(
    world: World, measure: str, difference: float, power: float, *, by_videos: bool = False
) -> dict[str, Any]:
    """Return sample sizes, each multiplied by the design effect.

    Paired plans use Connor's formula. Independent plans use the formula for two proportions. For
    measures other than zeros and ones, paired plans use the mean square of the differences, and
    independent plans use the sample variances.
    """
    values = {
        name: np.array(per_caption(world, lists, world.by_labels, measure))
        for name, lists in world.runs.items()
    }
    rows, pilots = [], []
    for first, second in combinations(values, 2):
        one, other = values[first], values[second]
        for design, samples in (("paired", [one - other]), ("independent", [one, other])):
            effect, icc = _design_effect(world, samples) if by_videos else (1.0, None)
            who = {"first": first, "second": second, "design": design}
            pilots.append({**who, "design_effect": effect, "icc": icc})
            for step in STEPS:
                goal = difference * step / 100
                alone = _needed(design, one, other, goal, power)
                each = math.ceil(max(effect, 1.0) * alone)
                sets = 1 if design == "paired" else 2
                pairs = sets * each * RATES["pairs"]
                judgments = pairs * (1 + RATES["double"] * (1 + RATES["disagreement"]))
                hours = judgments * RATES["seconds"] / 3600
                rows.append(
                    {
                        **who,
                        "deviation": math.sqrt(sum(sample.var(ddof=1) for sample in samples)),
                        "difference": goal,
                        "captions": sets * each,
                        "single_captions": sets * math.ceil(alone) if by_videos else None,
                        "pairs": pairs,
                        "judgments": math.ceil(round(judgments, 6)),
                        "hours": hours,
                        "money": hours * RATES["money"],
                    }
                )
    return {"rows": rows, "pilots": pilots}


def _needed(design: str, one: Any, other: Any, difference: float, power: float) -> float:
    z, z_power = float(stats.norm.ppf(0.975)), float(stats.norm.ppf(power))
    if design == "paired":
        psi = float(np.mean((one - other) ** 2))  # the discordant share of zeros and ones
        null, alternative = psi, psi - difference**2
    elif {*one.tolist(), *other.tolist()} <= {0.0, 1.0}:
        middle = float(one.mean() + other.mean()) / 2
        high, low = middle + difference / 2, middle - difference / 2
        null, alternative = 2 * middle * (1 - middle), high * (1 - high) + low * (1 - low)
    else:
        null = alternative = float(one.var(ddof=1) + other.var(ddof=1))
    return (z * math.sqrt(null) + z_power * math.sqrt(alternative)) ** 2 / difference**2


def _design_effect(world: World, samples: list[Any]) -> tuple[float, float]:
    """Return the design effect and the intraclass correlation.

    The design effect is the variance of the mean by video, divided by that by caption.
    """
    videos = _videos(world)
    names = list(dict.fromkeys(videos))
    by_video = by_caption = 0.0
    for sample in samples:
        sums = dict.fromkeys(names, 0.0)
        for name, value in zip(videos, sample, strict=True):
            sums[name] += value - sample.mean()
        total = sum(term**2 for term in sums.values())
        by_video += total * len(names) / (len(names) - 1) / len(sample) ** 2
        by_caption += sample.var(ddof=1) / len(sample)
    sizes = Counter(videos).values()
    size = sum(size**2 for size in sizes) / sum(sizes)
    effect = float(by_video / by_caption)
    return effect, (effect - 1) / (size - 1)


# --- Slices ---------------------------------------------------------------------------------------


def slices(world: World, measure: str, by: str, bins: int) -> dict[str, Any]:
    attribute = world.words if by == "length" else positives_of(world, world.by_labels)
    ordered = sorted(attribute)
    # Each slice but the first begins at a quantile. If a quantile lies between two values, the
    # higher one is used.
    places = [math.ceil((len(ordered) - 1) * part / bins) for part in range(1, bins)]
    cuts = sorted({ordered[place] for place in places} - {ordered[0]})
    numbers = [sum(value >= cut for cut in cuts) for value in attribute]
    rows, correlations = [], []
    for name, lists in world.runs.items():
        values = per_caption(world, lists, world.by_labels, measure)
        for number in range(len(cuts) + 1):
            own = [value for value, at in zip(values, numbers, strict=True) if at == number]
            rows.append({"run": name, "captions": len(own), "mean": statistics.fmean(own)})
        correlations.append({"run": name, **_correlated(attribute, values)})
    return {"rows": rows, "correlations": correlations}


def _correlated(first: list[Any], second: list[Any]) -> dict[str, float]:
    """Return the rank correlations. Values that differ by rounding errors are ties."""
    first, second = ([round(value, 9) for value in values] for values in (first, second))
    return {
        "spearman": float(stats.spearmanr(first, second).statistic),
        "kendall": float(stats.kendalltau(first, second, variant="b").statistic),
    }


# --- Texts ----------------------------------------------------------------------------------------

CUTS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)

Weights = dict[str, float]


def weighted(world: World) -> dict[str, Weights]:
    """Return the normalised weights tf * (ln((1 + n) / (1 + df)) + 1) of five-character grams."""
    counts = {key: Counter(_grams(text)) for key, text in world.captions.items()}
    df = Counter(gram for grams in counts.values() for gram in grams)
    found = {}
    for key, grams in counts.items():
        weights = {
            gram: times * (math.log((1 + len(counts)) / (1 + df[gram])) + 1)
            for gram, times in grams.items()
        }
        norm = math.sqrt(sum(weight**2 for weight in weights.values()))
        found[key] = {gram: weight / norm for gram, weight in weights.items()}
    return found


def _grams(text: str) -> list[str]:
    plain = "".join(" " if unicodedata.category(sign)[0] in "PS" else sign for sign in text.lower())
    joined = " ".join(plain.split())
    return [joined[place : place + 5] for place in range(max(1, len(joined) - 4))]


def similarity(one: Weights, other: Weights) -> float:
    return round(sum(weight * other.get(gram, 0.0) for gram, weight in one.items()), 12)


def wording(world: World, measure: str) -> dict[str, Any]:
    vectors = weighted(world)
    overlap = [
        _mean_of_ten_nearest(
            similarity(vectors[key], vectors[other])
            for other in world.captions
            if world.first_videos[other] != world.first_videos[key]
        )
        for key in world.captions
    ]
    numbers = [sum(value >= cut for cut in CUTS) for value in overlap]
    rows, correlations = [], []
    for name, lists in world.runs.items():
        values = per_caption(world, lists, world.by_labels, measure)
        for number in range(len(CUTS) + 1):
            own = [value for value, at in zip(values, numbers, strict=True) if at == number]
            mean = statistics.fmean(own) if own else None
            rows.append({"run": name, "captions": len(own), "mean": mean})
        correlations.append({"run": name, **_correlated(overlap, values)})
    return {
        "rows": rows,
        "unknown": 0,
        "correlations": correlations,
        "with_length": _correlated(overlap, world.words),
    }


def _mean_of_ten_nearest(similarities: Any) -> float:
    return round(statistics.fmean(sorted(similarities, reverse=True)[:10]), 12)


def matching(world: World, measures: str, threshold: float) -> dict[str, Any]:
    """Return the results if a video counts as relevant to captions that are like its own."""
    vectors = weighted(world)
    original = set(world.original)
    captions_of = {
        video: [key for key, own in world.original if own == video] for video in world.videos
    }
    pairs = {pair: label for pair, label in world.settled.items() if pair not in original}
    alike = {
        (caption, video): max(
            (
                similarity(vectors[caption], vectors[other])
                for other in captions_of[video]
                if other != caption
            ),
            default=0.0,
        )
        for caption, video in pairs
    }
    curve = [_quality(pairs, alike, step / 50) for step in range(1, 51)]
    matched = {pair: int(value >= threshold) for pair, value in alike.items()}
    by = {
        "original": world.by_original,
        "matched": as_qrels(matched | dict.fromkeys(original, 1)),
        "labelled": world.by_labels,
    }
    return {
        "pairs": len(pairs),
        "relevant": sum(pairs.values()),
        "threshold": threshold,
        "curve": curve,
        "scores": [
            {"run": name, "measure": measure}
            | {key: score(world, world.runs[name], qrels, measure) for key, qrels in by.items()}
            for name in world.runs
            for measure in measures.split()
        ],
    }


def _quality(
    pairs: dict[tuple[str, str], int], alike: dict[tuple[str, str], float], threshold: float
) -> dict[str, float]:
    called = [pair for pair in pairs if alike[pair] >= threshold]
    correct, relevant = sum(pairs[pair] for pair in called), sum(pairs.values())
    precision, recall = correct / len(called) if called else 0.0, correct / relevant
    both = precision + recall
    return {
        "threshold": threshold,
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / both if both else 0.0,
        "labelled": len(called),
        "correct": correct,
    }

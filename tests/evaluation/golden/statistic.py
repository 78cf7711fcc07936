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

from tests.evaluation.golden import resampled
from tests.evaluation.golden.scores import per_caption, score
from tests.evaluation.golden.tables import positives_of
from tests.evaluation.golden.world import World, as_qrels

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
                    "difference_interval": resampled.cluster_interval(change, _videos(world))
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
    return [world.source[caption] for caption in world.captions]


def significance(world: World, measure: str) -> dict[str, Any]:
    """For a measure of zeros and ones, Fisher's test is the sign test of the captions that
    differ."""
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
                "interval": resampled.difference_interval(values[first], values[second]),
                "effect": float(change.mean() / change.std(ddof=1)),
                "wins": wins,
                "ties": int((change == 0).sum()),
                "losses": losses,
                "p_randomisation": float(stats.binomtest(wins, wins + losses).pvalue),
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
            {"run": name, "original": one, "labelled": other, "mean": mean, "gap": 1 - mean}
            for name, one, other, mean in zip(
                values, _ranked(before), _ranked(after), after, strict=True
            )
        ],
    }


def _ranked(scores: list[Any]) -> list[int]:
    return [int(rank) for rank in stats.rankdata([-one for one in scores], method="min")]


def _holm(p_values: list[float]) -> list[float]:
    adjusted, so_far = {}, 0.0
    for place, number in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        so_far = max(so_far, min(1.0, (len(p_values) - place) * p_values[number]))
        adjusted[number] = so_far
    return [adjusted[number] for number in range(len(p_values))]


def sub_samples(world: World, measure: str, sizes: list[int]) -> dict[str, Any]:
    """What the draws are drawn from is known: the mean, and sigma / sqrt(size)."""
    rows, pairs = [], []
    z = float(stats.norm.ppf(0.975))
    for by, qrels in (("labelled", world.by_labels), ("original", world.by_original)):
        values = {
            name: np.array(per_caption(world, lists, qrels, measure))
            for name, lists in world.runs.items()
        }
        for size in sizes:
            for name, own in values.items():
                deviation = float(own.std()) / math.sqrt(size)
                rows.append(
                    {
                        "run": name,
                        "by": by,
                        "size": size,
                        "mean": resampled.about(
                            float(own.mean()), 4 * deviation / math.sqrt(resampled.OURS)
                        ),
                        "deviation": _about_deviation(deviation),
                        "smallest": _about_deviation(z * math.sqrt(2) * deviation),
                    }
                )
            for first, second in combinations(values, 2):
                change = values[first] - values[second]
                pairs.append(
                    {
                        "first": first,
                        "second": second,
                        "by": by,
                        "size": size,
                        "difference": float(change.mean()),
                        "smallest": _about_deviation(z * float(change.std()) / math.sqrt(size)),
                    }
                )
    return {"rows": rows, "pairs": pairs}


def _about_deviation(deviation: float) -> dict[str, float]:
    """The standard error of a standard deviation of B normal draws is sd / sqrt(2 B)."""
    return resampled.about(deviation, 4 * deviation / math.sqrt(2 * resampled.OURS))


RATES = {"pairs": 20, "double": 0.1, "disagreement": 0.05, "seconds": 7, "money": 15}
STEPS = (0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4)


def plan(world: World, measure: str, difference: float, power: float) -> dict[str, Any]:
    z = float(stats.norm.ppf(0.975) + stats.norm.ppf(power))
    values = {
        name: np.array(per_caption(world, lists, world.by_labels, measure))
        for name, lists in world.runs.items()
    }
    rows = []
    for first, second in combinations(values, 2):
        paired = float((values[first] - values[second]).std(ddof=1))
        alone = math.hypot(values[first].std(ddof=1), values[second].std(ddof=1))
        for design, deviation in (("paired", paired), ("independent", alone)):
            for step in STEPS:
                each = math.ceil((z * deviation / (difference * step / 100)) ** 2)
                captions = each if design == "paired" else 2 * each
                pairs = captions * RATES["pairs"]
                judgments = pairs * (1 + RATES["double"] * (1 + RATES["disagreement"]))
                hours = judgments * RATES["seconds"] / 3600
                rows.append(
                    {
                        "first": first,
                        "second": second,
                        "design": design,
                        "deviation": deviation,
                        "difference": difference * step / 100,
                        "captions": captions,
                        "pairs": pairs,
                        "judgments": math.ceil(round(judgments, 6)),
                        "hours": hours,
                        "money": hours * RATES["money"],
                    }
                )
    return {"rows": rows}


# --- Slices ---------------------------------------------------------------------------------------


def slices(world: World, measure: str, by: str, bins: int) -> dict[str, Any]:
    attribute = world.words if by == "length" else positives_of(world, world.by_labels)
    ordered = sorted(attribute)
    # Each slice begins with a value that occurs, at or above the share's place.
    places = [math.ceil((len(ordered) - 1) * part / bins) for part in range(1, bins)]
    cuts = sorted({ordered[place] for place in places} - {ordered[0]})
    numbers = [sum(value >= one for one in cuts) for value in attribute]
    rows, correlations = [], []
    for name, lists in world.runs.items():
        values = per_caption(world, lists, world.by_labels, measure)
        for number in range(len(cuts) + 1):
            own = [value for value, at in zip(values, numbers, strict=True) if at == number]
            rows.append({"run": name, "captions": len(own), "mean": statistics.fmean(own)})
        correlations.append({"run": name, **_correlated(attribute, values)})
    return {"rows": rows, "correlations": correlations}


def _correlated(first: list[Any], second: list[Any]) -> dict[str, float]:
    return {
        "spearman": float(stats.spearmanr(first, second).statistic),
        "kendall": float(stats.kendalltau(first, second, variant="b").statistic),
    }


# --- Texts ----------------------------------------------------------------------------------------

CUTS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)

Weights = dict[str, float]


def weighted(world: World) -> dict[str, Weights]:
    """Runs of five characters by tf * (ln((1 + n) / (1 + df)) + 1), each text of length one."""
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
        _nearest(
            similarity(vectors[key], vectors[other])
            for other in world.captions
            if world.source[other] != world.source[key]
        )
        for key in world.captions
    ]
    numbers = [sum(value >= one for one in CUTS) for value in overlap]
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


def _nearest(similarities: Any) -> float:
    return round(statistics.fmean(sorted(similarities, reverse=True)[:10]), 12)


def matching(world: World, measures: str) -> dict[str, Any]:
    """A video matches a caption where one of its own captions is similar enough."""
    vectors = weighted(world)
    original = set(world.original)
    captions_of = {
        video: [key for key, own in world.original if own == video] for video in world.videos
    }
    pairs = {pair: label for pair, label in world.decided.items() if pair not in original}
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
    threshold = max(curve, key=lambda row: row["f1"])["threshold"]
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

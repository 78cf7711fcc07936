"""Counts and agreement. The `krippendorff` package computes alpha, and plain Python the rest."""

from __future__ import annotations

import statistics
from collections import Counter
from itertools import combinations
from typing import Any

import krippendorff
import numpy as np

from tests.evaluation.lab.golden import resampled
from tests.evaluation.lab.golden.scores import pairs_of, per_caption
from tests.evaluation.lab.golden.world import Lists, Pair, Qrels, World, as_qrels, gathered, settled

Labels = list[list[int]]  # of each pair
Judgments = list[tuple[Pair, str, int]]

# --- Labels ---------------------------------------------------------------------------------------


def agreement(world: World) -> dict[str, Any]:
    labels = list(world.labels_of.values())
    return {
        "pairs": len(labels),
        "labels": sum(map(len, labels)),
        "resolved": len(world.settled),
        "conflicted": len(labels) - len(world.settled),
        "relevant": sum(world.settled.values()),
        "multiply_labelled": len(_several(labels)),
        "agreement": _unanimous(labels),
        "pairwise_agreement": _pairwise(labels),
        **_quoted(labels),
        "first_labels": _figures(_first_two(labels)),
        "all_labels": _figures(labels),
        "by_label_count": [
            {"labels": number, "pairs": len(own), "agreement": _unanimous(own)}
            for number, own in _by_number(labels)
        ],
        "annotators": _annotators(world),
    }


def labels_table(world: World) -> dict[str, Any]:
    labels = list(world.labels_of.values())
    return {
        "labels": sum(map(len, labels)),
        "several": len(_several(labels)),
        **_outcomes(labels),
        "pairwise_agreement": _pairwise(labels),
        **_quoted(labels),
        "first_labels": _figures(_first_two(labels)),
        "all_labels": _figures(labels),
        "by_number": [{"labels": n, **_outcomes(own)} for n, own in _by_number(labels)],
    }


def _first_two(labels: Labels) -> Labels:
    """Return the first two labels of each pair, in the order of the file.

    A third label is requested only if these differ, so it would bias the agreement.
    """
    return [pair[:2] for pair in labels]


def _quoted(labels: Labels) -> dict[str, Any]:
    """Return the figures of the first two labels, which are the ones to report."""
    first = _first_two(labels)
    return {
        "first_two_agreement": _unanimous(first),
        "alpha": alpha(first),
        "alpha_interval_pairs": _alpha_interval(first),
        "ac1": _ac1(first),
    }


def _figures(labels: Labels) -> dict[str, Any]:
    return {
        "agreement": _unanimous(labels),
        "pairwise_agreement": _pairwise(labels),
        "alpha": alpha(labels),
        "alpha_interval_pairs": _alpha_interval(labels),
        "ac1": _ac1(labels),
    }


def _ac1(labels: Labels) -> float:
    """Return Gwet's AC1 of two categories, as defined in his handbook."""
    share = statistics.fmean(sum(pair) / len(pair) for pair in labels)
    chance = 2 * share * (1 - share)
    return (_pairwise(labels) - chance) / (1 - chance)


def _outcomes(labels: Labels) -> dict[str, Any]:
    shares = [sum(pair) / len(pair) for pair in labels]
    equal = _unanimous(labels)
    return {
        "pairs": len(labels),
        "relevant": sum(share > 0.5 for share in shares),
        "irrelevant": sum(share < 0.5 for share in shares),
        "undecided": sum(share == 0.5 for share in shares),
        "agreement": equal,
        "disagreement": None if equal is None else 1 - equal,
        "alpha": alpha(labels),
        "alpha_interval_pairs": _alpha_interval(labels),
    }


def _several(labels: Labels) -> Labels:
    return [pair for pair in labels if len(pair) > 1]


def _by_number(labels: Labels) -> list[tuple[int, Labels]]:
    numbers = sorted(set(map(len, labels)))
    return [(number, [pair for pair in labels if len(pair) == number]) for number in numbers]


def _unanimous(labels: Labels) -> float | None:
    several = _several(labels)
    return sum(len(set(labels)) == 1 for labels in several) / len(several) if several else None


def _pairwise(labels: Labels) -> float:
    """Return the share of equal labels among any two labels of a pair, as a mean over pairs."""
    return statistics.fmean(
        statistics.fmean(one == other for one, other in combinations(own, 2))
        for own in _several(labels)
    )


def alpha(labels: Labels) -> float | None:
    """Return alpha, or None if all labels are equal. The matrix has a column for each pair."""
    several = _several(labels)
    if len({label for labels in several for label in labels}) < 2:
        return None
    matrix = np.full((max(map(len, several)), len(several)), np.nan)
    for column, own in enumerate(several):
        matrix[: len(own), column] = own
    return float(krippendorff.alpha(reliability_data=matrix, level_of_measurement="nominal"))


def _alpha_interval(labels: Labels) -> Any:
    several = _several(labels)
    if alpha(several) is None:
        return None
    counts = np.array([[len(labels) - sum(labels), sum(labels)] for labels in several])

    def of_drawn(places: Any) -> float:
        drawn = counts[places]
        found: float = krippendorff.alpha(value_counts=drawn, level_of_measurement="nominal")
        return found

    return resampled.interval(
        (np.arange(len(counts)),), of_drawn, resamples=4000, vectorized=False, batch=1
    )


def _annotators(world: World) -> list[dict[str, Any]]:
    """Return the figures of the annotators, sorted by name. The import stores them this way."""
    rows = []
    first = _first_judgments(world.judgments)
    for name in sorted({annotator for _, annotator, _ in world.judgments}):
        own = [label for _, annotator, label in world.judgments if annotator == name]
        among_first, among_all = _compared(first, name), _compared(world.judgments, name)
        rows.append(
            {
                "labels": len(own),
                "relevant": sum(own) / len(own),
                "compared": len(among_first),
                "agreement": statistics.fmean(among_first),
                "compared_all_labels": len(among_all),
                "agreement_all_labels": statistics.fmean(among_all),
            }
        )
    return rows


def _first_judgments(judgments: Judgments) -> Judgments:
    """Return the first two judgments of each pair."""
    seen: Counter[Any] = Counter()
    found = []
    for pair, annotator, label in judgments:
        seen[pair] += 1
        if seen[pair] <= 2:
            found.append((pair, annotator, label))
    return found


def _compared(judgments: Judgments, name: str) -> list[bool]:
    """Return whether each label that others gave to a shared pair equals this annotator's label."""
    own = {pair: label for pair, annotator, label in judgments if annotator == name}
    return [
        label == own[pair]
        for pair, annotator, label in judgments
        if annotator != name and pair in own
    ]


def history(world: World, checkpoints: int, measure: str) -> dict[str, Any]:
    total = len(world.judgments)
    scores, agreed = [], []
    for number in range(checkpoints + 1):
        so_far = world.judgments[: round(number * total / checkpoints)]
        labels_of = gathered(so_far)
        qrels = as_qrels(settled(labels_of) | dict.fromkeys(world.original, 1))
        several = _several(_first_two(list(labels_of.values())))
        agreed.append(
            {
                "labels": len(so_far),
                "pairs": len(labels_of),
                "several": len(several),
                "alpha": alpha(several),
            }
        )
        for name, lists in world.runs.items():
            value = statistics.fmean(per_caption(world, lists, qrels, measure))
            scores.append({"labels": len(so_far), "run": name, "score": value})
    return {"scores": scores, "agreement": agreed}


# --- Positives ------------------------------------------------------------------------------------


def positives_of(world: World, qrels: Qrels) -> list[int]:
    return [sum(qrels.get(caption, {}).values()) for caption in world.captions]


def positives(world: World) -> dict[str, Any]:
    found = {
        "original": positives_of(world, world.by_original),
        "labelled": positives_of(world, world.by_labels),
    }
    return {
        "captions": len(world.captions),
        "sources": {
            name: {
                "positives": sum(counts),
                "mean": statistics.fmean(counts),
                "median": statistics.median(counts),
                "most": max(counts),
                "without": counts.count(0),
            }
            for name, counts in found.items()
        },
        "per_caption": {
            name: [counts.count(number) for number in range(max(counts) + 1)]
            for name, counts in found.items()
        },
        "by_length": {
            name: [
                [*cell, captions]
                for cell, captions in sorted(Counter(zip(world.words, counts, strict=True)).items())
            ]
            for name, counts in found.items()
        },
    }


def ranks(world: World, depth: int) -> dict[str, Any]:
    runs = {}
    original = set(world.original)
    for name, lists in world.cut(depth).items():
        places: dict[str, list[int]] = {source: [0] * depth for source in ("original", "new")}
        for caption, videos in lists.items():
            for place, video in enumerate(videos):
                if world.by_labels.get(caption, {}).get(video):
                    source = "original" if (caption, video) in original else "new"
                    places[source][place] += 1
        runs[name] = places
    return {"runs": runs}


def length(world: World, cutoff: int) -> dict[str, Any]:
    rows = []
    for first, second in combinations(world.runs, 2):
        for by, qrels in (("original", world.by_original), ("labelled", world.by_labels)):
            right = [
                per_caption(world, world.runs[name], qrels, f"C@{cutoff}")
                for name in (first, second)
            ]
            for words in sorted(set(world.words)):
                among = [
                    (one > 0, other > 0)
                    for one, other, long in zip(*right, world.words, strict=True)
                    if long == words
                ]
                rows.append(
                    {
                        "first": first,
                        "second": second,
                        "by": by,
                        "words": words,
                        "both": among.count((True, True)),
                        "only_first": among.count((True, False)),
                        "only_second": among.count((False, True)),
                        "neither": among.count((False, False)),
                    }
                )
    return {"rows": rows}


def coverage(world: World, depth: int) -> dict[str, Any]:
    labels = world.settled | dict.fromkeys(world.original, 1)
    rows, pools = [], []
    for name, lists in world.cut(depth).items():
        for rank in range(1, depth + 1):
            there = [
                (key, videos[rank - 1]) for key, videos in lists.items() if len(videos) >= rank
            ]
            judged = sum(pair in labels for pair in there)
            rows.append(
                {
                    "run": name,
                    "rank": rank,
                    "filled": len(there),
                    "judged": judged,
                    "relevant": sum(labels.get(pair, 0) for pair in there),
                    "share": judged / len(there),
                    "judged_at": _judged_share(world, lists, labels, rank),
                }
            )
    for at in range(1, depth + 1):
        pool: set[Pair] = set().union(*map(pairs_of, world.cut(at).values()))
        judged = sum(pair in labels for pair in pool)
        pools.append(
            {
                "depth": at,
                "pairs": len(pool),
                "judged": judged,
                "relevant": sum(labels.get(pair, 0) for pair in pool),
                "unjudged": len(pool) - judged,
            }
        )
    return {"ranks": rows, "pools": pools}


def _judged_share(world: World, lists: Lists, labels: dict[Pair, int], depth: int) -> float:
    """Return Judged@k. Captions without a list count as 0."""
    shares = [
        sum((key, video) in labels for video in videos[:depth]) / len(videos[:depth])
        for key, videos in lists.items()
        if videos
    ]
    return sum(shares) / len(world.captions)


# --- Overlap --------------------------------------------------------------------------------------

DEEP = 600  # for p up to 0.9, the terms beyond this depth do not change the first 15 digits


def overlap(world: World, depth: int, p: float) -> dict[str, Any]:
    """Return rank-biased overlap (Webber, Moffat and Zobel 2010), computed from the defining sums
    down to the rank at which terms are negligible."""
    runs = world.cut(depth)
    pairs = []
    for first, second in combinations(runs, 2):
        found = [
            _overlap(runs[first].get(key, []), runs[second].get(key, []), depth, p)
            for key in world.captions
        ]
        means = {name: statistics.fmean(row[name] for row in found) for name in found[0]}
        pairs.append({"runs": [first, second], "p": p, **means})
    return {"pairs": pairs}


def _overlap(first: list[str], second: list[str], depth: int, p: float) -> dict[str, float]:
    short, long = sorted((len(first), len(second)))
    common = [len(set(first[:d]) & set(second[:d])) for d in range(DEEP + 1)]
    # The maximum overlap: each unknown rank may contain a video of the other list.
    most = [min(d, common[d] + max(0, d - short) + max(0, d - long)) for d in range(DEEP + 1)]
    agreed = [_agreement(common, d, short, long) for d in range(DEEP + 1)]

    def weighed(shares: list[float], down_to: int) -> float:
        return (1 - p) * sum(p ** (d - 1) * shares[d] for d in range(1, down_to + 1))

    known = [0.0, *(common[d] / d for d in range(1, DEEP + 1))]
    highest = [0.0, *(most[d] / d for d in range(1, DEEP + 1))]
    return {
        "overlap": common[-1] / depth,
        "rbo": weighed(known, depth),
        "rbo_minimum": weighed(known, DEEP),
        "rbo_residual": weighed(highest, DEEP) - weighed(known, DEEP),
        "rbo_extrapolated": weighed(agreed, DEEP) if short else 0.0,
    }


def _agreement(common: list[int], d: int, short: int, long: int) -> float:
    """Return the agreement at depth d. It is extrapolated beyond the end of each list."""
    if d == 0 or short == 0:
        return 0.0
    at_short = common[short] / short
    if d <= short:
        return common[d] / d
    if d <= long:
        return (common[d] + at_short * (d - short)) / d
    return (common[long] - common[short]) / long + at_short

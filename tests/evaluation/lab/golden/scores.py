"""Scores by ir_measures and pytrec_eval. Plain Python computes the measures that these lack."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator
from itertools import combinations, product
from typing import Any

import ir_measures
import pytrec_eval

from tests.evaluation.lab.golden.world import Lists, Pair, Qrels, World, as_qrels

DEFAULT = "C@1 C@5 C@10 R@1 R@5 R@10 P@1 P@5 P@10 AP AP(found) RR nDCG nDCG@10 MedR MeanR Judged@10"
FURTHER = "AP@5 AP(found)@5 RR@3 nDCG@5 nDCG(exp) nDCG(exp)@5 Judged@3"
RANKS = ("MedR", "MeanR")

Values = list[float]  # by caption


def score(world: World, lists: Lists, qrels: Qrels, measure: str) -> float | None:
    """Return the mean over all captions, including those that the run leaves out.

    MedR is the median. It is None if half of the captions or more have no positive in their list.
    """
    values = per_caption(world, lists, qrels, measure)
    if measure == "MedR":
        depth = max(map(len, lists.values()))
        known = 2 * sum(value > depth for value in values) < len(values)
        return statistics.median(values) if known else None
    return statistics.fmean(values)


def per_caption(world: World, lists: Lists, qrels: Qrels, measure: str) -> Values:
    if measure in RANKS:
        missed = 1 + max(map(len, lists.values()))
        found = {caption: min(ranks, default=missed) for caption, ranks in _ranks(lists, qrels)}
        return [float(found.get(caption, missed)) for caption in world.captions]
    if measure.startswith("AP(found)"):
        cutoff = int(measure.partition("@")[2] or 10**6)
        precise = {
            caption: _mean_precision([rank for rank in ranks if rank <= cutoff])
            for caption, ranks in _ranks(lists, qrels)
        }
        return [precise.get(caption, 0.0) for caption in world.captions]
    peer = ir_measures.parse_measure(_peers_name(measure))
    scored = {caption: videos for caption, videos in lists.items() if videos}
    answers = ir_measures.iter_calc([peer], qrels, as_run(scored))
    values = {answer.query_id: float(answer.value) for answer in answers}
    return [values.get(caption, 0.0) for caption in world.captions]


def _peers_name(measure: str) -> str:
    name, at, cutoff = measure.partition("@")
    # Labels are 0 or 1, so the exponential gain 2^label - 1 equals the label.
    return {"C": "Success", "nDCG(exp)": "nDCG"}.get(name, name) + at + cutoff


def as_run(lists: Lists) -> dict[str, dict[str, float]]:
    return {
        caption: {video: -float(rank) for rank, video in enumerate(videos)}
        for caption, videos in lists.items()
    }


def _ranks(lists: Lists, qrels: Qrels) -> Iterator[tuple[str, list[int]]]:
    """Yield the ranks of the positives of each caption in the run."""
    for caption, videos in lists.items():
        gains = qrels.get(caption, {})
        yield caption, [rank for rank, video in enumerate(videos, 1) if gains.get(video, 0) > 0]


def _mean_precision(ranks: list[int]) -> float:
    return statistics.fmean(n / rank for n, rank in enumerate(ranks, 1)) if ranks else 0.0


# --- evaluate -------------------------------------------------------------------------------------


def evaluate(world: World, qrels: Qrels, measures: str) -> dict[str, Any]:
    return {
        "runs": {
            name: {
                "original": _scores(world, lists, world.by_original, measures),
                "labelled": _scores(world, lists, qrels, measures),
                "judged": _judged(world, lists, qrels, measures),
                "reads": {measure: _reads(lists, measure) for measure in measures.split()},
            }
            for name, lists in world.runs.items()
        }
    }


def _scores(world: World, lists: Lists, qrels: Qrels, measures: str) -> dict[str, float | None]:
    return {measure: score(world, lists, qrels, measure) for measure in measures.split()}


def _reads(lists: Lists, measure: str) -> int:
    """Return the cutoff, but at most the length of the longest list."""
    depth = max(map(len, lists.values()))
    return min(int(measure.partition("@")[2] or depth), depth)


def _judged(world: World, lists: Lists, qrels: Qrels, measures: str) -> dict[str, float | None]:
    depths = {1, 5, 10, *(_reads(lists, measure) for measure in measures.split())}
    return {str(depth): score(world, lists, qrels, f"Judged@{depth}") for depth in sorted(depths)}


# --- leave one out --------------------------------------------------------------------------------


def leave_one_out(world: World, depth: int, measures: str) -> dict[str, Any]:
    runs = world.cut(depth)
    labels = world.settled | dict.fromkeys(world.original, 1)
    names = list(runs)
    return {
        "runs": {name: _left_out(world, runs, labels, name, measures) for name in names},
        "growth": [
            _growth(world, runs, labels, name, pooled, measures)
            for name in names
            for pooled in range(1, len(names))
        ],
    }


def pairs_of(lists: Lists) -> set[Pair]:
    return {(caption, video) for caption, videos in lists.items() for video in videos}


def known_with(
    world: World, runs: dict[str, Lists], labels: dict[Pair, int], pooled: Iterable[str]
) -> dict[Pair, int]:
    """Return the labels of original positives, of pairs in a pooled run, and of pairs in no run."""
    everything: set[Pair] = set().union(*map(pairs_of, runs.values()))
    contributed: set[Pair] = set().union(*(pairs_of(runs[name]) for name in pooled))
    kept = set(world.original) | contributed
    return {pair: gain for pair, gain in labels.items() if pair in kept or pair not in everything}


def _left_out(
    world: World, runs: dict[str, Lists], labels: dict[Pair, int], name: str, measures: str
) -> dict[str, Any]:
    others = [other for other in runs if other != name]
    known = known_with(world, runs, labels, others)
    whole = _scores(world, runs[name], as_qrels(labels), measures)
    less = _scores(world, runs[name], as_qrels(known), measures)
    lost = [gain for pair, gain in labels.items() if pair not in known]
    return {
        "all": whole,
        "left_out": less,
        "bias": {measure: _minus(less[measure], whole[measure]) for measure in whole},
        "pairs": len(lost),
        "positives": sum(lost),
    }


def _growth(
    world: World,
    runs: dict[str, Lists],
    labels: dict[Pair, int],
    name: str,
    pooled: int,
    measures: str,
) -> dict[str, Any]:
    whole = _scores(world, runs[name], as_qrels(labels), measures)
    pools = list(combinations([other for other in runs if other != name], pooled))
    scored = [
        _scores(world, runs[name], as_qrels(known_with(world, runs, labels, pool)), measures)
        for pool in pools
    ]
    return {
        "run": name,
        "pooled": pooled,
        "pools": len(pools),
        "possible": len(pools),
        "bias": {
            measure: statistics.fmean(_minus(row[measure], whole[measure]) for row in scored)
            for measure in whole
        },
    }


def _minus(first: float | None, second: float | None) -> float:
    assert first is not None
    assert second is not None
    return first - second


# --- bounds ---------------------------------------------------------------------------------------

BOUNDED = "C@1 C@3 P@5 R@5 AP AP(found) RR"


def bounds(world: World, qrels: Qrels, depth: int) -> dict[str, Any]:
    """Return the lowest and highest score over all outcomes of unjudged pairs.

    `bounds` is over all outcomes of the unjudged pairs in the list. `bounds_all` also tries each
    possible number of positives among the unjudged pairs outside the list.
    """
    runs = world.cut(depth)
    rows, judged = [], []
    for name, lists in runs.items():
        listed = [_outcomes(lists, qrels, caption, [0]) for caption in world.captions]
        unlisted = [
            _outcomes(lists, qrels, caption, range(_unlisted(world, lists, qrels, caption) + 1))
            for caption in world.captions
        ]
        # The lists without unjudged videos.
        dense = {
            caption: [video for video in videos if video in qrels.get(caption, {})]
            for caption, videos in lists.items()
        }
        rows += [
            {
                "run": name,
                "measure": measure,
                "score": score(world, lists, qrels, measure),
                "bounds": [
                    statistics.fmean(min(row[measure] for row in outcomes) for outcomes in listed),
                    statistics.fmean(max(row[measure] for row in outcomes) for outcomes in listed),
                ],
                "bounds_all": [
                    statistics.fmean(
                        min(row[measure] for row in outcomes) for outcomes in unlisted
                    ),
                    statistics.fmean(
                        max(row[measure] for row in outcomes) for outcomes in unlisted
                    ),
                ],
                "judged_depth": _reads(lists, measure),
                "judged": score(world, lists, qrels, f"Judged@{_reads(lists, measure)}"),
                "condensed": score(world, dense, qrels, measure),
            }
            for measure in BOUNDED.split()
        ]
        judged.append(
            {
                "run": name,
                "judged": score(world, lists, qrels, f"Judged@{depth}"),
                "unjudged_unlisted": sum(
                    _unlisted(world, lists, qrels, caption) for caption in world.captions
                ),
                "bpref": _by_trec(world, lists, qrels, "bpref"),
                "infap": _by_trec(world, lists, _with_pooled(lists, qrels), "infAP"),
            }
        )
    return {"depth": depth, "rows": rows, "judged": judged}


def _unlisted(world: World, lists: Lists, qrels: Qrels, caption: str) -> int:
    """Return the number of unjudged videos of the caption outside of its list."""
    return len(set(world.videos) - set(lists.get(caption, [])) - set(qrels.get(caption, {})))


def _outcomes(
    lists: Lists, qrels: Qrels, caption: str, outside: Iterable[int]
) -> list[dict[str, float]]:
    """Return the caption's scores for every outcome of the unjudged videos of its list.

    outside: the numbers of positives to add outside the list. Each is combined with each outcome.
    """
    videos, gains = lists.get(caption, []), qrels.get(caption, {})
    free = [video for video in videos if video not in gains]
    return [
        _by_hand(videos, gains | dict(zip(free, labels, strict=True)), more)
        for labels in product((0, 1), repeat=len(free))
        for more in outside
    ]


def _by_hand(videos: list[str], gains: dict[str, int], more: int = 0) -> dict[str, float]:
    """Return the measures of `BOUNDED`, computed from the ranks of the positives."""
    positives = sum(gains.values()) + more
    ranks = [rank for rank, video in enumerate(videos, 1) if gains.get(video, 0)]
    precision = sum(n / rank for n, rank in enumerate(ranks, 1))
    top = sum(rank <= 5 for rank in ranks)
    return {
        "C@1": float(1 in ranks),
        "C@3": float(any(rank <= 3 for rank in ranks)),
        "P@5": top / 5,
        "R@5": top / positives if positives else 0.0,
        "AP": precision / positives if positives else 0.0,
        "AP(found)": precision / len(ranks) if ranks else 0.0,
        "RR": 1 / ranks[0] if ranks else 0.0,
    }


def _by_trec(world: World, lists: Lists, qrels: Qrels, measure: str) -> float:
    answers = pytrec_eval.RelevanceEvaluator(qrels, {measure}).evaluate(as_run(lists))
    return statistics.fmean(
        float(answers.get(caption, {}).get(measure, 0.0)) for caption in world.captions
    )


def _with_pooled(lists: Lists, qrels: Qrels) -> Qrels:
    """Mark the unjudged pairs of the pool with -1, as trec_eval expects."""
    return {
        caption: dict.fromkeys(lists.get(caption, []), -1) | qrels.get(caption, {})
        for caption in {*lists, *qrels}
    }


# --- estimates ------------------------------------------------------------------------------------


def estimates(world: World, depth: int, measures: str) -> dict[str, Any]:
    """Return the true, the known and the expected score of each run.

    The true score is by all labels. The known score is without the labels of pairs that only this
    run contributed. The expected score is the mean over all outcomes of the pairs that are then
    unjudged, weighted by probability.
    """
    runs = world.cut(depth)
    labels = world.settled | dict.fromkeys(world.original, 1)
    checks = []
    for name, lists in runs.items():
        others = {other: runs[other] for other in runs if other != name}
        known = known_with(world, runs, labels, others)
        chances = _chances(world, others, known, depth)
        expected = _expected(world, lists, as_qrels(known), chances)
        checks += [
            {
                "run": name,
                "measure": measure,
                "truth": score(world, lists, as_qrels(labels), measure),
                "known": score(world, lists, as_qrels(known), measure),
                "expected": expected[measure],
            }
            for measure in measures.split()
        ]
    return {"checks": checks}


def _chances(
    world: World, runs: dict[str, Lists], labels: dict[Pair, int], depth: int
) -> list[list[float]]:
    """Return the share of relevant pairs among those that only one run contains, by rank.

    Row 0 is for captions whose list has no other positive, and row 1 for captions whose list has at
    least one. A rank without such pairs has the share of its row.
    """
    counts = [[[0, 0] for _ in range(depth)] for _ in range(2)]
    for name, lists in runs.items():
        rest = known_with(world, runs, labels, [other for other in runs if other != name])
        for caption, videos in lists.items():
            row = int(any(rest.get((caption, video), 0) for video in videos))
            for place, video in enumerate(videos):
                pair = caption, video
                if pair in labels and pair not in rest:
                    counts[row][place][0] += labels[pair]
                    counts[row][place][1] += 1
    totals = [[sum(cell[i] for cell in row) for i in range(2)] for row in counts]
    whole = sum(total[0] for total in totals) / sum(total[1] for total in totals)
    usual = [total[0] / total[1] if total[1] else whole for total in totals]
    return [
        [yes / all_ if all_ else usual[row] for yes, all_ in cells]
        for row, cells in enumerate(counts)
    ]


def _expected(
    world: World, lists: Lists, qrels: Qrels, chances: list[list[float]]
) -> dict[str, float]:
    sums = dict.fromkeys(BOUNDED.split(), 0.0)
    for caption in world.captions:
        videos, gains = lists.get(caption, []), qrels.get(caption, {})
        row = chances[int(any(gains.get(video, 0) for video in videos))]
        free = [place for place, video in enumerate(videos) if video not in gains]
        for labels in product((0, 1), repeat=len(free)):
            chance = 1.0
            for place, label in zip(free, labels, strict=True):
                chance *= row[place] if label else 1 - row[place]
            outcome = {videos[place]: label for place, label in zip(free, labels, strict=True)}
            for measure, value in _by_hand(videos, gains | outcome).items():
                sums[measure] += chance * value
    return {measure: total / len(world.captions) for measure, total in sums.items()}

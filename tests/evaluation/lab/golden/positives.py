"""Rejected original positives: counted in plain Python, scored by other implementations."""

from __future__ import annotations

from typing import Any

from tests.evaluation.lab.golden.scores import score
from tests.evaluation.lab.golden.world import Pair, Qrels, World, as_qrels

Labels = dict[Pair, int]


def originals(world: World, measures: str) -> dict[str, Any]:
    own = set(world.original)
    outcomes = [world.settled[pair] for pair in own if pair in world.settled]
    rejected = {pair for pair in own if world.settled.get(pair) == 0}
    kept = world.settled | dict.fromkeys(own, 1)
    dropped = dict.fromkeys(own, 1) | world.settled
    names = ("kept", "dropped")
    return {
        "known": len(own),
        "judged": len(own & set(world.labels_of)),
        "settled": len(outcomes),
        "relevant": sum(outcomes),
        "irrelevant": len(rejected),
        "share": len(rejected) / len(outcomes),
        "without": _count_without(world, dropped) - _count_without(world, kept),
        "rows": _rows(world, as_qrels(kept), as_qrels(dropped), measures, names),
    }


def _count_without(world: World, labels: Labels) -> int:
    return len(world.captions) - len({caption for (caption, _), gain in labels.items() if gain})


def _rows(
    world: World, before: Qrels, after: Qrels, measures: str, names: tuple[str, str]
) -> list[dict[str, Any]]:
    rows = []
    for measure in measures.split():
        for run, lists in sorted(world.runs.items()):
            one, other = (score(world, lists, qrels, measure) for qrels in (before, after))
            assert one is not None
            assert other is not None
            scores = dict(zip(names, (one, other), strict=True))
            rows.append({"run": run, "measure": measure, **scores, "difference": other - one})
    return rows

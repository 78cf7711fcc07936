"""Fusion of five lists per query: scores of ranx, votes and measures."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.measures import parse_measure
from evaluation.core.relevance.scoring import score_run
from pooling.core.ranked_lists import RankedLists
from pooling.phrasings.core.fusion import Method, Norm, Rule, fuse, oracle
from tests.reference.figures import Figure, Options, compared

SOURCE = "fusion"
# What papers on video retrieval call R@k is C@k here.
RECALL = {f"R@{k}": f"C@{k}" for k in (1, 5, 10)}
# ranx prints 12 digits.
PRINTED = 5.001e-12
VOTES = {"vote plurality": Method.PLURALITY, "vote bucklin": Method.BUCKLIN}


def figures(options: Options) -> Iterator[Figure]:
    folder = options.data / "fusion"

    def read(name: str) -> Any:
        with gzip.open(folder / f"{name}.json.gz", "rt", encoding="utf-8") as text:
            return json.load(text)

    given, scores, votes = read("input"), read("expected_ranx"), read("expected_votes")
    measures = json.loads((folder / "measures.json").read_text(encoding="utf-8"))
    keys = sorted(
        {key for run in given["runs"].values() for found in run.values() for key in found}
    )
    queries = list(given["relevant"])
    lists = [lists_of(run, queries, keys) for run in given["runs"].values()]
    for name, expected in scores.items():
        yield _scores(name, expected, fuse(lists, rule_of(name)), queries, keys)
    for name in ("plurality", "bucklin"):
        yield _orders(name, votes[name], fuse(lists, Rule(Method(name))), queries, keys)
    own = [keys.index(key) if key in keys else -1 for key in given["relevant"].values()]
    ranked = {
        **{f"{name} alone": run for name, run in zip(given["runs"], lists, strict=True)},
        **{name: fuse(lists, rule_of(name)) for name in scores},
        **{name: fuse(lists, Rule(method)) for name, method in VOTES.items()},
        "oracle": oracle(lists, np.array([q * len(keys) + v for q, v in enumerate(own) if v >= 0])),
    }
    for name, run in ranked.items():
        # An absent item is one past the end: of the longest list of a run, or of the fused list.
        ends = np.full(len(own), run.depth) if name.endswith("alone") else run.lengths
        found = _measured(run, own, ends)
        yield from compared(f"{SOURCE}, {name}", measures[name], found, 5.001e-3)


def rule_of(name: str) -> Rule:
    """Return the rule of a name in the files, such as `CombSUM min-max` or `RRF k=60`."""
    method, *norm = name.split()
    is_combined = method.startswith("Comb")
    return Rule(Method(method.lower()), Norm(norm[0]) if is_combined else Norm.MIN_MAX)


def lists_of(
    run: Mapping[str, Mapping[str, float]], queries: list[str], keys: list[str]
) -> RankedLists:
    """Return a run, given as the scores of items. keys: the items, sorted."""
    place = {key: number for number, key in enumerate(keys)}
    items = np.full((len(queries), max(map(len, run.values()))), -1, np.int32)
    scores = np.zeros(items.shape)
    for row, query in enumerate(queries):
        found = sorted(run[query].items(), key=lambda pair: (-pair[1], pair[0]))
        items[row, : len(found)] = [place[key] for key, _ in found]
        scores[row, : len(found)] = [score for _, score in found]
    return RankedLists.of(items, len(keys), scores=scores)


def _scores(
    name: str, expected: Any, found: RankedLists, queries: list[str], keys: list[str]
) -> Figure:
    """Compare the scores of all listed items, by their relative difference."""
    assert found.scores is not None
    equal = 0
    for query, wanted in expected.items():
        row = queries.index(query)
        pairs = zip(found.items[row], found.scores[row], strict=True)
        scores = {keys[item]: score for item, score in pairs if item >= 0}
        equal += sum(abs(scores[key] - s) <= PRINTED * max(1, abs(s)) for key, s in wanted.items())
    total = sum(map(len, expected.values()))
    return Figure(SOURCE, f"{name}, scores equal to ranx", total, equal)


def _orders(
    name: str, expected: Any, found: RankedLists, queries: list[str], keys: list[str]
) -> Figure:
    equal = sum(
        [keys[v] for v in found.items[row, : len(expected[query])]] == expected[query]
        for row, query in enumerate(queries)
    )
    return Figure(SOURCE, f"{name}, queries in the expected order", len(queries), equal)


def _measured(run: RankedLists, own: list[int], ends: Any) -> dict[str, float]:
    """Return recall in %, and the median and mean rank."""
    hit = (run.items == np.array(own)[:, None]) & run.is_item
    rank = np.where(hit.any(axis=1), hit.argmax(axis=1), ends) + 1
    return {**recall(run, own), "MdR": float(np.median(rank)), "MnR": float(np.mean(rank))}


def recall(run: RankedLists, own: list[int]) -> dict[str, float]:
    """Return the recall of a run in %. own: the right item of each query, or -1."""
    listed = [(query, item) for query, item in enumerate(own) if item >= 0]
    judged = Judged.from_pairs(
        [query for query, _ in listed],
        [item for _, item in listed],
        [1] * len(listed),
        n_queries=len(own),
        n_videos=run.n_items,
    )
    measures = {name: parse_measure(text) for name, text in RECALL.items()}
    scores = score_run(run, judged, measures.values())
    return {name: 100 * (scores.mean(m).value or 0) for name, m in measures.items()}

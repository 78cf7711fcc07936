"""Condensed lists by hand, and bpref and infAP compared with trec_eval."""

from __future__ import annotations

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.pools import incomplete
from evaluation.core.pools.incomplete import bpref, condense, inferred_ap
from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.scoring import score_run
from pooling.core.ranked_lists import RankedLists
from tests.evaluation.core.lists import lists_of
from tests.evaluation.core.pools.test_bounds import (
    HAND_LABELS,
    HAND_RANKED,
    parse,
    single_queries,
    stack,
)
from tests.evaluation.core.pools.test_leave_out import as_pairs, make_judged
from tests.evaluation.core.relevance.test_scoring import as_dictionaries, random_judged, random_run


def test_condense_by_hand() -> None:
    condensed = condense(HAND_RANKED, HAND_LABELS)
    assert condensed.items.tolist() == [[0, 2, -1, -1], [0, -1, -1, -1], [-1, -1, -1, -1]]
    assert condensed.items.dtype == HAND_RANKED.items.dtype


@given(st.lists(single_queries(), min_size=1, max_size=4))
def test_condensed_lists_keep_the_judged_in_order(cases: list[tuple[RankedLists, Judged]]) -> None:
    ranked, labels = stack(cases)
    known = as_pairs(labels)
    condensed = condense(ranked, labels)
    assert condensed.items.shape == ranked.items.shape
    for query, (before, after) in enumerate(
        zip(ranked.items.tolist(), condensed.items.tolist(), strict=True)
    ):
        kept = [video for video in before if (query, video) in known]
        assert after == kept + [-1] * (len(before) - len(kept))
    assert condense(condensed, labels).items.tolist() == condensed.items.tolist()


def peer_values(
    name: str, ranked: RankedLists, qrels: dict[str, dict[str, int]], rel: int
) -> list[float]:
    run, _ = as_dictionaries(ranked, make_judged({}, len(ranked), 15))
    peer = pytrec_eval.RelevanceEvaluator(qrels, {name}, relevance_level=rel)
    answers = peer.evaluate(run)
    return [answers.get(str(query), {}).get(name, 0.0) for query in range(len(ranked))]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rel", [1, 2])
def test_bpref_equals_trec_eval(rel: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incomplete, "_BLOCK_QUERIES", 25)
    rng = np.random.default_rng([seed, rel])
    ranked, labels = random_run(rng), random_judged(rng, 3)
    _, qrels = as_dictionaries(ranked, labels)
    expected = peer_values("bpref", ranked, qrels, rel)
    np.testing.assert_allclose(bpref(ranked, labels, rel), expected, rtol=0, atol=1e-9)
    assert max(expected) > 0


@pytest.mark.parametrize("pool_depth", [0, 3, 8])
@pytest.mark.parametrize("rel", [1, 2])
def test_inferred_ap_equals_trec_eval(
    rel: int, pool_depth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(incomplete, "_BLOCK_QUERIES", 25)
    rng = np.random.default_rng([pool_depth, rel])
    ranked, labels = random_run(rng), random_judged(rng, 3)
    _, qrels = as_dictionaries(ranked, labels)
    # In trec_eval, a label of -1 marks a pooled pair that is unjudged.
    for query, row in enumerate(ranked.items[:, :pool_depth].tolist()):
        for video in row:
            if video >= 0:
                qrels.setdefault(str(query), {}).setdefault(str(video), -1)
    expected = peer_values("infAP", ranked, qrels, rel)
    values = inferred_ap(ranked, labels, pool_depth, rel)
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-9)
    assert max(expected) > 0


@given(single_queries())
def test_measures_of_fully_judged_lists(case: tuple[RankedLists, Judged]) -> None:
    """If all videos of a list are judged, infAP equals AP except for its epsilon."""
    ranked, labels = case
    condensed = condense(ranked, labels)
    (ap,) = parse("AP")
    expected = score_run(condensed, labels, [ap]).per_query(ap)
    np.testing.assert_allclose(inferred_ap(condensed, labels, 5), expected, rtol=0, atol=1e-4)
    np.testing.assert_allclose(bpref(condensed, labels), bpref(ranked, labels), rtol=0, atol=1e-15)


def test_a_benchmark_without_queries() -> None:
    nothing, ranked = make_judged({}, 0, 0), lists_of(np.empty((0, 3)), 0)
    assert condense(ranked, nothing).items.shape == (0, 3)
    assert bpref(ranked, nothing).shape == inferred_ap(ranked, nothing, 2).shape == (0,)

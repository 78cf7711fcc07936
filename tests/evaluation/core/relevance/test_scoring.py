"""Scores of runs, by hand and compared with ir_measures and pytrec_eval."""

from __future__ import annotations

from math import log2

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.relevance import judged as relevance
from evaluation.core.relevance import scoring
from evaluation.core.relevance.judged import Judged, with_positives
from evaluation.core.relevance.measure import NO_QUERIES, Score
from evaluation.core.relevance.measures import DEFAULT_MEASURES, MEDIAN_BEYOND_DEPTH, parse_measure
from evaluation.core.relevance.scoring import score_run
from pooling.core.ranked_lists import RankedLists
from tests.evaluation.core.lists import lists_of

# --- by hand ------------------------------------------------------------------------------------

# Six videos, four ranks and five queries. Query 0: two of three positives are in the list. Query 1:
# a positive in a short list. Query 2: no list. Query 3: no positive. Query 4: the only positive is
# not in the list.
HAND_RANKED = lists_of(
    [[2, 1, 0, 3], [0, 4, -1, -1], [-1, -1, -1, -1], [3, 2, 1, 0], [0, 1, 2, 3]], 6
)
HAND_PAIRS = {
    (0, 0): 1, (0, 1): 0, (0, 2): 2, (0, 5): 3, (1, 4): 1, (2, 1): 1, (3, 3): 0, (4, 5): 1,
}  # fmt: skip
HAND_JUDGED = Judged.from_pairs(
    [q for q, _ in HAND_PAIRS],
    [v for _, v in HAND_PAIRS],
    list(HAND_PAIRS.values()),
    n_queries=5,
    n_videos=6,
)
HAND_TABLE: dict[str, list[float]] = {
    "C@1": [1, 0, 0, 0, 0],
    "C@2": [1, 1, 0, 0, 0],
    "R@1": [1 / 3, 0, 0, 0, 0],
    "R@3": [2 / 3, 1, 0, 0, 0],
    "P@2": [1 / 2, 1 / 2, 0, 0, 0],
    "P@10": [2 / 10, 1 / 10, 0, 0, 0],
    "AP": [(1 + 2 / 3) / 3, 1 / 2, 0, 0, 0],
    "AP@2": [1 / 3, 1 / 2, 0, 0, 0],
    "AP(found)": [(1 + 2 / 3) / 2, 1 / 2, 0, 0, 0],
    "AP(found)@2": [1, 1 / 2, 0, 0, 0],
    "RR": [1, 1 / 2, 0, 0, 0],
    "RR@1": [1, 0, 0, 0, 0],
    "nDCG": [(2 + 1 / 2) / (3 + 2 / log2(3) + 1 / 2), 1 / log2(3), 0, 0, 0],
    "nDCG@2": [2 / (3 + 2 / log2(3)), 1 / log2(3), 0, 0, 0],
    "nDCG(exp)": [(3 + 1 / 2) / (7 + 3 / log2(3) + 1 / 2), 1 / log2(3), 0, 0, 0],
    "nDCG(gain=exp)": [(3 + 1 / 2) / (7 + 3 / log2(3) + 1 / 2), 1 / log2(3), 0, 0, 0],
    "nDCG@2(gain=linear)": [2 / (3 + 2 / log2(3)), 1 / log2(3), 0, 0, 0],
    "MedR": [1, 2, 5, 5, 5],
    "MeanR": [1, 2, 5, 5, 5],
    "Judged@1": [1, 0, 0, 1, 0],
    "Judged@3": [1, 1 / 2, 0, 1 / 3, 0],
}


@pytest.mark.parametrize("block", [2, 1 << 14])
@pytest.mark.parametrize("name", HAND_TABLE)
def test_score_run_by_hand(name: str, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "_BLOCK_QUERIES", block)
    measure = parse_measure(name)
    scores = score_run(HAND_RANKED, HAND_JUDGED, [measure])
    assert scores.per_query(measure).tolist() == pytest.approx(HAND_TABLE[name], abs=1e-15)
    assert scores.not_retrieved == 3
    if name == "MedR":
        assert scores.mean(measure) == Score(None, 5, MEDIAN_BEYOND_DEPTH)
    else:
        mean = scores.mean(measure)
        assert mean.value == pytest.approx(sum(HAND_TABLE[name]) / 5)
        assert (mean.n, mean.undefined) == (5, None)


def test_score_run_with_higher_threshold_keeps_gains_for_ndcg() -> None:
    names = ["C@1", "C@4", "R@4", "AP", "AP(found)", "RR", "MeanR", "nDCG", "Judged@3"]
    scores = score_run(HAND_RANKED, HAND_JUDGED, map(parse_measure, names), rel=2)
    first = {name: float(scores.per_query(parse_measure(name))[0]) for name in names}
    ndcg = HAND_TABLE["nDCG"][0]
    assert first == pytest.approx(
        dict(zip(names, [1, 1, 1 / 2, 1 / 2, 1, 1, 1, ndcg, 1], strict=True))
    )
    assert scores.not_retrieved == 4


@pytest.mark.parametrize(
    ("first_ranks", "median"),
    [([1, 3, 0], 3.0), ([1, 2, 3, 0], 2.5), ([1, 2, 0, 0], None), ([1, 0, 0], None), ([2], 2.0)],
)
def test_median_rank_is_exact_or_undefined(first_ranks: list[int], median: float | None) -> None:
    """`first_ranks`: rank of the only positive of each query; 0 if it is not in the list."""
    n = len(first_ranks)
    judged = Judged.from_pairs(range(n), [3] * n, [1] * n, n_queries=n, n_videos=4)
    ranked = np.tile(np.arange(3, dtype=np.int32), (n, 1))
    for query, rank in enumerate(first_ranks):
        if rank:
            ranked[query, rank - 1] = 3
    scores = score_run(lists_of(ranked, 4), judged, DEFAULT_MEASURES)
    undefined = MEDIAN_BEYOND_DEPTH if median is None else None
    assert scores.mean(parse_measure("MedR")) == Score(median, n, undefined)
    assert scores.mean(parse_measure("MeanR")).value == np.mean([rank or 4 for rank in first_ranks])
    assert scores.not_retrieved == first_ranks.count(0)


def test_an_empty_benchmark_has_no_mean_and_empty_lists_score_0() -> None:
    nothing = Judged.from_pairs([], [], [], n_queries=0, n_videos=0)
    scores = score_run(lists_of(np.empty((0, 3)), 0), nothing, DEFAULT_MEASURES)
    assert {scores.mean(m) for m in DEFAULT_MEASURES} == {Score(None, 0, NO_QUERIES)}
    scores = score_run(lists_of(np.empty((5, 0)), 6), HAND_JUDGED, DEFAULT_MEASURES)
    shares = {scores.mean(m) for m in DEFAULT_MEASURES if m.name not in {"MedR", "MeanR"}}
    assert shares == {Score(0.0, 5)}
    assert scores.mean(parse_measure("MeanR")) == Score(1.0, 5)


def test_score_run_refuses_bad_input() -> None:
    with pytest.raises(ValueError, match="rel must be at least 1"):
        score_run(HAND_RANKED, HAND_JUDGED, DEFAULT_MEASURES, rel=0)
    with pytest.raises(ValueError, match="ranked has 4 rows for 5 queries"):
        score_run(HAND_RANKED[:4], HAND_JUDGED, DEFAULT_MEASURES)
    with pytest.raises(ValueError, match="measure 'C@3' was not computed"):
        score_run(HAND_RANKED, HAND_JUDGED, DEFAULT_MEASURES).mean(parse_measure("C@3"))


# --- other implementations ------------------------------------------------------------------------


def random_run(rng: np.random.Generator, n_queries: int = 60, n_videos: int = 15) -> RankedLists:
    """Return lists of up to eight videos, some of them empty."""
    ranked = np.argsort(rng.random((n_queries, n_videos)), axis=1)[:, :8].astype(np.int32)
    lengths = np.where(rng.random(n_queries) < 0.2, 0, rng.integers(1, 9, n_queries))
    ranked[np.arange(8) >= lengths[:, None]] = -1
    return lists_of(ranked, n_videos)


def random_judged(
    rng: np.random.Generator, highest: int, n_queries: int = 60, n_videos: int = 15
) -> Judged:
    """Judge a third of all pairs. Some queries have no positives, and some no judgments."""
    queries, videos = np.nonzero(rng.random((n_queries, n_videos)) < 0.35)
    gains = rng.integers(0, highest + 1, len(queries))
    gains[queries % 7 == 0] = 0
    kept = queries % 11 != 0
    return Judged.from_pairs(
        queries[kept], videos[kept], gains[kept], n_queries=n_queries, n_videos=n_videos
    )


def as_dictionaries(
    ranked: RankedLists, judged: Judged
) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, int]]]:
    run = {
        str(query): {str(v): float(-rank) for rank, v in enumerate(row) if v >= 0}
        for query, row in enumerate(ranked.items.tolist())
        if row[0] >= 0
    }
    qrels: dict[str, dict[str, int]] = {}
    for code, gain in zip(judged.codes.tolist(), judged.gains.tolist(), strict=True):
        query, video = judged.space.decode(code)
        qrels.setdefault(str(query), {})[str(video)] = gain
    return run, qrels


# Each measure, and the same measure in ir_measures. Its nDCG is linear, so `gains=` sets the
# exponential gains.
IR_MEASURES = {
    **{f"C@{k}": f"Success@{k}" for k in (1, 5, 20)},
    **{f"{name}@{k}": f"{name}@{k}" for name in ("R", "P", "AP", "nDCG") for k in (1, 3, 8, 20)},
    **{f"Judged@{k}": f"Judged@{k}" for k in (1, 3, 8, 20)},
    **{name: name for name in ("AP", "RR", "nDCG", "RR@3")},
    "nDCG(exp)": "nDCG(gains={2:3,3:7})",
    "nDCG(exp)@3": "nDCG(gains={2:3,3:7})@3",
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("highest", [1, 3])
def test_scores_equal_ir_measures(highest: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "_BLOCK_QUERIES", 25)
    monkeypatch.setattr(relevance, "_TABLE_CELLS", 100)
    rng = np.random.default_rng([seed, highest])
    ranked, judged = random_run(rng), random_judged(rng, highest)
    run, qrels = as_dictionaries(ranked, judged)
    peers = {ours: ir_measures.parse_measure(theirs) for ours, theirs in IR_MEASURES.items()}
    expected = {ours: np.zeros(len(ranked)) for ours in peers}
    back = {peer: ours for ours, peer in peers.items()}
    means = {}
    # Each measure in its own call: in one call, two nDCG with different gains can overwrite each
    # other.
    for peer in peers.values():
        for metric in ir_measures.iter_calc([peer], qrels, run):
            expected[back[metric.measure]][int(metric.query_id)] = metric.value
        means |= ir_measures.calc_aggregate([peer], qrels, run)

    scores = score_run(ranked, judged, map(parse_measure, peers))
    for ours, peer in peers.items():
        per_query = scores.per_query(parse_measure(ours))
        if ours.startswith("Judged"):
            # ir_measures omits queries without judgments. They are 0 by our definition.
            per_query = per_query * np.isin(np.arange(len(ranked)), [int(q) for q in qrels])
        np.testing.assert_allclose(per_query, expected[ours], rtol=0, atol=1e-9, err_msg=ours)
        # The mean of ir_measures omits these queries, too.
        mean = scores.mean(parse_measure(ours)).value
        assert mean is not None
        assert mean * len(ranked) == pytest.approx(means[peer] * len(qrels), abs=1e-9), ours


@pytest.mark.parametrize("rel", [1, 2, 3])
def test_scores_equal_pytrec_eval_at_any_threshold(rel: int) -> None:
    rng = np.random.default_rng(rel)
    ranked, judged = random_run(rng), random_judged(rng, 3)
    run, qrels = as_dictionaries(ranked, judged)
    names = {
        "AP": "map", "AP@3": "map_cut_3", "RR": "recip_rank", "R@5": "recall_5", "P@5": "P_5",
        "C@1": "success_1", "C@5": "success_5", "nDCG": "ndcg", "nDCG@3": "ndcg_cut_3",
    }  # fmt: skip
    peer = pytrec_eval.RelevanceEvaluator(qrels, set(names.values()), relevance_level=rel)
    answers = peer.evaluate(run)
    scores = score_run(ranked, judged, map(parse_measure, names), rel=rel)
    for ours, theirs in names.items():
        expected = [answers.get(str(q), {}).get(theirs, 0.0) for q in range(len(ranked))]
        np.testing.assert_allclose(
            scores.per_query(parse_measure(ours)), expected, rtol=0, atol=1e-9, err_msg=ours
        )


# --- properties -----------------------------------------------------------------------------------

SHARES = [
    parse_measure(name)
    for name in (
        "C@1 C@3 R@1 R@3 P@1 P@3 AP AP@2 AP(found) AP(found)@2 RR RR@2 nDCG nDCG@2 nDCG(exp) "
        "nDCG(exp)@2 Judged@3"
    ).split()
]
RANKS = [parse_measure("MedR"), parse_measure("MeanR")]
N_VIDEOS = 7


@st.composite
def runs_and_labels(draw: st.DrawFn) -> tuple[RankedLists, Judged]:
    n_queries, depth = draw(st.integers(1, 5)), draw(st.integers(1, N_VIDEOS))
    ranked = np.full((n_queries, depth), -1, dtype=np.int32)
    for row in ranked:
        videos = draw(st.permutations(range(N_VIDEOS)))[: draw(st.integers(0, depth))]
        row[: len(videos)] = videos
    pair = st.tuples(st.integers(0, n_queries - 1), st.integers(0, N_VIDEOS - 1))
    pairs = draw(st.dictionaries(pair, st.integers(0, 4)))
    judged = Judged.from_pairs(
        [q for q, _ in pairs],
        [v for _, v in pairs],
        list(pairs.values()),
        n_queries=n_queries,
        n_videos=N_VIDEOS,
    )
    return lists_of(ranked, N_VIDEOS), judged


@given(runs_and_labels(), st.data())
def test_adding_a_positive_never_lowers_correct_at_k(
    case: tuple[RankedLists, Judged], data: st.DataObject
) -> None:
    ranked, judged = case
    measures = [parse_measure(f"C@{k}") for k in range(1, N_VIDEOS + 1)]
    query = data.draw(st.integers(0, judged.n_queries - 1))
    video = data.draw(st.integers(0, N_VIDEOS - 1))
    more = Judged.from_pairs([query], [video], [1], n_queries=len(ranked), n_videos=N_VIDEOS)
    before = score_run(ranked, judged, measures)
    after = score_run(ranked, with_positives(judged, more), measures)
    for measure in measures:
        gained = after.per_query(measure) - before.per_query(measure)
        assert (gained >= 0).all()
        assert not np.delete(gained, query).any()
    in_list = video in ranked.items[query].tolist()
    assert after.per_query(measures[-1])[query] == max(
        before.per_query(measures[-1])[query], float(in_list)
    )


@given(runs_and_labels(), st.integers(1, 4))
def test_values_stay_in_their_range(case: tuple[RankedLists, Judged], rel: int) -> None:
    ranked, judged = case
    scores = score_run(ranked, judged, SHARES + RANKS, rel=rel)
    for measure in SHARES:
        assert ((scores.per_query(measure) >= 0) & (scores.per_query(measure) <= 1)).all(), measure
    for measure in RANKS:
        assert set(scores.per_query(measure)) <= set(range(1, ranked.depth + 2))
    for measure in SHARES + RANKS:
        mean = scores.mean(measure)
        assert (mean.value is None) != (mean.undefined is None)


@given(runs_and_labels(), st.permutations(range(N_VIDEOS)))
def test_scores_do_not_depend_on_the_numbering_of_videos(
    case: tuple[RankedLists, Judged], numbers: list[int]
) -> None:
    ranked, judged = case
    renumber = np.array([*numbers, -1], dtype=np.int32)  # the padding -1 stays -1
    query, video = judged.space.decode(judged.codes)
    other = Judged.from_pairs(
        query, renumber[video], judged.gains, n_queries=len(ranked), n_videos=N_VIDEOS
    )
    before = score_run(ranked, judged, SHARES + RANKS)
    after = score_run(lists_of(renumber[ranked.items], N_VIDEOS), other, SHARES + RANKS)
    for measure in SHARES + RANKS:
        assert before.per_query(measure).tolist() == after.per_query(measure).tolist()

"""nDCG and limits of recall by proxies, with expected values by hand or from the definitions."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluation.lab.analyses import get_analysis
from evaluation.lab.analyses.question import build_question
from evaluation.lab.services import analyse
from hearth.shared.errors import InvalidInput
from pooling.models import Benchmark
from tests.factories import add_proxy, import_run, make_benchmark, make_run

pytestmark = pytest.mark.django_db

# Captions x videos. No video is relevant to c3.
SCORES = [[0.9, 0.5, 0.1], [0.2, 0.4, 0.3], [0.5, 0.6, 0.7], [0.3, 0.2, 0.1]]
RELEVANCE = [[1, 0.5, 0], [0, 1, 0.25], [0.75, 0, 0.5], [0, 0, 0]]


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    """c0 and c3 belong to v0, c1 to v1, and c2 to v2."""
    benchmark = make_benchmark(tmp_path, captions=4, videos=3)
    np.save(tmp_path / "m.npy", np.array(SCORES, np.float32))
    import_run(benchmark=benchmark, path=tmp_path / "m.npy", system="S", depth=1, direction="both")
    add_proxy(tmp_path, benchmark, RELEVANCE, "P")
    return benchmark


def result_of(benchmark: Benchmark, name: str, **options: Any) -> dict[str, Any]:
    found = analyse(question=build_question(get_analysis(name), benchmark, options))
    found.refresh_from_db()
    result: dict[str, Any] = found.result
    return result


def ndcg(scores: list[float], relevance: list[float], *, paper: bool) -> tuple[float, float]:
    """Return nDCG and its mean over all orders, from the definitions."""
    gains = [2**value - 1 if paper else value for value in relevance]
    k = sum(value > 0 for value in relevance)
    discounts = [1 / math.log2(rank + 1) for rank in range(1, k + 1)]
    order = sorted(range(len(scores)), key=lambda item: -scores[item])
    ideal = sum(g * d for g, d in zip(sorted(gains)[::-1], discounts, strict=False))
    found = sum(gains[item] * d for item, d in zip(order, discounts, strict=False))
    return found / ideal, sum(gains) / len(gains) * sum(discounts) / ideal


@pytest.mark.parametrize("gain", ["paper", "linear"])
def test_ndcg_of_both_directions(benchmark: Benchmark, gain: str) -> None:
    result = result_of(benchmark, "proxy-ndcg", gain=gain)
    assert [(row["run"], row["direction"]) for row in result["rows"]] == [
        ("S", "text-to-video"),
        ("S (video-to-text)", "video-to-text"),
    ]
    means = []
    sides = ((SCORES, RELEVANCE), (np.transpose(SCORES), np.transpose(RELEVANCE)))
    for (scores, relevance), row in zip(sides, result["rows"], strict=True):
        values = [
            ndcg(list(s), list(r), paper=gain == "paper")
            for s, r in zip(scores, relevance, strict=True)
            if any(r)
        ]
        mean, random = np.mean(values, axis=0).tolist()
        assert (row["queries"], row["left_out"]) == (3, len(scores) - 3)
        # The lists have one rank, but the whole matrix is scored.
        assert (row["depth"], row["items"]) == (len(scores[0]), len(scores[0]))
        assert row["gains"][gain] == {
            "ndcg": pytest.approx(mean),
            "random": pytest.approx(random),
            "above_random": pytest.approx((mean - random) / (1 - random)),
        }
        means.append((mean, random))
    (both,) = result["both"]
    mean, random = np.mean(means, axis=0).tolist()
    assert (both["run"], both["to_text"]) == ("S", "S (video-to-text)")
    assert both["gains"][gain]["ndcg"] == pytest.approx(mean)
    assert both["gains"][gain]["above_random"] == pytest.approx((mean - random) / (1 - random))
    analysis = get_analysis("proxy-ndcg")
    by_proxy, in_both, _ = analysis.tables(result)
    first = in_both.rows[0]
    assert (first["to_video"], first["to_text"]) == tuple(pytest.approx(m) for m, _ in means)
    values = [(mean, random), *means]
    assert [(row["run"], row["direction"], row["ndcg:P"]) for row in by_proxy.rows] == [
        (name, of, pytest.approx(value[at]))
        for of, value, run in zip(
            ("mean of both", "text-to-video", "video-to-text"),
            values,
            ("S", "S", "S (video-to-text)"),
            strict=True,
        )
        for name, at in (("Random", 1), (run, 0))
    ]
    assert by_proxy.note == analysis.warnings(result)[0]
    assert analysis.warnings(result) == [
        "By P, 1 caption without a relevance above 0 is left out (text-to-video)."
    ]


def test_average_precision_by_hand(benchmark: Benchmark) -> None:
    row = result_of(benchmark, "proxy-ndcg")["rows"][0]
    # Only c0 and c1 have a video with relevance 1, each at rank 1.
    assert (row["full_ap"], row["epic_map"], row["without_full"]) == (1, 1, 2)


def test_a_run_of_lists_is_scored_to_its_depth(benchmark: Benchmark, tmp_path: Path) -> None:
    make_run(tmp_path, benchmark, {"c0": ["v1"], "c1": ["v1"], "c2": ["v0"]}, system="L")
    result = result_of(benchmark, "proxy-ndcg", runs=["L"], gain="linear")
    (row,) = result["rows"]
    # The ideal list of each query consists of its two relevant items.
    ideal = [1 + 0.5 / math.log2(3), 1 + 0.25 / math.log2(3), 0.75 + 0.5 / math.log2(3)]
    assert row["gains"]["linear"]["ndcg"] == pytest.approx(
        (0.5 / ideal[0] + 1 / ideal[1] + 0.75 / ideal[2]) / 3
    )
    assert (row["depth"], row["items"], result["both"]) == (1, 3, [])
    names = [row["run"] for row in get_analysis("proxy-ndcg").tables(result)[0].rows]
    assert names == ["Random, to the depth of L", "L"]
    assert (
        get_analysis("proxy-ndcg")
        .warnings(result)[0]
        .startswith("L has only lists and is scored to rank 1.")
    )


def test_limits_by_hand(benchmark: Benchmark) -> None:
    result = result_of(benchmark, "proxy-limits", threshold="0.7", cutoffs="1 2 3")
    to_video, to_text = result["rows"]
    # The own videos v0, v1, v2 and v0 all have rank 1. For c2, v0 is equivalent and has rank 3.
    assert to_video["recalls"] == {"own": [1, 1, 1], "upper": [1, 1, 1], "lower": [0.75, 0.75, 1]}
    assert to_video["lower"] == pytest.approx((0.75 * 0.75 * 1) ** (1 / 3))
    assert (to_video["equivalent"], to_video["queries"], to_video["left_out"]) == (5 / 4, 4, 0)
    # v0 ranks c0, c2, c3, c1. c0 and c3 are its own captions, and c2 is equivalent. Only the best
    # own caption counts, so c3 does not lower the limit. v1 ranks c2, c0, c1, c3, and c1 is its
    # own. v2 ranks c2 first, which is its own.
    assert to_text["recalls"] == {
        "own": [2 / 3, 2 / 3, 1],
        "upper": [2 / 3, 2 / 3, 1],
        "lower": [1 / 3, 2 / 3, 1],
    }
    assert result["left_out"] == []


def test_cutoffs_beyond_the_lists_are_left_out(benchmark: Benchmark, tmp_path: Path) -> None:
    make_run(tmp_path, benchmark, {"c0": ["v1"], "c1": ["v1"]}, system="L")
    result = result_of(benchmark, "proxy-limits", cutoffs="1 2")
    assert (result["cutoffs"], result["left_out"], result["short"]) == ([1], [2], ["L"])
    assert get_analysis("proxy-limits").warnings(result)[0] == (
        "R@2 is left out for all runs, because the lists of L are too short."
    )
    with pytest.raises(InvalidInput, match=r"^The lists of L have 1 rank, fewer than each cutoff"):
        result_of(benchmark, "proxy-limits", cutoffs="2 3")


def test_provenance_names_proxies_and_no_direction(benchmark: Benchmark) -> None:
    question = build_question(get_analysis("proxy-ndcg"), benchmark, {})
    provenance = question.provenance
    assert (list(provenance["runs"]), list(provenance["proxies"])) == (
        ["S", "S (video-to-text)"],
        ["P"],
    )
    assert "direction" not in provenance

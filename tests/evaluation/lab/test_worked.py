"""More analyses of the worked benchmark, in addition to those of `test_analyses`.

The expected results are computed by hand, from these lists and positives of c0 | c1 | c2:

A         v0 v1 v2 | v0 v1 v3 | v3 v2 v0
B         v1 v3 v0 | v1 v2 v0 | v3 v1 v2
relevant  v0 v1 | v0 v1 v2 | v2 v3
original  v0 | v1 | v2
"""

from __future__ import annotations

from math import log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from evaluation.lab.analyses import get_analysis
from evaluation.lab.analyses.question import build_question
from hearth.shared.errors import InvalidInput
from pooling.models import Benchmark
from tests.evaluation.lab.test_analyses import result_of
from tests.evaluation.worked import make_worked_benchmark
from tests.factories import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    return make_worked_benchmark(tmp_path)


def near(values: Any) -> Any:
    return pytest.approx(values, abs=1e-12)


def test_bounds_of_measures_that_divide_by_all_positives(benchmark: Benchmark) -> None:
    result = result_of(benchmark, "bounds", labels="original", depth="2", measures="C@1 AP")
    rows = {(row["run"], row["measure"]): row for row in result["rows"]}
    # A has the original positives at ranks 1, 2 and 2. If the video above is relevant, too, AP is
    # 1. If it is not, AP does not change.
    a, b = rows["A", "AP"], rows["B", "AP"]
    assert (a["score"], a["bounds"]) == (near(2 / 3), near([2 / 3, 1]))
    # In its top 2, B has only the original positive of c1, at rank 1. If both videos of c0 or c2
    # are relevant, two of three positives are listed, and AP is 2/3.
    assert (b["score"], b["bounds"]) == (near(1 / 3), near([1 / 3, (2 / 3 + 1 + 2 / 3) / 3]))
    # Without unjudged videos, all lists of A begin with a positive. B's lists of c0 and c2 are
    # empty.
    assert [rows[run, "C@1"]["condensed"] for run in "AB"] == near([1, 1 / 3])
    # No pair is judged not relevant, so bpref is the share of the positives in the list.
    assert [row["bpref"] for row in result["judged"]] == near([1, 1 / 3])
    # No video above A's positives at rank 2 is judged. infAP assumes that it is relevant with
    # probability 1/2, so the precision there is (1 + 1/2) / 2.
    assert [row["infap"] for row in result["judged"]] == near([(1 + 3 / 4 + 3 / 4) / 3, 1 / 3])
    assert result["checks"] == []


def test_estimates_by_hand(benchmark: Benchmark) -> None:
    result = result_of(benchmark, "bounds", depth="2", measures="C@1")
    # The top 2 of A contain 2 of 2, 2 of 3 and 2 of 2 positives. The positives in the top 2 of B
    # are v1, v1 v2 and v3. No irrelevant video is above a positive.
    assert [row["bpref"] for row in result["judged"]] == near(
        [(1 + 2 / 3 + 1) / 3, (1 / 2 + 2 / 3 + 1 / 2) / 3]
    )
    # Without the labels that only A contributed, v0 of c1 is unjudged. It is in a list with a known
    # positive, the original v1. Only one judged pair is unique to B and in such a list: c1 with v2.
    # This pair is relevant, so v0 is expected to be relevant, too.
    a, b = result["checks"]
    assert (a["truth"], a["known"], a["expected"]) == (1, near(2 / 3), 1)
    # B's videos at rank 1 are also in A's top 2, so its C@1 is known without B.
    assert (b["truth"], b["known"], b["expected"]) == (1, 1, 1)


def test_estimates_use_all_runs_and_not_only_the_shown_ones(benchmark: Benchmark) -> None:
    of_both = result_of(benchmark, "bounds", depth="2", measures="C@1 P@2")
    of_one = result_of(benchmark, "bounds", depth="2", measures="C@1 P@2", runs=["B"])
    assert of_one["rows"] == [row for row in of_both["rows"] if row["run"] == "B"]
    assert of_one["checks"] == of_both["checks"] != []


def test_labels_only_exclude_the_original_positives(benchmark: Benchmark) -> None:
    # c1's original positive v1 was judged not relevant, and all pairs are judged.
    alone = result_of(benchmark, "bounds", depth="2", measures="P@2", only="on")
    for row in alone["rows"]:
        assert row["bounds"] == [row["score"]] * 2 == [near(row["expected"])] * 2
    # In the top 2 of A, v0 v1, v0 and v3 v2 are relevant. In those of B, v1, v2 and v3 are.
    assert [row["score"] for row in alone["rows"]] == near([5 / 6, 1 / 2])
    left = result_of(benchmark, "leave-one-out", depth="2", measures="P@2", only="on")["runs"]
    assert [left[run]["all"]["P@2"] for run in "AB"] == near([5 / 6, 1 / 2])
    # Of the relevant pairs, only A contributed v0 of c0, v0 of c1 and v2 of c2, and only B
    # contributed v2 of c1.
    assert [left[run]["left_out"]["P@2"] for run in "AB"] == near([1 / 3, 1 / 3])
    replayed = result_of(benchmark, "replay", measure="C@1", depth="1", only="on")
    assert {row["positives"] for row in replayed["rows"] if row["pairs"] == 0} == {0}
    with pytest.raises(InvalidInput, match="needs the original positives"):
        build_question(get_analysis("matching"), benchmark, {"only": "on"})


def test_a_run_without_unique_pairs_is_not_checked(benchmark: Benchmark, tmp_path: Path) -> None:
    make_run(tmp_path, benchmark, {"c0": ["v1"], "c1": ["v1"], "c2": ["v3"]}, system="C")
    result = result_of(benchmark, "bounds", depth="2", measures="C@1")
    assert [row["run"] for row in result["rows"]] == ["A", "B", "C"]
    assert [row["run"] for row in result["checks"]] == ["A", "B"]


# The only gram of c0 is also in c1. The six grams of c1 are in two captions each. Five of the 19
# grams of c2 are in c1. So all weights of c1 are equal, and c2 has two different weights. FIRST_TWO
# is the similarity of c0 and c1, and LAST_TWO that of c1 and c2.
IN_TWO, IN_ONE = log(4 / 3) + 1, log(4 / 2) + 1
FIRST_TWO = 1 / sqrt(6)
LAST_TWO = 5 * IN_TWO / (sqrt(6) * sqrt(5 * IN_TWO**2 + 14 * IN_ONE**2))


def test_labels_from_captions(benchmark: Benchmark) -> None:
    result = result_of(benchmark, "matching", measures="C@1", threshold="0.02")
    assert [round(similarity, 3) for similarity in (FIRST_TWO, LAST_TWO)] == [0.408, 0.378]
    # The matching pairs are c0 with v1, c1 with v0 and c1 with v2, which are relevant, and c2 with
    # v1, which is not. The other relevant pair is c2 with v3, but v3 has no caption.
    curve = {row["threshold"]: row for row in result["curve"]}
    counts = [(curve[at]["labelled"], curve[at]["correct"]) for at in (0.02, 0.36, 0.38, 0.4, 0.42)]
    assert counts == [(4, 3), (4, 3), (2, 2), (2, 2), (0, 0)]
    shares = ("precision", "recall", "f1")
    assert [curve[0.36][key] for key in shares] == near([3 / 4, 3 / 4, 3 / 4])
    assert [curve[0.38][key] for key in shares] == near([1, 1 / 2, 2 / 3])
    assert [curve[0.42][key] for key in shares] == [0, 0, 0]
    assert result["threshold"] == 0.02
    # By the matching pairs, A is also correct for c1, and B for c0. Both have v3 first for c2.
    for row in result["scores"]:
        by = [row[key] for key in ("original", "matched", "labelled")]
        assert by == near([1 / 3, 2 / 3, 1]), row["run"]


def test_wording_by_hand(benchmark: Benchmark) -> None:
    result = result_of(benchmark, "wording", measure="P@2", resamples="100")
    # The mean similarities to both other captions are 0.204, 0.393 and 0.189.
    rows = {
        (row["run"], row["overlap"]): (row["captions"], row["mean"])
        for row in result["rows"]
        if row["captions"]
    }
    assert rows == {
        ("A", "0.1 to below 0.2"): (1, 1),
        ("A", "0.2 to below 0.3"): (1, 1),
        ("A", "0.3 to below 0.4"): (1, 1),
        ("B", "0.1 to below 0.2"): (1, 1 / 2),
        ("B", "0.2 to below 0.3"): (1, 1 / 2),
        ("B", "0.3 to below 0.4"): (1, 1),
    }
    a, b = result["correlations"]
    assert (a["spearman"], a["kendall"]) == (None, None)
    # The ranks are 2 3 1 for the overlap, 1½ 3 1½ for B's values and 1 2 3 for the words.
    assert (b["spearman"], b["kendall"]) == (near(1.5 / sqrt(2 * 1.5)), near(2 / sqrt(3 * 2)))
    length = result["with_length"]
    assert (length["spearman"], length["kendall"]) == (near(-1 / 2), near(-1 / 3))


def test_slices_by_positives(benchmark: Benchmark) -> None:
    result = result_of(
        benchmark, "slices", measure="P@2", by="positives", bins="3", resamples="100"
    )
    # The captions have two, three and two positives. B has one, two and one of them in its top 2.
    assert [(row["run"], row["slice"], row["captions"], row["mean"]) for row in result["rows"]] == [
        ("A", "up to 2", 2, 1),
        ("A", "3 and more", 1, 1),
        ("B", "up to 2", 2, 1 / 2),
        ("B", "3 and more", 1, 1),
    ]
    assert [(row["spearman"], row["kendall"]) for row in result["correlations"]] == [
        (None, None),
        (near(1), near(1)),
    ]


def test_effect_size_and_randomisation(benchmark: Benchmark) -> None:
    result = result_of(benchmark, "significance", measure="P@2", resamples="200")
    (pair,) = result["comparisons"]
    # A is better by 1/2, 0 and 1/2. The mean is 1/3, and the standard deviation is 1/sqrt(12). Two
    # of the four sign assignments to 1/2 and 1/2 have a sum as far from 0.
    assert (pair["difference"], pair["effect"]) == (near(1 / 3), near(sqrt(12) / 3))
    assert (pair["p_randomisation"], pair["p_holm"]) == (1 / 2, 1 / 2)
    # By the original positives, A has a positive in the top 2 of each caption, and B only for c1.
    assert [(row["original"], row["labelled"]) for row in result["ranks"]] == [(1, 1), (2, 2)]
    assert result["ranking"]["tau"] == 1
    # With three captions, the interval of B's score of 2/3 reaches 1.
    assert [row["saturated_by"] for row in result["ranks"]] == ["interval", "interval"]


def test_sub_samples_by_hand(benchmark: Benchmark) -> None:
    drawn = "100000"
    result = result_of(benchmark, "bootstrap", measure="C@1", sizes="4", resamples=drawn)
    by = {(row["run"], row["by"]): row for row in result["rows"]}
    assert (by["A", "labelled"]["mean"], by["A", "labelled"]["deviation"]) == (1, 0)
    # By the original positives, A is correct for one of three captions, so the number of correct
    # ones among four drawn captions is binomial.
    original = by["A", "original"]
    assert original["mean"] == pytest.approx(1 / 3, abs=0.003)
    assert original["deviation"] == pytest.approx(sqrt(1 / 3 * 2 / 3 / 4), abs=0.003)
    assert (original["histogram"]["first"], original["histogram"]["width"]) == (0, 1 / 4)
    shares = [count / int(drawn) for count in original["histogram"]["counts"]]
    assert shares == pytest.approx([value / 81 for value in (16, 32, 24, 8, 1)], abs=0.006)
    # Each run is correct once when the other is wrong, so the differences are 1, -1 and 0.
    pair = result["pairs"][1]
    assert (pair["by"], pair["difference"]) == ("original", 0)
    assert pair["smallest"] == pytest.approx(1.96 * sqrt(2 / 3 / 4), abs=0.01)


def test_a_histogram_of_sub_samples_with_bins_of_two_captions(benchmark: Benchmark) -> None:
    """A score halfway between the centres of two bins is always in the upper bin."""
    drawn = 100_000
    options = {"measure": "C@1", "sizes": "500", "resamples": str(drawn)}
    rows = result_of(benchmark, "bootstrap", **options)["rows"]
    histogram = next(row for row in rows if (row["run"], row["by"]) == ("A", "original"))[
        "histogram"
    ]
    assert histogram["width"] == 2 / 500
    first = round(histogram["first"] / histogram["width"])
    parts = 2 * (first + np.arange(len(histogram["counts"])))
    correct = binom(500, 1 / 3)
    shares = np.array(histogram["counts"]) / drawn
    assert shares == pytest.approx(correct.pmf(parts - 1) + correct.pmf(parts), abs=0.006)


def test_plan_by_hand(benchmark: Benchmark) -> None:
    result = result_of(
        benchmark, "plan", measure="C@1", labels="original", difference="50", seconds="4"
    )
    found = {row["design"]: row for row in result["rows"] if row["difference"] == 1 / 2}
    # Two of three captions are discordant: (1.960 √(2/3) + 0.842 √(2/3 - 1/4))² / (1/2)² = 18.4.
    # Both scores are 1/3. If they differ by 1/2 on different captions, they are 7/12 and 1/12:
    # (1.960 √(4/9) + 0.842 √(35/144 + 11/144))² / (1/2)² = 12.7.
    assert [(found[design]["deviation"], found[design]["captions"]) for design in found] == [
        (1, 19),
        (near(sqrt(2 / 3)), 26),
    ]
    paired = found["paired"]
    # There are four pairs per caption. A tenth of the pairs have a second label, and 5 % of these
    # have a third label. An hour costs 15.
    assert (paired["pairs"], paired["judgments"]) == (76, 84)
    assert (paired["hours"], paired["money"]) == (near(83.98 * 4 / 3600), near(83.98 / 60))


def test_replay_by_hand(benchmark: Benchmark) -> None:
    result = result_of(benchmark, "replay", measure="C@1", depth="1", error="10")
    # The pool of depth 1 is c0 with v0 v1, c1 with v0 v1 and c2 with v3. All are relevant, so both
    # runs are correct for all captions. With only the original positives, each is correct once. The
    # first three pairs are c0 with v0, c1 with v1 and c2 with v3: two original positives, and a
    # pair of both runs. The fourth pair makes one of the runs correct for another caption.
    errors = {(row["strategy"], row["pairs"]): row["error"] for row in result["rows"]}
    for strategy in ("depth", "move-to-front", "max-mean"):
        found = [errors[strategy, pairs] for pairs in (0, 3, 4, 5)]
        assert found == near([2 / 3, 1 / 3, 1 / 3, 0])
    last = {row["strategy"]: row for row in result["rows"] if row["pairs"] == 5}
    assert {(row["positives"], row["error"], row["share"]) for row in last.values()} == {(5, 0, 1)}
    enough = {row["strategy"]: row["pairs"] for row in result["enough"]}
    assert (enough["depth"], enough["move-to-front"], enough["max-mean"]) == (5, 5, 5)
    # Equal systems have no ranking.
    assert {row["tau"] for row in result["rows"]} == {None}
    # In the twenty replays, the caption of the fourth pair is random, but the errors are equal.
    assert result["seeds"] == 20
    by_depth = {row["pairs"]: row for row in result["rows"] if row["strategy"] == "depth"}
    assert by_depth[4]["error_band"] == near([1 / 3, 1 / 3])
    at_random = {row["pairs"]: row for row in result["rows"] if row["strategy"] == "uniform"}
    # Three of the five pairs raise a score. After four pairs, none or one of them is missing.
    assert at_random[4]["error_band"] == near([0, 1 / 3])
    assert at_random[4]["positives_band"] == [4, 4]
    once = result_of(benchmark, "replay", measure="C@1", depth="1", seeds="1")
    assert once["seeds"] == 1
    assert all(row["error_band"] == [row["error"]] * 2 for row in once["rows"])

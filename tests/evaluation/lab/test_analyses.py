"""The analyses by command, page and API. The expected results are computed by hand."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from annotation.enums import Priority
from annotation.selectors.judgments import judgment_arrays
from annotation.selectors.labels import labels_fingerprint
from evaluation.core.people.annotator_resampling import annotator_interval, label_pairs
from evaluation.core.statistics.halves import split_in_half
from evaluation.lab.analyses import ANALYSES, get_analysis
from evaluation.lab.analyses.question import build_question
from evaluation.lab.analyses.saturation import Saturated, saturation_warnings
from evaluation.lab.analyses.tables import Column
from evaluation.lab.selectors import measured_rates
from evaluation.lab.services import RESULTS_MAX, analyse, begin_analysis, renew_analyses
from evaluation.models import AnalysisResult, LabelSet
from evaluation.release.services import SETTLED_FOR, make_draft, publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.jobs.models import Job, JobState
from hearth.jobs.services import run_job
from hearth.shared.errors import Conflict, InvalidInput
from hearth.shared.version import code_version
from pooling.models import Benchmark, Run, Tag, TrainSplit
from tests.evaluation.worked import LABELS, make_ordered_benchmark, make_worked_benchmark
from tests.factories import (
    add_judgments,
    add_proxy,
    add_tags,
    add_train_captions,
    all_pairs,
    build_pool,
    claim,
    import_benchmark,
    make_annotator,
    make_benchmark,
    make_campaign,
    make_run,
    make_user,
    submit,
    write_captions,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    return make_worked_benchmark(tmp_path)


def result_of(benchmark: Benchmark, analysis: str, **options: Any) -> dict[str, Any]:
    found = analyse(question=build_question(get_analysis(analysis), benchmark, options))
    found.refresh_from_db()
    result: dict[str, Any] = found.result
    return result


# --- Worked by hand ---------------------------------------------------------------------------


def test_positives_by_hand(benchmark: Benchmark) -> None:
    result = result_of(benchmark, "positives", examples="1")
    assert result["sources"] == {
        "original": {"positives": 3, "mean": 1, "median": 1, "most": 1, "without": 0},
        "labelled": {"positives": 7, "mean": 7 / 3, "median": 2, "most": 3, "without": 0},
    }
    assert result["per_caption"] == {"original": [0, 3], "labelled": [0, 0, 2, 1]}
    # Every caption has one original positive, so the correlation with the length is undefined. By
    # the labels, the captions of 2, 3 and 5 words have 2, 3 and 2 positives. Of the three pairs of
    # captions, one has the same order by words and by positives, one has the opposite order, and
    # one is tied. The ranks are 1 2 3 and 1.5 3 1.5, and their covariance is 0.
    assert result["correlations"] == {
        "original": {"spearman": None, "kendall": None},
        "labelled": {"spearman": pytest.approx(0), "kendall": pytest.approx(0)},
    }
    # Each row has a number of words, a number of positives and the number of captions with both.
    assert result["by_length"]["labelled"] == [[2, 2, 1], [3, 3, 1], [5, 2, 1]]
    assert [(row["end"], row["caption_id"], row["labelled"]) for row in result["examples"]] == [
        ("short", "c0", 2),
        ("middle", "c1", 3),
        ("long", "c2", 2),
    ]


def test_ranks_by_hand(benchmark: Benchmark) -> None:
    result = result_of(benchmark, "ranks")
    assert result["runs"] == {
        "A": {"original": [1, 2, 0], "new": [2, 1, 0]},
        "B": {"original": [1, 0, 2], "new": [2, 1, 1]},
    }
    assert ANALYSES["ranks"].tables(result)[0].rows == [
        {"run": "A", "original": 3, "new": 3, "share": 1 / 2},
        {"run": "B", "original": 3, "new": 4, "share": 4 / 7},
    ]


def test_correct_captions_by_length(benchmark: Benchmark) -> None:
    rows = result_of(benchmark, "length")["rows"]
    keys = ("both", "only_first", "only_second", "neither")
    assert [(row["by"], row["words"], [row[key] for key in keys]) for row in rows] == [
        ("original", 2, [0, 1, 0, 0]),
        ("original", 3, [0, 0, 1, 0]),
        ("original", 5, [0, 0, 0, 1]),
        ("labelled", 2, [1, 0, 0, 0]),
        ("labelled", 3, [1, 0, 0, 0]),
        ("labelled", 5, [1, 0, 0, 0]),
    ]


def test_overlap_by_hand(benchmark: Benchmark) -> None:
    (pair,) = result_of(benchmark, "overlap", depth="3", p="0.5")["pairs"]
    assert pair["runs"] == ["A", "B"]
    assert pair["overlap"] == pytest.approx(2 / 3)
    # Rank-biased overlap is (1 - p) times the sum of p^(d-1) X_d / d. X_d is the number of videos
    # that the top d of both runs contain: 0 1 2 for c0 and c1, and 1 1 2 for c2.
    assert pair["rbo"] == pytest.approx((2 * 0.5 * (1 / 4 + 1 / 6) + 0.5 * (1 + 1 / 4 + 1 / 6)) / 3)
    assert pair["p"] == 0.5


def test_leave_one_out_by_hand(benchmark: Benchmark) -> None:
    result = result_of(benchmark, "leave-one-out", depth="2", measures="C@1 P@2")
    a, b = result["runs"]["A"], result["runs"]["B"]
    # Original positives count even if the run that ranks them is left out. Of the other pairs, one
    # is only in the top 2 of A: c1 with v0. Three are only in the top 2 of B: c1 with v2, and two
    # pairs that are not relevant.
    assert (a["pairs"], a["positives"], b["pairs"], b["positives"]) == (1, 1, 3, 1)
    assert a["all"] == {"C@1": 1, "P@2": 1}
    assert a["left_out"] == {"C@1": pytest.approx(2 / 3), "P@2": pytest.approx(5 / 6)}
    assert b["all"] == {"C@1": 1, "P@2": pytest.approx(2 / 3)}
    assert b["left_out"] == {"C@1": 1, "P@2": pytest.approx(1 / 2)}
    assert [(row["run"], row["pooled"], row["pools"]) for row in result["growth"]] == [
        ("A", 1, 1),
        ("B", 1, 1),
    ]
    warnings = get_analysis("leave-one-out").warnings
    assert (a["judged"], warnings(result)) == (1, [])
    many = {name: b | {"judged": share / 10} for share, name in enumerate("CDEF", 1)}
    assert warnings(result | {"runs": {"A": a, **many}}) == [
        "4 runs count as pooled systems, although only 10.0 to 40.0 % of their top "
        f"{result['depth']} is judged. Deselect these runs, or judge their pairs."
    ]
    (warning,) = warnings(result | {"runs": {"A": a, "B": b | {"judged": 0.654}}})
    assert warning.startswith("Only 65.4 % of the top 2 of B is judged, but")


def test_coverage_by_hand(benchmark: Benchmark) -> None:
    result = result_of(benchmark, "coverage")
    # All twelve pairs are judged. Seven count as relevant: six that were judged relevant, and one
    # original positive. Five of them are at rank 1.
    assert [
        (pool["pairs"], pool["judged"], pool["relevant"], pool["unjudged"])
        for pool in result["pools"]
    ] == [(5, 5, 5, 0), (9, 9, 7, 0), (12, 12, 7, 0)]
    assert [row["share"] for row in result["ranks"]] == [1] * 6
    alone = result_of(benchmark, "coverage", labels="original", runs=["A"], depth="2")
    assert [(row["judged"], row["share"]) for row in alone["ranks"]] == [(1, 1 / 3), (2, 2 / 3)]


def test_labels_by_hand(benchmark: Benchmark, tmp_path: Path) -> None:
    result = result_of(benchmark, "labels")
    assert (result["pairs"], result["labels"], result["relevant"]) == (12, 12, 6)
    assert (result["several"], result["alpha"], result["alpha_interval"]) == (0, None, None)
    # Ben labels the pairs of c0 like Anna, and one of the four pairs of c1 differently.
    again = [("c0", video, "ben", label) for video, label in LABELS["c0"].items()]
    again += [("c1", video, "ben", 1) for video in ("v0", "v1", "v2")] + [("c1", "v3", "ben", 0)]
    add_judgments(tmp_path, benchmark, again)
    publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)
    result = result_of(benchmark, "labels")
    assert (result["several"], result["disagreement"]) == (8, 1 / 8)
    # The pairs with two labels have 16 labels, and 9 of them are relevant. One pair has two
    # different labels, which count in both orders.
    assert result["alpha"] == pytest.approx(1 - (2 / 16) / (2 * 9 * 7 / (16 * 15)))
    assert result["first_labels"]["alpha"] == result["alpha"]
    # A label set of an older version of Hearth has no stored agreement.
    LabelSet.objects.update(agreement=None)
    AnalysisResult.objects.all().delete()
    older = result_of(benchmark, "labels")
    assert (older["first_labels"], older["first_two_agreement"]) == (None, None)
    assert older["alpha"] == older["all_labels"]["alpha"] == pytest.approx(result["alpha"])
    (one, two) = result["by_number"]
    assert (one["labels"], one["pairs"], two["labels"], two["pairs"]) == (1, 4, 2, 8)
    assert (two["relevant"], two["irrelevant"], two["undecided"]) == (4, 3, 1)


def test_scores_by_hand(benchmark: Benchmark) -> None:
    result = result_of(benchmark, "scores", measures="C@1 AP", resamples="200")
    rows = {(row["run"], row["measure"]): row for row in result["rows"]}
    a = rows["A", "C@1"]
    assert (a["labelled"], a["original"], a["difference"]) == (
        pytest.approx(1),
        pytest.approx(1 / 3),
        pytest.approx(2 / 3),
    )
    # Although all three captions are correct, Wilson's interval begins at 3 / (3 + z^2).
    assert a["labelled_interval"] == [pytest.approx(3 / (3 + 1.959964**2), abs=1e-6), 1]
    assert (a["labelled_method"], a["difference_method"]) == ("wilson", "paired")
    assert rows["A", "AP"]["labelled_method"] == "t"
    assert (result["unit"], result["units"]) == ("captions", 3)
    assert get_analysis("scores").warnings(result)[0] == (
        "Only 3 captions can be resampled. The intervals are corrected for this, but they are "
        "wide, and a single caption can change them considerably."
    )
    # Run A ranks both positives of c0, two of three of c1 at ranks 1 and 2, and both of c2.
    assert rows["A", "AP"]["labelled"] == pytest.approx((1 + 2 / 3 + 1) / 3)


def test_significance(benchmark: Benchmark) -> None:
    result = result_of(benchmark, "significance", measure="AP", resamples="200")
    (pair,) = result["comparisons"]
    # A is better by 1/6 on c0 and on c2, and worse by 1/3 on c1, so the difference is 0.
    assert (pair["wins"], pair["ties"], pair["losses"]) == (2, 0, 1)
    assert pair["difference"] == pytest.approx(0)
    assert (pair["p_randomisation"], pair["p_holm"]) == (1, 1)
    (alone,) = result_of(benchmark, "significance", measure="C@1", labels="original")["comparisons"]
    # Each run is correct for one caption for which the other is wrong.
    assert (alone["wins"], alone["ties"], alone["losses"], alone["p_randomisation"]) == (1, 1, 1, 1)


def test_bounds(benchmark: Benchmark) -> None:
    """With only the original positives, most pairs are unjudged."""
    result = result_of(benchmark, "bounds", labels="original", depth="2", measures="C@1 P@2")
    rows = {(row["run"], row["measure"]): row for row in result["rows"]}
    assert (rows["A", "C@1"]["score"], rows["A", "C@1"]["bounds"]) == (
        pytest.approx(1 / 3),
        [pytest.approx(1 / 3), 1],
    )
    assert rows["B", "P@2"]["bounds"] == [pytest.approx(1 / 6), 1]
    assert result["judged"][0]["judged"] == pytest.approx(1 / 2)


def test_slices(benchmark: Benchmark) -> None:
    result = result_of(benchmark, "slices", measure="P@2", bins="3", runs=["A"], resamples="100")
    assert result["slices"] == ["up to 2", "3–4", "5 and more"]
    assert [(row["captions"], row["mean"]) for row in result["rows"]] == [(1, 1), (1, 1), (1, 1)]


def test_slices_by_tag(benchmark: Benchmark) -> None:
    result = result_of(benchmark, "slices", measure="P@2", by="tags", runs=["B"], resamples="100")
    assert (result["slices"], result["left_out"]) == (["dogs", "running", "still", "no tag"], 0)
    # The top 2 of B contain one positive for c0, two for c1 and one for c2.
    assert [(row["captions"], row["mean"]) for row in result["rows"]] == [
        (2, 0.75),
        (1, 1),
        (1, 0.5),
        (1, 0.5),
    ]
    assert result["correlations"] == []
    # With one run there is no comparison.
    assert [table.name for table in get_analysis("slices").tables(result)] == ["slices"]


def test_tags_above_the_limit_are_left_out(
    benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluation.lab.analyses.slices.TAGS_MAX", 2)
    result = result_of(benchmark, "slices", by="tags", resamples="100")
    assert (result["slices"], result["left_out"]) == (["dogs", "running", "no tag"], 1)
    table = get_analysis("slices").tables(result)[0]
    assert table.note == "Only the 2 tags with the most captions are used. 1 other tag is left out."


def test_new_tags_make_another_question(benchmark: Benchmark, tmp_path: Path) -> None:
    def keys() -> list[str]:
        return [
            build_question(get_analysis("slices"), benchmark, {"by": by}).key
            for by in ("tags", "length")
        ]

    before = keys()
    add_tags(tmp_path, benchmark, ("c2", "dogs"))
    assert [one == other for one, other in zip(keys(), before, strict=True)] == [False, True]
    question = build_question(get_analysis("slices"), benchmark, {"by": "tags"})
    add_tags(tmp_path, benchmark, ("c1", "dogs"))
    with pytest.raises(Conflict, match="The tags have been replaced"):
        analyse(question=question)
    assert not AnalysisResult.objects.exists()
    Tag.objects.all().delete()
    with pytest.raises(InvalidInput, match="tiny has no tags"):
        build_question(get_analysis("slices"), benchmark, {"by": "tags"})


def test_slices_by_agreement(benchmark: Benchmark, tmp_path: Path) -> None:
    # Two annotators agree on one pair of c0 and disagree on another. Three agree on a pair of c2.
    again = [("c0", "v0", "ben", 1), ("c0", "v1", "ben", 0)]
    again += [("c2", "v3", name, 1) for name in ("ben", "eva")]
    add_judgments(tmp_path, benchmark, again)
    publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)
    options = {"measure": "P@2", "by": "agreement", "runs": ["B"], "resamples": "100"}
    result = result_of(benchmark, "slices", **options)
    assert [(row["slice"], row["captions"], row["mean"]) for row in result["rows"]] == [
        ("labels agree", 1, 0.5),
        # The pair c0, v1 is in conflict, so it counts as unjudged.
        ("labels differ on some pair", 1, 0),
        ("no pair labelled several times", 1, 1),
    ]
    with pytest.raises(InvalidInput, match="Agreement needs a label set"):
        build_question(get_analysis("slices"), benchmark, {**options, "labels": "original"})


def test_overlap_with_train_captions(benchmark: Benchmark) -> None:
    result = result_of(
        benchmark, "train-overlap", measure="C@1", labels="original", resamples="100"
    )
    assert (result["split"], result["train_captions"]) == ("train", 3)
    # A gram is a sequence of five characters. One gram, "a dog", is in two of the three train
    # captions, and all others are in one. Of the 19 grams of c2, five are in "a dog runs", and the
    # others are in no train caption.
    twice, once, never = (math.log(4 / (1 + df)) + 1 for df in (2, 1, 0))
    norm = math.hypot(twice, *[once] * 5)  # of "a dog runs"
    first_two = twice / norm
    last_two = 5 * once**2 / norm / math.hypot(*[once] * 5, *[never] * 14)
    columns = ("overlap", "caption_id", "closest", "similarity")
    assert [tuple(row[column] for column in columns) for row in result["examples"]] == [
        (pytest.approx(last_two / 3), "c2", "a dog runs", pytest.approx(last_two)),
        (pytest.approx((1 + first_two) / 3), "c0", "a dog", 1),
        (pytest.approx((1 + first_two) / 3), "c1", "a dog runs", 1),
    ]
    assert result["examples"][0]["caption"] == "the black dog runs home"
    filled = [(row["run"], row["overlap"], row["captions"], row["mean"]) for row in result["rows"]]
    # With only the original positives, A is correct for the first caption, and B for the second.
    assert [row for row in filled if row[2]] == [
        ("A", "0.1 to below 0.2", 1, 0),
        ("A", "0.4 to below 0.5", 2, 0.5),
        ("B", "0.1 to below 0.2", 1, 0),
        ("B", "0.4 to below 0.5", 2, 0.5),
    ]
    # The ranks of c0, c1 and c2 are 2.5 2.5 1 by overlap, 1 2 3 by length, 3 1.5 1.5 by the scores
    # of A and 1.5 3 1.5 by those of B.
    assert result["with_length"]["spearman"] == pytest.approx(-1.5 / math.sqrt(1.5 * 2))
    assert result["with_length"]["kendall"] == pytest.approx(-2 / math.sqrt(2 * 3))
    assert [row["spearman"] for row in result["correlations"]] == [pytest.approx(0.5)] * 2
    assert [row["kendall"] for row in result["correlations"]] == [pytest.approx(0.5)] * 2
    assert [row["spearman"] for row in result["length_correlations"]] == [
        pytest.approx(-1.5 / math.sqrt(1.5 * 2)),
        pytest.approx(0),
    ]


def test_another_split_makes_another_question(benchmark: Benchmark, tmp_path: Path) -> None:
    analysis = get_analysis("train-overlap")
    before = build_question(analysis, benchmark, {})
    assert before.options["split"] == "train"
    split = add_train_captions(tmp_path, benchmark, "a cat").split
    # The newest split is used unless another is named.
    after = build_question(analysis, benchmark, {})
    assert (after.options["split"], after.options["split_sha256"]) == ("train@2", split.sha256)
    assert build_question(analysis, benchmark, {"split": "train"}).key == before.key != after.key
    with pytest.raises(InvalidInput, match="split: Select a valid choice"):
        build_question(analysis, benchmark, {"split": "7k"})
    TrainSplit.objects.all().delete()
    with pytest.raises(InvalidInput, match="tiny has no train captions"):
        build_question(analysis, benchmark, {})


def test_wording(benchmark: Benchmark) -> None:
    result = result_of(benchmark, "wording", measure="C@1", labels="original", resamples="100")
    assert [(row["caption_id"], row["closest"]) for row in result["examples"]] == [
        ("c2", "a dog runs"),
        ("c0", "a dog runs"),
        ("c1", "a dog"),
    ]
    # Each of the six grams of c1 is in one other caption. c0 has only one gram, "a dog", which c1
    # contains and c2 does not. So the mean similarity of c0 is half of its similarity to c1.
    assert result["examples"][1]["overlap"] == pytest.approx(1 / math.sqrt(6) / 2)
    assert sum(row["captions"] for row in result["rows"]) == 6


def test_plan_uses_the_measured_values(benchmark: Benchmark) -> None:
    question = build_question(get_analysis("plan"), benchmark, {"seconds": "7.2", "money": "10"})
    # Twelve pairs of three captions were judged, four per caption. No pair has two labels, so the
    # disagreement is the default.
    assert (question.options["pairs"], question.options["disagreement"]) == (4, 0.05)
    assert question.options["sources"] == {
        "pairs": "measured",
        "disagreement": "assumed",
        "seconds": "chosen",
    }
    result = result_of(benchmark, "plan", seconds="7.2", money="10", difference="10")
    assert result["rates"] == {
        "pairs_per_caption": 4,
        "double_share": 0.1,
        "disagreement": 0.05,
        "seconds_per_judgment": 7.2,
        "money_per_hour": 10,
    }
    # On average, a pair has 1 + 0.1 (1 + 0.05) judgments.
    for row in result["rows"]:
        assert row["pairs"] == row["captions"] * 4
        assert row["judgments"] == -(-row["pairs"] * 1105 // 1000)
        assert row["money"] == pytest.approx(10 * row["hours"])


@pytest.fixture
def two_per_video(tmp_path: Path) -> Benchmark:
    """Four videos with two captions each.

    A is correct for the captions of v0 and v1, and B for those of v2.
    """
    benchmark = make_benchmark(tmp_path, captions=8, videos=4)
    first, second = ["v0", "v1", "v3", "v0"], ["v2", "v2", "v2", "v1"]
    make_run(tmp_path, benchmark, {f"c{n}": [first[n % 4]] for n in range(8)})
    make_run(tmp_path, benchmark, {f"c{n}": [second[n % 4]] for n in range(8)}, system="B")
    return benchmark


def test_plan_by_video(two_per_video: Benchmark) -> None:
    analysis = get_analysis("plan")
    goal = {"measure": "C@1", "difference": "25", "unit": "videos"}
    result = result_of(two_per_video, "plan", **goal)
    assert (result["unit"], result["sources"]["design_effect"]) == ("videos", "measured")
    # The differences of the two captions of each video are 1 1, 1 1, -1 -1 and 0 0. So psi, the
    # share of captions with a difference, is 3/4, and the mean is 1/4. By video, the deviations
    # from the mean have the sums 3/2, 3/2, -5/2 and -1/2, and 11 is the sum of their squares. The
    # design effect is 11 * 4/3 / 8, divided by the variance 5.5 / 7.
    pilot = result["pilots"][0]
    assert (pilot["design"], pilot["formula"]) == ("paired", "connor")
    assert (pilot["discordant"], pilot["pilot_difference"]) == (3 / 4, 1 / 4)
    assert pilot["design_effect"] == pytest.approx(7 / 3)
    assert (pilot["captions_per_video"], pilot["icc"]) == (2, pytest.approx(4 / 3))
    # The plan needs (1.960 √(3/4) + 0.842 √(11/16))² / (1/4)² = 91.8 independent captions.
    # Multiplied by the design effect 7/3, this is 214.2.
    row = next(row for row in result["rows"] if row["difference"] == 1 / 4)
    assert (row["captions"], row["videos"], row["single_captions"]) == (215, 108, 92)
    single = result["single"][0]
    assert (single["captions"], single["videos"]) == (92, 92)
    assert single["pairs"] == 92 * result["rates"]["pairs_per_caption"]
    # No planned difference is above 1, and psi is never below the difference.
    paired = [row for row in result["rows"] if row["design"] == "paired"]
    assert [(row["difference"], row["discordant"]) for row in paired][-3:] == [
        (0.5, 0.75),
        (0.75, 0.75),
        (1.0, 1.0),
    ]
    tables = {table.name: table for table in analysis.tables(result)}
    assert list(tables) == ["plan", "single", "pilot", "differences"]
    assert "raises it to the difference" in tables["differences"].note
    assert "discordant" in [column.key for column in tables["differences"].columns]
    smaller = analysis.tables(result_of(two_per_video, "plan", **goal | {"difference": "15"}))[-1]
    assert (smaller.name, smaller.note) == ("differences", "")
    assert "discordant" not in [column.key for column in smaller.columns]
    (warning,) = analysis.warnings(result)
    assert warning == "The design effect is uncertain: it is measured on only 4 videos."


def test_plan_by_caption(two_per_video: Benchmark) -> None:
    analysis = get_analysis("plan")
    result = result_of(two_per_video, "plan", measure="C@1", difference="25", unit="captions")
    assert (result["unit"], result["sources"]["design_effect"]) == ("captions", "assumed")
    row = next(row for row in result["rows"] if row["difference"] == 1 / 4)
    assert (row["captions"], row["videos"], row["single_captions"]) == (92, None, None)
    assert result["single"] == []
    assert analysis.warnings(result) == [
        "The variance is uncertain: it is measured on only 8 captions."
    ]
    tables = {table.name: table for table in analysis.tables(result)}
    assert list(tables) == ["plan", "pilot", "differences"]
    assert tables["plan"].note.endswith(
        "Design effect: 1 (assumed, since captions count as independent)."
    )
    assert "videos" not in [column.key for column in tables["plan"].columns]


def test_no_plan_if_no_score_varies(two_per_video: Benchmark, tmp_path: Path) -> None:
    """Both runs are wrong for all captions. The page shows the reason."""
    analysis = get_analysis("plan")
    for system, other in (("C", "v1"), ("D", "v2")):
        wrong = {f"c{n}": ["v0" if n % 4 else other] for n in range(8)}
        make_run(tmp_path, two_per_video, wrong, system=system)
    result = result_of(two_per_video, "plan", measure="C@1", unit="videos", runs=["C", "D"])
    assert result["rows"] == result["pilots"] == analysis.warnings(result) == []
    assert analysis.tables(result)[0].note == (
        "No plan: the scores do not vary, or all captions belong to one video."
    )


def test_sub_samples_by_video(two_per_video: Benchmark) -> None:
    analysis = get_analysis("bootstrap")
    options = {"measure": "C@1", "sizes": "1 4", "resamples": "50000", "unit": "videos"}
    result = result_of(two_per_video, "bootstrap", **options)
    assert (result["unit"], result["captions_per_video"]) == ("videos", 2)
    rows = [row for row in result["rows"] if row["by"] == "original"]
    assert [(row["run"], row["size"], row["videos"]) for row in rows] == [
        ("A", 1, 1),
        ("B", 1, 1),
        ("A", 4, 2),
        ("B", 4, 2),
    ]
    # A is correct for both captions of two of four videos.
    assert rows[0]["deviation"] == pytest.approx(math.sqrt(1 / 4), abs=0.01)
    assert rows[2]["deviation"] == pytest.approx(math.sqrt(1 / 4 / 2), abs=0.01)
    # The differences by video are 1, 1, -1 and 0. Their variance is 11/16, and their mean square is
    # 12/16. The smallest significant difference is computed from the mean square, divided by 2, the
    # number of videos in a sample.
    pair = result["pairs"][-1]
    assert (pair["size"], pair["difference"]) == (4, 1 / 4)
    assert pair["smallest"] == pytest.approx(1.96 * math.sqrt(3 / 4 / 2), abs=0.01)
    assert analysis.warnings(result) == [
        "The spread of the samples is uncertain: it is measured on only 4 videos.",
        "Samples of 1 caption are not possible. Each sample contains at least one whole video, and "
        "a video has 2.0 captions on average.",
    ]
    assert "whole videos with 2.0 captions each" in analysis.tables(result)[0].note


def test_the_plan_uses_the_rates_that_were_measured_when_it_was_requested(
    benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluation.lab.analyses.plan.measured_rates", lambda _: {"seconds": 3.1})
    question = build_question(get_analysis("plan"), benchmark, {})
    job = begin_analysis(question=question, data={}, created_by=None)
    monkeypatch.setattr("evaluation.lab.analyses.plan.measured_rates", lambda _: {"seconds": 3.2})
    run_job(job.pk)
    assert question.stored_result() is not None


def test_pairs_per_caption_are_computed_from_pooled_captions(tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path, captions=6, videos=4)
    make_run(tmp_path, benchmark, all_pairs(6, 4))
    assert measured_rates(benchmark) == {}
    build_pool(benchmark=benchmark, depth=3, sample=2)
    assert measured_rates(benchmark) == {"pairs": 3}


# --- All analyses -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ANALYSES)
def test_every_analysis_can_be_shown(tmp_path: Path, name: str, client: Client) -> None:
    """The result is JSON, rows have all columns, and the page shows all tables and charts."""
    analysis = get_analysis(name)
    make = make_ordered_benchmark if analysis.needs_studies else make_worked_benchmark
    benchmark = make(tmp_path)
    address = f"/benchmarks/{benchmark.key}/analyses/{name}/"
    result = analyse(question=build_question(analysis, benchmark, {})).result
    json.dumps(result, allow_nan=False)
    tables, charts = analysis.tables(result), analysis.charts(result)
    names = [part.name for part in (*tables, *charts)]
    assert len({table.name for table in tables}) == len(tables) > 0
    assert all(name.replace("-", "").isalnum() and name == name.lower() for name in names)
    client.force_login(make_user("rita", Role.RESEARCHER))
    page = client.get(address).content.decode()
    for part in (*tables, *charts):
        assert f'id="{"table" if part in tables else "chart"}-{part.name}"' in page
    for table in tables:
        answer = client.get(f"{address}tables/{table.name}/")
        rows = list(csv.reader(io.StringIO(answer.content.decode())))
        # An interval takes two columns.
        heads = [head.removesuffix("_low") for head in rows[0] if not head.endswith("_high")]
        source = ["label_set", "label_set_sha256", "labels_only"]
        source += ["runs_sha256"]
        source += ["proxies_sha256"] if "proxies" in analysis.form.base_fields else []
        source += ["studies_sha256"] if analysis.needs_studies else []
        source += ["code_version", "result"]
        assert heads == [*(column.key for column in table.columns), *source]
        assert len(rows) == 1 + len(table.rows)
    for chart in charts:
        spec = client.get(f"{address}charts/{chart.name}/").json()
        assert spec["$schema"].endswith("/vega-lite/v6.json")
        assert spec["description"] == chart.text


def test_an_analysis_is_computed_once(benchmark: Benchmark, tmp_path: Path) -> None:
    first = analyse(question=build_question(get_analysis("ranks"), benchmark, {}))
    assert (
        analyse(question=build_question(get_analysis("ranks"), benchmark, {"labels": "latest"}))
        == first
    )
    assert first.inputs == {
        "analysis": "ranks",
        "benchmark": "tiny",
        "captions_sha256": benchmark.captions_sha256,
        "labels": "1.0.0",
        "labels_sha256": benchmark.label_sets.get().sha256,
        "labels_only": False,
        "runs": dict(Run.objects.values_list("name", "sha256")),
        "direction": "text-to-video",
        "chosen": {"depth": 10},
        "code_version": code_version(),
    }
    # Other options, another label set and another run make other questions.
    analyse(question=build_question(get_analysis("ranks"), benchmark, {"depth": "2"}))
    publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)
    analyse(question=build_question(get_analysis("ranks"), benchmark, {}))
    make_run(tmp_path, benchmark, {"c0": ["v3"]}, system="C")
    analyse(question=build_question(get_analysis("ranks"), benchmark, {}))
    assert AnalysisResult.objects.count() == 4


def test_old_results_are_deleted(benchmark: Benchmark) -> None:
    for depth in range(1, RESULTS_MAX + 3):
        analyse(question=build_question(get_analysis("ranks"), benchmark, {"depth": str(depth)}))
    kept = AnalysisResult.objects.filter(kind="ranks").order_by("pk")
    assert [result.inputs["chosen"]["depth"] for result in kept] == list(range(3, RESULTS_MAX + 3))


def test_viewed_analyses_are_recomputed(benchmark: Benchmark, tmp_path: Path) -> None:
    analyse(question=build_question(get_analysis("ranks"), benchmark, {}))
    analyse(question=build_question(get_analysis("overlap"), benchmark, {"depth": "2"}))

    def age() -> None:
        """Make all inputs old."""
        long_ago = timezone.now() - SETTLED_FOR
        Run.objects.update(created_at=long_ago)
        LabelSet.objects.update(created_at=long_ago)

    assert renew_analyses() == 0
    age()
    # "overlap" was opened with options, and is now computed with the default options. "originals"
    # and "label-noise" are also computed, because pages show them.
    assert (renew_analyses(), renew_analyses()) == (3, 0)
    begun = [job.params["analysis"] for job in Job.objects.order_by("pk")]
    assert sorted(begun) == ["label-noise", "originals", "overlap"]
    make_run(tmp_path, benchmark, {"c0": ["v3"]}, system="C")
    assert renew_analyses() == 0
    age()
    assert (renew_analyses(), renew_analyses()) == (4, 0)
    # Some jobs were begun before run C was imported. They are also executed, and their results
    # contain run C.
    for job in Job.objects.all():
        run_job(job.pk)
    runs = AnalysisResult.objects.filter(kind="overlap").first()
    assert runs is not None
    assert list(runs.inputs["runs"]) == ["A", "B", "C"]
    # A new judgment does not change the label set, so its corrections are not computed again.
    add_judgments(tmp_path, benchmark, [("c0", "v3", "zoe", 1)])
    assert renew_analyses() == 0


def test_a_worker_with_other_code_fails_with_a_message(benchmark: Benchmark) -> None:
    question = build_question(get_analysis("ranks"), benchmark, {})
    job = begin_analysis(question=question, data={}, created_by=None)
    job.params["code_version"] = "0.0.1"
    job.save()
    run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, AnalysisResult.objects.count()) == (JobState.FAILED, 0)
    reason = f"version 0.0.1, but the worker runs version {code_version()}. Restart the process"
    assert reason in job.error


def test_saturation_shows_a_warning(
    benchmark: Benchmark, client: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    client.force_login(make_user("rita", Role.RESEARCHER))
    # C@5 of every run is 1, so no improvement is possible.
    options = {"measures": "C@5", "runs": ["A"]}
    result = analyse(question=build_question(get_analysis("scores"), benchmark, options)).result
    assert [(row["gap"], row["saturated_by"]) for row in result["rows"]] == [(0, "interval")]
    page = client.get("/benchmarks/tiny/analyses/scores/?measures=C@5&runs=A").content.decode()
    warning = (
        "C@5 of A is saturated: the 0.0 points left to gain are within the interval of the score."
    )
    assert warning in page
    call_command("analyse", "tiny", "scores", "--measures", "C@5", "--run", "A")
    assert warning in capsys.readouterr().out

    # A second annotator contradicts the label of every pair.
    other = [
        (caption, video, "ben", 1 - label)
        for caption, labels in LABELS.items()
        for video, label in labels.items()
    ]
    add_judgments(tmp_path, benchmark, other)
    make_draft(benchmark=benchmark, by=OPERATOR)
    options = {"measures": "C@1", "runs": ["A"], "labels": "draft"}
    result = analyse(question=build_question(get_analysis("scores"), benchmark, options)).result
    # All pairs are in conflict, so only the original positives count.
    assert result["disagreement"] == 1
    # Error rates cannot be estimated from two labels that always differ.
    assert [(row["noise"], row["saturated_by"]) for row in result["rows"]] == [(None, None)]


def test_saturation_by_noise_shows_a_warning() -> None:
    row = Saturated(run="A", measure="C@10", gap=0.02, noise=0.025, saturated_by="noise")
    assert saturation_warnings([row]) == [
        "C@10 of A is saturated: the 2.0 points left to gain are at most the 2.5 points that "
        "wrong labels may cause."
    ]


def test_holm_covers_all_measures_of_the_table(benchmark: Benchmark) -> None:
    result = result_of(benchmark, "significance", measure="C@1", further="P@2 C@1 AP")
    assert [row["measure"] for row in result["comparisons"]] == ["C@1", "P@2", "AP"]
    # The p-values are 1, 1/2 and 1. Holm multiplies each by at most three and limits it to 1.
    assert [row["p_holm"] for row in result["comparisons"]] == [1, 1, 1]
    table, ranks = get_analysis("significance").tables(result)
    assert table.note == (
        "Holm’s correction covers the 3 tests of this table: 1 pair of systems by 3 measures "
        "(C@1, P@2, AP)."
    )
    assert (
        ranks.note == "There is no ranking: only one system is compared, or all scores are equal."
    )


def test_the_maximum_of_rank_resamples_is_in_the_note(benchmark: Benchmark) -> None:
    result = result_of(benchmark, "significance", measure="P@2", resamples="2000")
    assert result["ranking"]["resamples"] == 1000
    assert (
        get_analysis("significance")
        .tables(result)[1]
        .note.endswith(
            "The intervals of ranks are computed from 1,000 resamples. The maximum for them is "
            "1,000."
        )
    )


def test_slices_are_compared_and_corrected_together(benchmark: Benchmark, tmp_path: Path) -> None:
    result = result_of(benchmark, "slices", measure="P@2", by="positives", bins="3")
    # Only the slice "up to 2" can be compared, because it has two captions. A is better by 1/2 on
    # both.
    (row,) = result["differences"]
    assert (row["slice"], row["first"], row["second"]) == ("up to 2", "A", "B")
    assert (row["difference"], row["p_randomisation"], row["p_holm"]) == (1 / 2, 1 / 2, 1 / 2)
    table = get_analysis("slices").tables(result)[1]
    assert table.note == (
        "Holm’s correction covers the 1 test of this table: 1 slice by 1 pair of systems."
    )


def test_history_by_hand(benchmark: Benchmark, tmp_path: Path) -> None:
    result = result_of(benchmark, "history", measure="C@1", moments="4", resamples="100")
    by_run = {
        name: [row["score"] for row in result["scores"] if row["run"] == name] for name in "AB"
    }
    # The scores are computed after 0, 3, 6, 9 and 12 labels. Pairs were judged in the order of
    # captions and videos, so the third is c0 with v2, the sixth c1 with v1, and the ninth c2 with
    # v0.
    assert by_run["A"] == [pytest.approx(third / 3) for third in (1, 1, 2, 2, 3)]
    assert by_run["B"] == [pytest.approx(third / 3) for third in (1, 2, 2, 2, 3)]
    assert [row["labels"] for row in result["agreement"]] == [0, 3, 6, 9, 12]
    # A has the score 1 only with all labels. A and B are tied from six labels on.
    assert [(row["what"], row["labels"]) for row in result["settled"]] == [
        ("within 5 points", 12),
        ("within 2 points", 12),
        ("within 1 point", 12),
        ("same order", 6),
    ]
    before = build_question(get_analysis("history"), benchmark, {})
    key = before.key
    add_judgments(tmp_path, benchmark, [("c0", "v0", "ben", 0)])
    now = build_question(get_analysis("history"), benchmark, {})
    assert now.key != key
    # A label that arrives after the question was built and before the computation is in the result.
    found = analyse(question=before)
    assert found.result["agreement"][-1]["labels"] == 13
    assert (found.key, found.inputs["moment"]) == (now.key, now.inputs.fingerprint)


def test_alpha_while_labels_arrive_has_the_interval_of_annotators(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    """At the last checkpoint, both intervals are those of the planned labels."""
    for person, differs in (("ben", "v2"), ("cara", "v1")):
        rows = [
            (f"c{caption}", video, person, int(video != differs))
            for caption in range(2)
            for video in ("v0", "v1", "v2", "v3")
        ]
        add_judgments(tmp_path, benchmark, rows)
    rows = result_of(benchmark, "history", moments="4", resamples="100")["agreement"]
    # Before the labels of a third annotator, no annotators can be resampled.
    assert [row["interval"] is None for row in rows] == [True, True, True, False, False]
    last = rows[-1]
    judgments = judgment_arrays(benchmark)
    planned = judgments.is_first
    pairs = label_pairs(
        judgments.pair_of[planned], judgments.annotators[planned], judgments.labels[planned]
    )
    by_annotators = annotator_interval(pairs, 100, rng=np.random.default_rng(0))
    assert last["interval"] == by_annotators.ends != last["interval_pairs"]


def test_arriving_labels_do_not_each_start_a_computation(
    benchmark: Benchmark, client: Client, tmp_path: Path
) -> None:
    def page() -> str:
        return client.get("/benchmarks/tiny/analyses/history/").content.decode()

    client.force_login(make_user("rita", Role.RESEARCHER))
    question = build_question(get_analysis("history"), benchmark, {})
    job = begin_analysis(question=question, data={}, created_by=None)
    add_judgments(tmp_path, benchmark, [("c0", "v0", "ben", 0)])
    later = build_question(get_analysis("history"), benchmark, {})
    assert later.key != question.key
    assert begin_analysis(question=later, data={}, created_by=None) == job
    assert 'id="job-in-place"' in page()
    run_job(job.pk)
    add_judgments(tmp_path, benchmark, [("c0", "v0", "cleo", 0)])
    assert "New labels have arrived since then." in page()
    assert 'hx-trigger="load"' not in page()
    AnalysisResult.objects.update(created_at=timezone.now() - SETTLED_FOR)
    assert 'hx-trigger="load"' in page()


def test_labels_that_arrive_during_an_analysis_are_not_in_its_result(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    question = build_question(get_analysis("history"), benchmark, {})

    def judge_meanwhile(done: int, total: int | None, phase: str = "") -> None:
        if (phase, done) == ("replaying labels", 0):
            add_judgments(tmp_path, benchmark, [("c0", "v0", "ben", 0)])

    before = labels_fingerprint(benchmark).as_list()
    found = analyse(question=question, progress=judge_meanwhile)
    assert found.result["agreement"][-1]["labels"] == 12
    assert found.inputs["moment"] == before != labels_fingerprint(benchmark).as_list()


def test_labels_from_captions(benchmark: Benchmark) -> None:
    result = result_of(benchmark, "matching", threshold="1", measures="C@1")
    # Twelve pairs are judged, and seven are positives. The three original positives are left out of
    # both numbers.
    assert (result["pairs"], result["relevant"]) == (9, 4)
    # No two captions are equal.
    assert result["curve"][-1]["labelled"] == 0
    assert [row["matched"] for row in result["scores"]] == [
        row["original"] for row in result["scores"]
    ]


def test_too_few_pairs_to_choose_a_similarity(benchmark: Benchmark) -> None:
    result = result_of(benchmark, "matching", measures="C@1")
    assert (result["threshold"], result["choosing"], result["reporting"]) == (1, None, None)
    (warning,) = ANALYSES["matching"].warnings(result)
    assert "in at least one of them annotators judged no pair relevant" in warning


WORDS = ["red car", "blue boat", "dog runs", "cat sleeps", "man sings", "girl reads"]


def make_couples(tmp_path: Path, misleading: set[int]) -> Benchmark:
    """Import twelve videos with two captions each. Two videos with the same texts are a couple.

    Both videos of a couple are labelled as relevant to all captions of the couple, and other videos
    as not relevant. The label of a pair is inverted if its video and the video of its caption are
    both `misleading`.
    """
    captions = [
        (f"c{video}-{place}", f"the {WORDS[video // 2]} {'today' * place}", f"v{video}")
        for video in range(12)
        for place in range(2)
    ]
    benchmark = import_benchmark(
        key="twelve", captions=write_captions(tmp_path, captions)
    ).benchmark
    videos = [f"v{video}" for video in range(12)]
    make_run(tmp_path, benchmark, {caption: videos for caption, _, _ in captions}, system="A")
    build_pool(benchmark=benchmark, depth=12)
    labels = [
        (caption, f"v{other}", "ann", int(alike != ({own, other} <= misleading)))
        for caption, own in ((key, int(video[1:])) for key, _, video in captions)
        for other in range(12)
        for alike in [own // 2 == other // 2]
    ]
    add_judgments(tmp_path, benchmark, labels)
    publish_label_set(benchmark=benchmark, by=OPERATOR)
    return benchmark


def test_the_reporting_half_does_not_influence_the_choice(tmp_path: Path) -> None:
    reported = np.flatnonzero(~split_in_half(12, rng=np.random.default_rng(1)).choosing)
    twelve_videos = make_couples(tmp_path, {*reported.tolist()})
    result = result_of(twelve_videos, "matching", measures="C@1", seed="1")
    # On the reporting half, other similarities have a higher alpha.
    assert result["choosing"]["alpha"] == 1
    assert result["threshold"] == 0.54
    assert max(row["alpha"] for row in result["curve"]) > result["reporting"]["alpha"]
    assert result["reporting"]["alpha"] < 0


def test_the_similarity_is_chosen_on_one_half_and_reported_on_the_other(tmp_path: Path) -> None:
    twelve_videos = make_couples(tmp_path, set())
    result = result_of(twelve_videos, "matching", measures="C@1", seed="1")
    choosing = split_in_half(12, rng=np.random.default_rng(1)).choosing
    assert choosing.sum() == 6
    for name, part in (("choosing", choosing), ("reporting", ~choosing)):
        half = result[name]
        assert (half["videos"], half["captions"]) == (6, 12)
        # Each caption has pairs with the five other videos of its half. If both videos of a
        # couple are in the half, the two captions of each match the other video.
        couples = sum(part[video] and part[video + 1] for video in range(0, 12, 2))
        assert (half["pairs"], half["relevant"]) == (60, 4 * couples)
        assert couples > 0
    assert (result["pairs"], result["relevant"]) == (60, result["reporting"]["relevant"])
    at = next(row for row in result["curve"] if row["threshold"] == result["threshold"])
    assert {key: at[key] for key in ("precision", "recall", "f1")} == {
        key: result["reporting"][key] for key in ("precision", "recall", "f1")
    }
    # All lists begin with v0, which is relevant only to the captions of v0 and v1.
    (row,) = result["scores"]
    assert row["labelled"] == pytest.approx(2 * (~choosing)[:2].sum() / 12)
    assert row["original"] == pytest.approx(2 * (~choosing)[0] / 12)
    halves, scores, _ = get_analysis("matching").tables(result)
    assert [row["used"] for row in halves.rows] == [
        "Choosing the similarity",
        "All other figures",
    ]
    assert scores.note.startswith(
        "Scores are means over the 12 captions of the 6 videos that were not used"
    )
    # Another seed makes other halves. If a similarity is entered, there are no halves.
    assert result_of(twelve_videos, "matching", seed="2") != result
    entered = result_of(twelve_videos, "matching", threshold="0.5")
    assert (entered["choosing"], entered["pairs"]) == (None, 24 * 11)
    assert get_analysis("matching").warnings(entered) == []


def test_the_stopping_rule_by_hand(benchmark: Benchmark, tmp_path: Path) -> None:
    """With three captions, judging cannot stop early. The last intervals contain only the score."""
    result = result_of(benchmark, "history", measure="C@1", resamples="100", unit="captions")
    stopping = result["stopping"]
    assert (stopping["unit"], stopping["order"], stopping["doubts"]) == (
        "captions",
        "drawn",
        ["imported"],
    )
    assert (stopping["units"], stopping["seen"], stopping["labels"]) == (3, 3, 12)
    first, second, difference = stopping["rows"]
    for row, run in ((first, "A"), (second, "B")):
        assert (row["run"], row["other"], row["final"]) == (run, None, 1)
        assert (row["units"], row["labels"], row["share"]) == (3, 12, 1)
        assert row["interval"] == [pytest.approx(1), pytest.approx(1)]
    # The scores are equal, so judging never stops early for their difference.
    assert (difference["run"], difference["other"], difference["units"]) == ("A", "B", None)
    assert (difference["labels"], difference["final"]) == (None, 0)
    analysis = get_analysis("history")
    imported = "Imported judgments are in the order of their file, which may not be random."
    warning, consequence, _few_captions = analysis.warnings(result)
    assert warning == imported
    assert "a random order that is drawn with the seed" in consequence
    judged = result_of(benchmark, "history", measure="C@1", resamples="100", order="judged")
    assert judged["stopping"]["order"] == "judged"
    assert analysis.warnings(judged)[1].endswith("may therefore be wrong more often than stated.")
    titles = [table.title for table in analysis.tables(result)]
    assert titles[0] == "Labels until scores stopped changing"
    assert titles[1] == "Stopping rule: labels until the interval of C@1 is ± 2 points"
    assert "is ever wrong is at most 5 %" in analysis.tables(result)[1].note


def test_the_stopping_rule_of_a_running_campaign_uses_complete_captions(tmp_path: Path) -> None:
    """Random order causes no warning. Captions that still need labels are left out."""
    campaign = make_campaign(tmp_path, captions=6, videos=2)
    for assignment in claim(campaign, make_annotator("ann"), 5):
        submit(assignment, 1)
    make_draft(benchmark=campaign.benchmark, by=OPERATOR)
    options = {"labels": "draft", "measure": "C@1", "resamples": "100", "unit": "captions"}
    result = result_of(campaign.benchmark, "history", **options)
    stopping = result["stopping"]
    assert (stopping["order"], stopping["doubts"]) == ("judged", [])
    (warning,) = get_analysis("history").warnings(result)
    assert warning.startswith("Only 6 captions can be resampled.")
    # Each caption has two pairs, and captions are judged one after another. So two captions are
    # complete after four labels.
    assert (stopping["units"], stopping["seen"], stopping["labels"]) == (6, 2, 5)
    assert [row["labels"] for row in stopping["path"]] == [2, 4]
    (row,) = stopping["rows"]
    assert (row["units"], row["labels"]) == (None, None)
    # Four of six captions may still get any value.
    assert row["interval"] == [pytest.approx(2 / 6), 1]


def test_without_a_complete_caption_there_is_no_stopping_rule(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, captions=2, videos=2)
    for assignment in claim(campaign, make_annotator("ann"), 1):
        submit(assignment, 1)
    make_draft(benchmark=campaign.benchmark, by=OPERATOR)
    options = {"labels": "draft", "measure": "C@1", "resamples": "100", "unit": "captions"}
    result = result_of(campaign.benchmark, "history", **options)
    analysis = get_analysis("history")
    assert (result["stopping"]["seen"], result["stopping"]["rows"]) == (0, [])
    assert analysis.warnings(result)[0].startswith("The stopping rule is not shown yet.")
    assert [table.name for table in analysis.tables(result)] == ["settled", "scores", "agreement"]


def test_after_judging_by_rank_the_stopping_rule_draws_an_order(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, captions=2, videos=2, priority=Priority.RANK)
    for assignment in claim(campaign, make_annotator("ann"), 4):
        submit(assignment, 1)
    make_draft(benchmark=campaign.benchmark, by=OPERATOR)
    result = result_of(campaign.benchmark, "history", labels="draft", measure="C@1")
    assert result["stopping"]["doubts"] == ["prioritised"]
    assert result["stopping"]["order"] == "drawn"


@pytest.mark.parametrize(
    ("name", "options", "reason"),
    [
        ("overlap", {"p": "1"}, "p: Ensure this value is less than or equal to 0.999."),
        ("overlap", {"depth": "0"}, "depth: Ensure this value is greater than or equal to 1."),
        (
            "overlap",
            {"runs": ["A"]},
            "This analysis needs at least two runs. Select or import more.",
        ),
        ("overlap", {"runs": ["Z"]}, "runs: Select a valid choice. Z is not one of"),
        ("overlap", {"cutoff": "1"}, "Unknown option: cutoff"),
        ("ranks", {"labels": "9"}, "labels: Select a valid choice. 9.0.0 is not one of"),
        ("ranks", {"labels": "original"}, "This analysis needs labels."),
        (
            "leave-one-out",
            {"measures": "C@1 C@x"},
            "measures: unknown measure 'C@x'; known measures: ",
        ),
        # The API accepts lists, and their items can have any type.
        (
            "leave-one-out",
            {"measures": ["C@1", {}]},
            "measures: unknown measure '{}'; known measures: ",
        ),
        ("bootstrap", {"sizes": []}, "sizes: This field is required."),
    ],
)
def test_invalid_questions_are_refused(
    benchmark: Benchmark, name: str, options: Any, reason: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        build_question(get_analysis(name), benchmark, options)
    assert str(refused.value).startswith(reason)
    with pytest.raises(
        InvalidInput, match="unknown analysis 'nothing'; known analyses: leaderboard"
    ):
        get_analysis("nothing")


# --- By command, page and API -------------------------------------------------------------------


def test_the_command_prints_json_and_text(
    benchmark: Benchmark, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("analyse", "tiny", "overlap", "--depth", "3", "--p", "0.5", "--json")
    output = json.loads(capsys.readouterr().out)
    assert output["pairs"][0]["runs"] == ["A", "B"]
    assert output["inputs"]["chosen"] == {"depth": 3, "p": 0.5}
    call_command("analyse", "tiny", "ranks", "--run", "B")
    lines = capsys.readouterr().out.splitlines()
    sha256 = benchmark.label_sets.get().sha256[:12]
    assert lines[0] == f"labels: 1.0.0, sha256 {sha256}   code: {code_version()}"
    assert lines[2:9] == [
        "Positives within the depth",
        "Run  Original positives  New positives  New positives, %",
        "B                     3              4              57.1",
        "",
        "Positives at each rank",
        "Run  Rank  Original positives  New positives",
        "B       1                   1              2",
    ]
    with pytest.raises(CommandError, match="Unknown option: cutoff") as refused:
        call_command("analyse", "tiny", "ranks", "--cutoff", "3")
    assert refused.value.returncode == 2


def test_the_page_starts_a_job(benchmark: Benchmark, client: Client) -> None:
    client.force_login(make_user("rita", Role.RESEARCHER))
    address = "/benchmarks/tiny/analyses/ranks/"
    page = client.get(address, {"depth": "2"}).content.decode()
    assert 'hx-trigger="load"' in page
    assert '<input type="hidden" name="depth" value="2">' in page
    begun = client.post(f"{address}compute/", {"depth": "2"}, headers={"HX-Request": "true"})
    assert b'id="job-in-place"' in begun.content
    again = client.post(f"{address}compute/", {"depth": "2"})
    job = Job.objects.get()
    assert again["Location"] == f"/jobs/{job.pk}/"
    assert begun["X-Job"] == str(job.pk)
    assert 'id="job-in-place"' in client.get(address, {"depth": "2"}).content.decode()

    run_job(job.pk)
    job.refresh_from_db()
    here = {"HX-Request": "true", "HX-Current-URL": f"http://testserver{address}?depth=2"}
    ended = client.get(f"/jobs/{job.pk}/progress/", {"in_place": "on"}, headers=here)
    assert ended["HX-Refresh"] == "true"
    assert (job.state, job.result["analysis"]) == (JobState.DONE, "ranks")
    page = client.get(address, {"depth": "2"}).content.decode()
    assert 'id="table-ranks"' in page
    exact = client.get(f"{address}tables/ranks/", {"depth": "2"}).content.decode().splitlines()
    found = AnalysisResult.objects.get()
    runs = "; ".join(f"{run.name} {run.sha256}" for run in Run.objects.order_by("name"))
    source = f"1.0.0,{found.inputs['labels_sha256']},0,{runs},{code_version()},{found.key}"
    assert exact[0] == (
        "run,rank,original,new,"
        "label_set,label_set_sha256,labels_only,runs_sha256,code_version,result"
    )
    assert exact[1:] == [
        f"{cells},{source}" for cells in ("A,1,1,2", "A,2,2,1", "B,1,1,2", "B,2,0,1")
    ]
    assert client.get(f"{address}json/", {"depth": "2"}).json()["captions"] == 3


def test_a_failed_analysis_is_not_restarted_automatically(
    benchmark: Benchmark, client: Client
) -> None:
    client.force_login(make_user("rita", Role.RESEARCHER))
    address = "/benchmarks/tiny/analyses/ranks/"
    client.post(f"{address}compute/")
    Job.objects.update(state=JobState.FAILED, error="The disk is full.")
    page = client.get(address).content.decode()
    assert "The disk is full." in page
    assert 'hx-trigger="load"' not in page


def test_the_list_names_the_source_of_each_analysis_that_has_one(
    benchmark: Benchmark, client: Client
) -> None:
    client.force_login(make_user("rita", Role.RESEARCHER))
    body = client.get("/benchmarks/tiny/analyses/").content.decode()
    sources = [analysis.source for analysis in ANALYSES.values() if analysis.source]
    shown = re.findall(r'<p class="under">(.*?)</p>', body)
    assert sorted(shown) == sorted(sources)
    papers = ("FIRE study, ", "Similar to the FIRE study, ", "Wray et al. 2021, ")
    papers += ("Tables 6 and 7 of “GQE: ", "Maeoki et al., ", "Shao et al., Find and Focus, ")
    assert [source for source in sources if not source.startswith(papers)] == []
    assert body.count('<a href="https://arxiv.org/abs/2210.05038">FIRE study</a>') == 1


def test_analyses_over_the_api(benchmark: Benchmark) -> None:
    client = APIClient()
    client.force_authenticate(make_user("rita", Role.RESEARCHER))
    address = "/api/v1/benchmarks/tiny/analyses/"
    listed = client.get(address).json()
    assert [analysis["name"] for analysis in listed] == list(ANALYSES)
    assert listed[0]["fields"]["confidence"]["initial"] == 0.95
    assert client.get(f"{address}ranks/", {"depth": 2}).status_code == 404
    accepted = client.post(f"{address}ranks/", {"depth": 2}, format="json")
    assert accepted.status_code == 202
    run_job(accepted.json()["id"])
    found = client.get(f"{address}ranks/", {"depth": 2}).json()
    assert found["runs"]["A"] == {"original": [1, 2], "new": [2, 1]}
    for depth in (0, 10**400):
        refused = client.post(f"{address}ranks/", {"depth": depth}, format="json")
        assert refused.status_code == 400
    assert client.post(f"{address}ranks/", [1], format="json").status_code == 400
    assert client.get(f"{address}other/").status_code == 400
    for odd in ('{"only": [[]]}', '{"only": {"a": 1}}', '{"depth": 1e999}'):
        refused = client.post(f"{address}ranks/", odd, content_type="application/json")
        assert (refused.status_code, "An option must be a text" in refused.content.decode()) == (
            400,
            True,
        )
    assert Job.objects.count() == 1


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("number", -0.08737, "−0.0874"),
        ("number", 0.775, "0.7750"),
        ("number", 0.00012345, "0.0001234"),
        ("number", 1 - 2**-53, "1"),
        ("number", -1234.5, "−1,234"),
        ("points", -0.0025, "− 0.2"),
        # Exact percentages distinguish steps of a quarter of a point.
        ("exact percent", 0.0025, "0.25"),
        ("exact percent", 0.03, "3"),
    ],
)
def test_formatted_numbers(kind: str, value: float, text: str) -> None:
    assert Column("key", "Head", kind).format(value) == text


def test_precision_of_no_matches_is_undefined() -> None:
    shares = {"precision": 0.0, "recall": 0.0, "f1": 0.0, "alpha": 0.0}
    curve = [{"threshold": 1.0, "labelled": 0, "correct": 0, **shares}]
    result = {"threshold": 0.5, "pairs": 1, "relevant": 1, "scores": [], "curve": curve}
    result |= {"choosing": None, "reporting": None}
    analysis = get_analysis("matching")
    assert analysis.tables(result)[1].rows == [{**curve[0], "precision": None}]
    values = analysis.charts(result)[0].spec["data"]["values"]
    assert [row["value"] for row in values] == [None, 0.0, 0.0]


# --- Resampling by video ------------------------------------------------------------------------

RESAMPLED = [name for name, analysis in ANALYSES.items() if "unit" in analysis.form.base_fields]


def test_the_default_is_by_caption_if_each_video_has_one(benchmark: Benchmark) -> None:
    assert build_question(get_analysis("scores"), benchmark, {}).options["unit"] == "captions"


@pytest.mark.parametrize("name", RESAMPLED)
def test_the_default_is_by_video_if_a_video_has_several_captions(name: str, tmp_path: Path) -> None:
    captions = make_benchmark(tmp_path, captions=5, videos=4)
    lists = {f"c{caption}": ["v0", "v1"] for caption in range(5)}
    make_run(tmp_path, captions, lists, system="A")
    make_run(tmp_path, captions, {"c0": ["v1"]}, system="B")
    if get_analysis(name).needs_labels:
        add_judgments(tmp_path, captions, [("c0", "v0", "a", 1)])
        publish_label_set(benchmark=captions, by=OPERATOR)
    add_train_captions(tmp_path, captions, "a dog")
    add_proxy(tmp_path, captions, np.zeros((5, 4)), "none")
    analysis = get_analysis(name)
    by_default = build_question(analysis, captions, {})
    # The options contain the unit, so a request with this unit finds the same stored result.
    assert by_default.options["unit"] == "videos"
    assert by_default.key == build_question(analysis, captions, {"unit": "videos"}).key
    assert by_default.inputs.clusters("auto").tolist() == [0, 1, 2, 3, 0]
    by_caption = build_question(analysis, captions, {"unit": "captions"})
    assert by_caption.options["unit"] == "captions"
    assert by_caption.inputs.clusters("captions") is None


def test_a_warning_is_shown_if_all_captions_or_a_slice_have_few_videos(tmp_path: Path) -> None:
    captions = make_benchmark(tmp_path, captions=44, videos=22)
    lists = {f"c{number}": [f"v{number % 22 if number % 3 else 0}"] for number in range(44)}
    make_run(tmp_path, captions, lists, system="A")
    result = result_of(captions, "scores", measures="C@1")
    assert (result["unit"], result["units"]) == ("videos", 22)
    assert get_analysis("scores").warnings(result) == []
    # Each caption has two words, so there is one slice.
    sliced = result_of(captions, "slices", measure="C@1")
    assert [(row["captions"], row["units"]) for row in sliced["rows"]] == [(44, 22)]
    assert get_analysis("slices").warnings(sliced) == []
    add_tags(tmp_path, captions, *[(f"c{number}", "early") for number in (0, 1, 22, 23)])
    sliced = result_of(captions, "slices", measure="C@1", by="tags")
    assert [(row["captions"], row["units"]) for row in sliced["rows"]] == [(4, 2), (40, 20)]
    assert get_analysis("slices").warnings(sliced) == [
        "1 slice has fewer than 20 videos. The intervals are corrected for this, but a single "
        "video can change them considerably."
    ]
    small = make_benchmark(tmp_path, captions=20, videos=10, key="small")
    make_run(tmp_path, small, {f"c{number}": ["v0"] for number in range(20)}, system="A")
    for name in ("scores", "significance", "leaderboard", "slices", "wording", "bounds", "twins"):
        found = result_of(small, name)
        assert get_analysis(name).warnings(found)[0] == (
            "Only 10 videos can be resampled. The intervals are corrected for this, but they are "
            "wide, and a single video can change them considerably."
        )

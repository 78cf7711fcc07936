"""Scores that are small enough to check by hand, and scores compared with ir_measures."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import ir_measures
import pytest
from django.core.management import call_command

from annotation.enums import Scale
from evaluation.core.relevance.measures import MEDIAN_BEYOND_DEPTH
from evaluation.models import Evaluation
from evaluation.release.exports import open_export
from evaluation.release.services import publish_label_set
from evaluation.scores.services import EvaluatedRuns, RunEvaluation, evaluate_runs
from hearth.accounts.actors import OPERATOR
from hearth.shared.errors import InvalidInput
from hearth.shared.version import code_version
from pooling.models import Benchmark
from pooling.services import import_run
from tests.factories import (
    add_judgments,
    make_benchmark,
    make_run,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def scored(tmp_path: Path) -> EvaluatedRuns:
    """Score a run of three captions and four videos. Video i is the original positive of caption i.

    The run has these lists, and the pairs have these labels:
    c0: v1 v0 v2 | v1 is relevant; v0 (its original positive) and v2 are not relevant
    c1: v0 v2 v3 | v2 is relevant, v0 is in conflict, v3 is unjudged
    c2: no list  | v3 is relevant
    """
    benchmark = make_benchmark(tmp_path, captions=3, videos=4)
    make_run(tmp_path, benchmark, {"c0": ["v1", "v0", "v2"], "c1": ["v0", "v2", "v3"]}, system="S")
    add_judgments(
        tmp_path,
        benchmark,
        [
            ("c0", "v1", "a", 1),
            ("c0", "v0", "a", 0),
            ("c0", "v2", "a", 0),
            ("c1", "v2", "a", 1),
            ("c1", "v0", "a", 1),
            ("c1", "v0", "b", 0),
            ("c2", "v3", "a", 1),
        ],
    )
    publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)
    return evaluate_runs(benchmark=benchmark, by=OPERATOR)


def only(evaluated: EvaluatedRuns) -> RunEvaluation:
    (result,) = evaluated.runs
    return result


def test_scores_by_the_original_positives(scored: EvaluatedRuns) -> None:
    # Only the list of c0 contains its video, at rank 2 of 3.
    expected = {
        "C@1": 0,
        "C@5": 1 / 3,
        "C@10": 1 / 3,
        "R@1": 0,
        "R@5": 1 / 3,
        "R@10": 1 / 3,
        "P@1": 0,
        "P@5": 1 / 5 / 3,
        "P@10": 1 / 10 / 3,
        "AP": 1 / 2 / 3,
        "AP(found)": 1 / 2 / 3,
        "RR": 1 / 2 / 3,
        "nDCG": 0.6309297535714575 / 3,
        "nDCG@10": 0.6309297535714575 / 3,
    }
    original = only(scored).original
    assert {name: original[name] for name in expected} == pytest.approx(expected, abs=1e-12)


def test_scores_by_the_labels_count_original_positives_as_positive(scored: EvaluatedRuns) -> None:
    # The positives of c0 are v1, and v0 although it is judged not relevant. Those of c1 are v2, at
    # rank 2, and its original positive v1, which the run does not list. c2 has the positives v2 and
    # v3, but no list.
    labelled = only(scored).labelled
    assert labelled is not None
    expected = {
        "C@1": 1 / 3,
        "C@5": 2 / 3,
        "C@10": 2 / 3,
        "R@1": (1 / 2 + 0 + 0) / 3,
        "R@5": (1 + 1 / 2 + 0) / 3,
        "P@1": 1 / 3,
        "P@5": (2 / 5 + 1 / 5) / 3,
        "AP": (1 + (1 / 2) / 2 + 0) / 3,
        "AP(found)": (1 + 1 / 2 + 0) / 3,
        "RR": (1 + 1 / 2 + 0) / 3,
    }
    assert {name: labelled[name] for name in expected} == pytest.approx(expected, abs=1e-12)
    # In the list of c1, v0 is in conflict and v3 is unjudged, so one of three pairs is judged. The
    # missing list of c2 counts as 0.
    # C@1 reads rank 1. AP and C@5 read all three ranks, whose judged shares are 3/3, 1/3 and 0.
    shares = {"1": (1 + 0 + 0) / 3, "3": (1 + 1 / 3 + 0) / 3}
    assert only(scored).judged == pytest.approx(shares, abs=1e-12)
    reads = only(scored).reads
    assert (reads["C@1"], reads["C@5"], reads["AP"], reads["MedR"]) == (1, 3, 3, 3)


def test_scores_by_the_judgments_only(scored: EvaluatedRuns) -> None:
    benchmark = Benchmark.objects.get()
    alone = only(evaluate_runs(benchmark=benchmark, labels_only=True, by=OPERATOR)).labelled
    assert alone is not None
    # The positives are v1 for c0 (rank 1), v2 for c1 (rank 2) and v3 for c2, which is not listed.
    expected = {"C@1": 1 / 3, "AP": (1 + 1 / 2 + 0) / 3, "P@5": (1 / 5 + 1 / 5) / 3}
    assert {name: alone[name] for name in expected} == pytest.approx(expected, abs=1e-12)


def with_reasons(scores: Any) -> dict[str, Any]:
    """Return scores as they are stored, with the reason in place of an undefined score."""
    return {**scores, "MedR": {"undefined": MEDIAN_BEYOND_DEPTH}} if not scores["MedR"] else scores


def test_scores_are_stored_once_per_label_set(scored: EvaluatedRuns) -> None:
    benchmark = Benchmark.objects.get()
    evaluate_runs(benchmark=benchmark, by=OPERATOR)
    evaluate_runs(benchmark=benchmark, labels="original", by=OPERATOR)
    # Scores are not stored if the request names measures.
    evaluate_runs(benchmark=benchmark, measures=["C@3"], by=OPERATOR)
    evaluate_runs(benchmark=benchmark, labels_only=True, by=OPERATOR)

    stored = Evaluation.objects.order_by("pk").values_list("label_set__major", "labels_only")
    assert sorted(stored, key=str) == [(1, False), (1, True), (None, False)]
    by_labels = Evaluation.objects.get(label_set__major=1, labels_only=False)
    assert only(scored).labelled is not None
    assert by_labels.scores == with_reasons(only(scored).labelled)
    assert by_labels.judged == only(scored).judged
    assert by_labels.code_version == code_version()
    by_original = Evaluation.objects.get(label_set=None)
    assert by_original.scores == with_reasons(only(scored).original)


def test_measures_with_parameters_are_keys_of_the_scores(scored: EvaluatedRuns) -> None:
    names = ["nDCG@10", "nDCG@10(gain=linear)", "nDCG(exp)", "nDCG(gain=exp)"]
    benchmark = Benchmark.objects.get()
    found = only(evaluate_runs(benchmark=benchmark, measures=names, by=OPERATOR)).labelled
    assert found is not None
    assert list(found) == names
    assert found[names[0]] == found[names[1]]
    assert found[names[2]] == found[names[3]]
    with pytest.raises(InvalidInput, match="needs labels and lists of moments"):
        evaluate_runs(benchmark=benchmark, measures=["R@1(tIoU>=0.5)"], by=OPERATOR)


def test_labels_are_named_by_version(scored: EvaluatedRuns, tmp_path: Path) -> None:
    benchmark = Benchmark.objects.get()
    add_judgments(tmp_path, benchmark, [("c1", "v0", "c", 1)])
    publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)

    def c_at_1(labels: str) -> tuple[float | None, float | None]:
        result = only(
            evaluate_runs(benchmark=benchmark, labels=labels, measures=["C@1"], by=OPERATOR)
        )
        return result.original["C@1"], result.labelled and result.labelled["C@1"]

    assert c_at_1("1") == pytest.approx((0, 1 / 3))
    assert c_at_1("1.0.1") == c_at_1("latest") == pytest.approx((0, 2 / 3))
    assert c_at_1("original") == (0, None)
    for labels in ("3", "0", "-1", "", "first", "1.1", "1.0.0.0"):
        with pytest.raises(InvalidInput):
            evaluate_runs(benchmark=benchmark, labels=labels, by=OPERATOR)


def test_a_score_that_is_undefined_is_null_with_its_reason(tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path, captions=3, videos=4)
    make_run(tmp_path, benchmark, {"c0": ["v3"], "c1": ["v3"]}, system="S")
    result = only(evaluate_runs(benchmark=benchmark, labels="original", by=OPERATOR))

    assert result.original["MedR"] is None
    assert result.undefined == {"MedR": MEDIAN_BEYOND_DEPTH}
    assert (result.original["C@10"], result.labelled) == (0.0, None)
    assert Evaluation.objects.get().scores["MedR"] == {"undefined": MEDIAN_BEYOND_DEPTH}
    json.dumps(Evaluation.objects.get().scores, allow_nan=False)


@pytest.mark.parametrize(
    "options",
    [{"run_names": ["nobody"]}, {"measures": ["C"]}, {"measures": ["MAP"]}, {"labels": "latest"}],
)
def test_invalid_requests_are_refused(tmp_path: Path, options: dict[str, Any]) -> None:
    benchmark = make_benchmark(tmp_path)
    make_run(tmp_path, benchmark, {"c0": ["v0"]})
    with pytest.raises(InvalidInput):
        evaluate_runs(benchmark=benchmark, by=OPERATOR, **{"labels": "original", **options})
    assert Evaluation.objects.count() == 0


@pytest.mark.parametrize("has_ties", [False, True])
def test_scores_equal_those_of_ir_measures_on_the_exported_files(
    tmp_path: Path, has_ties: bool
) -> None:
    dice = random.Random(5)
    benchmark = make_benchmark(tmp_path, captions=20, videos=30)
    lists = {f"c{q}": dice.sample([f"v{v}" for v in range(30)], 12) for q in range(19)}
    if has_ties:
        rounded = [
            f"{query} Q0 {video} {rank} {1 - rank // 5 / 10} t\n"
            for query, videos in lists.items()
            for rank, video in enumerate(videos, start=1)
        ]
        path = tmp_path / "rounded.run"
        path.write_text("".join(rounded), encoding="utf-8")
        import_run(benchmark=benchmark, path=path, system="S", by=OPERATOR)
    else:
        make_run(tmp_path, benchmark, lists, system="S")
    pairs = [(f"c{q}", f"v{v}") for q in range(20) for v in range(30) if dice.random() < 0.5]
    add_judgments(
        tmp_path,
        benchmark,
        [(q, v, "a", dice.choice([0, 0, 1, 3])) for q, v in pairs],
        scale=Scale.GRADED,
    )
    label_set = publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)
    names = "C@1 C@5 C@10 R@5 R@10 P@5 P@10 AP RR nDCG nDCG@10 Judged@10".split()
    ours = only(evaluate_runs(benchmark=benchmark, measures=names, by=OPERATOR)).labelled
    assert ours is not None

    qrels = b"".join(open_export(label_set, "qrels"))
    (tmp_path / "labels.qrels").write_bytes(qrels)
    call_command("export_run", "tiny", "S", output=tmp_path / "exported.run", verbosity=0)
    qrels = list(ir_measures.read_trec_qrels(str(tmp_path / "labels.qrels")))
    run = list(ir_measures.read_trec_run(str(tmp_path / "exported.run")))
    theirs = ir_measures.calc_aggregate(
        [ir_measures.parse_measure(name.replace("C@", "Success@")) for name in names], qrels, run
    )
    found = {str(measure).replace("Success@", "C@"): value for measure, value in theirs.items()}
    assert ours == pytest.approx(found, abs=1e-12)

"""Agreement, published label sets and scores of benchmarks small enough to work by hand."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import uuid
from pathlib import Path
from typing import Any

import ir_measures
import pytest
from django.core.management import call_command

from annotation.enums import Scale, TaskState
from annotation.models import Annotator, Judgment, JudgmentTask
from annotation.services import adjudicate_task
from config.accounts.roles import Role
from config.shared.errors import InvalidInput
from config.shared.version import code_version
from evaluation.core.scoring import MEDIAN_BEYOND_DEPTH
from evaluation.exports import write_export
from evaluation.models import Evaluation, LabelSet
from evaluation.services import compute_agreement, evaluate_runs, publish_label_set
from evaluation.services.scores import EvaluatedRuns, RunEvaluation
from pooling.models import Benchmark
from tests.factories import (
    JudgmentRow,
    at_once,
    bring_judgments,
    import_benchmark,
    judge,
    make_annotator,
    make_benchmark,
    make_campaign,
    make_run,
    make_user,
    write_captions,
)

pytestmark = pytest.mark.django_db


def content(file: Any) -> bytes:
    with file.open("rb") as stream:
        return gzip.decompress(stream.read())


# --- Agreement --------------------------------------------------------------------------------


def agreement_of(folder: Path, rows: list[JudgmentRow], **options: Any) -> dict[str, Any]:
    benchmark = make_benchmark(folder, captions=3, videos=3)
    if rows:
        bring_judgments(folder, benchmark, rows, **options)
    report = compute_agreement(benchmark=benchmark, resamples=50)
    report.refresh_from_db()
    assert report.code_version == code_version()
    # What is stored is JSON as everybody reads it: no NaN, no Infinity.
    json.dumps(report.result, allow_nan=False)
    result: dict[str, Any] = report.result
    return result


def test_agreement_by_hand(tmp_path: Path) -> None:
    result = agreement_of(
        tmp_path,
        [
            ("c0", "v0", "a", 1),
            ("c0", "v0", "b", 1),
            ("c0", "v1", "a", 1),
            ("c0", "v1", "b", 0),
            ("c0", "v1", "c", 0),
            ("c1", "v0", "a", 0),
            ("c1", "v0", "c", 1),
            ("c2", "v2", "a", 0),
        ],
    )
    assert (result["pairs"], result["labels"], result["multiply_labelled"]) == (4, 8, 3)
    assert (result["resolved"], result["conflicted"], result["relevant"]) == (3, 1, 1)
    # One of three pairs with several labels is unanimous; of the others, one of three pairs of
    # labels agrees, and none of one.
    assert result["agreement"] == pytest.approx(1 / 3, abs=1e-15)
    assert result["pairwise_agreement"] == pytest.approx((1 + 1 / 3 + 0) / 3, abs=1e-15)
    # The first two labels in the order of the file: 1 1, 1 0 and 0 1.
    assert result["first_two_agreement"] == pytest.approx(1 / 3, abs=1e-15)
    # Observed disagreement 4 of 6 labels, expected 2 * 4 * 2 / 5 of 6.
    assert result["alpha"] == pytest.approx(1 - 4 / (2 * 4 * 2 / 5), abs=1e-15) == -0.25
    # Four of all seven are relevant. Observed disagreement: pairs of unequal labels of each item,
    # twice, over its labels less one: 0 + 4/2 + 2/1 = 4. Expected: 2 * 4 * 3 / (7 - 1).
    every = result["all_labels"]["alpha"]
    assert every == pytest.approx(1 - 4 / (2 * 4 * 3 / 6), abs=1e-15) == 0.0
    low, high = result["alpha_interval"]
    assert -1 <= low <= result["alpha"] <= high <= 1
    assert result["undefined"] == {}
    assert result["by_label_count"] == [
        {"labels": 1, "pairs": 1, "agreement": None},
        {"labels": 2, "pairs": 2, "agreement": 0.5},
        {"labels": 3, "pairs": 1, "agreement": 0.0},
    ]
    names = dict(Annotator.objects.values_list("pk", "key"))
    people = {names[row.pop("annotator")]: row for row in result["annotators"]}
    # c gave a third label to c0 v1, which is compared in the last two columns only.
    rows = {
        "a": (4, 0.5, 3, 1 / 3, 4, 0.25),
        "b": (2, 0.5, 2, 0.5, 3, 2 / 3),
        "c": (2, 0.5, 1, 0.0, 3, 1 / 3),
    }
    names = ("labels", "relevant", "compared", "agreement")
    names += ("compared_all_labels", "agreement_all_labels")
    assert people == {name: dict(zip(names, row, strict=True)) for name, row in rows.items()}


ALONE = "no pair has two labels"


@pytest.mark.parametrize(
    ("rows", "figures", "reasons"),
    [
        ([], (None, None, None), {"agreement": ALONE, "pairwise_agreement": ALONE}),
        (
            [("c0", "v0", "a", 1), ("c0", "v1", "a", 0)],
            (None, None, None),
            {"agreement": ALONE, "pairwise_agreement": ALONE},
        ),
        (
            [("c0", "v0", "a", 1), ("c0", "v1", "b", 0)],
            (None, None, None),
            {"agreement": ALONE, "pairwise_agreement": ALONE},
        ),
        ([("c0", "v0", "a", 1), ("c0", "v0", "b", 1)], (1.0, 1.0, None), {}),
        ([("c0", "v0", "a", 1), ("c0", "v0", "b", 0)], (0.0, 0.0, 0.0), {}),
    ],
    ids=["nothing", "one annotator", "no overlap", "one class", "one item"],
)
def test_agreement_that_is_undefined_says_why(
    tmp_path: Path,
    rows: list[JudgmentRow],
    figures: tuple[float | None, ...],
    reasons: dict[str, str],
) -> None:
    result = agreement_of(tmp_path, rows)
    assert tuple(result[name] for name in ("agreement", "pairwise_agreement", "alpha")) == figures
    undefined = result["undefined"]
    assert {name: undefined.get(name) for name in reasons} == reasons
    for name in ("agreement", "pairwise_agreement", "alpha", "alpha_interval"):
        assert (result[name] is None) == (name in undefined)
        assert undefined.get(name, "a reason") != ""


def test_agreement_is_of_live_judgments_of_all_campaigns(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, captions=1, videos=2, double_share=1)
    anna, ben = make_annotator("anna"), make_annotator("ben")
    judge(campaign, anna, {"v0": 1, "v1": 1})
    judge(campaign, ben, {"v0": 1, "v1": 1})
    Judgment.objects.filter(annotator=ben, task__pair__video__key="v1").update(
        state="surplus", slot=None
    )
    bring_judgments(tmp_path, campaign.benchmark, [("c0", "v0", "x", 0), ("c0", "v1", "y", 0)])
    result = compute_agreement(benchmark=campaign.benchmark, resamples=10).result

    # c0 v0: 1 1 and, elsewhere, 0; c0 v1: 1 and, elsewhere, 0, and no further label.
    assert (result["pairs"], result["labels"]) == (2, 5)
    assert (result["resolved"], result["pending"], result["conflicted"]) == (1, 0, 1)
    assert (result["agreement"], result["relevant"]) == (0.0, 1)
    # One of three pairs of labels agrees, and none of one.
    assert result["pairwise_agreement"] == pytest.approx((1 / 3 + 0) / 2)


def test_a_person_of_two_campaigns_does_not_agree_with_themself(tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path)
    bring_judgments(tmp_path, benchmark, [("c0", "v0", "a", 1), ("c0", "v0", "b", 1)])
    bring_judgments(tmp_path, benchmark, [("c0", "v0", "a", 0), ("c0", "v1", "a", 0)])
    result = compute_agreement(benchmark=benchmark, resamples=10).result

    assert (result["pairs"], result["labels"], result["relevant"]) == (2, 4, 1)
    names = dict(Annotator.objects.values_list("pk", "key"))
    compared = {names[row["annotator"]]: row["compared"] for row in result["annotators"]}
    assert compared == {"a": 1, "b": 1}


# --- Label sets -------------------------------------------------------------------------------

CAPTIONS = [
    ('q,"1"', "a red shape", "=v'2"),
    ("größe", "a big shape", "v3"),
]
ROWS: list[JudgmentRow] = [
    ('q,"1"', "=v'2", "Zoë", 0),  # the original positive, judged not relevant
    ('q,"1"', "v3", "Zoë", 1),
    ('q,"1"', "v3", "Al, B.", 1),
    ("größe", "=v'2", "Al, B.", 1),
    ("größe", "=v'2", "Zoë", 0),  # a conflict
    ("größe", "v3", "Cem", 1),
    ("größe", "v3", "Zoë", 0),
    ("größe", "v3", "Al, B.", 1),
]
CANONICAL = (
    "caption_id,video_id,label,source,judgments,relevant\n"
    '"q,""1""",=v\'2,0,majority,1,0\n'
    '"q,""1""",v3,1,majority,2,2\n'
    "größe,=v'2,,conflict,2,1\n"
    "größe,v3,1,majority,3,2\n"
)
# sha256sum of the lines above: the same on every database, for ever.
CANONICAL_SHA256 = "2880554141f3a73f988a1ddb4dc9df9a75155b0ef33e3195ec4bde4686d5ef82"


def odd_benchmark(folder: Path, key: str = "odd") -> Benchmark:
    return import_benchmark(key=key, captions=write_captions(folder, CAPTIONS)).benchmark


def test_a_label_set_is_its_canonical_text(tmp_path: Path) -> None:
    benchmark = odd_benchmark(tmp_path)
    bring_judgments(tmp_path, benchmark, ROWS)
    label_set = publish_label_set(benchmark=benchmark, allow_pending=True)

    assert content(label_set.file) == CANONICAL.encode()
    assert label_set.sha256 == CANONICAL_SHA256
    assert label_set.sha256 == hashlib.sha256(CANONICAL.encode()).hexdigest()
    single = content(label_set.judgments_file)
    assert label_set.judgments_sha256 == hashlib.sha256(single).hexdigest()
    assert (label_set.version, label_set.n_pairs, label_set.n_judgments) == (1, 4, 8)
    assert (label_set.n_relevant, label_set.n_conflicted) == (2, 1)
    assert label_set.code_version == code_version()


@pytest.mark.parametrize("seed", range(3))
def test_a_label_set_does_not_depend_on_the_order_of_arrival(tmp_path: Path, seed: int) -> None:
    rows = list(ROWS)
    random.Random(seed).shuffle(rows)
    benchmark = odd_benchmark(tmp_path)
    cut = 1 + seed * 3
    bring_judgments(tmp_path, benchmark, rows[:cut])
    bring_judgments(tmp_path, benchmark, rows[cut:])
    assert publish_label_set(benchmark=benchmark, allow_pending=True).sha256 == CANONICAL_SHA256


def test_two_releases_have_the_same_labels_under_other_pseudonyms(tmp_path: Path) -> None:
    benchmark = odd_benchmark(tmp_path)
    bring_judgments(tmp_path, benchmark, ROWS)
    one, two = (
        publish_label_set(benchmark=benchmark, allow_pending=True),
        publish_label_set(benchmark=benchmark, allow_pending=True),
    )

    assert (one.version, two.version) == (1, 2)
    assert one.sha256 == two.sha256
    assert one.file.name != two.file.name
    first, second = (content(each.judgments_file).decode() for each in (one, two))
    assert first != second
    pseudonyms = [
        {line.split(",")[-3] for line in text.splitlines()[1:]} for text in (first, second)
    ]
    assert [len(names) for names in pseudonyms] == [3, 3]
    assert not pseudonyms[0] & pseudonyms[1]
    known = {str(pk) for pk in Annotator.objects.values_list("pk", flat=True)} | {"Zoë", "Cem"}
    assert not known & (pseudonyms[0] | pseudonyms[1])
    assert "Al, B." not in first + second
    # The labels are those that were given, whoever gave them.
    labels = sorted(line.split(",")[-2] for line in first.splitlines()[1:])
    assert labels == sorted(str(label) for *_, label in ROWS)


def test_a_label_set_is_frozen(tmp_path: Path) -> None:
    benchmark = odd_benchmark(tmp_path)
    bring_judgments(tmp_path, benchmark, ROWS)
    label_set = publish_label_set(benchmark=benchmark, allow_pending=True)
    with label_set.file.open("rb") as stream:
        stored = stream.read()
    label_set.n_pairs = 0
    for write in (label_set.save, lambda: label_set.save(update_fields=["n_pairs"])):
        with pytest.raises(TypeError) as refused:
            write()
        assert str(refused.value) == "a label set is frozen"

    bring_judgments(tmp_path, benchmark, [('q,"1"', "=v'2", "Dan", 1), ("größe", "v3", "Dan", 0)])
    later = publish_label_set(benchmark=benchmark, allow_pending=True)
    label_set.refresh_from_db()
    with label_set.file.open("rb") as stream:
        assert stream.read() == stored
    assert (label_set.n_pairs, label_set.sha256) == (4, CANONICAL_SHA256)
    assert later.sha256 != label_set.sha256


def test_a_ruling_decides_and_the_labels_stay(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, captions=1, videos=2, double_share=1, labels_max=2)
    judge(campaign, make_annotator("anna"), {"v0": 1, "v1": 0})
    judge(campaign, make_annotator("ben"), {"v0": 0, "v1": 0})
    benchmark = campaign.benchmark
    task = JudgmentTask.objects.get(state=TaskState.CONFLICTED)
    before = (
        content(publish_label_set(benchmark=benchmark, allow_pending=True).file)
        .decode()
        .splitlines()[1:]
    )
    adjudicate_task(task=task, label=1, by=make_user("lena", Role.LEAD))
    # Further labels from elsewhere do not outvote the ruling.
    bring_judgments(tmp_path, benchmark, [("c0", "v0", "x", 0), ("c0", "v0", "y", 0)])
    after = (
        content(publish_label_set(benchmark=benchmark, allow_pending=True).file)
        .decode()
        .splitlines()[1:]
    )

    assert before == ["c0,v0,,conflict,2,1", "c0,v1,0,majority,2,0"]
    assert after == ["c0,v0,1,adjudicated,4,1", "c0,v1,0,majority,2,0"]


def test_the_same_request_is_the_same_label_set(tmp_path: Path) -> None:
    benchmark = odd_benchmark(tmp_path)
    bring_judgments(tmp_path, benchmark, ROWS)
    request = uuid.uuid4()
    first = publish_label_set(benchmark=benchmark, allow_pending=True, request=request)
    assert publish_label_set(benchmark=benchmark, allow_pending=True, request=request) == first
    assert (
        publish_label_set(benchmark=benchmark, allow_pending=True, request=uuid.uuid4()).version
        == 2
    )
    assert publish_label_set(benchmark=benchmark, allow_pending=True).version == 3
    assert publish_label_set(benchmark=benchmark, allow_pending=True).version == 4


def test_nothing_judged_is_nothing_to_publish(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path)
    with pytest.raises(InvalidInput) as refused:
        publish_label_set(benchmark=campaign.benchmark, allow_pending=True)
    assert str(refused.value) == "nothing of tiny is judged yet"
    assert LabelSet.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_a_set_published_while_labels_arrive_is_one_snapshot(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, captions=4, videos=5)
    benchmark = campaign.benchmark
    anna = make_annotator("anna")
    judge(campaign, anna, {"v0": 1})

    def publish() -> LabelSet:
        return publish_label_set(benchmark=benchmark, allow_pending=True)

    def go_on() -> None:
        judge(campaign, anna, {f"v{number}": 1 for number in range(1, 5)})

    label_set, _ = at_once(publish, go_on)
    rows = content(label_set.file).decode().splitlines()[1:]
    single = content(label_set.judgments_file).decode().splitlines()[1:]
    assert 4 <= len(rows) == len(single) == label_set.n_pairs == label_set.n_judgments


# --- Scores -----------------------------------------------------------------------------------


@pytest.fixture
def scored(tmp_path: Path) -> EvaluatedRuns:
    """Three captions and four videos; caption i belongs to video i.

    c0: v1 v0 v2 | judged: v1 relevant, v0 (original) NOT relevant, v2 not
    c1: v0 v2 v3 | judged: v2 relevant, v0 in conflict, v3 never judged
    c2: no list  | judged: v3 relevant
    """
    benchmark = make_benchmark(tmp_path, captions=3, videos=4)
    make_run(tmp_path, benchmark, {"c0": ["v1", "v0", "v2"], "c1": ["v0", "v2", "v3"]}, system="S")
    bring_judgments(
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
    publish_label_set(benchmark=benchmark, allow_pending=True)
    return evaluate_runs(benchmark=benchmark)


def only(evaluated: EvaluatedRuns) -> RunEvaluation:
    (result,) = evaluated.runs
    return result


def test_scores_by_the_original_positives(scored: EvaluatedRuns) -> None:
    # Only c0 finds its video, at rank 2 of 3.
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
    # c0: v1 and (though judged not relevant) v0; c1: v2 at rank 2, its own v1 is not found;
    # c2: v2 and v3, nothing found.
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
    # v0 under c1 is in conflict and v3 was never judged: one of three. An absent list is 0.
    # AP and C@5 read all three ranks: 3/3, 1/3 and 0.
    shares = {"1": (1 + 0 + 0) / 3, "3": (1 + 1 / 3 + 0) / 3}
    assert only(scored).judged == pytest.approx(shares, abs=1e-12)
    reads = only(scored).reads
    assert (reads["C@1"], reads["C@5"], reads["AP"], reads["MedR"]) == (1, 3, 3, 3)


def test_scores_by_the_judgments_alone(scored: EvaluatedRuns) -> None:
    benchmark = Benchmark.objects.get()
    alone = only(evaluate_runs(benchmark=benchmark, labels_only=True)).labelled
    assert alone is not None
    # c0: v1 only; c1: v2 at rank 2; c2: v3 not found.
    expected = {"C@1": 1 / 3, "AP": (1 + 1 / 2 + 0) / 3, "P@5": (1 / 5 + 1 / 5) / 3}
    assert {name: alone[name] for name in expected} == pytest.approx(expected, abs=1e-12)


def with_reasons(scores: Any) -> dict[str, Any]:
    """Scores as they are stored: where there is none, with the reason in its place."""
    return {**scores, "MedR": {"undefined": MEDIAN_BEYOND_DEPTH}} if not scores["MedR"] else scores


def test_scores_are_stored_by_label_set_and_once(scored: EvaluatedRuns) -> None:
    benchmark = Benchmark.objects.get()
    evaluate_runs(benchmark=benchmark)
    evaluate_runs(benchmark=benchmark, labels="original")
    evaluate_runs(benchmark=benchmark, measures=["C@3"])  # a question, not a record
    evaluate_runs(benchmark=benchmark, labels_only=True)

    stored = Evaluation.objects.order_by("pk").values_list("label_set__version", "labels_only")
    assert sorted(stored, key=str) == [(1, False), (1, True), (None, False)]
    by_labels = Evaluation.objects.get(label_set__version=1, labels_only=False)
    assert only(scored).labelled is not None
    assert by_labels.scores == with_reasons(only(scored).labelled)
    assert by_labels.judged == only(scored).judged
    assert by_labels.code_version == code_version()
    by_original = Evaluation.objects.get(label_set=None)
    assert by_original.scores == with_reasons(only(scored).original)


def test_labels_are_named_by_version(scored: EvaluatedRuns, tmp_path: Path) -> None:
    benchmark = Benchmark.objects.get()
    bring_judgments(tmp_path, benchmark, [("c1", "v0", "c", 1)])
    publish_label_set(benchmark=benchmark, allow_pending=True)

    def c_at_1(labels: str) -> tuple[float | None, float | None]:
        result = only(evaluate_runs(benchmark=benchmark, labels=labels, measures=["C@1"]))
        return result.original["C@1"], result.labelled and result.labelled["C@1"]

    assert c_at_1("1") == pytest.approx((0, 1 / 3))
    assert c_at_1("2") == c_at_1("latest") == pytest.approx((0, 2 / 3))
    assert c_at_1("original") == (0, None)
    for labels in ("3", "0", "-1", "", "first", "1.0"):
        with pytest.raises(InvalidInput):
            evaluate_runs(benchmark=benchmark, labels=labels)


def test_a_score_that_is_undefined_is_null_with_its_reason(tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path, captions=3, videos=4)
    make_run(tmp_path, benchmark, {"c0": ["v3"], "c1": ["v3"]}, system="S")
    result = only(evaluate_runs(benchmark=benchmark, labels="original"))

    assert result.original["MedR"] is None
    assert result.undefined == {"MedR": MEDIAN_BEYOND_DEPTH}
    assert (result.original["C@10"], result.labelled) == (0.0, None)
    assert Evaluation.objects.get().scores["MedR"] == {"undefined": MEDIAN_BEYOND_DEPTH}
    json.dumps(Evaluation.objects.get().scores, allow_nan=False)


@pytest.mark.parametrize(
    "options",
    [{"run_names": ["nobody"]}, {"measures": ["C"]}, {"measures": ["MAP"]}, {"labels": "latest"}],
)
def test_scores_are_asked_for_in_order(tmp_path: Path, options: dict[str, Any]) -> None:
    benchmark = make_benchmark(tmp_path)
    make_run(tmp_path, benchmark, {"c0": ["v0"]})
    with pytest.raises(InvalidInput):
        evaluate_runs(benchmark=benchmark, **{"labels": "original", **options})
    assert Evaluation.objects.count() == 0


def test_scores_equal_those_of_ir_measures_on_the_exported_files(tmp_path: Path) -> None:
    dice = random.Random(5)
    benchmark = make_benchmark(tmp_path, captions=20, videos=30)
    lists = {f"c{q}": dice.sample([f"v{v}" for v in range(30)], 12) for q in range(19)}
    make_run(tmp_path, benchmark, lists, system="S")
    pairs = [(f"c{q}", f"v{v}") for q in range(20) for v in range(30) if dice.random() < 0.5]
    bring_judgments(
        tmp_path,
        benchmark,
        [(q, v, "a", dice.choice([0, 0, 1, 3])) for q, v in pairs],
        scale=Scale.GRADED,
    )
    label_set = publish_label_set(benchmark=benchmark, allow_pending=True)
    names = "C@1 C@5 C@10 R@5 R@10 P@5 P@10 AP RR nDCG nDCG@10 Judged@10".split()
    ours = only(evaluate_runs(benchmark=benchmark, measures=names)).labelled
    assert ours is not None

    write_export(label_set, "qrels", tmp_path / "labels.qrels")
    call_command("export_run", "tiny", "S", output=tmp_path / "exported.run", verbosity=0)
    qrels = list(ir_measures.read_trec_qrels(str(tmp_path / "labels.qrels")))
    run = list(ir_measures.read_trec_run(str(tmp_path / "exported.run")))
    theirs = ir_measures.calc_aggregate(
        [ir_measures.parse_measure(name.replace("C@", "Success@")) for name in names], qrels, run
    )
    found = {str(measure).replace("Success@", "C@"): value for measure, value in theirs.items()}
    assert ours == pytest.approx(found, abs=1e-12)

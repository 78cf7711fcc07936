"""Label sets rebuilt from the log, and what `verify` finds when the log or the files change."""

from __future__ import annotations

import csv
import gzip
import io
import json
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from annotation.enums import Scale
from annotation.models import Adjudication, Annotator, Campaign, Judgment, JudgmentTask
from annotation.services import Policy, adjudicate_task, open_campaign
from evaluation.core.files.packed import pack, unpack
from evaluation.models import LabelSet, LabelSetBasis
from evaluation.release.selectors.verification import verify_label_set
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from pooling.models import Benchmark, OriginalPositive, Query
from tests.evaluation.release.test_label_sets import ROWS, odd_benchmark
from tests.factories import (
    add_judgments,
    at_once,
    build_pool,
    import_benchmark,
    judge,
    make_annotator,
    make_campaign,
    make_run,
    make_user,
    without_triggers,
    write_captions,
)

pytestmark = pytest.mark.django_db

SAME = "The files rebuilt from the log have the published bytes."


def publish(benchmark: Benchmark) -> LabelSet:
    return publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)


@pytest.fixture
def odd(tmp_path: Path) -> LabelSet:
    benchmark = odd_benchmark(tmp_path)
    add_judgments(tmp_path, benchmark, ROWS)
    return publish(benchmark)


@pytest.mark.parametrize(
    "numbers", [[], [0], [5, 6, 7, 1_000_000], [3, 1, 2], [2**62, 1, 2**62 - 1]]
)
def test_packed_numbers_are_read_back(numbers: list[int]) -> None:
    assert unpack(pack(np.array(numbers, np.int64))).tolist() == numbers


def test_a_label_set_is_rebuilt_with_rulings_pending_pairs_and_equal_captions(
    tmp_path: Path,
) -> None:
    captions = [
        ("a", "A cat!", "v0"),
        ("b", "a cat", "v1"),
        ("c", "a dog", "v1"),
        ("d", "pig", "v1"),
    ]
    benchmark = import_benchmark(key="equal", captions=write_captions(tmp_path, captions)).benchmark
    make_run(tmp_path, benchmark, {key: ["v0", "v1"] for key in "abc"})
    build_pool(benchmark=benchmark, depth=2)
    policy = Policy(double_share=1, labels_max=2)
    campaign = open_campaign(benchmark=benchmark, by=OPERATOR, policy=policy)
    anna, ben = make_annotator("anna"), make_annotator("ben")
    judge(campaign, anna, {"v0": 1, "v1": 0})
    judge(campaign, ben, {"v0": 0})
    lead = make_user("lena", Role.LEAD)
    conflict = JudgmentTask.objects.filter(state="conflicted").first()
    assert conflict is not None
    adjudicate_task(task=conflict, label=1, by=lead)
    # A campaign with another scale, in which 2 is the lowest relevant step.
    graded = [("c", "v1", "x", 3), ("c", "v1", "y", 1), ("d", "v0", "x", 1), ("d", "v1", "x", 3)]
    add_judgments(tmp_path, benchmark, graded, scale=Scale.GRADED)
    Campaign.objects.filter(scale=Scale.GRADED).update(threshold=2)

    label_set = publish(benchmark)
    sources = {line.split(",")[3] for line in text_of(label_set.file).splitlines()[1:]}
    assert sources == {"adjudicated", "conflict", "majority", "pending"}
    # The verification uses the policy and the rule for equal captions at the time of publication.
    Campaign.objects.filter(scale=Scale.GRADED).update(threshold=1)
    Query.objects.filter(key="b").update(text="no cat")
    Benchmark.objects.update(equal_texts="off", captions_sha256="0" * 64)
    Adjudication.objects.update(undone_at=label_set.created_at, undone_by=lead)
    verification = verify_label_set(LabelSet.objects.get())
    assert (verification.sentence, verification.is_rebuilt) == (SAME, True)


def text_of(file: Any) -> str:
    with file.open("rb") as stream:
        return gzip.decompress(stream.read()).decode()


def change_label() -> None:
    Judgment.objects.filter(annotator__key="Cem").update(label=0)


def delete_judgment() -> None:
    with without_triggers():
        Judgment.objects.filter(annotator__key="Cem")._raw_delete("default")


def swap_annotators() -> None:
    """Replace the annotator of a judgment by another person. The labels stay the same."""
    al = Annotator.objects.get(key="Al, B.")
    Judgment.objects.filter(annotator__key="Cem").update(annotator=al, state="surplus", slot=None)


def add_positive() -> None:
    query = Query.objects.get(key="größe")
    OriginalPositive.objects.create(query=query, video=query.benchmark.videos.get(key="=v'2"))


def damage_file() -> None:
    Path(LabelSet.objects.get().file.path).write_bytes(b"no gzip")


def replace_file() -> None:
    Path(LabelSet.objects.get().judgments_file.path).write_bytes(gzip.compress(b"other"))


def change_figures() -> None:
    LabelSet.objects.update(n_relevant=3)


LABEL_LINE = "Its first difference is in line 5: published 'größe,v3,1,majority,3,2', rebuilt "


@pytest.mark.parametrize(
    ("change", "problems"),
    [
        (change_label, [LABEL_LINE + "'größe,v3,0,majority,3,1'.", "rebuilt judgments file"]),
        (
            delete_judgment,
            [
                "The log lacks 1 judgment of this label set.",
                LABEL_LINE + "'größe,v3,,conflict,2,1'.",
                "rebuilt judgments file",
                "The figures are {'n_pairs': 4, 'n_relevant': 2,",
            ],
        ),
        (swap_annotators, ["rebuilt judgments file"]),
        (
            add_positive,
            ["The original positives have changed since publication: 1 added, 0 removed."],
        ),
        (damage_file, ["The stored labels file is missing or damaged."]),
        (replace_file, ["The stored judgments file has the sha256 d9298a10d1b0, not "]),
        (change_figures, ["The figures are {'n_pairs': 4, 'n_relevant': 3,"]),
    ],
)
def test_verify_finds_a_change(odd: LabelSet, change: Any, problems: list[str]) -> None:
    assert verify_label_set(odd).sentence == SAME
    change()
    found = verify_label_set(LabelSet.objects.get()).problems
    if change is change_label:  # 2 relevant pairs become 1
        problems = [*problems, "The figures are"]
    assert len(found) == len(problems), found
    assert all(part in sentence for part, sentence in zip(problems, found, strict=True)), found


def test_a_set_without_basis_is_compared_with_its_hashes(odd: LabelSet) -> None:
    LabelSetBasis.objects.all().delete()
    verification = verify_label_set(odd)
    assert (verification.is_same, verification.is_rebuilt) == (True, False)
    assert verification.sentence == (
        "The stored files have the published sha256. They cannot be rebuilt, because an older "
        "version of Hearth published them."
    )


def test_the_command_has_exit_code_1_if_a_set_differs(odd: LabelSet) -> None:
    publish(odd.benchmark)
    out = StringIO()
    call_command("verify", "odd", "1", "--json", stdout=out)
    (row,) = json.loads(out.getvalue())["label_sets"]
    assert (row["version"], row["same"], row["rebuilt"]) == (odd.version, True, True)

    change_label()
    out = StringIO()
    with pytest.raises(CommandError) as failed:
        call_command("verify", "--json", stdout=out)
    result = json.loads(out.getvalue())
    assert failed.value.returncode == 1
    assert str(failed.value) == "Not verified: odd 1.0.0, odd 1.0.1."
    assert (result["same"], [row["same"] for row in result["label_sets"]]) == (False, [False] * 2)


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_sets_published_during_other_writes_are_rebuilt(tmp_path: Path) -> None:
    """Answers, imports and rulings arrive while two sets are published."""
    campaign = make_campaign(tmp_path, captions=6, videos=6, double_share=1, labels_max=2)
    benchmark = campaign.benchmark
    people = [make_annotator(name) for name in ("anna", "ben", "cem")]
    judge(campaign, people[0], {"v0": 1, "v1": 0})
    judge(campaign, people[1], {"v0": 0, "v1": 1})
    lead = make_user("lena", Role.LEAD)
    conflicts = list(JudgmentTask.objects.filter(state="conflicted"))
    assert conflicts

    def answer(number: int) -> None:
        judge(campaign, people[number], {f"v{n}": (n + number) % 2 for n in range(6)})

    def rule() -> None:
        for task in conflicts:
            adjudicate_task(task=task, label=1, by=lead)

    def add(number: int) -> None:
        rows = [(f"c{n}", "v5", f"x{number}", 1) for n in range(6)]
        add_judgments(tmp_path, benchmark, rows)

    def publish_twice() -> None:
        publish(benchmark)
        publish(benchmark)

    at_once(
        publish_twice,
        rule,
        lambda: add(0),
        lambda: add(1),
        *(lambda number=number: answer(number) for number in range(3)),
    )
    first, second = LabelSet.objects.order_by("pk")
    # Each import is one transaction, so a set contains all judgments of an import or none.
    for label_set in (first, second):
        assert verify_label_set(label_set).sentence == SAME
        single = csv.DictReader(io.StringIO(text_of(label_set.judgments_file)))
        imported = [row for row in single if row["queue"] in ("2", "3")]
        assert len(imported) in (0, 6, 12)
    assert first.n_judgments <= second.n_judgments

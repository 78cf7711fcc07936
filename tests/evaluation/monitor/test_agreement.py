"""Tests of agreement in benchmarks that are small enough to check by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from annotation.models import Annotator, Judgment
from evaluation.monitor.services import compute_agreement
from hearth.accounts.actors import OPERATOR
from hearth.shared.version import code_version
from tests.factories import (
    JudgmentRow,
    add_judgments,
    judge,
    make_annotator,
    make_benchmark,
    make_campaign,
)

pytestmark = pytest.mark.django_db


def agreement_of(folder: Path, rows: list[JudgmentRow], **options: Any) -> dict[str, Any]:
    benchmark = make_benchmark(folder, captions=3, videos=3)
    if rows:
        add_judgments(folder, benchmark, rows, **options)
    report = compute_agreement(benchmark=benchmark, resamples=50, by=OPERATOR)
    report.refresh_from_db()
    assert report.code_version == code_version()
    # The stored result is standard JSON, without NaN and Infinity.
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
    # Three pairs have several labels. c0 v0 has equal labels. c0 v1 has three labels, and one of
    # three comparisons of two labels agrees. c1 v0 has two different labels.
    assert result["agreement"] == pytest.approx(1 / 3, abs=1e-15)
    assert result["pairwise_agreement"] == pytest.approx((1 + 1 / 3 + 0) / 3, abs=1e-15)
    # The first two labels in the order of the file: 1 1, 1 0 and 0 1.
    assert result["first_two_agreement"] == pytest.approx(1 / 3, abs=1e-15)
    # The first two labels of these pairs are six labels, of which four are relevant. The observed
    # disagreement is 4, and the expected one is 2 * 4 * 2 / (6 - 1).
    assert result["alpha"] == pytest.approx(1 - 4 / (2 * 4 * 2 / 5), abs=1e-15) == -0.25
    # Of all seven labels, four are relevant. A pair with m labels adds 2 * (its comparisons of
    # unequal labels) / (m - 1) to the observed disagreement: 0 + 4/2 + 2/1 = 4. The expected one is
    # 2 * 4 * 3 / (7 - 1).
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
    # For c0 v1, the label of annotator c is the third one, so it is compared only in the last two
    # columns.
    rows = {
        "a": (4, 0.5, 3, 1 / 3, 4, 0.25),
        "b": (2, 0.5, 2, 0.5, 3, 2 / 3),
        "c": (2, 0.5, 1, 0.0, 3, 1 / 3),
    }
    names = ("labels", "relevant", "compared", "agreement")
    names += ("compared_all_labels", "agreement_all_labels")
    assert people == {name: dict(zip(names, row, strict=True)) for name, row in rows.items()}


NO_SECOND_LABEL = "no pair has two labels"


@pytest.mark.parametrize(
    ("rows", "figures", "reasons"),
    [
        (
            [],
            (None, None, None),
            {"agreement": NO_SECOND_LABEL, "pairwise_agreement": NO_SECOND_LABEL},
        ),
        (
            [("c0", "v0", "a", 1), ("c0", "v1", "a", 0)],
            (None, None, None),
            {"agreement": NO_SECOND_LABEL, "pairwise_agreement": NO_SECOND_LABEL},
        ),
        (
            [("c0", "v0", "a", 1), ("c0", "v1", "b", 0)],
            (None, None, None),
            {"agreement": NO_SECOND_LABEL, "pairwise_agreement": NO_SECOND_LABEL},
        ),
        ([("c0", "v0", "a", 1), ("c0", "v0", "b", 1)], (1.0, 1.0, None), {}),
        ([("c0", "v0", "a", 1), ("c0", "v0", "b", 0)], (0.0, 0.0, 0.0), {}),
    ],
    ids=["nothing", "one annotator", "no overlap", "one class", "one item"],
)
def test_undefined_agreement_has_a_reason(
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


def test_agreement_uses_counted_judgments_of_all_campaigns(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, captions=1, videos=2, double_share=1)
    anna, ben = make_annotator("anna"), make_annotator("ben")
    judge(campaign, anna, {"v0": 1, "v1": 1})
    judge(campaign, ben, {"v0": 1, "v1": 1})
    Judgment.objects.filter(annotator=ben, task__pair__video__key="v1").update(
        state="surplus", slot=None
    )
    add_judgments(tmp_path, campaign.benchmark, [("c0", "v0", "x", 0), ("c0", "v1", "y", 0)])
    result = compute_agreement(benchmark=campaign.benchmark, resamples=10, by=OPERATOR).result

    # c0 v0 has the labels 1 and 1, and 0 from the import. c0 v1 has 1, and 0 from the import. Its
    # surplus label does not count.
    assert (result["pairs"], result["labels"]) == (2, 5)
    assert (result["resolved"], result["pending"], result["conflicted"]) == (1, 0, 1)
    assert (result["agreement"], result["relevant"]) == (0.0, 1)
    # For c0 v0, one of three comparisons of two labels agrees. For c0 v1, the only one does not.
    assert result["pairwise_agreement"] == pytest.approx((1 / 3 + 0) / 2)


def test_an_annotator_of_two_campaigns_is_not_compared_with_themself(tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path)
    add_judgments(tmp_path, benchmark, [("c0", "v0", "a", 1), ("c0", "v0", "b", 1)])
    add_judgments(tmp_path, benchmark, [("c0", "v0", "a", 0), ("c0", "v1", "a", 0)])
    result = compute_agreement(benchmark=benchmark, resamples=10, by=OPERATOR).result

    assert (result["pairs"], result["labels"], result["relevant"]) == (2, 4, 1)
    names = dict(Annotator.objects.values_list("pk", "key"))
    compared = {names[row["annotator"]]: row["compared"] for row in result["annotators"]}
    assert compared == {"a": 1, "b": 1}

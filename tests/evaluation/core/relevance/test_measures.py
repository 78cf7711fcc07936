"""Names of measures, and the ranks that measures read."""

from __future__ import annotations

import pytest

from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.measure import Parameter
from evaluation.core.relevance.measures import DEFAULT_MEASURES, Measure, parse_measure
from evaluation.core.relevance.scoring import score_run
from hearth.shared.errors import InvalidInput
from tests.evaluation.core.lists import lists_of

NAMES = (
    "C@1 C@250 R@7 P@10 AP AP@10 AP(found) AP(found)@10 RR RR@5 nDCG nDCG@3 nDCG(exp) "
    "nDCG(exp)@20 MedR MeanR Judged@10 R@1(tIoU>=0.5) R@5(tIoU>0.3) AP(tIoU>=0.75) mAP(epic) "
    "nDCG@10(gain=linear) nDCG(gain=exp) nDCG(gain=exp,order=random) nDCG@5(gain=exp,tIoU>0.7)"
).split()


@pytest.mark.parametrize("name", [*NAMES, *map(str, DEFAULT_MEASURES)])
def test_text_of_a_parsed_name_is_the_name(name: str) -> None:
    assert str(parse_measure(name)) == name
    assert parse_measure(name) == parse_measure(name)
    assert hash(parse_measure(name)) == hash(parse_measure(name))


def test_names_are_parsed() -> None:
    assert parse_measure("AP(found)@10") == Measure("AP(found)", 10)
    assert parse_measure("AP") == Measure("AP")
    assert parse_measure("R@1(tIoU>=0.5)") == Measure("R", 1, (Parameter("tIoU", ">=", 0.5),))
    assert len({parse_measure(name) for name in NAMES}) == len(NAMES)
    # Equal measures have equal texts, whatever the order of the parameters and the zeros.
    assert str(parse_measure("nDCG@5(tIoU>0.70,gain=exp)")) == "nDCG@5(gain=exp,tIoU>0.7)"


@pytest.mark.parametrize(
    ("name", "depth", "read"),
    [("C@5", 20, 5), ("C@30", 20, 20), ("AP", 20, 20), ("AP@10", 20, 10), ("MedR", 7, 7)],
)
def test_ranks_that_a_measure_reads(name: str, depth: int, read: int) -> None:
    assert parse_measure(name).reads(depth) == read


KNOWN = (
    "C@k, R@k, P@k, AP[@k], AP(found)[@k], RR[@k], nDCG[@k], nDCG(exp)[@k], MedR, MeanR, Judged@k"
)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (text, f"unknown measure {text!r}; known measures: {KNOWN}")
        for text in ("", "c@1", "NDCG", "AP (found)", "AP(rel)", "C@", "C@0", "C@01", "C@-1", "C@٣")
    ]
    + [
        (" AP", f"unknown measure ' AP'; known measures: {KNOWN}"),
        ("AP\n", f"unknown measure 'AP\\n'; known measures: {KNOWN}"),
        ("C@1234567", f"unknown measure 'C@1234567'; known measures: {KNOWN}"),
        ("Recall@5", f"unknown measure 'Recall@5'; known measures: {KNOWN}"),
        ("C", "measure 'C' needs a cutoff, as in 'C@10'"),
        ("Judged", "measure 'Judged' needs a cutoff, as in 'Judged@10'"),
        ("MedR@10", "measure 'MedR' takes no cutoff"),
        *(
            (text, f"wrong parameters of {text!r}; known parameters: {known}")
            for text, known in (
                ("C@1(gain=linear)", "none"),
                ("R@1(tIoU=0.5)", "tIoU>=x, nms=tall"),
                ("R@1(tIoU>=1.5)", "tIoU>=x, nms=tall"),
                ("R@1(tIoU>=0.3,tIoU>=0.5)", "tIoU>=x, nms=tall"),
                ("nDCG(gain=cubic)", "gain=linear|exp, tIoU>=x, order=random"),
            )
        ),
        ("nDCG(gain)", f"unknown measure 'nDCG(gain)'; known measures: {KNOWN}"),
        ("nDCG(gain~exp)", f"unknown measure 'nDCG(gain~exp)'; known measures: {KNOWN}"),
    ],
)
def test_bad_name_is_refused(text: str, reason: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_measure(text)
    assert str(refused.value) == reason


@pytest.mark.parametrize(
    ("text", "needed"),
    [
        ("R@1(tIoU>=0.5)", "labels and lists of moments"),
        ("nDCG(order=random)", "a proxy"),
        ("mAP(epic)", "a proxy"),
    ],
)
def test_a_measure_of_more_than_labels_of_videos_is_not_computed(text: str, needed: str) -> None:
    nothing = Judged.from_pairs([], [], [], n_queries=1, n_videos=1)
    with pytest.raises(InvalidInput) as refused:
        score_run(lists_of([[0]], 1), nothing, [parse_measure(text)])
    assert str(refused.value) == f"measure '{text}' needs {needed}"


def test_cutoff_out_of_bounds_is_refused() -> None:
    with pytest.raises(InvalidInput, match="outside of 1 to 999999"):
        Measure("AP", 0)

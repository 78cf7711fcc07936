"""Captions with equal texts: their shared positives in the analyses and the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from evaluation.lab.analyses import get_analysis
from evaluation.lab.analyses.question import build_question
from evaluation.lab.services import analyse
from evaluation.models import Evaluation
from evaluation.release.selectors import originals_with_equal_captions
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.shared.errors import InvalidInput
from pooling.models import Benchmark
from tests.factories import add_judgments, import_benchmark, make_run, write_captions

pytestmark = pytest.mark.django_db

CAPTIONS = [
    ("c0", "a dog", "v0"),
    ("c1", "A dog.", "v1"),
    ("c2", "a dog", "v2"),
    ("c3", "a cat", "v3"),
]
# If equal captions share no positives, only c3 is correct at rank 1. The first video of c0 belongs
# to an exactly equal caption, and that of c1 to one that differs only in case and punctuation.
LISTS = {"c0": ["v2", "v3"], "c1": ["v0", "v3"], "c2": ["v3", "v1"], "c3": ["v3", "v0"]}


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    found = import_benchmark(key="dogs", captions=write_captions(tmp_path, CAPTIONS)).benchmark
    make_run(tmp_path, found, LISTS, system="A")
    # Of the six pairs that equal captions add, one is judged relevant and one not relevant.
    judged = [("c0", "v2", "anna", 1), ("c1", "v0", "anna", 0), ("c2", "v3", "anna", 0)]
    add_judgments(tmp_path, found, judged)
    publish_label_set(benchmark=found, by=OPERATOR)
    return found


def result_of(benchmark: Benchmark, analysis: str, **options: Any) -> dict[str, Any]:
    result: dict[str, Any] = analyse(
        question=build_question(get_analysis(analysis), benchmark, options)
    ).result
    return result


def codes(benchmark: Benchmark, rule: str) -> list[tuple[int, int]]:
    found = originals_with_equal_captions(benchmark, rule).codes
    return [benchmark.pair_space.decode(code) for code in found.tolist()]


def test_the_rule_decides_which_texts_are_equal(benchmark: Benchmark) -> None:
    own = [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert codes(benchmark, "off") == own
    assert codes(benchmark, "exact") == sorted([*own, (0, 2), (2, 0)])
    folded = [(q, v) for q in range(3) for v in range(3)] + [(3, 3)]
    assert codes(benchmark, "folded") == folded


def test_twins_by_hand(benchmark: Benchmark) -> None:
    result = result_of(benchmark, "twins", measures="C@1", resamples="200", unit="captions")
    assert (result["captions"], result["with_twins"]) == (4, 3)
    assert (result["positives"], result["added"]) == (4, 6)
    assert result["judged"] == {"pairs": 2, "relevant": 1, "irrelevant": 1, "share": 1 / 2}
    by_original, by_labels = result["rows"]
    assert (by_original["by"], by_labels["by"]) == ("original", "labelled")
    assert (by_original["plain"], by_original["twins"], by_original["difference"]) == (
        1 / 4,
        3 / 4,
        1 / 2,
    )
    # By the labels, the first video of c0 is already relevant.
    assert (by_labels["plain"], by_labels["twins"]) == (1 / 2, 3 / 4)
    low, high = by_original["interval"]
    # With four captions the interval is wide.
    assert -1 <= low < 1 / 2 < high <= 1
    assert result["texts"] == [
        {"text": "a dog", "caption_id": "c0", "captions": 3, "videos": 3, "added": 6}
    ]


def test_twins_by_the_exact_rule(benchmark: Benchmark) -> None:
    result = result_of(benchmark, "twins", rule="exact", measures="C@1", labels="original")
    assert (result["with_twins"], result["added"]) == (2, 2)
    assert [(row["by"], row["twins"]) for row in result["rows"]] == [("original", 1 / 2)]
    assert result["judged"] == {"pairs": 0, "relevant": 0, "irrelevant": 0, "share": None}


FEW = (
    "Only 4 captions can be resampled. The intervals are corrected for this, but "
    "they are wide, and a single caption can change them considerably."
)


def test_a_text_that_adds_many_positives_shows_a_warning(benchmark: Benchmark) -> None:
    warnings = get_analysis("twins").warnings
    assert warnings(result_of(benchmark, "twins")) == [
        "The text “a dog” was written for 3 videos and has 6 of the 6 added positives. Check that "
        "the text describes these videos.",
        FEW,
    ]
    assert warnings(result_of(benchmark, "twins", texts="0")) == [FEW]


def test_labels_only_is_refused(benchmark: Benchmark) -> None:
    with pytest.raises(InvalidInput, match="needs the original positives"):
        build_question(get_analysis("twins"), benchmark, {"only": "on"})


def test_scores_with_twins_are_an_option(benchmark: Benchmark) -> None:
    def row(**options: Any) -> tuple[float, float]:
        result = result_of(benchmark, "scores", measures="C@1", resamples="100", **options)
        (found,) = result["rows"]
        return found["original"], found["labelled"]

    assert row() == (1 / 4, 1 / 2)
    assert row(twins="exact") == (1 / 2, 1 / 2)
    assert row(twins="folded") == (3 / 4, 3 / 4)
    assert row(twins="folded", only="on") == (3 / 4, 1 / 4)


def test_scores_with_twins_show_a_warning(benchmark: Benchmark) -> None:
    warnings = get_analysis("scores").warnings
    warning = "A and B also count the positives of equal captions."
    assert warning in warnings(result_of(benchmark, "scores", twins="exact"))
    assert warning not in warnings(result_of(benchmark, "scores"))


def test_the_command_scores_with_twins_and_stores_nothing(
    benchmark: Benchmark, capsys: pytest.CaptureFixture[str]
) -> None:
    def evaluated(*options: str) -> tuple[str, float, float]:
        call_command("evaluate", "dogs", *options, "--json")
        result = json.loads(capsys.readouterr().out)
        scores = result["runs"]["A"]
        return result["twins"], scores["original"]["C@1"], scores["labelled"]["C@1"]

    assert evaluated("--twins") == ("folded", 3 / 4, 3 / 4)
    assert evaluated("--twins", "exact") == ("exact", 1 / 2, 1 / 2)
    assert not Evaluation.objects.exists()
    assert evaluated() == ("off", 1 / 4, 1 / 2)
    stored = Evaluation.objects.get(label_set=None)
    assert stored.scores["C@1"] == 1 / 4


def test_the_command_names_the_option(
    benchmark: Benchmark, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("evaluate", "dogs", "--twins", "--measure", "C@1")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("labels: 1.0.0   twins: folded   code: ")
    assert lines[2].split() == "C@1 0.7500 (0.7500 + 0.0000) judged@1 1.0000".split()
    with pytest.raises(CommandError, match="invalid choice: 'loose'"):
        call_command("evaluate", "dogs", "--twins", "loose")

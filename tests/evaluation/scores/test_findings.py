"""The finding: one sentence and bars above the scores, on the overview and on the public page."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from django.test import Client

from evaluation.release.services import publish_label_set
from evaluation.scores.findings import change_text, find_finding
from evaluation.scores.services import evaluate_runs
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from pooling.models import Benchmark
from pooling.services import change_public_page
from tests import factories


@pytest.mark.parametrize(
    ("differences", "text"),
    [
        ([0.503, 0.558], "is 50 to 56 points higher than by the original positives"),
        ([0.0149, 0.25], "is 1.5 to 25.0 points higher than by the original positives"),
        ([0, 0.02], "is 0.0 to 2.0 points higher than by the original positives"),
        ([0.2504, 0.2496], "is 25 points higher than by the original positives"),
        ([-0.031, -0.012], "is 1.2 to 3.1 points lower than by the original positives"),
        ([-0.012, 0.034], "differs by −1.2 to +3.4 points from that by the original positives"),
        ([-0.0001, 0.034], "is 0.0 to 3.4 points higher than by the original positives"),
        ([0.0004, -0.0002], "is the same as by the original positives"),
    ],
)
def test_the_text_of_a_change(differences: list[float], text: str) -> None:
    assert change_text(differences) == text


def make_scored_benchmark(folder: Path, captions: int) -> Benchmark:
    """Make two runs, A and B.

    A ranks the original positive first for half of the captions, B for a quarter of them. For some
    of the other captions, the video that both rank first is relevant by the labels.
    """
    benchmark = factories.make_benchmark(folder, captions=captions, videos=captions)

    def lists(right: int) -> dict[str, list[str]]:
        return {f"c{n}": [f"v{n if n < right else (n + 1) % captions}"] for n in range(captions)}

    factories.make_run(folder, benchmark, lists(captions // 2), system="A")
    factories.make_run(folder, benchmark, lists(captions // 4), system="B")
    others = range(captions // 4, captions)
    rows = [
        (f"c{n}", f"v{(n + 1) % captions}", "anna", int(n < captions // 2 - 2 or n % 2))
        for n in others
    ]
    factories.add_judgments(folder, benchmark, rows)
    publish_label_set(benchmark=benchmark, by=OPERATOR)
    return benchmark


@pytest.mark.django_db
def test_the_overview_and_the_public_page_begin_with_the_finding(
    tmp_path: Path, client: Client
) -> None:
    benchmark = make_scored_benchmark(tmp_path, 40)
    change_public_page(benchmark=benchmark, changes={"is_public": True}, by=OPERATOR)
    label_set = benchmark.label_sets.get()
    assert find_finding(benchmark, label_set) is None  # nothing is scored yet
    evaluate_runs(benchmark=benchmark, by=OPERATOR)
    finding = find_finding(benchmark, label_set)
    assert finding is not None
    assert finding.sentence == (
        "By people’s labels, C@1 is 25 to 48 points higher than by the original positives, and the "
        "order of the 2 runs is unchanged."
    )
    cells = [[cell.before_after for cell in row.cells[:1]] for row in finding.rows]
    assert cells == [["50.0 → 75.0"], ["25.0 → 72.5"]]
    client.force_login(factories.make_user("rosa", Role.RESEARCHER))
    for address in ("/benchmarks/tiny/", "/public/tiny/"):
        page = client.get(address).content.decode()
        main = unescape(" ".join(re.sub(r"<[^>]+>", " ", page.split("<main", 1)[1]).split()))
        assert main.index(finding.sentence) < main.index("Captions 40")
        assert re.findall(
            r'<rect class="bar-(original|labelled)"(?: y="12")? width="([\d.]+%)"', page
        ) == [
            ("original", "50.00%"),
            ("labelled", "75.00%"),
            ("original", "25.00%"),
            ("labelled", "72.50%"),
        ]
        assert "50.0 → 75.0" in main
        assert "wrong labels usually make it too low" in main
        assert "style=" not in page


@pytest.mark.django_db
def test_nothing_is_stated_of_few_captions(tmp_path: Path) -> None:
    benchmark = make_scored_benchmark(tmp_path, 16)
    evaluate_runs(benchmark=benchmark, by=OPERATOR)
    assert find_finding(benchmark, benchmark.label_sets.get()) is None

"""Tests of the results table and its files."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from html import unescape
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from django.test import Client

from evaluation.core.relevance.measures import DEFAULT_MEASURES
from evaluation.models import Evaluation, LabelSet
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.jobs.models import Job
from pooling.models import Benchmark, Run
from tests import factories


@pytest.fixture
def benchmark(db: None, tmp_path: Path) -> Benchmark:
    """A benchmark with one label set and three runs. C is not scored."""
    made = factories.make_benchmark(tmp_path)
    for number, system in enumerate(("A", "=B", "C")):
        factories.make_run(tmp_path, made, {"c0": [f"v{number}", "v3"]}, system=system)
    factories.add_judgments(tmp_path, made, [("c0", "v0", "anna", 1), ("c0", "v1", "ben", 0)])
    label_set = publish_label_set(benchmark=made, by=OPERATOR)
    original = {"C@1": 0.25, "C@5": 0.5, "C@10": 1.0, "AP": 0.4, "AP(found)": 0.4}
    score(made, "A", None, original)
    score(made, "=B", None, {**original, "C@1": 0.0454526})
    labelled = {"C@1": 0.596081, "C@5": 0.5, "C@10": 1.0, "AP": 0.3995, "AP(found)": 0.627}
    score(made, "A", label_set, {**labelled, "Judged@10": 0.5}, {"1": 0.25, "2": 0.5})
    score(made, "=B", label_set, {**labelled, "C@1": 0.1, "AP": None, "Judged@10": 1 / 3})
    return made


def score(
    benchmark: Benchmark,
    run: str,
    label_set: LabelSet | None,
    scores: Mapping[str, Any],
    judged: Mapping[str, float] = MappingProxyType({}),
) -> None:
    Evaluation.objects.create(
        run=Run.objects.get(benchmark=benchmark, name=run),
        label_set=label_set,
        scores=scores,
        judged=dict(judged),
        code_version="0.1.0+abc",
    )


@pytest.fixture
def researcher(client: Client, db: None) -> Client:
    client.force_login(factories.make_user("rosa", Role.RESEARCHER))
    return client


def table_of(page: str, name: str = "table-results") -> list[list[str]]:
    """Return the texts of the cells in the body of a table, row by row."""
    table = page.partition(f'class="table {name}"')[2]
    body = table.partition("<tbody>")[2].partition("</tbody>")[0]
    return [
        [
            " ".join(unescape(re.sub(r"<[^>]*>", " ", cell)).split())
            for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)
        ]
        for row in body.split("<tr>")[1:]
    ]


def first_cells(client: Client, address: str) -> list[str]:
    return [row[0].split()[0] for row in table_of(client.get(address).content.decode())]


# --- Results --------------------------------------------------------------------------------


def test_table_shows_scores_by_labels_with_original_score_and_difference(
    benchmark: Benchmark, researcher: Client
) -> None:
    page = researcher.get("/benchmarks/tiny/results/").content.decode()
    sha = {run.name: run.sha256[:12] for run in benchmark.runs.all()}
    assert table_of(page) == [
        [
            f"A depth 2 · {sha['A']} unjudged pairs",
            # C@1 reads rank 1. The other measures read both ranks of the lists.
            "★ highest: 59.6 (25.0 + 34.6) Judged@1 25.0",
            "★ highest: 50.0 (50.0 + 0.0) Judged@2 50.0",
            "★ highest: 100.0 (100.0 + 0.0) Judged@2 50.0",
            "★ highest: 40.0 (40.0 − 0.1) Judged@2 50.0",
            "★ highest: 62.7 (40.0 + 22.7) Judged@2 50.0",
            "50.0",
            "1",
        ],
        [
            f"=B depth 2 · {sha['=B']} unjudged pairs",
            # Like older evaluations, this one lacks the judged shares at these depths.
            "10.0 (4.5 + 5.5) Judged@1 –",
            "★ highest: 50.0 (50.0 + 0.0) Judged@2 –",
            "★ highest: 100.0 (100.0 + 0.0) Judged@2 –",
            "undefined Judged@2 –",
            "★ highest: 62.7 (40.0 + 22.7) Judged@2 –",
            "33.3",
            "2",
        ],
        [f"C depth 2 · {sha['C']}", "not scored yet"],
    ]
    label_set = LabelSet.objects.get()
    for text in (label_set.sha256, "0.1.0+abc", *(run.sha256 for run in benchmark.runs.all())):
        assert text in page
    assert "run is not scored by these labels yet" in " ".join(re.sub("<.*?>", "", page).split())


def test_table_by_the_original_positives_only(benchmark: Benchmark, researcher: Client) -> None:
    page = researcher.get("/benchmarks/tiny/results/?labels=original").content.decode()
    assert [row[1:] for row in table_of(page)] == [
        [
            "★ highest: 25.0 Judged@1 –",
            "★ highest: 50.0 Judged@2 –",
            "★ highest: 100.0 Judged@2 –",
            "★ highest: 40.0 Judged@2 –",
            "★ highest: 40.0 Judged@2 –",
            "not computed",
            "1",
        ],
        [
            "4.5 Judged@1 –",
            "★ highest: 50.0 Judged@2 –",
            "★ highest: 100.0 Judged@2 –",
            "★ highest: 40.0 Judged@2 –",
            "★ highest: 40.0 Judged@2 –",
            "not computed",
            "2",
        ],
        ["not scored yet"],
    ]


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("run", ["=B", "A", "C"]),
        ("-run", ["C", "A", "=B"]),
        ("C@1", ["=B", "A", "C"]),
        ("-C@1", ["A", "=B", "C"]),
        # Runs without a value come last in both directions.
        ("AP", ["A", "=B", "C"]),
        ("-AP", ["A", "=B", "C"]),
        ("Judged@10", ["=B", "A", "C"]),
        ("", ["A", "=B", "C"]),
    ],
)
def test_order_of_the_rows(
    sort: str, order: list[str], benchmark: Benchmark, researcher: Client
) -> None:
    found = first_cells(researcher, "/benchmarks/tiny/results/?sort=" + sort)
    assert found == order


def test_bars_are_as_wide_as_the_scores(benchmark: Benchmark, researcher: Client) -> None:
    page = researcher.get("/benchmarks/tiny/results/").content.decode()
    widths = re.findall(r'class="bar-(original|labelled)" (?:y="12" )?width="([^"]*%)"', page)
    assert widths == [
        ("original", "25.00%"),
        ("labelled", "59.61%"),
        ("original", "4.55%"),
        ("labelled", "10.00%"),
        ("original", "0.00%"),
        ("labelled", "0.00%"),
    ]
    assert "C@1 of A: 25.0 % by the original positives, 59.6 % by the labels" in page


def test_results_as_csv(benchmark: Benchmark, researcher: Client) -> None:
    answer = researcher.get("/benchmarks/tiny/results/csv/")
    assert answer["Content-Disposition"] == 'attachment; filename="tiny-results-v1.0.0.csv"'
    labels = LabelSet.objects.get().sha256
    sha = {run.name: run.sha256 for run in benchmark.runs.all()}
    kinds = [
        f"{measure} {kind}" for measure in DEFAULT_MEASURES for kind in ("labelled", "original")
    ]
    head = "run,system,direction,run_sha256,depth,labels,labels_sha256,labels_only,code,"
    head += ",".join(kinds)
    head += ",judged@1,judged@5,judged@10,judged of the whole list"
    shares = {"A": ["0.25", "0.5", "0.5", "0.5"]}
    known = {
        "A": {
            "C@1": "0.596081,0.25",
            "C@5": "0.5,0.5",
            "C@10": "1.0,1.0",
            "AP": "0.3995,0.4",
            "AP(found)": "0.627,0.4",
            "Judged@10": "0.5,",
        },
        "=B": {
            "C@1": "0.1,0.0454526",
            "C@5": "0.5,0.5",
            "C@10": "1.0,1.0",
            "AP": ",0.4",
            "AP(found)": "0.627,0.4",
            "Judged@10": "0.3333333333333333,",
        },
        "C": {},
    }
    rows = [
        ",".join(
            [shown, shown, "text-to-video", sha[name], "2", "1.0.0", labels, "0"]
            + ["0.1.0+abc" if known[name] else ""]
            + [known[name].get(str(measure), ",") for measure in DEFAULT_MEASURES]
            + shares.get(name, [""] * 4)
        )
        # A spreadsheet would read =B as a formula.
        for name, shown in (("=B", "'=B"), ("A", "A"), ("C", "C"))
    ]
    assert answer.content.decode() == "\n".join([head, *rows]) + "\n"


def test_results_as_json(benchmark: Benchmark, researcher: Client) -> None:
    answer = researcher.get("/benchmarks/tiny/results/json/?labels=1")
    found = json.loads(answer.content)
    assert found["labels_sha256"] == LabelSet.objects.get().sha256
    assert list(found["runs"]) == ["=B", "A", "C"]
    assert found["runs"]["A"]["labelled"]["C@1"] == 0.596081
    assert found["runs"]["A"]["original"]["C@1"] == 0.25
    assert found["runs"]["=B"]["labelled"]["AP"] is None
    assert found["runs"]["C"]["labelled"] is None
    # The lists have depth 2. Measures at 1 read one rank, and all others two. "10" is Judged@10.
    assert found["runs"]["A"]["judged"] == {"1": 0.25, "2": 0.5, "10": 0.5}
    reads = found["runs"]["A"]["reads"]
    assert {reads[name] for name in reads if not name.endswith("@1")} == {2}
    assert (reads["C@1"], reads["R@1"], reads["P@1"]) == (1, 1, 1)


@pytest.mark.parametrize("format", ["csv", "judgments", "qrels", "fire"])
def test_label_set_as_a_file(format: str, benchmark: Benchmark, researcher: Client) -> None:
    address = f"/benchmarks/tiny/labels/1.0.0/{format}/"
    assert address in researcher.get("/benchmarks/tiny/results/").content.decode()
    answer = researcher.get(address)
    content = b"".join(answer.streaming_content)
    suffix = {"csv": ".csv", "judgments": "-judgments.csv", "qrels": ".qrels", "fire": ".json"}
    name = f"tiny-labels-v1.0.0{suffix[format]}"
    assert answer["Content-Disposition"] == f'attachment; filename="{name}"'
    if format == "csv":
        assert hashlib.sha256(content).hexdigest() == LabelSet.objects.get().sha256
        assert answer["Content-Type"] == "text/csv; charset=utf-8"


def test_no_label_set_yet(tmp_path: Path, db: None, researcher: Client) -> None:
    made = factories.make_benchmark(tmp_path)
    factories.make_run(tmp_path, made, {"c0": ["v0"]})
    page = researcher.get("/benchmarks/tiny/results/").content.decode()
    assert "no label set is published yet" in page
    assert [row[1:] for row in table_of(page)] == [["not scored yet"]]
    researcher.post("/benchmarks/tiny/evaluate/")
    assert Job.objects.get().params == {
        "benchmark": "tiny",
        "labels": "original",
        "labels_only": False,
    }


# --- Jobs of the buttons --------------------------------------------------------------------


def test_evaluate_button_of_the_page(benchmark: Benchmark, researcher: Client) -> None:
    researcher.post("/benchmarks/tiny/evaluate/", {"labels": "1", "only": "on"})
    job = Job.objects.get()
    assert (job.kind, job.params) == (
        "evaluate",
        {"benchmark": "tiny", "labels": "1.0.0", "labels_only": True},
    )


def test_evaluate_by_an_unknown_label_set(benchmark: Benchmark, researcher: Client) -> None:
    answer = researcher.post("/benchmarks/tiny/evaluate/", {"labels": "7"})
    assert (answer.status_code, Job.objects.count()) == (400, 0)


def test_a_repeated_request_to_publish_queues_no_second_job(
    benchmark: Benchmark, client: Client
) -> None:
    client.force_login(factories.make_user("lena", Role.LEAD))
    answers = [client.post("/benchmarks/tiny/labels/publish/") for _ in range(2)]
    job = Job.objects.get()
    assert (job.kind, job.params) == (
        "publish_labels",
        {"benchmark": "tiny", "allow_pending": False, "change": "", "notes": ""},
    )
    assert [answer["Location"] for answer in answers] == [f"/jobs/{job.pk}/"] * 2

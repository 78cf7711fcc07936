"""The tables and texts of a paper: page, command and API give the same figures."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from rest_framework.test import APIClient

from evaluation.lab.paper.paper import Paper, plan_paper, write_paper
from evaluation.lab.services import begin_paper, compute_paper
from evaluation.models import LabelSet
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.jobs.models import Job, JobState
from hearth.jobs.services import run_job
from hearth.shared.errors import NotPermitted
from tests.factories import (
    add_judgments,
    build_pool,
    import_benchmark,
    make_run,
    make_user,
    write_captions,
)

CAPTIONS = [("q0", "a red shape", "v0"), ("q1", "a dog", "v1")]
PAGE = "/benchmarks/shapes/paper/1.0.0/"


@pytest.fixture
def label_set(tmp_path: Path, db: None) -> LabelSet:
    benchmark = import_benchmark(
        key="shapes", captions=write_captions(tmp_path, CAPTIONS)
    ).benchmark
    # a_1 has the original positive of q0 at rank 2 and that of q1 at rank 1. By the labels, v1 is
    # also relevant to q0, so a_1 is correct for both captions. b is correct only for q0.
    make_run(tmp_path, benchmark, {"q0": ["v1", "v0"], "q1": ["v1", "v0"]}, system="a_1")
    make_run(tmp_path, benchmark, {"q0": ["v0"], "q1": ["v0", "v1"]}, system="b")
    build_pool(benchmark=benchmark, depth=2)
    build_pool(benchmark=benchmark, depth=2, strata=("1-1=1", "2-2=0.5"))
    judged = [("q0", "v1", "Zoë", 1), ("q0", "v1", "Al", 1), ("q0", "v0", "Al", 1)]
    add_judgments(tmp_path, benchmark, [*judged, ("q1", "v1", "Al", 1), ("q1", "v0", "Al", 0)])
    return publish_label_set(benchmark=benchmark, by=OPERATOR)


def paper_of(label_set: LabelSet) -> Paper:
    stored = compute_paper(label_set=label_set, by=OPERATOR)
    return write_paper(plan_paper(label_set), stored)


def test_the_tables_have_the_figures_of_the_analyses(label_set: LabelSet) -> None:
    tables = paper_of(label_set).tables
    # A score is written as A (B + C): by the labels, by the original positives, and the difference.
    assert r"a\_1 & 100.0 (50.0 $+50.0$) & 100.0 (100.0 $+0.0$)" in tables
    assert r"b & 50.0 (50.0 $+0.0$)" in tables
    assert r"Run & AP(found)@20 \\" in tables
    assert "AP(found)@20 divides by the number of positives among the first 20 videos" in tables
    assert "Judged pairs & 4 \\\\\nJudgments & 5 \\\\\nRelevant pairs & 3 \\\\" in tables
    # Without a_1, the pair q0 v1 is unjudged.
    assert r"a\_1 & 50.0 ($-50.0$)" in tables
    assert tables.count(r"\begin{table") == 4


def test_the_methods_state_the_labels_and_the_pools(label_set: LabelSet) -> None:
    paper = paper_of(label_set)
    assert "We score 2 runs on shapes (2 captions, 2 videos, 2 original positives)" in paper.methods
    assert "Pairs were pooled from the top 2 of ranked lists. The pairs at deep" in paper.methods
    assert "ranks were sampled: of ranks 2 to 2, 50\\,\\%." in paper.methods
    assert "4 pairs with 5 judgments by 2 annotators. Relevant pairs: 3;" in paper.methods
    printed = paper.references.replace("\\allowbreak{}", "")
    assert f"note = {{SHA-256 {label_set.sha256}}}" in printed
    cited = {"shapes-labels-v1.0.0", "fire", "rbo"}
    assert {key for key in cited if f"\\cite{{{key}}}" in paper.methods + paper.tables} == cited
    assert {key for key in cited if f"{{{key},\n" in paper.references} == cited
    inputs = json.loads(paper.figures)["scores"]["inputs"]
    assert inputs["labels_sha256"] == label_set.sha256


def test_one_run_has_only_the_first_two_tables(tmp_path: Path, db: None) -> None:
    benchmark = import_benchmark(key="one", captions=write_captions(tmp_path, CAPTIONS)).benchmark
    make_run(tmp_path, benchmark, {"q0": ["v0"], "q1": ["v0"]}, system="a")
    add_judgments(tmp_path, benchmark, [("q0", "v0", "Zoë", 1)])
    paper = paper_of(publish_label_set(benchmark=benchmark, by=OPERATOR))
    assert paper.tables.count(r"\begin{table") == 2
    assert (
        paper.tables.count("% This analysis needs at least two runs. Select or import more.") == 2
    )
    assert "Pairs were pooled" not in paper.methods


def test_page_command_and_api_give_the_same_files(label_set: LabelSet, tmp_path: Path) -> None:
    researcher = make_user("rosa", Role.RESEARCHER)
    client, api = Client(), APIClient()
    client.force_login(researcher)
    api.force_authenticate(researcher)
    address = "/api/v1/benchmarks/shapes/paper/1.0.0/"
    assert "Compute figures" in client.get(PAGE).content.decode()
    assert (client.get(f"{PAGE}zip/").status_code, api.get(address).status_code) == (404, 404)

    path = tmp_path / "paper.zip"
    call_command("export_paper", "shapes", "--output", str(path))
    with zipfile.ZipFile(path) as archive:
        files = {Path(name).name: archive.read(name).decode() for name in archive.namelist()}
    assert sorted(files) == [
        "SHA256SUMS",
        "figures.json",
        "methods.tex",
        "references.bib",
        "tables.tex",
    ]
    assert client.get(f"{PAGE}zip/").content == path.read_bytes()
    found: dict[str, Any] = api.get(address).json()
    assert found["tables"] == files["tables.tex"]
    assert found["figures"] == json.loads(files["figures.json"])
    assert "Krippendorff" in client.get(PAGE).content.decode()


def test_the_button_begins_one_job(label_set: LabelSet) -> None:
    client = Client()
    client.force_login(make_user("rosa", Role.RESEARCHER))
    for _ in range(2):
        client.post(f"{PAGE}compute/")
    job = Job.objects.get(kind="paper")
    run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.result) == (JobState.DONE, {"version": "1.0.0"})
    assert "Download all files" in client.get(PAGE).content.decode()
    with pytest.raises(NotPermitted):
        begin_paper(label_set=label_set, by=make_user("anna", Role.ANNOTATOR))

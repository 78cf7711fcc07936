"""Scores and rank of an uploaded run, which are computed without further action."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client

from annotation.models import Assignment, Judgment, JudgmentTask
from evaluation.lab.analyses import get_analysis
from evaluation.lab.analyses.question import Question, build_question
from evaluation.lab.services import analyse
from evaluation.models import Evaluation
from evaluation.release.services import make_draft, publish_label_set
from evaluation.scores.services import evaluate_runs
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.jobs.models import Job
from hearth.jobs.services import run_job
from pooling.models import Benchmark, Pair, Run
from tests.evaluation.worked import make_worked_benchmark
from tests.factories import (
    add_judgments,
    import_run,
    make_run,
    make_user,
    without_triggers,
    write_run,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    return make_worked_benchmark(tmp_path)


def test_an_uploaded_run_is_scored_and_ranked(
    benchmark: Benchmark, client: Client, tmp_path: Path
) -> None:
    evaluate_runs(benchmark=benchmark, by=OPERATOR)
    rita = make_user("rita", Role.RESEARCHER)
    client.force_login(rita)
    # Only v3 is not an original positive of its caption.
    lists = {"c0": ["v0"], "c1": ["v3", "v1"], "c2": ["v2"]}
    run = SimpleUploadedFile("c.run", write_run(tmp_path / "c.run", lists).read_bytes())
    client.post("/benchmarks/tiny/runs/new/", {"file": run, "system": "C", "format": "auto"})
    upload = Job.objects.get()
    run_job(upload.pk)
    scoring = Job.objects.get(kind="evaluate")
    assert (scoring.created_by, scoring.params["runs"]) == (rita, [Run.objects.get(name="C").pk])
    run_job(scoring.pk)
    assert Evaluation.objects.filter(run__name="C").count() == 2

    context = client.get("/benchmarks/tiny/results/", {"sort": "-C@1"}).context
    # By the original positives, C is first: two of its three lists are correct. By the labels, all
    # lists of A and B are correct.
    assert {row.run.name: (row.rank_before, row.rank) for row in context["rows"]} == {
        "A": (2, 1),
        "B": (2, 1),
        "C": (1, 3),
    }
    page = client.get("/benchmarks/tiny/results/").content.decode()
    assert "1 → <strong>3</strong>" in " ".join(page.split())
    assert "Another job scores it." in client.get(f"/jobs/{upload.pk}/").content.decode()


def test_a_run_is_announced_in_the_transaction_that_stores_it(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    """The service sends the signal, so every import of a run also scores it."""
    rita = make_user("rita", Role.RESEARCHER)
    path = write_run(tmp_path / "c.run", {"c0": ["v0"]})
    done = import_run(benchmark=benchmark, path=path, system="C", by=rita)
    job = Job.objects.get()
    assert done.jobs == (job,)
    assert (job.kind, job.created_by, job.params["runs"]) == (
        "evaluate",
        rita,
        [Run.objects.get(name="C").pk],
    )
    again = import_run(benchmark=benchmark, path=path, system="C", by=rita)
    assert (again.created, again.jobs) == (False, ())

    def fails(execute: Any, sql: str, *arguments: Any) -> Any:
        if 'INTO "jobs_job"' in sql:
            raise OSError("no room for a job")
        return execute(sql, *arguments)

    with connection.execute_wrapper(fails), pytest.raises(OSError, match="no room"):
        import_run(
            benchmark=benchmark, path=write_run(tmp_path / "d.run", {"c0": ["v1"]}), system="D"
        )
    assert not Run.objects.filter(name="D").exists()


def test_ranks_count_only_the_scored_runs(
    benchmark: Benchmark, client: Client, tmp_path: Path
) -> None:
    """At first, only A is scored by the labels. Then B and C are scored, too, but never D."""
    make_run(tmp_path, benchmark, {"c0": ["v0"], "c1": ["v1"], "c2": ["v2"]}, system="C")
    make_run(tmp_path, benchmark, {"c0": ["v1"]}, system="D")
    evaluate_runs(benchmark=benchmark, labels="original", by=OPERATOR)
    evaluate_runs(benchmark=benchmark, run_names=["A"], by=OPERATOR)
    client.force_login(make_user("rita", Role.RESEARCHER))

    def rank(name: str) -> tuple[int | None, int | None, int]:
        run = Run.objects.get(name=name)
        line = client.get(f"/benchmarks/tiny/runs/{run.pk}/").context["lines"][0]
        return line.rank_before, line.rank, line.n_ranked

    def shown(name: str) -> str:
        run = Run.objects.get(name=name)
        return text_of(client.get(f"/benchmarks/tiny/runs/{run.pk}/").content.decode())

    assert {name: rank(name) for name in "ACD"} == {
        "A": (1, 1, 1),
        "C": (None, None, 1),
        "D": (None, None, 1),
    }
    assert "C@1 100.0 (33.3 + 66.7) 100.0 @1 100.0 to 100.0 1 of 1" in shown("A")
    assert "3 runs are not scored yet and not ranked: score them." in shown("A")
    unscored = "This run is not scored yet by label set 1.0.0, so it has no score and no rank."
    assert unscored in shown("C")
    assert " of 4" not in shown("A") + shown("C")

    evaluate_runs(benchmark=benchmark, run_names=["B", "C"], by=OPERATOR)
    assert {name: rank(name) for name in "ABCD"} == {
        "A": (2, 1, 3),
        "B": (2, 1, 3),
        "C": (1, 1, 3),
        "D": (None, None, 3),
    }
    assert "2 → 1 of 3" in shown("A")
    assert "1 run is not scored yet and not ranked" in shown("A")
    rows = client.get("/benchmarks/tiny/results/").context["rows"]
    assert {row.run.name: row.rank for row in rows} == {"A": 1, "B": 1, "C": 1, "D": None}


def text_of(page: str) -> str:
    return " ".join(re.sub("<.*?>", " ", page, flags=re.DOTALL).split()).replace(" .", ".")


@pytest.mark.postgresql
def test_the_page_of_a_run_shows_its_rank_and_unjudged_pairs(
    benchmark: Benchmark, client: Client, tmp_path: Path
) -> None:
    # Remove the pair of c0 and v3 with its label. Run C will rank v3 second for c0.
    pair = Pair.objects.get(query__key="c0", video__key="v3")
    with without_triggers():
        for rows in (Judgment, Assignment, JudgmentTask):
            path = "pair" if rows is JudgmentTask else "task__pair"
            rows._default_manager.filter(**{path: pair}).delete()
    pair.delete()
    publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)
    lists = {"c0": ["v2", "v3"], "c1": ["v3"], "c2": ["v2"]}
    run = make_run(tmp_path, benchmark, lists, system="C")
    address = f"/benchmarks/tiny/runs/{run.pk}/"
    client.force_login(make_user("rita", Role.RESEARCHER))
    assert "This run is not scored yet by label set 2.0.0" in client.get(address).content.decode()

    evaluate_runs(benchmark=benchmark, by=OPERATOR)
    shown = client.get(address)
    lines = {
        line.cell.measure: (
            line.cell.main.number,
            line.bounds.value and tuple(line.bounds.value),
            (line.rank_before, line.rank),
        )
        for line in shown.context["lines"]
    }
    third = pytest.approx(1 / 3)
    assert lines["C@1"] == (third, (third, third), (1, 3))
    # The only unjudged pair may be relevant.
    assert lines["C@5"] == (third, (third, pytest.approx(2 / 3)), (3, 3))
    assert lines["AP"][1] is None
    # C@1 reads one rank. C@5 reads two, because the longest list has two. Only v3 of c0 is
    # unjudged.
    shares = {
        line.cell.measure: (line.cell.read, line.cell.judged.number)
        for line in shown.context["lines"]
    }
    assert (shares["C@1"], shares["C@5"]) == ((1, 1), (2, pytest.approx(5 / 6)))
    assert shares["AP"] == shares["C@10"] == shares["C@5"]
    assert shown.context["row"].evaluation.judged.keys() == {"1", "2"}
    assert shown.context["row"].evaluation.unjudged == 1
    page = " ".join(shown.content.decode().split())
    assert "33.3 to 66.7" in page
    assert '83.3 <span class="muted">@2</span>' in page
    assert "Pool the unjudged pairs" in page

    assert client.post(f"{address}pool/").status_code == 302
    job = Job.objects.get(kind="build_pool")
    run_job(job.pk)
    job.refresh_from_db()
    assert (job.result["pairs"], job.result["new_pairs"]) == (4, 1)
    page = client.get(address).content.decode()
    assert "A lead can open a campaign" in page
    assert "Pool the unjudged pairs" not in page
    client.force_login(make_user("lea", Role.LEAD))
    assert "/benchmarks/tiny/campaigns/new/" in client.get(address).content.decode()


def test_the_same_file_again_is_not_scored_again(
    benchmark: Benchmark, client: Client, tmp_path: Path
) -> None:
    client.force_login(make_user("rita", Role.RESEARCHER))
    content = write_run(tmp_path / "c.run", {"c0": ["v0"]}).read_bytes()
    for _ in range(2):
        run = SimpleUploadedFile("c.run", content)
        client.post("/benchmarks/tiny/runs/new/", {"file": run, "system": "C", "format": "auto"})
        run_job(Job.objects.filter(kind="import_run").latest("created_at").pk)
    assert Job.objects.filter(kind="evaluate").count() == 1


def test_ranks_by_each_label_set(benchmark: Benchmark, tmp_path: Path) -> None:
    make_run(tmp_path, benchmark, {"c0": ["v0"], "c1": ["v3", "v1"], "c2": ["v2"]}, system="C")
    # A second annotator gives the pair of c0 and v1 another label, so the pair is in conflict.
    add_judgments(tmp_path, benchmark, [("c0", "v1", "ben", 0)])
    publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)
    question = build_question(
        get_analysis("leaderboard"), benchmark, {"measure": "C@1", "resamples": "100"}
    )
    assert [name for name, _ in question.options["releases"]] == ["1.0.0", "1.0.1"]
    result = analyse(question=question).result

    # At rank 1 for c0, c1 and c2, in this order, A has v0, v0 and v3; B has v1, v1 and v3; C has
    # v0, v3 and v2. The original positives are v0, v1 and v2. Label set 1.0.0
    # adds the positives v1 for c0, v0 and v2 for c1, and v3 for c2. In label set 1.0.1, v1 is not
    # positive for c0.
    scores = {
        (row["labels"], row["run"]): (round(3 * row["score"]), row["rank"])
        for row in result["releases"]
    }
    assert scores == {
        ("original", "A"): (1, 2),
        ("original", "B"): (1, 2),
        ("original", "C"): (2, 1),
        ("1.0.0", "A"): (3, 1),
        ("1.0.0", "B"): (3, 1),
        ("1.0.0", "C"): (2, 3),
        ("1.0.1", "A"): (3, 1),
        ("1.0.1", "B"): (2, 2),
        ("1.0.1", "C"): (2, 2),
    }
    board = [
        (row["run"], row["rank"], row["original_rank"], row["score"], row["bounds"], row["judged"])
        for row in result["board"]
    ]
    # The pair of c0 and v1 is in conflict, so it counts as unjudged and may be relevant. C@1 reads
    # only rank 1, at which B has this pair. A has it at rank 2, and C does not list it.
    assert board == [
        ("A", 1, 2, 1, [1, 1], 1),
        ("B", 2, 2, pytest.approx(2 / 3), [pytest.approx(2 / 3), 1], pytest.approx(2 / 3)),
        ("C", 2, 1, pytest.approx(2 / 3), [pytest.approx(2 / 3)] * 2, 1),
    ]
    by_ap = build_question(
        get_analysis("leaderboard"), benchmark, {"measure": "AP", "resamples": "100"}
    )
    # AP reads the whole lists. For c0, c1 and c2, the APs of A are 1, 2/3 and 1, whether v1 is
    # relevant for c0 or not. Those of B are 1/3 if v1 is not relevant and (1 + 2/3) / 2 if it is,
    # then 1 and (1 + 2/3) / 2. Those of C are 1, 1/6 and 1/2. The longest list of C has two ranks.
    assert [
        (row["run"], row["bounds"], row["judged_depth"], row["judged"])
        for row in analyse(question=by_ap).result["board"]
    ] == [
        ("A", [pytest.approx(8 / 9)] * 2, 3, pytest.approx(8 / 9)),
        ("B", [pytest.approx(13 / 18), pytest.approx(8 / 9)], 3, pytest.approx(8 / 9)),
        ("C", [pytest.approx(5 / 9)] * 2, 2, 1),
    ]
    # The ranks of A, B and C change from 2 2 1 to 1 1 3: two of three pairs of runs are reversed,
    # and one is tied in both. Then they change from 1 1 3 to 1 2 2: one pair of runs has the same
    # order in both, one is tied only before, and one is tied only after.
    assert [(row["before"], row["after"], row["tau"]) for row in result["moves"]] == [
        ("original", "1.0.0", -1),
        ("1.0.0", "1.0.1", pytest.approx(1 / 2)),
    ]


def test_a_new_label_set_changes_the_leaderboard(benchmark: Benchmark, tmp_path: Path) -> None:
    def question() -> Question:
        return build_question(get_analysis("leaderboard"), benchmark, {"labels": "1"})

    before = question().key
    add_judgments(tmp_path, benchmark, [("c0", "v1", "ben", 0)])
    publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)
    assert question().key != before
    # The leaderboard contains the draft only if it was requested. After a later draft, the earlier
    # result is found as outdated.
    make_draft(benchmark=benchmark, by=OPERATOR)
    drafted = build_question(get_analysis("leaderboard"), benchmark, {"labels": "draft"})
    first = analyse(question=drafted)
    assert drafted.options["releases"] == question().options["releases"]
    assert [name for name, _ in question().options["releases"]] == ["1.0.0", "1.0.1"]
    names = [row["labels"] for row in first.result["releases"] if row["run"] == "A"]
    assert names == ["original", "1.0.0", "1.0.1", "draft"]
    add_judgments(tmp_path, benchmark, [("c0", "v1", "cleo", 0)])
    make_draft(benchmark=benchmark, by=OPERATOR)
    again = build_question(get_analysis("leaderboard"), benchmark, {"labels": "draft"})
    assert (again.stored_result(), again.latest_outdated_result()) == (None, first)


def test_a_label_set_published_after_the_question_is_left_out(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    question = build_question(get_analysis("leaderboard"), benchmark, {})
    add_judgments(tmp_path, benchmark, [("c0", "v1", "ben", 0)])
    publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)
    found = analyse(question=question)
    assert [name for name, _ in found.inputs["chosen"]["releases"]] == ["1.0.0"]
    assert {row["labels"] for row in found.result["releases"]} == {"original", "1.0.0"}

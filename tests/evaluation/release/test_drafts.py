"""Tests of drafts, and of analyses before labels are published."""

from __future__ import annotations

import datetime
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from annotation.enums import EscalationKind, JudgmentState
from annotation.models import Adjudication, Annotator, Campaign, Judgment, JudgmentTask, Withdrawal
from annotation.selectors.labels import labels_fingerprint
from annotation.services import escalate_task
from evaluation.lab.analyses import get_analysis
from evaluation.lab.analyses.question import build_question
from evaluation.lab.services import DRAFT_RESULTS_MAX, analyse
from evaluation.models import AnalysisResult, Draft
from evaluation.release.selectors import draft_state, label_set_judged
from evaluation.release.selectors.labels import label_text
from evaluation.release.services import (
    MAX_DRAFT_AGE,
    SETTLED_FOR,
    make_draft,
    publish_label_set,
    renew_drafts,
)
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.jobs.models import Job, JobState
from hearth.jobs.services import run_job
from hearth.shared.errors import InvalidInput
from pooling.models import Benchmark
from tests.evaluation.worked import make_worked_benchmark
from tests.factories import (
    add_judgments,
    claim,
    make_annotator,
    make_benchmark,
    make_campaign,
    make_user,
    submit,
    without_triggers,
)

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db]


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    return make_worked_benchmark(tmp_path)


def label_more(folder: Path, benchmark: Benchmark, annotator: str = "ben") -> None:
    """Store a label that contradicts the first label of c0 v1."""
    add_judgments(folder, benchmark, [("c0", "v1", annotator, 0)])


def make_older(by: datetime.timedelta) -> None:
    """Move all judgments and drafts into the past."""
    for model in (Judgment, Draft):
        for row in model._default_manager.all():
            model._default_manager.filter(pk=row.pk).update(created_at=row.created_at - by)


def test_a_draft_has_the_labels_of_a_label_set(benchmark: Benchmark, tmp_path: Path) -> None:
    label_more(tmp_path, benchmark)
    draft = make_draft(benchmark=benchmark, by=OPERATOR)
    published = publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)
    assert draft.sha256 == published.sha256
    assert hashlib.sha256(label_text(draft)).hexdigest() == draft.sha256
    assert (draft.n_pairs, draft.n_relevant, draft.n_conflicted, draft.n_judgments) == (
        12,
        5,
        1,
        13,
    )
    by_draft, by_set = label_set_judged(draft), label_set_judged(published)
    assert by_draft.codes.tolist() == by_set.codes.tolist()
    results = [
        analyse(question=build_question(get_analysis("ranks"), benchmark, {"labels": labels}))
        for labels in ("draft", "1.0.1", "1")
    ]
    assert results[0].result == results[1].result
    assert results[0].result != results[2].result
    assert [result.inputs["labels"] for result in results] == ["draft", "1.0.1", "1.0.0"]
    assert results[0].inputs["labels_sha256"] == draft.sha256


def test_the_same_labels_are_the_same_draft(benchmark: Benchmark, tmp_path: Path) -> None:
    first = make_draft(benchmark=benchmark, by=OPERATOR)
    again = make_draft(benchmark=benchmark, by=OPERATOR)
    assert again.pk == first.pk
    assert again.created_at > first.created_at
    for name in ("ben", "cleo", "dora"):
        label_more(tmp_path, benchmark, name)
        make_draft(benchmark=benchmark, by=OPERATOR)
    # The newest draft and the previous one, which analyses may still use.
    assert Draft.objects.count() == 2


def test_the_later_of_two_simultaneous_drafts_stays(benchmark: Benchmark, tmp_path: Path) -> None:
    def overtake(done: int, total: int | None, phase: str) -> None:
        if phase == "writing the draft" and not later:
            later.append(None)
            label_more(tmp_path, benchmark)
            later[0] = make_draft(benchmark=benchmark, by=OPERATOR)

    later: list[Draft | None] = []
    assert make_draft(benchmark=benchmark, progress=overtake, by=OPERATOR) == later[0]
    assert Draft.objects.get() == later[0]


def test_a_draft_without_judgments_is_not_created(benchmark: Benchmark) -> None:
    with without_triggers():
        Judgment.objects.all().delete()
    with pytest.raises(InvalidInput, match="The benchmark tiny has no judgments yet"):
        make_draft(benchmark=benchmark, by=OPERATOR)
    assert renew_drafts() == 0


def test_judgments_of_other_benchmarks_are_not_read(benchmark: Benchmark, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = make_benchmark(tmp_path / "other", key="other")
    with CaptureQueriesContext(connection) as queries:
        assert labels_fingerprint(other).as_list() == [0, 0, 0, 0, 0, 0]
    assert not [entry for entry in queries if 'FROM "annotation_judgment"' in entry["sql"]]


def test_answers_to_gold_make_no_draft(benchmark: Benchmark) -> None:
    """Without this rule, a job would fail each minute while annotators are in training."""
    Judgment.objects.update(state=JudgmentState.GOLD, slot=None, is_right=True)
    assert not draft_state(benchmark).has_labels
    assert renew_drafts() == 0


def test_an_escalation_of_an_earlier_answer_changes_the_fingerprint(tmp_path: Path) -> None:
    campaign, anna = make_campaign(tmp_path), make_annotator("anna")
    held = claim(campaign, anna)
    for assignment in held:
        submit(assignment, 1)
    before, made = (
        labels_fingerprint(campaign.benchmark).as_list(),
        make_draft(benchmark=campaign.benchmark, by=OPERATOR),
    )
    escalate_task(assignment_id=held[0].pk, annotator=anna, kind=EscalationKind.UNSURE)
    assert labels_fingerprint(campaign.benchmark).as_list() != before
    assert make_draft(benchmark=campaign.benchmark, by=OPERATOR).n_pairs == made.n_pairs - 1


def test_every_change_of_labels_changes_the_fingerprint(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    campaign, lead = Campaign.objects.get(), make_user("lea", Role.LEAD)
    fingerprints = [labels_fingerprint(benchmark).as_list()]
    label_more(tmp_path, benchmark)
    fingerprints.append(labels_fingerprint(benchmark).as_list())
    Adjudication.objects.create(task=JudgmentTask.objects.first(), lead=lead, label=1)
    fingerprints.append(labels_fingerprint(benchmark).as_list())
    annotator = Annotator.objects.first()
    assert annotator is not None
    Withdrawal.objects.create(campaign=campaign, annotator=annotator, lead=lead, judgments=3)
    fingerprints.append(labels_fingerprint(benchmark).as_list())
    assert len({tuple(fingerprint) for fingerprint in fingerprints}) == 4


def test_a_draft_is_due_when_no_labels_have_arrived_for_a_while(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    assert (renew_drafts(), renew_drafts()) == (1, 1)
    # Both calls find the same unfinished job.
    job = Job.objects.get(kind="draft_labels")
    run_job(job.pk)
    assert renew_drafts() == 0

    label_more(tmp_path, benchmark)
    assert renew_drafts() == 0  # the label came just now
    make_older(SETTLED_FOR)
    assert renew_drafts() == 1
    run_job(Job.objects.get(kind="draft_labels", state=JobState.QUEUED).pk)

    make_older(MAX_DRAFT_AGE)
    label_more(tmp_path, benchmark, "cleo")
    assert renew_drafts() == 1  # labels still arrive, but the draft is too old
    assert Draft.objects.count() == 2


def test_results_from_a_draft_are_recomputed_from_the_next_draft(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    make_draft(benchmark=benchmark, by=OPERATOR)
    analyse(question=build_question(get_analysis("ranks"), benchmark, {"labels": "draft"}))
    analyse(question=build_question(get_analysis("positives"), benchmark, {}))
    label_more(tmp_path, benchmark)
    make_older(SETTLED_FOR)
    renew_drafts()
    run_job(Job.objects.get().pk)
    # `positives` is not recomputed, because it was never computed from a draft.
    renewal = Job.objects.get(kind="analyse")
    assert renewal.params["given"] == {"labels": "draft"}
    run_job(renewal.pk)
    newest = Draft.objects.first()
    assert newest is not None
    found = AnalysisResult.objects.filter(kind="ranks").first()
    assert found is not None
    assert found.inputs["labels_sha256"] == newest.sha256


def test_results_from_drafts_do_not_replace_results_from_label_sets(benchmark: Benchmark) -> None:
    make_draft(benchmark=benchmark, by=OPERATOR)
    published = analyse(question=build_question(get_analysis("ranks"), benchmark, {}))
    for depth in range(1, DRAFT_RESULTS_MAX + 3):
        analyse(
            question=build_question(
                get_analysis("ranks"), benchmark, {"labels": "draft", "depth": str(depth)}
            )
        )
    kept = AnalysisResult.objects.filter(kind="ranks").order_by("pk")
    assert kept[0] == published
    assert [result.inputs["chosen"]["depth"] for result in kept[1:]] == list(
        range(3, DRAFT_RESULTS_MAX + 3)
    )


def test_the_page_shows_the_earlier_result_until_the_new_one_exists(
    benchmark: Benchmark, client: Client, tmp_path: Path
) -> None:
    client.force_login(make_user("rita", Role.RESEARCHER))
    page = "/benchmarks/tiny/analyses/ranks/?labels=draft"
    make_draft(benchmark=benchmark, by=OPERATOR)
    analyse(question=build_question(get_analysis("ranks"), benchmark, {"labels": "draft"}))
    first = client.get(page).context["result"]
    label_more(tmp_path, benchmark)
    make_draft(benchmark=benchmark, by=OPERATOR)

    shown = client.get(page)
    assert shown.context["result"] == first
    assert "New labels have arrived since then." in shown.content.decode()
    assert "Compute</button>" in shown.content.decode()
    # The charts and files on the page belong to the result that the page shows.
    chart = shown.context["charts"][0].name
    address = f"/benchmarks/tiny/analyses/ranks/charts/{chart}/?{shown.context['query']}"
    assert client.get(address).json()["usermeta"]["inputs"] == first.inputs
    assert f"tiny-ranks-draft-{first.key[:12]}-{chart}" in shown.content.decode()

    second = analyse(question=build_question(get_analysis("ranks"), benchmark, {"labels": "draft"}))
    shown = client.get(page)
    assert shown.context["result"] == second
    assert "New labels have arrived" not in shown.content.decode()
    # A result with other options does not count as an earlier result.
    assert "result" not in client.get(f"{page}&depth=2").context


def test_the_address_of_a_deleted_result_returns_the_result_with_the_same_options(
    benchmark: Benchmark, client: Client
) -> None:
    client.force_login(make_user("rita", Role.RESEARCHER))
    found = analyse(question=build_question(get_analysis("ranks"), benchmark, {}))
    address = "/benchmarks/tiny/analyses/ranks/json/?labels=1&result="
    for key in (found.key, "gone", ""):
        answer = client.get(address + key)
        assert answer.json()["inputs"] == found.inputs
    assert found.key[:12] in answer["Content-Disposition"]


def test_labels_are_analysed_before_any_label_set_is_published(
    benchmark: Benchmark, client: Client
) -> None:
    client.force_login(make_user("rita", Role.RESEARCHER))
    with without_triggers():
        benchmark.label_sets.all().delete()
    refused = client.get("/benchmarks/tiny/analyses/labels/").content.decode()
    no_labels = "This analysis needs labels. Publish a label set or create a draft."
    assert no_labels in refused
    assert "Draft the labels" in client.get("/benchmarks/tiny/analyses/").content.decode()

    answer = client.post("/benchmarks/tiny/labels/draft/")
    job = Job.objects.get()
    assert answer.url == f"/jobs/{job.pk}/"
    run_job(job.pk)
    assert build_question(get_analysis("labels"), benchmark, {}).provenance["labels"] == "draft"
    page = client.get("/benchmarks/tiny/analyses/?labels=draft").content.decode()
    assert "12 pairs, 6 relevant" in " ".join(page.split())
    assert "/analyses/labels/?labels=draft" in page
    assert "up to date" not in page
    refused = client.get("/benchmarks/tiny/analyses/labels/?labels=original").content.decode()
    assert "This analysis needs labels. Select the draft under Settings." in refused


def test_drafts_by_command(
    benchmark: Benchmark, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    label_more(tmp_path, benchmark)
    call_command("analyse", "tiny", "labels", "--labels", "draft", "--json")
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (found["pairs"], found["labels"], found["undecided"]) == (12, 13, 1)
    assert found["inputs"]["labels"] == "draft"
    # The draft is updated each time.
    label_more(tmp_path, benchmark, "cleo")
    call_command("analyse", "tiny", "labels", "--labels", "draft", "--json")
    assert json.loads(capsys.readouterr().out)["labels"] == 14
    # Without a label set, the draft is the default, so it is updated even without `--labels`.
    with without_triggers():
        benchmark.label_sets.all().delete()
    label_more(tmp_path, benchmark, "dora")
    call_command("analyse", "tiny", "labels", "--json")
    assert json.loads(capsys.readouterr().out)["labels"] == 15
    label_more(tmp_path, benchmark, "emil")
    call_command("compare", "tiny", "--json")
    compared = json.loads(capsys.readouterr().out)["inputs"]
    assert compared["labels_sha256"] == make_draft(benchmark=benchmark, by=OPERATOR).sha256


def test_drafts_over_the_api(benchmark: Benchmark) -> None:
    client = APIClient()
    client.force_authenticate(make_user("rita", Role.RESEARCHER))
    address = "/api/v1/benchmarks/tiny/draft/"
    assert client.get(address).status_code == 404
    job = client.post(address).json()
    run_job(job["id"])
    draft = Draft.objects.get()
    found = client.get(address).json()
    assert found == {
        "sha256": benchmark.label_sets.get().sha256,
        "n_pairs": 12,
        "n_relevant": 6,
        "n_conflicted": 0,
        "n_pending": 0,
        "n_judgments": 12,
        "code_version": draft.code_version,
        "created_at": timezone.localtime(draft.created_at).isoformat().replace("+00:00", "Z"),
    }

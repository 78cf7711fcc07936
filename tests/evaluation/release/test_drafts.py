"""The labels while they come in: drafts, and what the lab makes of them before publishing."""

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
from config.accounts.roles import Role
from config.jobs.models import Job, JobState
from config.jobs.services import run_job
from config.shared.errors import InvalidInput
from evaluation.lab.analyses import get_kind
from evaluation.lab.analyses.asked import ask
from evaluation.lab.services import KEPT_OF_DRAFTS, analyse
from evaluation.models import Analysis, Draft
from evaluation.release.selectors import draft_state, label_set_judged
from evaluation.release.selectors.labels import label_text
from evaluation.release.services import (
    DRAFT_AFTER,
    SETTLED_FOR,
    make_draft,
    publish_label_set,
    renew_drafts,
)
from pooling.models import Benchmark
from tests.evaluation.worked import make_worked_benchmark
from tests.factories import (
    bring_judgments,
    claim,
    make_annotator,
    make_benchmark,
    make_campaign,
    make_user,
    submit,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    return make_worked_benchmark(tmp_path)


def label_more(folder: Path, benchmark: Benchmark, annotator: str = "ben") -> None:
    """Somebody else finds v1 of c0 not relevant, which one had found relevant: a conflict."""
    bring_judgments(folder, benchmark, [("c0", "v1", annotator, 0)])


def make_older(by: datetime.timedelta) -> None:
    """As if all judgments and drafts had come so much earlier."""
    for model in (Judgment, Draft):
        for one in model._default_manager.all():
            model._default_manager.filter(pk=one.pk).update(created_at=one.created_at - by)


def test_a_draft_holds_what_a_label_set_would(benchmark: Benchmark, tmp_path: Path) -> None:
    label_more(tmp_path, benchmark)
    draft = make_draft(benchmark=benchmark)
    published = publish_label_set(benchmark=benchmark, allow_pending=True)
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
        analyse(asked=ask(get_kind("ranks"), benchmark, {"labels": labels}))
        for labels in ("draft", "2", "1")
    ]
    assert results[0].result == results[1].result
    assert results[0].result != results[2].result
    assert [one.inputs["labels"] for one in results] == ["draft", 2, 1]
    assert results[0].inputs["labels_sha256"] == draft.sha256


def test_the_same_labels_are_the_same_draft(benchmark: Benchmark, tmp_path: Path) -> None:
    first = make_draft(benchmark=benchmark)
    again = make_draft(benchmark=benchmark)
    assert again.pk == first.pk
    assert again.created_at > first.created_at
    for name in ("ben", "cleo", "dora"):
        label_more(tmp_path, benchmark, name)
        make_draft(benchmark=benchmark)
    # The last, and the one before for those who are just computing from it.
    assert Draft.objects.count() == 2


def test_of_two_at_once_the_later_labels_are_the_draft(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    def overtake(done: int, total: int | None, phase: str) -> None:
        if phase == "writing the draft" and not later:
            later.append(None)
            label_more(tmp_path, benchmark)
            later[0] = make_draft(benchmark=benchmark)

    later: list[Draft | None] = []
    assert make_draft(benchmark=benchmark, progress=overtake) == later[0]
    assert Draft.objects.get() == later[0]


def test_nothing_judged_makes_no_draft(benchmark: Benchmark) -> None:
    Judgment.objects.all().delete()
    with pytest.raises(InvalidInput, match="nothing of tiny is judged yet"):
        make_draft(benchmark=benchmark)
    assert renew_drafts() == 0


def test_judgments_of_others_are_not_looked_through(benchmark: Benchmark, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = make_benchmark(tmp_path / "other", key="other")
    with CaptureQueriesContext(connection) as asked:
        assert labels_fingerprint(other).as_list() == [0, 0, 0, 0, 0, 0]
    assert not [one for one in asked if 'FROM "annotation_judgment"' in one["sql"]]


def test_answers_to_gold_make_no_draft(benchmark: Benchmark) -> None:
    """As where people are still in training: a job each minute would do nothing but fail."""
    Judgment.objects.update(state=JudgmentState.GOLD, slot=None, is_right=True)
    assert not draft_state(benchmark).has_labels
    assert renew_drafts() == 0


def test_a_label_that_its_annotator_takes_back_changes_the_moment(tmp_path: Path) -> None:
    campaign, anna = make_campaign(tmp_path), make_annotator("anna")
    held = claim(campaign, anna)
    for assignment in held:
        submit(assignment, 1)
    before, made = (
        labels_fingerprint(campaign.benchmark).as_list(),
        make_draft(benchmark=campaign.benchmark),
    )
    escalate_task(assignment_id=held[0].pk, annotator=anna, kind=EscalationKind.UNSURE)
    assert labels_fingerprint(campaign.benchmark).as_list() != before
    assert make_draft(benchmark=campaign.benchmark).n_pairs == made.n_pairs - 1


def test_whatever_changes_labels_changes_their_moment(benchmark: Benchmark, tmp_path: Path) -> None:
    campaign, lead = Campaign.objects.get(), make_user("lea", Role.LEAD)
    moments = [labels_fingerprint(benchmark).as_list()]
    label_more(tmp_path, benchmark)
    moments.append(labels_fingerprint(benchmark).as_list())
    Adjudication.objects.create(task=JudgmentTask.objects.first(), lead=lead, label=1)
    moments.append(labels_fingerprint(benchmark).as_list())
    annotator = Annotator.objects.first()
    assert annotator is not None
    Withdrawal.objects.create(campaign=campaign, annotator=annotator, lead=lead, judgments=3)
    moments.append(labels_fingerprint(benchmark).as_list())
    assert len({tuple(moment) for moment in moments}) == 4


def test_a_draft_is_due_when_labels_have_settled(benchmark: Benchmark, tmp_path: Path) -> None:
    assert (renew_drafts(), renew_drafts()) == (1, 1)
    # The same job is found while it waits.
    job = Job.objects.get(kind="draft_labels")
    run_job(job.pk)
    assert renew_drafts() == 0

    label_more(tmp_path, benchmark)
    assert renew_drafts() == 0  # the label came just now
    make_older(SETTLED_FOR)
    assert renew_drafts() == 1
    run_job(Job.objects.get(kind="draft_labels", state=JobState.QUEUED).pk)

    make_older(DRAFT_AFTER)
    label_more(tmp_path, benchmark, "cleo")
    assert renew_drafts() == 1  # more come without a pause, but the draft has grown old
    assert Draft.objects.count() == 2


def test_analyses_follow_the_draft(benchmark: Benchmark, tmp_path: Path) -> None:
    make_draft(benchmark=benchmark)
    analyse(asked=ask(get_kind("ranks"), benchmark, {"labels": "draft"}))
    analyse(asked=ask(get_kind("positives"), benchmark, {}))
    label_more(tmp_path, benchmark)
    make_older(SETTLED_FOR)
    renew_drafts()
    run_job(Job.objects.get().pk)
    # The other one was not looked at by the draft.
    renewal = Job.objects.get(kind="analyse")
    assert renewal.params["given"] == {"labels": "draft"}
    run_job(renewal.pk)
    newest = Draft.objects.first()
    assert newest is not None
    found = Analysis.objects.filter(kind="ranks").first()
    assert found is not None
    assert found.inputs["labels_sha256"] == newest.sha256


def test_results_of_drafts_do_not_push_out_others(benchmark: Benchmark) -> None:
    make_draft(benchmark=benchmark)
    published = analyse(asked=ask(get_kind("ranks"), benchmark, {}))
    for depth in range(1, KEPT_OF_DRAFTS + 3):
        analyse(asked=ask(get_kind("ranks"), benchmark, {"labels": "draft", "depth": str(depth)}))
    kept = Analysis.objects.filter(kind="ranks").order_by("pk")
    assert kept[0] == published
    assert [one.inputs["chosen"]["depth"] for one in kept[1:]] == list(range(3, KEPT_OF_DRAFTS + 3))


def test_the_page_shows_the_earlier_result_until_the_new_one_is_there(
    benchmark: Benchmark, client: Client, tmp_path: Path
) -> None:
    client.force_login(make_user("rita", Role.RESEARCHER))
    page = "/benchmarks/tiny/analyses/ranks/?labels=draft"
    make_draft(benchmark=benchmark)
    analyse(asked=ask(get_kind("ranks"), benchmark, {"labels": "draft"}))
    first = client.get(page).context["analysis"]
    label_more(tmp_path, benchmark)
    make_draft(benchmark=benchmark)

    shown = client.get(page)
    assert shown.context["analysis"] == first
    assert "Labels have come in since this was computed" in shown.content.decode()
    assert "Compute it" in shown.content.decode()
    # Charts and files on the page are of what it shows, not of what comes next.
    chart = shown.context["charts"][0].name
    address = f"/benchmarks/tiny/analyses/ranks/charts/{chart}/?{shown.context['query']}"
    assert client.get(address).json()["usermeta"]["inputs"] == first.inputs
    assert f"tiny-ranks-draft-{first.key[:12]}-{chart}" in shown.content.decode()

    second = analyse(asked=ask(get_kind("ranks"), benchmark, {"labels": "draft"}))
    shown = client.get(page)
    assert shown.context["analysis"] == second
    assert "Labels have come in" not in shown.content.decode()
    # Something else that was chosen is no earlier result.
    assert "analysis" not in client.get(f"{page}&depth=2").context


def test_a_result_that_is_gone_gives_way_to_what_was_chosen(
    benchmark: Benchmark, client: Client
) -> None:
    client.force_login(make_user("rita", Role.RESEARCHER))
    found = analyse(asked=ask(get_kind("ranks"), benchmark, {}))
    address = "/benchmarks/tiny/analyses/ranks/json/?labels=1&result="
    for key in (found.key, "gone", "", "\x00"):
        answer = client.get(address + key)
        assert answer.json()["inputs"] == found.inputs
    assert found.key[:12] in answer["Content-Disposition"]


def test_first_labels_are_analysed_before_anything_is_published(
    benchmark: Benchmark, client: Client
) -> None:
    client.force_login(make_user("rita", Role.RESEARCHER))
    benchmark.label_sets.all().delete()
    refused = client.get("/benchmarks/tiny/analyses/labels/").content.decode()
    assert "needs labels, not the original positives alone" in refused
    assert "Draft the labels" in client.get("/benchmarks/tiny/analyses/").content.decode()

    answer = client.post("/benchmarks/tiny/labels/draft/")
    job = Job.objects.get()
    assert answer.url == f"/jobs/{job.pk}/"
    run_job(job.pk)
    assert ask(get_kind("labels"), benchmark, {}).provenance["labels"] == "draft"
    page = client.get("/benchmarks/tiny/analyses/?labels=draft").content.decode()
    assert "12 pairs, 6 relevant" in " ".join(page.split())
    assert "/analyses/labels/?labels=draft" in page
    assert "up to date" not in page


def test_by_command(
    benchmark: Benchmark, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    label_more(tmp_path, benchmark)
    call_command("analyse", "tiny", "labels", "--labels", "draft", "--json")
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (found["pairs"], found["labels"], found["undecided"]) == (12, 13, 1)
    assert found["inputs"]["labels"] == "draft"
    # It is made anew each time.
    label_more(tmp_path, benchmark, "cleo")
    call_command("analyse", "tiny", "labels", "--labels", "draft", "--json")
    assert json.loads(capsys.readouterr().out)["labels"] == 14
    # So it is where nothing is published and it is the newest there is.
    benchmark.label_sets.all().delete()
    label_more(tmp_path, benchmark, "dora")
    call_command("analyse", "tiny", "labels", "--json")
    assert json.loads(capsys.readouterr().out)["labels"] == 15
    label_more(tmp_path, benchmark, "emil")
    call_command("compare", "tiny", "--json")
    compared = json.loads(capsys.readouterr().out)["inputs"]
    assert compared["labels_sha256"] == make_draft(benchmark=benchmark).sha256


def test_over_the_api(benchmark: Benchmark) -> None:
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

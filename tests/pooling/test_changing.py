"""Changing, withdrawing, archiving and deleting runs, pools, campaigns and benchmarks."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.files.base import ContentFile
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, models, transaction
from django.test import Client
from rest_framework.test import APIClient

from annotation.enums import CampaignState
from annotation.models import Campaign, Judgment, JudgmentTask
from annotation.services import set_campaign_state
from evaluation.management.commands.evaluate import as_json
from evaluation.models import AnalysisResult, Evaluation, LabelSet
from evaluation.release.services import publish_label_set
from evaluation.scores.services import evaluate_runs
from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.audit.models import AuditEntry
from hearth.jobs.deleting import delete
from hearth.jobs.models import Job
from hearth.jobs.services import run_job
from hearth.shared import deleting
from hearth.shared.deleting import plan_deletion
from hearth.shared.errors import Conflict, InvalidInput, NotPermitted
from pooling import services
from pooling.models import Benchmark, Pair, Pool, RankedList, Run, Tag, Video
from tests import factories
from tests.accounts.world import admin, make_member
from tests.factories import build_pool

LISTS = {"c0": ["v0", "v1"], "c1": ["v1"]}


@pytest.fixture
def benchmark(db: None, tmp_path: Path) -> Benchmark:
    return factories.make_benchmark(tmp_path)


@pytest.fixture
def run(benchmark: Benchmark, tmp_path: Path) -> Run:
    return factories.make_run(tmp_path, benchmark, LISTS, system="A")


@pytest.fixture
def lead(benchmark: Benchmark) -> User:
    return make_member("lea", Role.LEAD, of="tiny")


def rita(client: Client | APIClient) -> User:
    person = make_member("rita", Role.RESEARCHER, of="tiny")
    client.force_login(person)
    return person


def counts(plan: Any) -> dict[str, int]:
    return {count.noun: count.number for count in plan.counts}


def last_act() -> tuple[Any, ...]:
    return AuditEntry.objects.values_list("act", "before", "after").latest("pk")


# --- Changing and withdrawing runs -------------------------------------------------------------


def test_the_uploader_changes_a_run_on_its_page(client: Client, run: Run, tmp_path: Path) -> None:
    person = rita(client)
    page = f"/benchmarks/tiny/runs/{run.pk}/edit/"
    assert client.get(page).status_code == 403
    Run.objects.filter(pk=run.pk).update(created_by=person)
    form = {"name": "B", "paper": "https://example.org/b", "contact": "rita@example.org"}
    assert client.post(page, form)["Location"] == f"/benchmarks/tiny/runs/{run.pk}/"
    shown = client.get(f"/benchmarks/tiny/runs/{run.pk}/").content.decode()
    assert '<a href="https://example.org/b" rel="noopener noreferrer nofollow">' in shown
    assert "rita@example.org" in shown
    # The log holds no text about a person.
    assert last_act() == (
        "run_changed",
        {"name": "A", "paper": "", "contact": ""},
        {"name": "B", "paper": "https://example.org/b", "contact": "(text)"},
    )


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("name", "C", "Another run of this benchmark is called &#x27;C&#x27;."),
        ("name", "", "This field is required."),
        ("paper", "javascript:alert(1)", "Enter a valid URL."),
    ],
)
def test_a_run_keeps_its_values_after_an_error(
    field: str, value: str, error: str, client: Client, run: Run, lead: User, tmp_path: Path
) -> None:
    factories.make_run(tmp_path, run.benchmark, {"c0": ["v3"]}, system="C")
    client.force_login(lead)
    form = {"name": "A", "paper": "", field: value}
    answer = client.post(f"/benchmarks/tiny/runs/{run.pk}/edit/", form)
    assert answer.status_code == 422
    assert error in answer.content.decode()
    run.refresh_from_db()
    assert (run.name, run.paper) == ("A", "")


def test_a_withdrawn_run_leaves_lists_and_new_pools(
    client: Client, run: Run, lead: User, tmp_path: Path
) -> None:
    other = factories.make_run(tmp_path, run.benchmark, {"c0": ["v3"]}, system="C")
    pool = build_pool(benchmark=run.benchmark, depth=1).pool
    client.force_login(lead)
    address = f"/benchmarks/tiny/runs/{run.pk}/"
    client.post(f"{address}withdraw/", {"reason": "wrong checkpoint"})
    page = client.get(address).content.decode()
    assert "This run was withdrawn" in page
    assert "wrong checkpoint" in page
    results = client.get("/benchmarks/tiny/results/").context
    assert [row.run.name for row in results["rows"]] == ["C"]
    assert [withdrawn.name for withdrawn in results["withdrawn"]] == ["A"]
    campaigns = client.get("/benchmarks/tiny/campaigns/").content.decode()
    assert '<bdi>A</bdi> <span class="muted">(withdrawn)</span>' in campaigns
    api = APIClient()
    api.force_login(lead)
    runs = api.get("/api/v1/benchmarks/tiny/runs/").json()["results"]
    assert [listed["name"] for listed in runs] == ["C"]
    assert set(pool.runs.all()) == {run, other}
    (listed,) = api.get("/api/v1/benchmarks/tiny/pools/").json()["results"]
    assert (listed["runs"], listed["withdrawn_runs"]) == (["A", "C"], ["A"])
    evaluated = evaluate_runs(
        benchmark=run.benchmark, by=lead, labels="original", run_names=["A", "C"]
    )
    scored = as_json(evaluated)["runs"]
    assert {name: row["withdrawn"] for name, row in scored.items()} == {"A": True, "C": False}
    again = build_pool(benchmark=run.benchmark, depth=2).pool
    assert list(again.runs.all()) == [other]
    with pytest.raises(InvalidInput, match="The run 'A' is withdrawn"):
        build_pool(benchmark=run.benchmark, depth=2, run_names=["A"])
    client.post(f"{address}withdraw/", {"action": "restore"})
    run.refresh_from_db()
    assert (run.is_withdrawn, run.withdrawal_reason) == (False, "")
    assert client.post(f"{address}withdraw/", {"action": "restore"}).status_code == 409


def test_the_page_of_runs_shows_that_all_runs_are_withdrawn(
    client: Client, run: Run, lead: User
) -> None:
    client.force_login(lead)
    services.withdraw_run(run=run, by=lead, reason="old")
    page = client.get("/benchmarks/tiny/runs/").content.decode()
    assert "All runs are withdrawn." in page
    assert "There is no run yet." not in page


def test_errors_of_long_texts_name_the_field_as_in_the_form(run: Run, lead: User) -> None:
    with pytest.raises(InvalidInput) as refused:
        services.withdraw_run(run=run, by=lead, reason="x" * 501)
    assert str(refused.value) == "the reason has 501 characters; the maximum is 500"
    with pytest.raises(InvalidInput) as refused:
        services.change_run(run=run, changes={"code_url": f"https://x.org/{'x' * 500}"}, by=lead)
    assert str(refused.value) == "the code has 514 characters; the maximum is 500"


def test_the_api_changes_withdraws_and_deletes_a_run(run: Run) -> None:
    api = APIClient()
    person = rita(api)
    address = f"/api/v1/benchmarks/tiny/runs/{run.pk}/"
    assert api.patch(address, {"name": "B"}, format="json").status_code == 403
    Run.objects.filter(pk=run.pk).update(created_by=person)
    changed = api.patch(address, {"name": "B", "withdrawn": True, "reason": "old"}, format="json")
    assert changed.status_code == 200
    answer = changed.json()
    assert (answer["name"], answer["withdrawal_reason"]) == ("B", "old")
    assert answer["withdrawn_at"] is not None
    refused = api.patch(address, {"paper": "ftp://example.org/"}, format="json")
    assert (refused.status_code, list(refused.json())) == (400, ["paper"])
    assert api.delete(address).status_code == 204
    assert api.get(address).status_code == 404


# --- Benchmarks --------------------------------------------------------------------------------


def test_a_lead_renames_a_benchmark(client: Client, lead: User) -> None:
    client.force_login(lead)
    form = {"name": "Tiny one", "licence": "CC BY 4.0", "description": "Three\ncaptions"}
    assert client.post("/benchmarks/tiny/edit/", form).status_code == 302
    page = client.get("/benchmarks/tiny/settings/").content.decode()
    assert "Three<br>captions" in page
    assert last_act() == (
        "benchmark_changed",
        {"name": "tiny", "licence": "", "description": ""},
        form,
    )


@pytest.mark.postgresql
def test_an_archived_benchmark_can_only_be_read(
    client: Client, run: Run, lead: User, tmp_path: Path
) -> None:
    benchmark = run.benchmark
    client.force_login(lead)
    client.post("/benchmarks/tiny/archive/", {"action": "archive"})
    home = client.get("/")
    assert [card.benchmark.key for card in home.context["benchmarks"]] == []
    assert [found.key for found in home.context["archived"]] == ["tiny"]
    assert "This benchmark is archived" in client.get("/benchmarks/tiny/runs/").content.decode()
    for path in ("/benchmarks/tiny/edit/", f"/benchmarks/tiny/runs/{run.pk}/edit/"):
        assert client.post(path, {"name": "new"}).status_code in (409, 422)
    benchmark.refresh_from_db()
    with pytest.raises(Conflict, match="This benchmark is archived"):
        factories.make_run(tmp_path, benchmark, {"c2": ["v3"]}, system="C")
    with pytest.raises(IntegrityError, match="archived"), transaction.atomic():
        Pool.objects.create(benchmark=benchmark, strategy="depth-k", n_pairs=0, n_new_pairs=0)
    with pytest.raises(Conflict, match="This benchmark is archived"):
        services.add_folder(benchmark=benchmark, folder="", by=lead)
    client.post("/benchmarks/tiny/archive/", {"action": "restore"})
    assert client.post("/benchmarks/tiny/edit/", {"name": "new"}).status_code == 302
    assert Benchmark.objects.get().name == "new"


def test_a_benchmark_with_an_open_campaign_is_not_archived(tmp_path: Path, db: None) -> None:
    campaign = factories.make_campaign(tmp_path)
    with pytest.raises(Conflict, match=r"is open\. Pause or close it first\."):
        services.archive_benchmark(benchmark=campaign.benchmark, by=OPERATOR)
    set_campaign_state(campaign=campaign, state=CampaignState.PAUSED, by=admin())
    services.archive_benchmark(benchmark=campaign.benchmark, by=OPERATOR)
    with pytest.raises(Conflict, match="This benchmark is archived"):
        set_campaign_state(campaign=campaign, state=CampaignState.OPEN, by=admin())


# --- Deleting ----------------------------------------------------------------------------------


def test_a_run_is_deleted_with_its_scores(client: Client, run: Run, lead: User) -> None:
    evaluate_runs(benchmark=run.benchmark, labels="original", by=OPERATOR)
    AnalysisResult.objects.create(
        benchmark=run.benchmark,
        kind="x",
        key="k",
        inputs={"runs": {"A": "0"}},
        result={},
        seconds=1,
    )
    client.force_login(lead)
    address = f"/benchmarks/tiny/runs/{run.pk}/delete/"
    assert counts(client.get(address).context["plan"]) == {
        "set of scores": 1,
        "analysis result": 1,
        "ranked lists": 2,
        "run": 1,
    }
    assert client.post(address)["Location"] == "/benchmarks/tiny/runs/"
    for model in (Run, RankedList, Evaluation, AnalysisResult):
        assert model.objects.count() == 0
    act, before, after = last_act()
    assert (act, before["name"], after["ranked lists"]) == ("run_deleted", "A", 2)


def test_a_pooled_run_stays(client: Client, run: Run, lead: User) -> None:
    pool = build_pool(benchmark=run.benchmark, depth=1).pool
    client.force_login(lead)
    address = f"/benchmarks/tiny/runs/{run.pk}/delete/"
    page = client.get(address).content.decode()
    assert f"Pool {pool.pk}: top 1 contains pairs of this run." in page
    assert f'href="/benchmarks/tiny/runs/{run.pk}/edit/#withdraw">Withdraw it instead' in page
    assert client.post(address).status_code == 409
    with pytest.raises(Conflict):
        delete(run, by=OPERATOR)
    assert RankedList.objects.count() == 2


def test_pools_are_deleted_newest_first(run: Run) -> None:
    first = build_pool(benchmark=run.benchmark, depth=1).pool
    second = build_pool(benchmark=run.benchmark, depth=2).pool
    with pytest.raises(Conflict, match=f"Pool {second.pk}: top 2 was built later"):
        delete(first, by=OPERATOR)
    delete(second, by=OPERATOR)
    assert Pair.objects.count() == first.n_pairs == 2
    delete(first, by=OPERATOR)
    assert (Pool.objects.count(), Pair.objects.count()) == (0, 0)


def test_a_campaign_without_judgments_is_deleted_and_then_its_pool(
    tmp_path: Path, db: None
) -> None:
    campaign = factories.make_campaign(tmp_path)
    pool = campaign.pool
    assert pool is not None
    with pytest.raises(Conflict, match=r"was opened for this pool\. Delete the campaign first\.$"):
        delete(pool, by=OPERATOR)
    with pytest.raises(Conflict, match="This campaign is open"):
        delete(campaign, by=OPERATOR)
    set_campaign_state(campaign=campaign, state=CampaignState.CLOSED, by=admin())
    deleted = delete(campaign, by=OPERATOR)
    assert counts(deleted)["tasks"] == campaign.n_tasks
    assert JudgmentTask.objects.count() == 0
    delete(pool, by=OPERATOR)
    assert Pair.objects.count() == 0


@pytest.mark.postgresql
def test_judgments_of_people_stay(tmp_path: Path, db: None) -> None:
    campaign = factories.make_campaign(tmp_path)
    (held,) = factories.claim(campaign, factories.make_annotator("anna"), 1)
    factories.submit(held, 1)
    set_campaign_state(campaign=campaign, state=CampaignState.CLOSED, by=admin())
    with pytest.raises(Conflict, match="This campaign has 1 judgment, which must stay"):
        delete(campaign, by=OPERATOR)
    assert campaign.pool is not None
    with pytest.raises(Conflict, match=r"was opened for this pool\.$"):
        delete(campaign.pool, by=OPERATOR)
    with pytest.raises(Conflict, match="This benchmark has 1 judgment, which must stay"):
        delete(campaign.benchmark, by=OPERATOR)
    with pytest.raises(IntegrityError, match="Judgments must stay"), transaction.atomic():
        Judgment.objects.all().delete()


@pytest.mark.postgresql
def test_an_import_of_judgments_can_be_undone_until_labels_are_published(
    tmp_path: Path, benchmark: Benchmark
) -> None:
    rows = [("c0", "v1", "a", 1), ("c0", "v1", "b", 1)]
    campaign = factories.add_judgments(tmp_path, benchmark, rows).campaign
    assert counts(delete(campaign, by=OPERATOR)) == {
        "imported judgments": 2,
        "task": 1,
        "campaign": 1,
    }
    campaign = factories.add_judgments(tmp_path, benchmark, rows).campaign
    label_set = publish_label_set(benchmark=benchmark, by=OPERATOR)
    with pytest.raises(Conflict, match=r"Label set 1\.0\.0 was published from these judgments"):
        delete(campaign, by=OPERATOR)
    # The database itself refuses the deletion, too.
    with pytest.raises(IntegrityError, match="Judgments must stay"), transaction.atomic():
        Judgment.objects.all().delete()
    with pytest.raises(IntegrityError, match="Label sets must stay"), transaction.atomic():
        LabelSet.objects.filter(pk=label_set.pk).delete()
    assert (Judgment.objects.count(), LabelSet.objects.count()) == (2, 1)


def test_an_old_import_of_judgments_stays(tmp_path: Path, benchmark: Benchmark) -> None:
    campaign = factories.add_judgments(tmp_path, benchmark, [("c0", "v1", "a", 1)]).campaign
    campaign.created_at -= timedelta(days=1)
    campaign.save(update_fields=["created_at"])
    with pytest.raises(Conflict, match="imported more than a day ago"):
        delete(campaign, by=OPERATOR)


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_a_benchmark_is_deleted_with_its_files(tmp_path: Path, client: Client) -> None:
    campaign = factories.make_campaign(tmp_path)
    set_campaign_state(campaign=campaign, state=CampaignState.CLOSED, by=admin())
    other = factories.make_benchmark(tmp_path, key="other")
    before = factories.row_counts()
    video = Video.objects.filter(benchmark=campaign.benchmark)[0]
    video.file.save("a.mp4", ContentFile(b"x"))
    lead = make_member("lea", Role.LEAD, of="tiny")
    client.force_login(lead)
    assert client.post("/benchmarks/tiny/delete/")["Location"] == "/"
    assert not video.file.storage.exists(video.file.name)
    assert list(Benchmark.objects.all()) == [other]
    assert Video.objects.count() == other.n_videos
    for model in apps.get_models():
        assert not _mentions(model, campaign.benchmark.pk), model
    assert before["pooling.Pair"] > 0
    with connection.cursor() as cursor:
        names = set(connection.introspection.get_constraints(cursor, "pooling_pair"))
    assert "pair_video_of_deletion" not in names


def _mentions(model: type[models.Model], pk: int) -> bool:
    fields = [f for f in model._meta.fields if f.related_model is Benchmark]
    return any(model._base_manager.filter(**{field.name: pk}).exists() for field in fields)


def referred_by(model: type[models.Model]) -> set[Any]:
    return {field.related_model for field in model._meta.concrete_fields}


@pytest.mark.parametrize("model", [Benchmark, Run, Pool, Campaign])
def test_every_table_that_refers_to_a_deleted_object_is_in_the_plan_before_it(
    model: type[models.Model], tmp_path: Path, db: None
) -> None:
    """A new table must be added to a plan, or to `keep` if its rows prevent the deletion."""
    campaign = factories.make_campaign(tmp_path)
    instances: dict[type[models.Model], Any] = {
        Benchmark: campaign.benchmark,
        Run: Run.objects.first(),
        Pool: campaign.pool,
        Campaign: campaign,
    }
    keep = {
        "evaluation.labelset",
        "annotation.withdrawal",
        "annotation.judgment",
        "annotation.escalation",
        "annotation.adjudication",
        "annotation.exclusion",
    }
    if model is Run:
        keep |= {"pooling.pool_runs", "estimates.draw"}
    if model is Pool:
        keep |= {"annotation.campaign", "annotation.judgmenttask"}
    planned = [part.rows.model for part in plan_deletion(instances[model]).parts]
    for place, deleted in enumerate(planned):
        later = [one for one in planned[place + 1 :] if deleted in referred_by(one)]
        assert later == [], f"rows of {deleted} are deleted too early"
        assert planned.count(deleted) == 1, deleted
    missing = {
        relation.related_model._meta.label_lower
        for planned_model in planned
        for relation in planned_model._meta.get_fields(include_hidden=True)
        if (relation.one_to_many or relation.one_to_one)
        and not relation.concrete
        and relation.related_model not in planned
    }
    assert missing - keep == set()


def test_a_large_object_is_deleted_by_a_job(
    run: Run, lead: User, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deleting, "ROWS_IN_REQUEST", 2)
    client.force_login(lead)
    answer = client.post(f"/benchmarks/tiny/runs/{run.pk}/delete/")
    job = Job.objects.get(kind="delete_run")
    assert answer["Location"] == f"/jobs/{job.pk}/"
    assert Run.objects.count() == 1
    run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, Run.objects.count()) == ("done", 0)
    assert "<bdi>A</bdi> is deleted." in client.get(f"/jobs/{job.pk}/").content.decode()


def test_researchers_delete_only_their_own_runs(run: Run, client: Client) -> None:
    person = rita(client)
    with pytest.raises(NotPermitted):
        delete(run, by=person)
    with pytest.raises(NotPermitted):
        delete(run.benchmark, by=person)
    assert client.post(f"/benchmarks/tiny/runs/{run.pk}/delete/").status_code == 403


def test_uploads_of_a_day_are_listed_and_undone(
    client: Client, run: Run, lead: User, tmp_path: Path
) -> None:
    benchmark = run.benchmark
    tags = factories.write_csv(tmp_path / "t.csv", "caption_id,tag", [("c0", "x"), ("c1", "y")])
    factories.import_tags(benchmark=benchmark, path=tags)
    captions = factories.write_csv(tmp_path / "train.csv", "caption", [("a dog",)])
    factories.import_train_captions(benchmark=benchmark, path=captions)
    factories.add_judgments(tmp_path, benchmark, [("c0", "v1", "a", 1)])
    client.force_login(lead)
    page = client.get("/benchmarks/tiny/uploads/")
    assert [upload.noun for upload in page.context["uploads"]] == [
        "judgments",
        "train captions",
        "tags",
        "run",
    ]
    upload = page.context["uploads"][2]
    assert f'value="{upload.at.isoformat()}"' in page.content.decode()
    client.post(upload.undo_url, {"imported_at": upload.at.isoformat()})
    assert Tag.objects.count() == 0
    assert last_act() == ("tags_deleted", {"tags": 2}, None)
    for other in page.context["uploads"]:
        if not other.is_posted:
            client.post(other.undo_url)
    assert client.get("/benchmarks/tiny/uploads/").context["uploads"] == []
    assert (Run.objects.count(), Judgment.objects.count()) == (0, 0)


def test_the_command_shows_and_deletes(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("delete", "tiny", "--run", "A", "--json")
    shown = json.loads(capsys.readouterr().out)
    assert shown == {"deleted": False, "rows": {"ranked lists": 2, "run": 1}, "obstacles": []}
    build_pool(benchmark=run.benchmark, depth=1)
    with pytest.raises(CommandError) as refused:
        call_command("delete", "tiny", "--run", "A", "--yes")
    assert refused.value.returncode == 2
    call_command("delete", "tiny", "--yes")
    assert "deleted: 3 captions" in capsys.readouterr().out
    assert Benchmark.objects.count() == 0

"""The audit log: what is recorded, with which origin, and that no one can change it."""

from __future__ import annotations

import ast
import csv
import importlib
import inspect
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.db.transaction import TransactionManagementError
from django.test import Client
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from annotation.models import Campaign
from annotation.services import change_policy
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.accounts.acts import AccountAct
from hearth.accounts.models import TokenRight, User
from hearth.accounts.roles import Role
from hearth.accounts.services import create_token, erase_person, grant_role, withdraw_role
from hearth.audit.acts import registered_acts
from hearth.audit.models import AuditAddress, AuditEntry
from hearth.audit.services import delete_old_addresses, record
from hearth.jobs.models import Job
from hearth.jobs.services import run_job
from pooling.models import Run, System
from tests import factories
from tests.accounts.world import admin, invited, make_member

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db]

LOG = "/people/audit/"
ROOT = Path(__file__).resolve().parents[2]
LOGIN = "/accounts/login/"


def facts(*names: str, **of: Any) -> list[tuple[Any, ...]]:
    """Return the named columns of the entries that match `of`, oldest first."""
    return list(AuditEntry.objects.filter(**of).order_by("pk").values_list(*names))


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return factories.make_campaign(tmp_path)


# --- Append-only ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_auditentry SET act = 'signed_out'",
        "DELETE FROM audit_auditentry",
        "UPDATE audit_auditaddress SET address = '127.0.0.2'",
    ],
)
def test_the_database_refuses_to_change_an_entry(statement: str) -> None:
    anna = factories.make_user("anna")
    Client().post(LOGIN, {"login": "anna", "password": factories.PASSWORD})
    before = facts("act", "by", "address__address")
    assert before[-1] == ("signed_in", anna.pk, "127.0.0.1")
    with (
        pytest.raises(IntegrityError, match=r"The audit log is append-only\."),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)
    assert facts("act", "by", "address__address") == before


@pytest.mark.django_db(transaction=True)
def test_postgresql_refuses_to_empty_the_log() -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no TRUNCATE")
    factories.make_user("anna")
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("TRUNCATE audit_auditentry CASCADE")
    assert AuditEntry.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_an_act_is_stored_with_its_change_or_not_at_all() -> None:
    anna = factories.make_user("anna")
    before = AuditEntry.objects.count()
    with pytest.raises(TransactionManagementError):
        record(AccountAct.ROLE_GRANTED, by=OPERATOR, on=anna)
    with transaction.atomic():
        grant_role(person=anna, role=Role.LEAD, by=OPERATOR)
        transaction.set_rollback(True)
    assert (anna.groups.count(), AuditEntry.objects.count()) == (0, before)


# --- Every service ----------------------------------------------------------------------------

SERVICES = (
    "hearth.accounts.services",
    "hearth.jobs.services",
    "hearth.webhooks.services",
    "hearth.operations.backup.services",
    "hearth.operations.housekeeping",
    "hearth.operations.moving",
    "pooling.services",
    "pooling.paragraphs.services",
    "pooling.phrasings.services",
    "pooling.relevant_pairs.services",
    "pooling.scenes.services",
    "annotation.services",
    "annotation.questions.faithfulness.opening",
    "annotation.questions.order.gold",
    "annotation.questions.order.study",
    "annotation.questions.scene.study",
    "evaluation.estimates.services",
    "evaluation.release.services",
    "evaluation.machines.services",
    "evaluation.scores.services",
    "evaluation.monitor.services",
)
# Services with an actor that record nothing themselves, and why.
NOT_RECORDED = {
    "announced": "import_run and store_derived_run record it",
    "create_benchmark": "import_benchmark and add_paragraphs record it",
    "store_lists": "import_run and store_derived_run record it",
    "add_paragraphs": "_store and _changed record it",
    "expand": "store_phrasings records it",
    "fuse_runs": "store_derived_run records it",
    "import_phrasings": "store_phrasings records it",
    "focus_run": "store_derived_run records it",
    "build_pool": "_store_pool records it",
    "compute_proxy": "store_proxy records it",
    "add_proxy": "store_proxy records it",
    "compute_requested": "store_proxy records it",
    "import_embeddings": "store_proxy records it",
    "new_proxy": "store_proxy records it",
    "find_relevant_pairs": "store_proxy records it",
    "judge_by_machine": "store_proxy records it",
    "import_proxy": "store_proxy records it",
    "plan_judgments": "it changes nothing",
    "import_gold": "add_gold records it",
    "import_control_orders": "add_gold_orders records it",
    "add_gold_order": "add_gold_orders records it",
    "withdraw_judgments": "request_withdrawal and carry_out_withdrawal record it",
    "admit_annotator": "add_members and admit_member record it",
    "pause_member": "_pause_by_lead records it",
    "pause_withdrawn_member": "_pause_by_lead records it",
    "grant_role": "set_role records it",
    "accept_invitation": "_use records it",
    "lock_people": "it changes nothing",
    "make_draft": "a draft is computed from labels and replaced",
    "update_requested_draft": "for the same reason as make_draft",
    "restore_backup": "_record_restore records it",
    "run_housekeeping": "an Operation records it, and only unneeded rows and files are removed",
    "begin_draft": "enqueue_job records it",
    "begin_upload": "prepare_uploads records each file that is stored with its video",
    "receive_part": "for the same reason as begin_upload",
    "queue_upload": "enqueue_job records it",
    "add_folder": "for the same reason as begin_upload",
    "set_addresses": "store_proxy records it",
    "preparing_job": "enqueue_job records it",
    "open_faithfulness": "open_study records it",
    "open_ordering_study": "open_study records it",
    "open_scene_study": "open_study records it",
    "begin_scoring": "enqueue_job records it",
    "score_all_again": "enqueue_job records the scoring, which replaces the deleted scores",
    "plan_benchmark": "it changes nothing",
    "begin_import": "enqueue_job records it",
    "change_reading": "enqueue_job records it",
    "plan_import": "the benchmark does not change before the import",
    "accept_import": "enqueue_job records it",
    "write_import": "import_benchmark records it",
    "import_run": "_import records each run",
    "store_run": "_import records an imported run, and upload_run records an upload",
    "upload_run": "_take_slot records it",
    "ask_for_confirmation": "it gives no right; confirm_uploader records that a lead agrees",
    "begin_scoring_all": "enqueue_job records it",
    "evaluate_runs": "scores are computed from labels",
    "compute_agreement": "figures are computed from labels",
    "compute_figures": "figures are computed from labels",
}


def functions_of(package: ModuleType) -> Iterator[Callable[..., Any]]:
    """Yield the public functions of a package that take an actor."""
    for module in {
        inspect.getmodule(member) for member in vars(package).values() if callable(member)
    }:
        if module is None or not module.__name__.startswith(package.__name__):
            continue
        for name, member in vars(module).items():
            is_own = inspect.isfunction(member) and member.__module__ == module.__name__
            if is_own and not name.startswith("_") and "by" in inspect.signature(member).parameters:
                yield member


def calls_of(function: Callable[..., Any]) -> set[str]:
    tree = ast.parse(inspect.getsource(inspect.unwrap(function)))
    return {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


def test_every_service_with_an_actor_records_its_act() -> None:
    """A new service must call `record`, or be listed in NOT_RECORDED with the reason."""
    found = {
        function for name in SERVICES for function in functions_of(importlib.import_module(name))
    }
    silent = {function.__name__ for function in found if "record" not in calls_of(function)}
    assert silent == set(NOT_RECORDED)
    assert len(found) - len(silent) >= 35


# --- Origin -----------------------------------------------------------------------------------


def test_an_act_has_its_origin(campaign: Campaign) -> None:
    boss = admin()
    anna = factories.make_user("anna")
    client = Client(headers={"X-Request-ID": "request-1"}, REMOTE_ADDR="192.0.2.7")
    client.force_login(boss)
    client.post(f"/people/{anna.pk}/roles/grant/", {"role": "lead", "scope": "*"})
    names = ("by", "object_type", "object_id", "after", "interface", "request_id")
    assert facts(*names, "address__address", act="role_granted")[-1] == (
        boss.pk,
        "accounts.user",
        str(anna.pk),
        {"role": "lead", "scope": ""},
        "page",
        "request-1",
        "192.0.2.7",
    )
    token = create_token(by=boss, name="script", rights=[TokenRight.READ], days=1).key
    api = APIClient(REMOTE_ADDR="2001:db8::1", HTTP_AUTHORIZATION=f"Token {token}")
    (held,) = factories.claim(campaign, factories.make_annotator("otto"), 1)
    factories.submit(held, 1)
    publish_label_set(benchmark=campaign.benchmark, by=OPERATOR, allow_pending=True)
    assert api.get("/api/v1/benchmarks/tiny/label-sets/1/csv/").status_code == 200
    assert facts("by", "interface", "address__address", "after", act="labels_exported") == [
        (boss.pk, "api", "2001:db8::1", {"format": "csv", "version": "1.0.0"})
    ]
    call_command("erase_person", "anna")
    assert facts("by", "interface", "address__address", act="person_erased") == [
        (None, "command", None)
    ]


def test_a_job_links_its_act_to_the_request_that_started_it(
    campaign: Campaign, tmp_path: Path
) -> None:
    lead = make_member("lea", Role.LEAD, of="tiny")
    client = Client(REMOTE_ADDR="192.0.2.7")
    client.force_login(lead)
    with io.BytesIO(b"c0 Q0 v0 1 1.0 t\n") as file:
        file.name = "b.run"
        form = {"file": file, "system": "B", "format": "auto"}
        client.post("/benchmarks/tiny/runs/new/", form)
    job = Job.objects.get(kind="import_run")
    assert facts("by", "object_id", "address__address", act="job_started") == [
        (lead.pk, str(job.pk), "192.0.2.7")
    ]
    run_job(job.pk)
    run = Run.objects.get(name="B")
    assert facts(
        "by", "object_type", "object_id", "interface", "request_id", after__sha256=run.sha256
    ) == [(lead.pk, "pooling.run", str(run.pk), "job", str(job.pk))]


# --- Acts of Django and allauth ---------------------------------------------------------------


def test_sign_ins_and_passwords_are_recorded() -> None:
    anna = factories.make_user("anna")
    client = Client()
    for login, password in (("anna", "a wrong password"), ("nobody", "typed by mistake")):
        client.post(LOGIN, {"login": login, "password": password})
    client.post(LOGIN, {"login": "anna", "password": factories.PASSWORD})
    new = "another long password"
    client.post(
        "/accounts/password/change/",
        {"oldpassword": factories.PASSWORD, "password1": new, "password2": new},
    )
    client.post("/accounts/logout/")
    assert facts("act", "by", "object_id", "before", "after")[1:] == [
        ("sign_in_failed", None, str(anna.pk), None, None),
        # The text that was typed is not stored. It may be a password.
        ("sign_in_failed", None, "", None, None),
        ("signed_in", anna.pk, str(anna.pk), None, None),
        ("password_changed", anna.pk, str(anna.pk), None, None),
        ("signed_out", anna.pk, str(anna.pk), None, None),
    ]


def test_changes_in_the_django_admin_are_recorded_without_values(campaign: Campaign) -> None:
    boss = admin()
    client = Client()
    client.force_login(boss)
    system = System.objects.create(key="clip", name="by Otto")
    page = f"/admin/pooling/system/{system.pk}/change/"
    content = {"key": "clip", "name": "by Anna"}
    assert client.post(page, content).status_code == 302
    assert facts("by", "object_type", "object_id", "after", act="admin_changed") == [
        (
            boss.pk,
            "pooling.system",
            str(system.pk),
            {"action": "Change", "fields": ["Name"]},
        )
    ]


def test_a_password_set_by_a_command_is_recorded() -> None:
    anna = factories.make_user("anna")
    anna.set_password("another long password")
    anna.save()
    assert facts("act", "by", "object_id", act="password_changed") == [
        ("password_changed", None, str(anna.pk))
    ]


def test_an_act_stores_the_changed_values_before_and_after(campaign: Campaign) -> None:
    lead = make_member("lea", Role.LEAD, of="tiny")
    change_policy(campaign=campaign, changes={"ceiling": "0.5"}, by=lead)
    assert facts("by", "object_id", "before", "after", act="campaign_changed") == [
        (lead.pk, str(campaign.pk), {"ceiling": 1.0}, {"ceiling": 0.5})
    ]
    for _ in range(2):
        withdraw_role(person=lead, role=Role.LEAD, scope="tiny", by=admin())
        grant_role(person=lead, role=Role.LEAD, scope="tiny", by=admin())
        grant_role(person=lead, role=Role.LEAD, scope="tiny", by=admin())
    held = {"role": "lead", "scope": "tiny"}
    acts = facts("act", "before", "after", object_id=str(lead.pk), object_type="accounts.user")
    assert [act for act in acts if held in act] == [
        ("role_granted", None, held),
        *[("role_withdrawn", held, None), ("role_granted", None, held)] * 2,
    ]


# --- Erasing ----------------------------------------------------------------------------------


def test_erasing_a_person_leaves_only_the_primary_key_of_the_account() -> None:
    boss, anna = admin(), factories.make_user("canaria", Role.ANNOTATOR)
    User.objects.filter(pk=anna.pk).update(email="canaria@example.org", first_name="Canaria")
    invited(note="for canaria")
    client = Client(REMOTE_ADDR="192.0.2.99")
    client.post(LOGIN, {"login": "canaria", "password": "canaria"})
    client.post(LOGIN, {"login": "canaria", "password": factories.PASSWORD})
    other = Client(REMOTE_ADDR="192.0.2.1")
    other.post(LOGIN, {"login": "ada", "password": factories.PASSWORD})
    before = facts("pk", "act", "by", "object_id", "before", "after")
    assert AuditAddress.objects.count() == 3
    erase_person(person=anna, by=boss)
    assert list(AuditAddress.objects.values_list("address", flat=True)) == ["192.0.2.1"]
    # No entry has changed, and none contains a name.
    after = facts("pk", "act", "by", "object_id", "before", "after")
    assert after[:-1] == before
    assert "canaria" not in str(list(AuditEntry.objects.values())).lower()


def test_addresses_are_deleted_after_their_time(settings: Any) -> None:
    Client().post(LOGIN, {"login": "x", "password": "y"})
    assert delete_old_addresses() == 0
    settings.AUDIT_ADDRESS_DAYS = -1
    assert delete_old_addresses() == 1
    assert facts("act", "address__address") == [("sign_in_failed", None)]


# --- The page, the CSV and the API ------------------------------------------------------------


@pytest.fixture
def reader() -> Client:
    client = Client()
    client.force_login(admin())
    return client


def shown(client: Client, query: str) -> list[tuple[str, str, str]]:
    rows = client.get(f"{LOG}?{query}").context["rows"]
    return [(row.actor, row.entry.act, row.object) for row in rows]


def test_the_page_filters_by_person_act_object_and_day(campaign: Campaign, reader: Client) -> None:
    lea = make_member("lea", Role.LEAD, of="tiny")
    change_policy(campaign=campaign, changes={"name": "=Second"}, by=lea)
    change = ("lea", "campaign_changed", f"campaign {campaign.pk}")
    opened = ("operator", "campaign_opened", f"campaign {campaign.pk}")
    created, granted = [
        ("operator", act, f"user {lea.pk}") for act in ("person_created", "role_granted")
    ]
    assert shown(reader, "person=LEA") == [change, granted, created]
    assert shown(reader, "person=lea&sort=time") == [created, granted, change]
    assert shown(reader, "person=nobody") == []
    assert shown(reader, "act=campaign_changed") == [change]
    assert shown(reader, f"object=campaign+{campaign.pk}") == [change, opened]
    assert shown(reader, f"object=annotation.campaign+{campaign.pk}&act=campaign_opened") == [
        opened
    ]
    assert shown(reader, "object=campaign&until=2020-01-01") == []
    assert shown(reader, "object=campaign&since=2020-01-01") == [change, opened]
    page = reader.get(f"{LOG}?object=campaign").content.decode()
    assert "name: =Second" in page
    for query in ("act=x", "since=x", "until=9999-99-99", "object=1", "person=" + "x" * 151):
        assert (query, reader.get(f"{LOG}?{query}").status_code) == (query, 422)
    assert reader.get(f"{LOG}?until=9999-12-31&since=0001-01-01").status_code == 200


def test_the_filter_lists_the_acts_of_all_apps_when_a_process_starts() -> None:
    folders = ("config", "hearth", "pooling", "annotation", "evaluation")
    for path in (path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        if "\n@register_acts" in path.read_text():
            importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    code = "import django, json; django.setup(); from hearth.audit.acts import registered_acts; "
    printed = subprocess.run(
        [sys.executable, "-c", f"{code}print(json.dumps(registered_acts()))"],
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings"},
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    found = json.loads(printed.stdout)
    assert found == registered_acts()
    assert {"backup_made", "backup_restored", "move_started"} <= set(found)


def test_the_page_shortens_hashes(reader: Client) -> None:
    sha256 = "0123456789abcdef" * 4
    AuditEntry.objects.create(
        act="run_imported", interface="command", after={"name": "<b>", "sha256": sha256}
    )
    page = reader.get("/people/audit/").content.decode()
    short = f'<code class="sha" title="{sha256}">0123456789ab</code>'
    assert f"<bdi>name: &lt;b&gt;; sha256: {short}</bdi>" in page
    assert f'""sha256"": ""{sha256}""' in reader.get("/people/audit/csv/").content.decode()


def test_the_number_of_database_queries_does_not_grow_with_the_rows(
    campaign: Campaign, reader: Client
) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as found:
            assert reader.get(f"{LOG}?object=user").status_code == 200
        return len(found)

    first = count()
    for number in range(20):
        make_member(f"m{number}", Role.LEAD, of="tiny")
    assert count() == first


def test_the_csv_has_every_column_and_is_recorded(campaign: Campaign, reader: Client) -> None:
    lea = make_member("lea", Role.LEAD, of="tiny")
    change_policy(campaign=campaign, changes={"name": "=Second"}, by=lea)
    answer = reader.get(f"{LOG}csv/?act=campaign_changed")
    assert answer["Content-Disposition"] == 'attachment; filename="audit-log.csv"'
    (row,) = csv.DictReader(io.StringIO(answer.content.decode()))
    assert row.pop("time").endswith("+00:00")
    assert json.loads(row.pop("after")) == {"name": "=Second"}
    assert json.loads(row.pop("before")) == {"name": "tiny 1"}
    assert row == {
        "account": str(lea.pk),
        "person": "lea",
        "act": "campaign_changed",
        "object_type": "annotation.campaign",
        "object_id": str(campaign.pk),
        "interface": "command",
        "address": "",
        "request_id": "",
    }
    assert facts("by", act="log_downloaded") == [(admin().pk,)]


def test_the_api_lists_entries(campaign: Campaign) -> None:
    admin()
    api = APIClient()
    api.login(username="ada", password=factories.PASSWORD)
    answer = api.get("/api/v1/audit/?object=campaign").json()
    (entry,) = answer["results"]
    assert (answer["next"], entry["act"], entry["person"], entry["after"]) == (
        None,
        "campaign_opened",
        "operator",
        {"tasks": 3},
    )
    refused = api.get("/api/v1/audit/?act=nothing")
    assert (refused.status_code, refused.json()["reason"][:4]) == (400, "act:")

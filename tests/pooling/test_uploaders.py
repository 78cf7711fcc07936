"""Confirming people without a role before their first upload for scoring."""

# ruff: noqa: F811  (fixtures of another module are arguments here)
from __future__ import annotations

import json
import re
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import IntegrityError, transaction
from django.test import Client

from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.accounts.services import deactivate_person
from hearth.audit.models import AuditEntry
from hearth.shared.errors import Conflict, NotPermitted
from pooling import services
from pooling.models import Benchmark, RunUpload, Uploader
from pooling.selectors.uploaders import unconfirmed_uploaders
from tests.accounts.world import make_member
from tests.factories import make_user
from tests.pooling.test_run_uploads import benchmark, run_file, upload  # noqa: F401

UPLOAD, ASK = "/public/tiny/runs/new/", "/public/tiny/runs/new/ask/"
UPLOADS = "/benchmarks/tiny/runs/uploads/"


@pytest.fixture
def olga(db: None) -> User:
    return make_user("olga")


@pytest.fixture
def lea(benchmark: Benchmark) -> User:
    return make_member("lea", Role.LEAD, of="tiny")


def signed_in(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def send_file(client: Client, path: str = UPLOAD) -> int:
    form = {"file": run_file(), "system": "Mine", "format": "auto"}
    return client.post(path, form).status_code


def test_an_unconfirmed_person_cannot_upload_by_page_api_or_service(
    benchmark: Benchmark, olga: User
) -> None:
    client = signed_in(olga)
    page = client.get(UPLOAD)
    assert (page.status_code, page.templates[0].name) == (200, "pooling/run_unconfirmed.html")
    assert (send_file(client), send_file(client, f"/api/v1{UPLOAD[:-9]}uploads/")) == (403, 403)
    with pytest.raises(NotPermitted, match="not confirmed yet"):
        upload(benchmark, olga)
    assert RunUpload.objects.count() == 0


def test_a_confirmed_address_is_enough_in_all_benchmarks(benchmark: Benchmark, olga: User) -> None:
    address = EmailAddress.objects.create(user=olga, email="olga@example.org")
    assert send_file(signed_in(olga)) == 403
    address.set_verified()
    assert send_file(signed_in(olga)) == 302


def test_people_with_a_role_need_no_confirmation(benchmark: Benchmark) -> None:
    rita = make_member("rita", Role.RESEARCHER, of="other")
    assert upload(benchmark, rita).state == "waiting"


def test_a_lead_confirms_a_person_who_asks_and_can_remove_the_confirmation(
    benchmark: Benchmark, olga: User, lea: User
) -> None:
    client, leads = signed_in(olga), signed_in(lea)
    assert [client.post(ASK).status_code for _ in range(2)] == [302, 302]
    uploader = Uploader.objects.get()
    assert leads.get("/").context["todos"][0].total == 1
    assert [one.person for one in leads.get(UPLOADS).context["uploaders"]] == [olga]
    address = f"{UPLOADS}people/{uploader.pk}/"
    assert leads.post(address, {"action": "confirm"}).status_code == 302
    assert leads.post(address, {"action": "confirm"}).status_code == 409
    assert send_file(client) == 302
    assert client.post(ASK).status_code == 409
    assert leads.get("/").context["todos"] == []
    assert leads.post(address, {"action": "remove"}).status_code == 302
    assert send_file(client) == 403
    acts = AuditEntry.objects.filter(by=lea, act__startswith="uploader").order_by("pk")
    assert list(acts.values_list("act", "object_id", "before", "after")) == [
        ("uploader_confirmed", str(olga.pk), None, {"benchmark": "tiny"}),
        ("uploader_removed", str(olga.pk), {"benchmark": "tiny"}, None),
    ]


def test_leads_see_active_people_unconfirmed_ones_first(
    benchmark: Benchmark, olga: User, lea: User
) -> None:
    people = [olga, *(make_user(name) for name in ("oda", "oscar", "otto"))]
    asked = [services.ask_for_confirmation(benchmark=benchmark, by=person) for person in people]
    services.confirm_uploader(uploader=asked[0], by=lea)
    deactivate_person(person=people[3], by=OPERATOR)
    shown = signed_in(lea).get(UPLOADS).context["uploaders"]
    assert [uploader.person.username for uploader in shown] == ["oda", "oscar", "olga"]
    assert unconfirmed_uploaders() == {benchmark.pk: 2}


def test_only_leads_of_the_benchmark_confirm(benchmark: Benchmark, olga: User, lea: User) -> None:
    uploader = services.ask_for_confirmation(benchmark=benchmark, by=olga)
    others = [olga, make_member("rita", Role.RESEARCHER, of="tiny")]
    others.append(make_member("leo", Role.LEAD, of="other"))
    for other in others:
        for service in (services.confirm_uploader, services.remove_uploader):
            with pytest.raises(NotPermitted):
                service(uploader=uploader, by=other)
    services.archive_benchmark(benchmark=benchmark, by=lea)
    uploader.refresh_from_db()
    with pytest.raises(Conflict, match="archived"):
        services.confirm_uploader(uploader=uploader, by=lea)


def test_leads_confirm_and_remove_people_by_api(
    benchmark: Benchmark, olga: User, lea: User
) -> None:
    uploader = services.ask_for_confirmation(benchmark=benchmark, by=olga)
    leads, olgas, place = signed_in(lea), signed_in(olga), "/api/v1/benchmarks/tiny/uploaders/"
    (row,) = leads.get(place).json()["results"]
    assert (row["id"], row["username"], row["confirmed_at"]) == (uploader.pk, "olga", None)
    confirm = f"{place}{uploader.pk}/confirm/"
    assert [client.post(confirm).status_code for client in (olgas, leads, leads)] == [403, 200, 409]
    assert send_file(olgas) == 302
    assert leads.get(place).json()["results"][0]["confirmed_at"] is not None
    removals = [client.delete(f"{place}{uploader.pk}/") for client in (olgas, leads, leads)]
    assert [removal.status_code for removal in removals] == [403, 204, 404]
    assert send_file(olgas) == 403
    entries = AuditEntry.objects.filter(by=lea, act__startswith="uploader").order_by("pk")
    assert list(entries.values_list("act", "interface")) == [
        ("uploader_confirmed", "api"),
        ("uploader_removed", "api"),
    ]


def test_the_command_confirms_all_named_people_or_none(
    benchmark: Benchmark, olga: User, capsys: Any
) -> None:
    oda = make_user("oda")
    for person in (olga, oda):
        services.ask_for_confirmation(benchmark=benchmark, by=person)
    with pytest.raises(CommandError, match="No active person 'nemo' asked"):
        call_command("confirm_uploaders", "tiny", "oda", "nemo")
    call_command("confirm_uploaders", "tiny")
    assert capsys.readouterr().out == "olga: waiting\noda: waiting\n"
    call_command("confirm_uploaders", "tiny", "oda", " OLGA")
    call_command("confirm_uploaders", "tiny", "olga", "--remove", "--json")
    output = capsys.readouterr().out.splitlines()
    assert sorted(output[:2]) == ["oda: confirmed", "olga: confirmed"]
    people = [{"username": "oda", "email": oda.email, "is_confirmed": True}]
    assert json.loads(output[2]) == {"people": people}
    entries = AuditEntry.objects.filter(act__startswith="uploader").order_by("pk")
    assert list(entries.values_list("act", "object_id", "by")) == [
        ("uploader_confirmed", str(oda.pk), None),
        ("uploader_confirmed", str(olga.pk), None),
        ("uploader_removed", str(olga.pk), None),
    ]


@pytest.mark.postgresql
def test_the_database_stores_a_person_once_for_each_benchmark(
    benchmark: Benchmark, olga: User
) -> None:
    Uploader.objects.create(benchmark=benchmark, person=olga)
    with pytest.raises(IntegrityError), transaction.atomic():
        Uploader.objects.create(benchmark=benchmark, person=olga)


@pytest.mark.parametrize("sends_email", [True, False])
def test_the_pages_explain_what_the_site_can_confirm(
    benchmark: Benchmark, olga: User, lea: User, settings: Any, sends_email: bool
) -> None:
    settings.CAN_SEND_EMAIL = sends_email
    page = signed_in(olga).get(UPLOAD).content.decode()
    assert ("Confirm an e-mail address" in page) == sends_email
    public = " ".join(signed_in(lea).get("/benchmarks/tiny/public/").content.decode().split())
    assert ("This site sends no e-mail, so it cannot confirm addresses" in public) != sends_email


def test_a_registered_person_confirms_the_address_with_a_mailed_link(
    benchmark: Benchmark, settings: Any
) -> None:
    settings.OPEN_REGISTRATION = settings.CAN_SEND_EMAIL = True
    client, password = Client(), "a long password of olga"
    details = {"username": "olga", "password1": password, "password2": password}
    assert client.post("/register/", details).status_code == 422
    assert client.post("/register/", details | {"email": "o@example.org"}).status_code == 302
    (sent,) = mail.outbox
    assert sent.to == ["o@example.org"]
    link = re.search(r"http://testserver(/accounts/confirm-email/\S+)", sent.body)
    assert link is not None
    assert send_file(client) == 403
    page = client.get(link[1])
    assert "belongs to the account olga" in page.content.decode()
    assert client.post(link[1]).status_code == 302
    assert send_file(client) == 302
    assert "is not valid" in client.get("/accounts/confirm-email/x:y/").content.decode()


def test_two_accounts_cannot_confirm_one_address(benchmark: Benchmark, settings: Any) -> None:
    settings.CAN_SEND_EMAIL = True
    links = []
    for name in ("olga", "oskar"):
        client = signed_in(make_user(name))
        client.post("/accounts/email/", {"email": "o@example.org", "action_add": ""})
        found = re.search(r"http://testserver(/accounts/confirm-email/\S+)", mail.outbox[-1].body)
        links.append((client, found[1]))  # type: ignore[index]
    for client, link in links:
        client.post(link)
    assert [send_file(client) for client, _ in links] == [302, 403]
    assert "already used for this or another account" in client.get(link).content.decode()


@pytest.mark.parametrize("sends_email", [True, False])
def test_no_page_claims_that_an_email_was_sent_if_none_was(
    olga: User, settings: Any, sends_email: bool
) -> None:
    settings.CAN_SEND_EMAIL = sends_email
    client = signed_in(olga)
    form = {"email": "o@example.org", "action_add": ""}
    page = client.post("/accounts/email/", form, follow=True).content.decode()
    assert ("Open the link that was sent to o@example.org." in page) == sends_email
    assert ("Send a link" in page) == sends_email


def test_a_second_link_within_minutes_is_refused_with_a_message(olga: User, settings: Any) -> None:
    settings.CAN_SEND_EMAIL = True
    EmailAddress.objects.create(user=olga, email="o@example.org")
    form = {"email": "o@example.org", "action_send": ""}
    pages = [signed_in(olga).post("/accounts/email/", form, follow=True) for _ in range(2)]
    texts = [page.content.decode() for page in pages]
    assert ["was sent to o@example.org" in text for text in texts] == [True, False]
    assert "A link was sent in the last minutes." in texts[1]
    assert len(mail.outbox) == 1


def test_a_mail_server_that_does_not_respond_is_explained(olga: User, settings: Any) -> None:
    settings.CAN_SEND_EMAIL = True
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    form = {"email": "o@example.org", "action_add": ""}
    page = signed_in(olga).post("/accounts/email/", form, follow=True)
    assert page.status_code == 200
    assert "mail server of this site does not answer" in page.content.decode()

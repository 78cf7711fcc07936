"""Inviting several people: the list, its plan, the links and the messages."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client

from hearth.accounts.invitation_lists import ListedPerson, read_people
from hearth.accounts.invitation_plans import plan_invitations
from hearth.accounts.models import Invitation, User
from hearth.accounts.roles import Role
from hearth.accounts.services.bulk_invitations import invite_people
from hearth.audit.models import AuditEntry
from hearth.shared.errors import Conflict, InvalidInput
from tests.accounts.world import admin, make_member

pytestmark = pytest.mark.django_db

LIST = """email;name;role
anna@example.org;Anna Ito;
bob@example.org;;researcher
"""


@pytest.mark.parametrize(
    ("text", "people"),
    [
        (
            LIST,
            [
                ListedPerson(2, "anna@example.org", "Anna Ito"),
                ListedPerson(3, "bob@example.org", "", "researcher"),
            ],
        ),
        (
            "\ufeffAnna Ito <anna@example.org>\n\nbob@example.org,Bob,Lead,tiny",
            [
                ListedPerson(1, "anna@example.org", "Anna Ito"),
                ListedPerson(3, "bob@example.org", "Bob", "lead", "tiny"),
            ],
        ),
        (
            "E-mail\tBenchmark\na@example.org\ttiny",
            [ListedPerson(2, "a@example.org", scope="tiny")],
        ),
    ],
)
def test_lists_are_read(text: str, people: list[ListedPerson]) -> None:
    assert read_people(text) == people


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (" \n", "The list contains no person."),
        ("email,age\na@b.org,3", "line 1: The column 'age' is unknown or appears twice. "
         "The columns are email, name, role, scope."),
        ("\n".join(f"p{i}@example.org" for i in range(201)), "The list has 201 people; 200 are "
         "allowed."),
    ],
)  # fmt: skip
def test_wrong_lists_are_refused(text: str, error: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_people(text)
    assert str(refused.value) == error


def plan(text: str, by: User) -> Any:
    return plan_invitations(
        read_people(text), by=by, role=Role.ANNOTATOR, scope="tiny", scopes={"tiny", ""}
    )


def test_a_line_without_an_email_is_wrong() -> None:
    lead = make_member("lena", Role.LEAD, of="tiny")
    found = plan("name,email\nAnna\nIda,ida@example.org", lead)
    assert [(line.line, line.state.value, line.reason) for line in found.lines] == [
        (2, "wrong", "'' is not an e-mail address."),
        (3, "new", ""),
    ]


def test_plan_separates_new_known_and_wrong_lines() -> None:
    known = make_member("kai", Role.ANNOTATOR, of="tiny")
    elsewhere = make_member("eli", Role.ANNOTATOR, of="other")
    User.objects.filter(pk=known.pk).update(email="Kai@example.org")
    User.objects.filter(pk=elsewhere.pk).update(email="eli@example.org")
    lead = make_member("lena", Role.LEAD, of="tiny")
    invite_people(plan=plan("ida@example.org", lead), by=lead, link_of=str)
    found = plan(
        "kai@example.org\neli@example.org\nida@example.org\nnot an address\n"
        "zoe@example.org,,lead\numa@example.org,,,other\nELI@example.org\nyan@example.org,,boss",
        lead,
    )
    assert [(line.line, line.state.value, line.reason) for line in found.lines] == [
        (1, "known", "Has an account with this role."),
        # The lead does not see this account, so the list does not reveal it.
        (2, "new", ""),
        (3, "known", "Has an open invitation to this role."),
        (4, "wrong", "'not an address' is not an e-mail address."),
        (5, "wrong", "You may not invite people to the role lead here."),
        (6, "wrong", "There is no benchmark 'other' to which you may invite people."),
        (7, "wrong", "The same person and role are in line 2."),
        (8, "wrong", "The role must be one of annotator, lead, researcher, admin, not 'boss'."),
    ]
    with pytest.raises(InvalidInput, match="line 4: 'not an address'"):
        invite_people(plan=found, by=lead, link_of=str)
    with pytest.raises(Conflict):
        invite_people(plan=plan("kai@example.org", lead), by=lead, link_of=str)
    assert Invitation.objects.count() == 1


def test_links_are_mailed_if_mail_is_configured(settings: Any) -> None:
    ada = admin()
    invited = invite_people(plan=plan(LIST, ada), by=ada, link_of="https://x/{}".format)
    assert [person.is_mailed for person in invited] == [False, False]
    settings.CAN_SEND_EMAIL = True
    (zoe,) = invite_people(
        plan=plan("Zoe <z@example.org>", ada), by=ada, link_of="https://x/{}".format
    )
    (message,) = mail.outbox
    assert (zoe.is_mailed, message.to) == (True, ["z@example.org"])
    assert f"\n{zoe.link}\n" in message.body
    assert message.body.startswith("Hello Zoe,\n")
    acts = AuditEntry.objects.filter(act="invited").order_by("pk")
    assert [entry.after["role"] for entry in acts] == ["annotator", "researcher", "annotator"]


def test_page_api_and_command_invite_the_same_people(client: Client, tmp_path: Path) -> None:
    client.force_login(admin())
    page, form = "/people/invitations/list/", {"role": "annotator", "scope": "*", "days": "14"}
    file = SimpleUploadedFile("people.csv", LIST.encode("utf-8-sig"))
    text = client.post(page, {**form, "file": file}).content.decode()
    sent = dict(re.findall(r'<textarea name="(\w+)" hidden>(.*?)</textarea>', text, re.DOTALL))
    assert sent == {"people": LIST, **form, "scope": sent["scope"]}
    made = []
    client.post(page, {**sent, "once": "a", "step": "invite"})
    made.append(invitations())
    path = tmp_path / "people.csv"
    path.write_text(LIST)
    out = StringIO()
    call_command("invite_people", path, by="ada", site="https://x/", json=True, stdout=out)
    made.append(invitations())
    rows = [asdict(person) for person in read_people(LIST)]
    people = [{name: row[name] for name in ("email", "name", "role", "scope")} for row in rows]
    body = {"people": people, "days": 14}
    answer = client.post("/api/v1/invitations/", body, content_type="application/json").json()
    made.append(invitations())
    assert made[0] == made[1] == made[2]
    assert [note for note, *_ in made[0]] == ["Anna Ito <anna@example.org>", "bob@example.org"]
    printed = json.loads(out.getvalue())["people"]
    assert [person["link"].rpartition("/invitations/")[0] for person in printed] == [
        "https://x"
    ] * 2
    assert [{**person, "link": ""} for person in answer] == [
        {**person, "link": ""} for person in printed
    ]


def invitations() -> list[tuple[Any, ...]]:
    """Return the invitations with their entries of the audit log, and delete the invitations."""
    rows = list(Invitation.objects.order_by("pk").values_list("note", "role", "scope", "made_by"))
    log = AuditEntry.objects.filter(act="invited").order_by("-pk")[: len(rows)]
    entries = [(entry.by_id, entry.after) for entry in log][::-1]
    Invitation.objects.all().delete()
    return [(*row, *entry) for row, entry in zip(rows, entries, strict=True)]


def test_wrong_files_and_lists_invite_no_one(client: Client, tmp_path: Path) -> None:
    client.force_login(admin())
    page, form = "/people/invitations/list/", {"role": "annotator", "scope": "*", "days": "14"}
    for people, content in (
        ("", b""),
        ("a@b.org", b"c@d.org"),
        ("", b"\xff"),
        ("", b"x" * 200_001),
    ):
        file = {"file": SimpleUploadedFile("people.csv", content)} if content else {}
        assert client.post(page, {**form, "people": people, **file}).status_code == 422
    body = {"people": [{"email": "a@example.org"}, {"email": "no address"}]}
    answer = client.post("/api/v1/invitations/", body, content_type="application/json")
    assert (answer.status_code, answer.json()["line"]) == (400, 2)
    client.force_login(make_member("rosa", Role.RESEARCHER, of="tiny"))
    answer = client.post("/api/v1/invitations/", body, content_type="application/json")
    assert answer.status_code == 403
    assert Invitation.objects.count() == 0


def test_page_shows_the_plan_and_the_links_once(client: Client) -> None:
    client.force_login(admin())
    path = "/people/invitations/list/"
    form = {"people": LIST, "role": "annotator", "scope": "*", "days": "14", "once": "a"}
    page = client.post(path, form).content.decode()
    assert "2 people in this list are new." in page
    assert "in all benchmarks" in page
    assert Invitation.objects.count() == 0
    page = client.post(path, {**form, "step": "invite"}).content.decode()
    assert page.count("http://testserver/invitations/") == 2
    assert list(Invitation.objects.order_by("pk").values_list("note", "role")) == [
        ("Anna Ito <anna@example.org>", "annotator"),
        ("bob@example.org", "researcher"),
    ]
    again = client.post(path, {**form, "step": "invite"})
    # All people are known now, and the same form sent again shows no link.
    assert again.status_code == 302
    assert Invitation.objects.count() == 2

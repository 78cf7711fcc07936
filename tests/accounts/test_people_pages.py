"""The pages about people."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.models import Annotator, Campaign
from annotation.services import annotator_for
from hearth.accounts.models import Invitation, User
from hearth.accounts.roles import Role
from hearth.accounts.services import deactivate_person, erase_person, grant_role, invite
from tests import factories
from tests.accounts.world import JOINING, admin, consent_text, invited, make_member

pytestmark = pytest.mark.django_db


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def as_admin() -> Client:
    return signed_in(admin())


def names(client: Client, query: str = "") -> list[str]:
    """Return the user names on the page, in order."""
    page = client.get(f"/people/{query}")
    assert page.status_code == 200
    return [person.username for person, _ in page.context["rows"]]


def row_of(client: Client, username: str) -> str:
    """Return the text of a person's row."""
    page = client.get("/people/").content.decode()
    (row,) = [row for row in page.split("<tr>") if f">{username}</bdi></a>" in row]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", row)).split())


@pytest.fixture
def anna(campaign: Campaign) -> User:
    """An annotator of `tiny` only, who has judged two pairs there."""
    user = make_member("anna", Role.ANNOTATOR, of="tiny")
    user.first_name = "Anna Ast"
    user.save()
    for held in factories.claim(campaign, annotator_for(user), 2):
        factories.submit(held, 1)
    return user


# --- The table ----------------------------------------------------------------------------------


def test_a_row_shows_a_person(anna: User) -> None:
    pseudonym = Annotator.objects.get(user=anna).pseudonym
    grant_role(person=anna, role=Role.LEAD, scope="other", by=admin())
    assert row_of(as_admin(), "anna") == (
        f"anna Anna Ast {pseudonym} Lead of other Annotator of tiny Active never 2"
    )
    assert "Admin in all benchmarks Active" in row_of(as_admin(), "ada")


def test_a_lead_of_one_benchmark_sees_nothing_of_others(campaign: Campaign, anna: User) -> None:
    grant_role(person=anna, role=Role.RESEARCHER, scope="secret-benchmark", by=admin())
    make_member("otto", Role.ANNOTATOR, of="secret-benchmark")
    client = signed_in(make_member("tim", Role.LEAD, of="tiny"))
    assert names(client) == ["anna"]
    for address in ("/people/", f"/people/{anna.pk}/", "/people/invitations/new/"):
        assert "secret" not in client.get(address).content.decode()
    lou = signed_in(make_member("lou", Role.LEAD, of="secret-benchmark"))
    grant_role(person=anna, role=Role.ANNOTATOR, scope="secret-benchmark", by=admin())
    # Judgments in other benchmarks are not counted.
    assert row_of(lou, "anna").endswith("never 0")
    page = lou.get(f"/people/{anna.pk}/").content.decode()
    assert campaign.name not in page


def test_the_table_is_ordered_and_searched(anna: User) -> None:
    ben = factories.make_annotator("Ben").user
    client = as_admin()
    assert ben is not None
    assert names(client) == ["ada", "anna", "Ben"]
    assert names(client, "?sort=-user") == ["Ben", "anna", "ada"]
    assert names(client, "?sort=-judged") == ["anna", "ada", "Ben"]
    assert names(client, "?sort=judged") == ["ada", "Ben", "anna"]
    assert names(client, "?sort=-name")[0] == "anna"
    # People who never signed in are last in both orders.
    assert names(client, "?sort=login")[0] == names(client, "?sort=-login")[0] == "ada"
    pseudonyms = dict(Annotator.objects.values_list("pseudonym", "user__username"))
    assert names(client, "?sort=pseudonym")[:2] == [
        pseudonyms[pseudonym] for pseudonym in sorted(pseudonyms)
    ]
    assert names(client, "?q=ast+ann") == ["anna"]
    assert names(client, "?q=BEN") == ["Ben"]
    (theirs,) = [pseudonym for pseudonym, name in pseudonyms.items() if name == "Ben"]
    assert names(client, f"?q={theirs.lower()}") == ["Ben"]
    assert names(client, "?q=nobody") == []
    assert names(client, "?q=" + "x" * 5000) == []


@pytest.mark.parametrize(
    "query",
    [
        "?sort=password",
        "?sort=email",
        "?sort=annotator__user__password",
        "?state=staff",
        "?sort=--user",
    ],
)
def test_unknown_orders_and_states_are_refused(query: str) -> None:
    assert as_admin().get(f"/people/{query}").status_code == 400


def test_the_search_uses_only_visible_columns(anna: User) -> None:
    User.objects.filter(pk=anna.pk).update(email="anna@secret.example")
    client = signed_in(make_member("tim", Role.LEAD, of="tiny"))
    for word in ("secret", "pbkdf2", "md5", "tiny"):
        assert names(client, f"?q={word}") == []
    assert "secret.example" not in client.get(f"/people/{anna.pk}/").content.decode()
    assert "secret.example" in as_admin().get(f"/people/{anna.pk}/").content.decode()


def test_the_table_by_state(anna: User) -> None:
    ben, cara = (factories.make_user(name) for name in ("ben", "cara"))
    deactivate_person(person=ben, by=admin())
    erased = erase_person(person=cara, by=admin()).username
    client = as_admin()
    assert names(client, "?state=active") == ["ada", "anna"]
    assert names(client, "?state=deactivated") == ["ben"]
    assert names(client, "?state=erased") == [erased]
    filters = client.get("/people/").context["filters"]
    assert [(choice.value, choice.label, choice.count) for choice in filters] == [
        ("", "All", 4),
        ("active", "Active", 2),
        ("deactivated", "Deactivated", 1),
        ("erased", "Erased", 1),
    ]


def test_database_queries_do_not_grow_with_the_people(anna: User) -> None:
    client = as_admin()

    def count() -> dict[str, int]:
        counts = {}
        for address in ("/people/", f"/people/{anna.pk}/", "/people/invitations/"):
            with CaptureQueriesContext(connection) as queries:
                assert client.get(address).status_code == 200
            counts[address.replace(str(anna.pk), "N")] = len(queries)
        return counts

    invited()
    before = count()
    for number in range(3):
        more = make_member(f"more{number}", Role.ANNOTATOR, Role.LEAD, of="tiny")
        annotator_for(more)
        invite(role=Role.ANNOTATOR, scope="tiny", by=more)
    assert before == {"/people/": 7, "/people/N/": 11, "/people/invitations/": 4}
    assert count() == before


# --- One person ---------------------------------------------------------------------------------


def post(client: Client, address: str, **content: str) -> Any:
    return client.post(address, content)


def test_roles_are_granted_and_withdrawn_on_the_page(anna: User) -> None:
    client, page = as_admin(), f"/people/{anna.pk}/"
    assert post(client, f"{page}roles/grant/", role="lead", scope="tiny")["Location"] == page
    assert post(client, f"{page}roles/grant/", role="researcher", scope="*")["Location"] == page
    assert list(anna.grants.values_list("role", "scope")) == [
        ("annotator", "tiny"),
        ("lead", "tiny"),
    ]
    assert [group.name for group in anna.groups.all()] == ["researcher"]
    assert post(client, f"{page}roles/withdraw/", role="lead", scope="tiny")["Location"] == page
    assert post(client, f"{page}roles/withdraw/", role="researcher", scope="*").status_code == 302
    assert list(anna.grants.values_list("role", "scope")) == [("annotator", "tiny")]
    assert anna.groups.count() == 0


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ({"role": "admin", "scope": "tiny"}, "scope"),
        ({"role": "lead", "scope": "nothing"}, "scope"),
        ({"role": "king", "scope": "*"}, "role"),
        ({"scope": "*"}, "role"),
        ({"role": "lead", "scope": ""}, "scope"),
    ],
)
def test_unknown_roles_are_refused(anna: User, content: dict[str, str], field: str) -> None:
    answer = as_admin().post(f"/people/{anna.pk}/roles/grant/", content)
    assert answer.status_code == 422
    assert list(answer.context["form"].errors) == [field]
    assert anna.grants.count() == 1


def test_a_lead_manages_only_annotators_of_their_benchmark(campaign: Campaign, anna: User) -> None:
    client, page = signed_in(make_member("tim", Role.LEAD, of="tiny")), f"/people/{anna.pk}/"
    for content in (
        {"role": "lead", "scope": "tiny"},
        {"role": "annotator", "scope": "*"},
        {"role": "annotator", "scope": "other"},
    ):
        assert client.post(f"{page}roles/grant/", content).status_code == 422
        assert client.post(f"{page}roles/withdraw/", content).status_code == 400
    assert list(anna.grants.values_list("role", "scope")) == [("annotator", "tiny")]
    # Once Anna has no role in the benchmark, the lead can no longer see her page.
    gone = post(client, f"{page}roles/withdraw/", role="annotator", scope="tiny")
    assert gone["Location"] == "/people/"
    assert client.get(page).status_code == 404
    assert anna.grants.count() == 0


def test_a_person_is_deactivated_and_reactivated_on_the_page(anna: User) -> None:
    client, page = as_admin(), f"/people/{anna.pk}/"
    assert post(client, f"{page}state/", state="deactivated")["Location"] == page
    anna.refresh_from_db()
    assert anna.state == "deactivated"
    assert "Reactivate" in client.get(page).content.decode()
    post(client, f"{page}state/", state="deactivated")
    assert "This person is not active." in client.get(page).content.decode()
    post(client, f"{page}state/", state="active")
    anna.refresh_from_db()
    assert anna.state == "active"
    assert post(client, f"{page}state/", state="erased").status_code == 400


def test_people_cannot_deactivate_or_erase_themselves(anna: User) -> None:
    client, ada = as_admin(), admin()
    page = client.get(f"/people/{ada.pk}/").content.decode()
    assert "Deactivate" not in page
    assert "Erase" not in page
    post(client, f"/people/{ada.pk}/state/", state="deactivated")
    erased = post(client, f"/people/{ada.pk}/erase/", username="ada")
    assert erased.status_code == 409
    ada.refresh_from_db()
    assert ada.state == "active"


def test_a_person_is_erased_by_typing_their_name(anna: User) -> None:
    client, page = as_admin(), f"/people/{anna.pk}/erase/"
    content = client.get(page).content.decode()
    assert Annotator.objects.get(user=anna).pseudonym in content
    for typed in ("", "Anna", "anna "[:-1] + "x"):
        assert post(client, page, username=typed).status_code == 422
    anna.refresh_from_db()
    assert anna.state == "active"
    assert post(client, page, username="anna")["Location"] == f"/people/{anna.pk}/"
    anna.refresh_from_db()
    assert anna.state == "erased"
    shown = client.get(f"/people/{anna.pk}/").content.decode()
    assert "This person is erased." in shown
    assert "Grant this role" not in shown
    assert client.get(page).status_code == 200
    assert post(client, page, username=anna.username).status_code == 409


def test_the_page_shows_the_consent() -> None:
    made, text = invited(), consent_text()
    client = Client()
    client.get(f"/invitations/{made.token}/")
    client.post("/invitation/", {**JOINING, "agree": "on", "version": str(text.version)})
    person = User.objects.get(username="anna")
    page = " ".join(as_admin().get(f"/people/{person.pk}/").content.decode().split())
    assert "Agreed to version 1 of the consent text on" in page
    assert "Accepted an invitation by <bdi>ada</bdi> on" in page


# --- Invitations --------------------------------------------------------------------------------


def test_the_link_is_shown_once(campaign: Campaign) -> None:
    client = as_admin()
    answer = client.post(
        "/people/invitations/new/",
        {"role": "annotator", "scope": "tiny", "note": "Anna, by mail", "days": "7"},
    )
    assert answer.status_code == 200
    assert answer["Cache-Control"] == "private, no-store"
    (link,) = re.findall(
        r'value="(http://testserver/invitations/[\w-]{43}/)"', answer.content.decode()
    )
    invitation = Invitation.objects.get()
    assert (invitation.role, invitation.scope, invitation.note) == (
        "annotator",
        "tiny",
        "Anna, by mail",
    )
    guest = Client()
    assert guest.get(link)["Location"] == "/invitation/"
    listed = client.get("/people/invitations/").content.decode()
    assert "Anna, by mail" in listed
    assert link.split("/")[-2] not in listed
    assert "Anna, by mail" not in guest.get("/invitation/").content.decode()


@pytest.mark.parametrize(
    "changed",
    [
        {"role": "admin"},
        {"role": "x"},
        {"scope": "other"},
        {"days": "0"},
        {"days": "91"},
        {"note": "x" * 201},
    ],
)
def test_an_invalid_invitation_is_not_created(campaign: Campaign, changed: dict[str, str]) -> None:
    content = {"role": "annotator", "scope": "tiny", "note": "", "days": "14", **changed}
    assert as_admin().post("/people/invitations/new/", content).status_code == 422
    assert Invitation.objects.count() == 0


def test_a_lead_sees_and_revokes_invitations_of_their_annotators(campaign: Campaign) -> None:
    of_tiny = invited(scope="tiny", note="to tiny").invitation
    of_other = invited(scope="other", note="to other").invitation
    everywhere = invited(note="to all").invitation
    for_lead = invited(Role.LEAD, "tiny", note="to lead").invitation
    client = signed_in(make_member("tim", Role.LEAD, of="tiny"))
    page = client.get("/people/invitations/").content.decode()
    assert [word for word in ("to tiny", "to other", "to all", "to lead") if word in page] == [
        "to tiny"
    ]
    for invitation in (of_other, everywhere, for_lead):
        assert client.post(f"/people/invitations/{invitation.pk}/revoke/").status_code == 404
    for _ in range(2):
        answer = client.post(f"/people/invitations/{of_tiny.pk}/revoke/")
        assert answer["Location"] == "/people/invitations/"
    assert "The invitation is no longer open." in client.get("/people/").content.decode()
    assert [invitation.state for invitation in Invitation.objects.order_by("pk")] == ["revoked"] + [
        "open"
    ] * 3


def test_invitations_from_a_benchmark_are_for_this_benchmark(campaign: Campaign) -> None:
    client = as_admin()
    people = client.get("/benchmarks/tiny/people/").content.decode()
    assert 'href="/people/invitations/new/?scope=tiny"' in people
    for path in ("/people/invitations/new/", "/people/invitations/list/"):
        page = client.get(path, {"scope": "tiny"}).content.decode()
        assert re.findall(r'<option value="([^"]*)" selected', page)[-1] == "tiny"


def test_a_lead_can_select_only_their_benchmarks(campaign: Campaign, tmp_path: Any) -> None:
    factories.make_benchmark(tmp_path, key="other")
    tim, lea = make_member("tim", Role.LEAD, of="tiny"), factories.make_user("lea", Role.LEAD)

    def offered(by: User) -> tuple[list[str], list[str]]:
        form = signed_in(by).get("/people/invitations/new/").context["form"]
        return tuple(
            [value for value, _ in form.fields[name].choices] for name in ("role", "scope")
        )

    assert offered(tim) == (["annotator"], ["tiny"])
    assert offered(lea) == (["annotator"], ["*", "other", "tiny"])
    assert offered(admin()) == (
        ["annotator", "lead", "researcher", "admin"],
        ["*", "other", "tiny"],
    )

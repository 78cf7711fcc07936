"""Roles everywhere and in single benchmarks: what they permit, and their database queries."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.enums import AssignmentState
from annotation.models import Assignment, Campaign
from hearth.accounts.models import Grant, User
from hearth.accounts.policies import can_deactivate, can_give, people_seen_by
from hearth.accounts.roles import (
    ALL,
    EVERYWHERE,
    Role,
    Scopes,
    discard_cached_roles,
    is_admin,
    is_annotator,
    is_lead,
    is_researcher,
    scopes_of,
)
from hearth.accounts.services import deactivate_person, grant_role, withdraw_role
from hearth.shared.caches import process_cache as cache
from hearth.shared.errors import Conflict, InvalidInput, NotPermitted
from tests import factories
from tests.accounts.world import admin, invited_by, make_member

pytestmark = pytest.mark.django_db


def initials(user: object, scope: str = EVERYWHERE) -> str:
    """Return the initials of the roles that the person holds."""
    checks = {"a": is_annotator, "r": is_researcher, "l": is_lead}
    return "".join(name for name, check in checks.items() if check(user, scope))


@pytest.mark.parametrize(
    ("role", "expected"),
    [(Role.ANNOTATOR, "a"), (Role.RESEARCHER, "r"), (Role.LEAD, "arl")],
)
def test_a_role_in_one_benchmark_applies_only_there(role: Role, expected: str) -> None:
    user = make_member("rosa", role, of="tiny")
    assert [initials(user, scope) for scope in ("tiny", "other", EVERYWHERE)] == [expected, "", ""]


@pytest.mark.parametrize(
    ("role", "expected"),
    [(Role.ANNOTATOR, "a"), (Role.RESEARCHER, "r"), (Role.LEAD, "arl"), (Role.ADMIN, "arl")],
)
def test_a_role_everywhere_applies_in_each_benchmark(role: Role, expected: str) -> None:
    user = factories.make_user("rosa", role)
    assert [initials(user, scope) for scope in ("tiny", "other", EVERYWHERE)] == [expected] * 3
    assert is_admin(user) == (role == Role.ADMIN)


def test_roles_add_up() -> None:
    user = make_member("rosa", Role.ANNOTATOR, of="tiny")
    grant_role(person=user, role=Role.LEAD, scope="other", by=admin())
    grant_role(person=user, role=Role.RESEARCHER, by=admin())
    assert [initials(user, scope) for scope in ("tiny", "other", "third")] == ["ar", "arl", "r"]
    assert scopes_of(user, Role.ANNOTATOR) == Scopes(keys=frozenset({"tiny", "other"}))
    assert scopes_of(user, Role.RESEARCHER) == Scopes(everywhere=True, keys=frozenset({"other"}))


def test_inactive_people_and_visitors_hold_no_role() -> None:
    user = factories.make_user("rosa", Role.ADMIN)
    user.is_active = False
    assert not any(scopes_of(user, role) for role in Role)
    assert not any(scopes_of(AnonymousUser(), role) for role in Role)


def test_a_persons_roles_are_read_once() -> None:
    make_member("rosa", Role.LEAD, of="tiny")
    user = User.objects.get(username="rosa")
    with CaptureQueriesContext(connection) as queries:
        for scope in ("tiny", "other", EVERYWHERE):
            initials(user, scope)
    assert len(queries) == 1


def test_scopes_limit_rows() -> None:
    make_member("rosa", Role.LEAD, of="tiny")
    make_member("otto", Role.LEAD, of="other")
    rows = Grant.objects.order_by("scope")

    def left(scopes: Scopes) -> list[str]:
        return list(scopes.limit(rows, "scope").values_list("scope", flat=True))

    assert left(ALL) == ["other", "tiny"]
    assert left(Scopes(keys=frozenset({"tiny"}))) == ["tiny"]
    assert left(Scopes()) == []


def test_roles_in_one_benchmark_need_no_extra_database_query(campaign: Campaign) -> None:
    addresses = ("/", "/jobs/", "/people/", "/benchmarks/tiny/", f"/campaigns/{campaign.pk}/")

    def count(user: User) -> dict[str, int]:
        client = Client()
        client.force_login(user)
        counts = {}
        for address in addresses:
            cache.clear()
            with CaptureQueriesContext(connection) as queries:
                assert client.get(address).status_code == 200
            counts[address] = len(queries)
        return counts

    everywhere = count(factories.make_user("lea", Role.LEAD))
    assert count(make_member("tim", Role.LEAD, of="tiny")) == everywhere


# --- Granting and withdrawing -----------------------------------------------------------------


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("scope", ["tiny", "other", EVERYWHERE])
def test_who_may_grant_a_role(role: Role, scope: str) -> None:
    givers = {
        "admin": factories.make_user("ada", Role.ADMIN),
        "lead": factories.make_user("lea", Role.LEAD),
        "lead of tiny": make_member("tim", Role.LEAD, of="tiny"),
        "researcher": factories.make_user("rosa", Role.RESEARCHER),
        "annotator": factories.make_user("anna", Role.ANNOTATOR),
    }
    expected = {"admin"}
    if role == Role.ANNOTATOR:
        expected |= {"lead", "lead of tiny"} if scope == "tiny" else {"lead"}
    assert {name for name, giver in givers.items() if can_give(giver, role, scope)} == expected
    person = factories.make_user("paul")
    for name, giver in givers.items():
        if name not in expected:
            with pytest.raises(NotPermitted):
                grant_role(person=person, role=role, scope=scope, by=giver)
            with pytest.raises(NotPermitted):
                withdraw_role(person=person, role=role, scope=scope, by=giver)
    assert (Grant.objects.filter(user=person).count(), person.groups.count()) == (0, 0)


def test_a_role_is_granted_once_and_withdrawn() -> None:
    person, by = factories.make_user("paul"), admin()
    for _ in range(2):
        grant_role(person=person, role=Role.ANNOTATOR, scope="tiny", by=by)
        grant_role(person=person, role=Role.LEAD, by=by)
    grant = Grant.objects.get()
    assert (grant.user, grant.role, grant.scope, grant.granted_by) == (
        person,
        "annotator",
        "tiny",
        by,
    )
    assert [group.name for group in person.groups.all()] == ["lead"]
    withdraw_role(person=person, role=Role.ANNOTATOR, scope="tiny", by=by)
    withdraw_role(person=person, role=Role.LEAD, by=by)
    assert (Grant.objects.count(), person.groups.count(), initials(person, "tiny")) == (0, 0, "")


@pytest.mark.postgresql
def test_an_admin_is_admin_everywhere() -> None:
    person, by = factories.make_user("paul"), admin()
    with pytest.raises(InvalidInput):
        grant_role(person=person, role=Role.ADMIN, scope="tiny", by=by)
    for role, scope in ((Role.ADMIN, "tiny"), (Role.LEAD, EVERYWHERE)):
        with pytest.raises(IntegrityError), transaction.atomic():
            Grant.objects.create(user=person, role=role, scope=scope)
    grant_role(person=person, role=Role.ADMIN, by=by)
    person.refresh_from_db()
    assert (person.is_staff, person.is_superuser) == (True, True)
    withdraw_role(person=person, role=Role.ADMIN, by=by)
    person.refresh_from_db()
    assert (person.is_staff, person.is_superuser, is_admin(person)) == (False, False, False)


def test_admins_cannot_withdraw_their_own_role() -> None:
    ada = admin()
    with pytest.raises(Conflict):
        withdraw_role(person=ada, role=Role.ADMIN, by=ada)
    assert is_admin(User.objects.get(pk=ada.pk))


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("service", [withdraw_role, deactivate_person])
def test_of_two_admins_who_remove_each_other_one_stays_admin(service: object) -> None:
    ada, ben = factories.make_user("ada", Role.ADMIN), factories.make_user("ben", Role.ADMIN)

    def end(person: User, by: User) -> str:
        try:
            if service is withdraw_role:
                withdraw_role(person=person, role=Role.ADMIN, by=by)
            else:
                deactivate_person(person=person, by=by)
        except NotPermitted:
            return "refused"
        return "done"

    results = factories.at_once(lambda: end(ada, ben), lambda: end(ben, ada))
    assert sorted(results) == ["done", "refused"]
    assert sum(is_admin(user) for user in User.objects.all()) == 1


def test_assigned_pairs_go_back_to_the_queue_when_the_role_is_withdrawn(campaign: Campaign) -> None:
    by = admin()
    person = factories.make_annotator("anna")
    grant_role(person=person.user, role=Role.ANNOTATOR, scope="tiny", by=by)
    assert len(factories.claim(campaign, person, 2)) == 2

    def held() -> int:
        return Assignment.objects.filter(state=AssignmentState.HELD).count()

    withdraw_role(person=person.user, role=Role.ANNOTATOR, by=by)
    assert held() == 2  # The role in this benchmark still applies.
    withdraw_role(person=person.user, role=Role.ANNOTATOR, scope="tiny", by=by)
    assert held() == 0
    assert {task.seats_open for task in campaign.tasks.all()} == {1}


def test_invitations_are_revoked_when_the_inviter_loses_the_role() -> None:
    tim = make_member("tim", Role.LEAD, of="tiny")
    grant_role(person=tim, role=Role.LEAD, scope="other", by=admin())
    for_tiny, for_other = invited_by(tim, "tiny"), invited_by(tim, "other")
    withdraw_role(person=tim, role=Role.LEAD, scope="tiny", by=admin())
    for_tiny.refresh_from_db()
    for_other.refresh_from_db()
    assert (for_tiny.state, for_other.state) == ("revoked", "open")


# --- What a lead sees --------------------------------------------------------------------------


def test_a_lead_sees_the_annotators_of_their_benchmarks() -> None:
    tim = make_member("tim", Role.LEAD, of="tiny")
    make_member("anna", Role.ANNOTATOR, of="tiny")
    make_member("otto", Role.ANNOTATOR, of="other")
    make_member("rita", Role.RESEARCHER, of="tiny")
    factories.make_user("eva", Role.ANNOTATOR)
    factories.make_user("nobody")
    lea = factories.make_user("lea", Role.LEAD)

    def seen(by: User) -> list[str]:
        names = people_seen_by(by).order_by("username").values_list("username", flat=True)
        return list(names)

    assert seen(tim) == ["anna", "eva"]
    assert seen(lea) == ["anna", "eva", "otto"]
    everybody = ["ada", "anna", "eva", "lea", "nobody", "otto", "rita", "tim"]
    assert seen(admin()) == everybody
    assert seen(User.objects.get(username="rita")) == []


def test_leads_deactivate_a_person_only_if_they_may_withdraw_each_of_the_roles() -> None:
    tim = make_member("tim", Role.LEAD, of="tiny")
    lea = factories.make_user("lea", Role.LEAD)
    anna = make_member("anna", Role.ANNOTATOR, of="tiny")
    both = make_member("both", Role.ANNOTATOR, of="tiny")
    grant_role(person=both, role=Role.ANNOTATOR, scope="other", by=admin())
    eva = factories.make_user("eva", Role.ANNOTATOR)
    rita = make_member("rita", Role.ANNOTATOR, Role.RESEARCHER, of="tiny")
    nobody = factories.make_user("nobody")
    root = User.objects.create_superuser("root")
    people = [anna, both, eva, rita, nobody, lea, admin(), root]

    def people_to_deactivate(by: User) -> list[str]:
        for person in people:
            discard_cached_roles(person)
        return [person.username for person in people if can_deactivate(by, person)]

    assert people_to_deactivate(tim) == ["anna"]
    assert people_to_deactivate(lea) == ["anna", "both", "eva"]
    assert people_to_deactivate(admin()) == ["anna", "both", "eva", "rita", "nobody", "lea", "root"]
    assert people_to_deactivate(rita) == []

"""Deactivation ends all access at once. Answers that were on their way are stored."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from annotation.enums import AssignmentState
from annotation.models import Annotator, Assignment, Campaign, Judgment
from annotation.services import annotator_for
from hearth.accounts.models import ApiToken, User
from hearth.accounts.roles import Role
from hearth.accounts.services import deactivate_person, reactivate_person, withdraw_role
from hearth.accounts.signals import person_deactivated
from hearth.shared.errors import Conflict, NotPermitted
from tests import factories
from tests.accounts.world import admin, make_member, token_of

JUDGMENTS = "/api/v1/judgments/"
KEPT = {
    "detail": "You can no longer judge. This answer is stored, but it does not count.",
    "kept": True,
}

pytestmark = pytest.mark.django_db


class Browser(APIClient):
    """A signed-in client that sends a CSRF token, as the judging page does."""

    def __init__(self, user: User) -> None:
        super().__init__(enforce_csrf_checks=True)
        assert self.login(username=user.username, password=factories.PASSWORD)
        self.cookies["csrftoken"] = "a" * 32
        self.credentials(HTTP_X_CSRFTOKEN="a" * 32)

    def judge(
        self, assignment: Assignment | None, label: int = 1, key: uuid.UUID | None = None
    ) -> Any:
        """Submit an answer. If `assignment` is None, use an assignment that does not exist."""
        shown = factories.shown_id(assignment or Assignment(pk=10**6))
        content = {"assignment": shown, "label": label, "client_key": str(key or uuid.uuid4())}
        return self.post(JUDGMENTS, content, format="json")


@pytest.fixture
def anna(db: None) -> Annotator:
    return annotator_for(make_member("anna", Role.ANNOTATOR, of="tiny"))


def person_of(annotator: Annotator) -> User:
    assert annotator.user is not None
    return annotator.user


def stored() -> list[tuple[int, str]]:
    return list(Judgment.objects.order_by("pk").values_list("label", "state"))


# --- Deactivation -----------------------------------------------------------------------------


def test_deactivation_ends_all_access(campaign: Campaign, anna: Annotator) -> None:
    user = person_of(anna)
    browsers = [Browser(user), Browser(user)]
    token = token_of(user)
    by_token = APIClient(headers={"Authorization": f"Token {token}"})
    address = f"/campaigns/{campaign.pk}/judge/"
    assert [browser.get(address).status_code for browser in browsers] == [200, 200]
    assert by_token.get("/api/v1/campaigns/").status_code == 200

    after = deactivate_person(person=user, by=admin())

    assert (after.is_active, after.state, after.session_generation) == (False, "deactivated", 1)
    assert after.deactivated_at is not None
    assert [browser.get(address).status_code for browser in browsers] == [302, 302]
    assert by_token.get("/api/v1/campaigns/").status_code == 401
    assert ApiToken.objects.count() == 0
    assert not Client().login(username="anna", password=factories.PASSWORD)
    # The roles stay stored.
    assert list(after.grants.values_list("role", "scope")) == [("annotator", "tiny")]


def test_earlier_sessions_stay_invalid_after_reactivation(anna: Annotator) -> None:
    user = person_of(anna)
    before = Browser(user)
    deactivate_person(person=user, by=admin())
    again = reactivate_person(person=user, by=admin())
    assert (again.state, again.deactivated_at, again.session_generation) == ("active", None, 1)
    assert before.get("/me/").status_code == 302
    assert before.judge(None).status_code == 401
    assert Browser(user).get("/").status_code == 200
    assert before.get("/me/").status_code == 302


def test_sessions_end_with_the_password(anna: Annotator) -> None:
    user = person_of(anna)
    browser = Browser(user)
    user.set_password("another password")
    user.save()
    assert browser.get("/me/").status_code == 302


def test_sessions_survive_the_upgrade(anna: Annotator) -> None:
    """The upgrade added `session_generation`. Sessions of generation 0 are signed as in Django."""
    from django.contrib.auth.base_user import AbstractBaseUser

    user = person_of(anna)
    assert user.get_session_auth_hash() == AbstractBaseUser._get_session_auth_hash(user)
    user.session_generation = 1
    assert user.get_session_auth_hash() != AbstractBaseUser._get_session_auth_hash(user)


def test_assigned_pairs_go_back_to_the_queue(campaign: Campaign, anna: Annotator) -> None:
    held = factories.claim(campaign, anna, 3)
    factories.submit(held[0], 1)
    deactivate_person(person=person_of(anna), by=admin())
    states = Assignment.objects.order_by("pk").values_list("state", "slot")
    assert list(states) == [("done", 0), ("expired", None), ("expired", None)]
    assert stored() == [(1, "live")]
    ben = factories.make_annotator("ben")
    assert [assignment.task_id for assignment in factories.claim(campaign, ben, 9)] == [
        assignment.task_id for assignment in held[1:]
    ]


def test_a_failing_receiver_undoes_the_deactivation(campaign: Campaign, anna: Annotator) -> None:
    factories.claim(campaign, anna, 1)

    def broken(**_: Any) -> None:
        raise RuntimeError

    person_deactivated.connect(broken)
    try:
        with pytest.raises(RuntimeError):
            deactivate_person(person=person_of(anna), by=admin())
    finally:
        person_deactivated.disconnect(broken)
    user = User.objects.get(pk=person_of(anna).pk)
    assert (user.is_active, user.session_generation) == (True, 0)


def test_who_may_deactivate_and_reactivate_whom(anna: Annotator) -> None:
    ada, user = admin(), person_of(anna)
    lea = make_member("lea", Role.LEAD, of="other")
    with pytest.raises(Conflict):
        deactivate_person(person=ada, by=ada)
    with pytest.raises(NotPermitted):
        deactivate_person(person=user, by=lea)
    with pytest.raises(NotPermitted):
        deactivate_person(person=ada, by=lea)
    with pytest.raises(Conflict):
        reactivate_person(person=user, by=ada)
    deactivate_person(person=user, by=ada)
    with pytest.raises(Conflict):
        deactivate_person(person=user, by=ada)
    with pytest.raises(NotPermitted):
        reactivate_person(person=user, by=lea)


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_a_simultaneous_answer_counts_or_is_surplus(campaign: Campaign, anna: Annotator) -> None:
    user, ada = person_of(anna), admin()
    browser = Browser(user)
    (held,) = factories.claim(campaign, anna, 1)

    def deactivate() -> int:
        deactivate_person(person=user, by=ada)
        return 0

    status, _ = factories.at_once(lambda: browser.judge(held).status_code, deactivate)
    ((label, state),) = stored()
    # The result depends on whether the answer or the deactivation came first.
    assert (status, label, state) in [(201, 1, "live"), (403, 1, "surplus")]
    task = held.task
    task.refresh_from_db()
    assert (task.labels_live, task.seats_open) == ((1, 0) if state == "live" else (0, 1))
    assert Assignment.objects.filter(state=AssignmentState.HELD).count() == 0


# --- Late answers -----------------------------------------------------------------------------


def test_a_late_answer_is_stored_but_not_counted(campaign: Campaign, anna: Annotator) -> None:
    user = person_of(anna)
    browser, key = Browser(user), uuid.uuid4()
    first, second = factories.claim(campaign, anna, 2)
    deactivate_person(person=user, by=admin())

    for _ in range(2):
        answer = browser.judge(first, key=key)
        assert (answer.status_code, answer.json()) == (403, KEPT)
    assert stored() == [(1, "surplus")]
    task = first.task
    task.refresh_from_db()
    assert (task.state, task.labels_live, task.seats_open) == ("open", 0, 1)

    assert browser.judge(first, label=0, key=key).status_code == 409
    assert browser.judge(second, label=7).status_code == 400
    assert browser.judge(None).status_code == 404
    assert stored() == [(1, "surplus")]
    assert Assignment.objects.filter(state=AssignmentState.HELD).count() == 0


def test_a_late_correction_does_not_change_the_answer(campaign: Campaign, anna: Annotator) -> None:
    browser = Browser(person_of(anna))
    (held,) = factories.claim(campaign, anna, 1)
    factories.submit(held, 1)
    deactivate_person(person=person_of(anna), by=admin())
    key = {
        "assignment": factories.shown_id(held),
        "label": 0,
        "client_key": str(uuid.uuid4()),
        "corrects": True,
    }
    answer = browser.post(JUDGMENTS, key, format="json")
    assert (answer.status_code, stored()) == (403, [(1, "live"), (0, "surplus")])


def test_an_ended_session_can_only_send_answers(campaign: Campaign, anna: Annotator) -> None:
    browser = Browser(person_of(anna))
    (held,) = factories.claim(campaign, anna, 1)
    deactivate_person(person=person_of(anna), by=admin())
    before = factories.row_counts()
    calls = {
        "campaigns/": browser.get("/api/v1/campaigns/"),
        "claim/": browser.post(f"/api/v1/campaigns/{campaign.pk}/claim/", {}, format="json"),
        "release/": browser.post(f"/api/v1/campaigns/{campaign.pk}/release/", {}, format="json"),
        "history/": browser.get(f"/api/v1/campaigns/{campaign.pk}/history/"),
        "escalations/": browser.post(
            "/api/v1/escalations/",
            {"assignment": factories.shown_id(held), "kind": "unsure"},
            format="json",
        ),
    }
    assert {name: answer.status_code for name, answer in calls.items()} == dict.fromkeys(calls, 401)
    assert factories.row_counts() == before


def test_an_ended_session_needs_the_csrf_token(campaign: Campaign, anna: Annotator) -> None:
    browser = Browser(person_of(anna))
    (held,) = factories.claim(campaign, anna, 1)
    deactivate_person(person=person_of(anna), by=admin())
    browser.credentials()
    answer = browser.judge(held)
    assert answer.status_code == 403
    assert answer.json()["detail"].startswith("CSRF Failed")
    assert stored() == []


def test_only_sessions_that_the_last_deactivation_ended_send_answers(
    campaign: Campaign, anna: Annotator
) -> None:
    user = person_of(anna)
    (held,) = factories.claim(campaign, anna, 1)
    oldest = Browser(user)
    signed_out = Browser(user)
    signed_out.logout()
    signed_out.credentials(HTTP_X_CSRFTOKEN="a" * 32)
    signed_out.cookies["csrftoken"] = "a" * 32

    deactivate_person(person=user, by=admin())
    reactivate_person(person=user, by=admin())
    newer = Browser(user)
    deactivate_person(person=user, by=admin())

    # The first session ended earlier, the second was signed out, and the third client has none.
    assert oldest.judge(held).status_code == 401
    assert signed_out.judge(held).status_code == 401
    assert APIClient().post(JUDGMENTS, {}, format="json").status_code == 401
    assert stored() == []
    assert newer.judge(held).status_code == 403
    assert stored() == [(1, "surplus")]


def test_a_session_with_an_older_password_cannot_send_answers(
    campaign: Campaign, anna: Annotator
) -> None:
    user = person_of(anna)
    (held,) = factories.claim(campaign, anna, 1)
    stolen = Browser(user)
    user.set_password("another password")
    user.save()
    deactivate_person(person=user, by=admin())
    assert stolen.judge(held).status_code == 401
    assert stored() == []


def test_an_expired_session_cannot_send_answers(
    campaign: Campaign, anna: Annotator, settings: Any
) -> None:
    settings.SESSION_COOKIE_AGE = -1
    browser = Browser(person_of(anna))
    (held,) = factories.claim(campaign, anna, 1)
    deactivate_person(person=person_of(anna), by=admin())
    assert browser.judge(held).status_code == 401
    assert stored() == []


def test_a_late_answer_to_a_pair_of_another_annotator_is_refused(
    campaign: Campaign, anna: Annotator
) -> None:
    (held_by_ben,) = factories.claim(campaign, factories.make_annotator("ben"), 1)
    browser = Browser(person_of(anna))
    deactivate_person(person=person_of(anna), by=admin())
    assert browser.judge(held_by_ben).status_code == 404
    assert stored() == []


def test_an_answer_without_the_role_is_stored_but_not_counted(
    campaign: Campaign, anna: Annotator
) -> None:
    user = person_of(anna)
    browser = Browser(user)
    (held,) = factories.claim(campaign, anna, 1)
    withdraw_role(person=user, role=Role.ANNOTATOR, scope="tiny", by=admin())
    answer = browser.judge(held)
    assert (answer.status_code, answer.json(), stored()) == (403, KEPT, [(1, "surplus")])


def test_a_role_in_another_benchmark_does_not_help(campaign: Campaign, anna: Annotator) -> None:
    user = person_of(anna)
    otto = make_member("otto", Role.ANNOTATOR, of="other")
    (held,) = factories.claim(campaign, anna, 1)
    user.grants.create(role=Role.ANNOTATOR, scope="other")
    withdraw_role(person=user, role=Role.ANNOTATOR, scope="tiny", by=admin())
    browser = Browser(user)
    assert browser.judge(held).status_code == 201
    assert stored() == [(1, "surplus")]
    content = {"assignment": factories.shown_id(held), "kind": "unsure", "reason": "dark"}
    escalated = browser.post("/api/v1/escalations/", content, format="json")
    assert escalated.status_code == 403
    assert campaign.tasks.exclude(state="open").count() == 0
    # For a person who never held the pair, it does not exist.
    assert Browser(otto).judge(held).status_code == 404

"""The desk: conflicts, escalated pairs and videos that cannot play."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.enums import CampaignState, EscalationKind, Scale
from annotation.models import (
    Adjudication,
    Annotator,
    Assignment,
    Campaign,
    Escalation,
    Exclusion,
    Judgment,
    JudgmentTask,
)
from annotation.selectors.desk import desk_entries, get_desk_case, pseudonym, tasks_at_desk
from annotation.services import (
    adjudicate_task,
    escalate_task,
    exclude_task,
    expire_leases,
    release_assignments,
    reopen_task,
    set_campaign_state,
)
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.shared.errors import Conflict, NotPermitted
from tests import factories
from tests.factories import at_once, claim, make_annotator, make_campaign, make_user, submit

UNSURE, CANNOT_PLAY = EscalationKind.UNSURE, EscalationKind.CANNOT_PLAY


@pytest.fixture
def desk(client: Client, lead: User) -> Client:
    client.force_login(lead)
    return client


def escalate(
    campaign: Campaign,
    annotator: Annotator,
    video: str,
    kind: EscalationKind = UNSURE,
    reason: str = "",
) -> JudgmentTask:
    held = next(held for held in claim(campaign, annotator) if key_of(held.task) == video)
    escalate_task(assignment_id=held.pk, annotator=annotator, kind=kind, reason=reason)
    release_assignments(campaign=campaign, annotator=annotator)
    return held.task


def label(campaign: Campaign, annotator: Annotator, video: str, *labels: int) -> None:
    """Submit an answer and its corrections, and release the other pairs."""
    held = next(held for held in claim(campaign, annotator) if key_of(held.task) == video)
    for value in labels:
        submit(held, value)
    release_assignments(campaign=campaign, annotator=annotator)


def key_of(task: JudgmentTask) -> str:
    return task.pair.video.key


def task_of(campaign: Campaign, video: str = "v0") -> JudgmentTask:
    return campaign.tasks.get(pair__video__key=video)


def state_of(task: JudgmentTask) -> tuple[str, int | None, int, int, int]:
    task.refresh_from_db()
    return task.state, task.label, task.labels_required, task.labels_live, task.seats_open


def conflict(campaign: Campaign, video: str, *labels: int) -> JudgmentTask:
    """Create a conflict from these labels. Each label comes from a different annotator."""
    for value in labels:
        label(campaign, make_annotator(f"rater-{video}-{value}"), video, value)
    return task_of(campaign, video)


@pytest.fixture
def graded(db: None, tmp_path: Path) -> Campaign:
    return make_campaign(tmp_path, videos=3, double_share=1, labels_max=2, scale=Scale.GRADED)


@pytest.fixture
def three_kinds(graded: Campaign) -> list[JudgmentTask]:
    """An unplayable, a conflicted and an escalated task, in order of arrival at the desk."""
    anna = make_annotator("anna")
    return [
        escalate(graded, anna, "v2", CANNOT_PLAY, "a black screen"),
        conflict(graded, "v0", 0, 3),
        escalate(graded, anna, "v1", UNSURE, "Is a <b>fox</b> a dog?"),
    ]


# --- Services -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [UNSURE, CANNOT_PLAY])
def test_reopened_pair_goes_to_others_and_keeps_its_labels(
    kind: EscalationKind, lead: User, tmp_path: Path
) -> None:
    campaign = make_campaign(tmp_path, videos=1, double_share=1)
    anna, ben, cara = map(make_annotator, ("anna", "ben", "cara"))
    label(campaign, anna, "v0", 1)
    task = escalate(campaign, ben, "v0", kind)
    assert state_of(task) in {
        ("escalated", None, 2, 1, 0),
        ("unplayable", None, 2, 1, 0),
    }

    reopen_task(task=task, by=lead)

    assert state_of(task) == ("open", None, 2, 1, 1)
    assert (claim(campaign, anna), claim(campaign, ben)) == ([], [])
    label(campaign, cara, "v0", 1)
    assert state_of(task) == ("resolved", 1, 2, 2, 0)
    assert (Escalation.objects.count(), Adjudication.objects.count()) == (1, 0)


def test_a_pair_escalated_after_its_lease_is_not_assigned_to_that_annotator_again(
    lead: User, tmp_path: Path
) -> None:
    campaign = make_campaign(tmp_path, videos=1)
    anna, ben = make_annotator("anna"), make_annotator("ben")
    (held,) = claim(campaign, anna)
    Assignment.objects.update(lease_expires_at=timezone.now() - timedelta(hours=1))
    expire_leases()
    escalate_task(assignment_id=held.pk, annotator=anna, kind=UNSURE)
    assert Assignment.objects.get().state == "expired"

    reopen_task(task=held.task, by=lead)

    assert list(Assignment.objects.values_list("state", "slot")) == [("released", None)]
    assert claim(campaign, anna) == []
    # An answer that still arrives from her browser is stored and does not count.
    assert submit(held, 1).judgment.state == "surplus"
    assert state_of(held.task) == ("open", None, 1, 0, 1)
    assert len(claim(campaign, ben)) == 1


def test_an_active_lease_keeps_its_slot(lead: User, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, videos=1, double_share=1)
    anna, ben = make_annotator("anna"), make_annotator("ben")
    (bens,) = claim(campaign, ben)
    task = escalate(campaign, anna, "v0")
    reopen_task(task=task, by=lead)
    assert state_of(task) == ("open", None, 2, 0, 1)
    assert submit(bens, 0).judgment.state == "live"
    assert state_of(task) == ("open", None, 2, 1, 1)


def test_a_reopened_disagreement_needs_its_third_label(lead: User, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, videos=1, double_share=1)
    label(campaign, make_annotator("anna"), "v0", 0)
    label(campaign, make_annotator("ben"), "v0", 1)
    task = escalate(campaign, make_annotator("cara"), "v0")
    assert state_of(task) == ("escalated", None, 3, 2, 0)
    reopen_task(task=task, by=lead)
    assert state_of(task) == ("open", None, 3, 2, 1)


def test_rulings_allowed_for_each_kind_of_pair(three_kinds: list[JudgmentTask], lead: User) -> None:
    unplayable, conflicted, escalated = three_kinds
    before = factories.row_counts()
    for task, rule in (
        (unplayable, lambda task: adjudicate_task(task=task, label=1, by=lead)),
        (conflicted, lambda task: reopen_task(task=task, by=lead)),
        (conflicted, lambda task: exclude_task(task=task, by=lead)),
        (escalated, lambda task: exclude_task(task=task, by=lead)),
    ):
        with pytest.raises(Conflict) as refused:
            rule(task)
        assert str(refused.value) == ("This pair is no longer at the desk.")
    assert factories.row_counts() == before

    exclude_task(task=unplayable, by=lead)
    adjudicate_task(task=conflicted, label=2, by=lead, reason="seen twice")
    adjudicate_task(task=escalated, label=0, by=lead)

    assert [state_of(task) for task in three_kinds] == [
        ("unplayable", None, 2, 0, 0),
        ("adjudicated", 2, 2, 2, 0),
        ("adjudicated", 0, 2, 0, 0),
    ]
    assert list(Exclusion.objects.values_list("task", "lead")) == [(unplayable.pk, lead.pk)]
    assert desk_entries(unplayable.campaign) == []


def test_an_excluded_pair_stays_excluded(three_kinds: list[JudgmentTask], lead: User) -> None:
    unplayable = three_kinds[0]
    exclude_task(task=unplayable, by=lead)
    for rule in (exclude_task, reopen_task):
        with pytest.raises(Conflict):
            rule(task=unplayable, by=lead)
    assert state_of(unplayable) == ("unplayable", None, 2, 0, 0)


def test_only_leads_rule(three_kinds: list[JudgmentTask]) -> None:
    unplayable, conflicted, escalated = three_kinds
    rosa = make_user("rosa", Role.RESEARCHER, Role.ANNOTATOR)
    before = factories.row_counts()
    for rule in (
        lambda: adjudicate_task(task=conflicted, label=1, by=rosa),
        lambda: reopen_task(task=escalated, by=rosa),
        lambda: exclude_task(task=unplayable, by=rosa),
    ):
        with pytest.raises(NotPermitted):
            rule()
    assert factories.row_counts() == before
    assert [state_of(task)[0] for task in three_kinds] == ["unplayable", "conflicted", "escalated"]


def test_a_closed_campaign_accepts_rulings_but_reopens_nothing(
    three_kinds: list[JudgmentTask], lead: User
) -> None:
    unplayable, conflicted, escalated = three_kinds
    set_campaign_state(campaign=conflicted.campaign, state=CampaignState.CLOSED, by=lead)
    for task in (unplayable, escalated):
        with pytest.raises(Conflict) as refused:
            reopen_task(task=task, by=lead)
        assert str(refused.value) == (
            "The campaign is closed, so no annotator would receive the pair."
        )
    adjudicate_task(task=conflicted, label=1, by=lead)
    assert [state_of(task)[0] for task in three_kinds] == ["unplayable", "adjudicated", "escalated"]


def outcome_of(call: Callable[[], object]) -> str:
    try:
        call()
    except Conflict:
        return "conflict"
    return "done"


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_one_of_two_simultaneous_rulings_is_stored(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, videos=6, double_share=1, scale=Scale.GRADED)
    lena, lars = make_user("lena", Role.LEAD), make_user("lars", Role.LEAD)
    anna = make_annotator("anna")
    for number in range(5):
        task = escalate(campaign, anna, f"v{number}")
        outcomes = at_once(
            lambda task=task: outcome_of(lambda: adjudicate_task(task=task, label=1, by=lena)),
            lambda task=task: outcome_of(lambda: adjudicate_task(task=task, label=2, by=lars)),
        )
        assert sorted(outcomes) == ["conflict", "done"]
        ruling = Adjudication.objects.get(task=task)
        assert state_of(task) == ("adjudicated", ruling.label, 2, 0, 0)
    task = escalate(campaign, anna, "v5", CANNOT_PLAY)
    outcomes = at_once(
        lambda: outcome_of(lambda: exclude_task(task=task, by=lena)),
        lambda: outcome_of(lambda: reopen_task(task=task, by=lars)),
    )
    assert sorted(outcomes) == ["conflict", "done"]
    left_out = Exclusion.objects.filter(task=task).exists()
    assert state_of(task)[0] == ("unplayable" if left_out else "open")


def test_the_constraint_prevents_a_second_ruling_without_a_lock(
    three_kinds: list[JudgmentTask], lead: User
) -> None:
    """Simulate a database without row locks, where another ruling arrives after the check."""
    conflicted = three_kinds[1]
    Adjudication.objects.create(task=conflicted, lead=lead, label=1)
    with pytest.raises(Conflict) as refused:
        adjudicate_task(task=conflicted, label=2, by=make_user("lars", Role.LEAD))
    assert str(refused.value) == "Another lead has ruled on this pair."
    assert Adjudication.objects.get().label == 1


# --- Selectors ------------------------------------------------------------------------------


def test_the_queue_is_sorted_by_age_across_kinds(three_kinds: list[JudgmentTask]) -> None:
    campaign = three_kinds[0].campaign
    assert [(entry.pk, entry.state) for entry in desk_entries(campaign)] == [
        (task.pk, state)
        for task, state in zip(three_kinds, ("unplayable", "conflicted", "escalated"), strict=True)
    ]
    last_label = Judgment.objects.filter(task=three_kinds[1]).latest("created_at")
    assert desk_entries(campaign)[1].since == last_label.created_at
    # A conflict is as old as its last counted label.
    Judgment.objects.filter(pk=last_label.pk).update(created_at=timezone.now() + timedelta(hours=1))
    assert [entry.pk for entry in desk_entries(campaign)][-1] == three_kinds[1].pk


def test_a_broken_video_without_escalations_is_as_old_as_its_campaign(graded: Campaign) -> None:
    graded.tasks.filter(pair__video__key="v1").update(state="unplayable", seats_open=0)
    (waiting,) = desk_entries(graded)
    assert waiting.since == graded.created_at


def test_pseudonyms_follow_the_order_of_arrival_within_the_task(db: None, tmp_path: Path) -> None:
    graded = make_campaign(tmp_path, videos=1, double_share=1, scale=Scale.GRADED)
    zoe, anna, ben = map(make_annotator, ("zoe", "anna", "ben"))
    label(graded, zoe, "v0", 0)
    label(graded, anna, "v0", 2, 1)
    escalate(graded, ben, "v0", UNSURE, "too dark")

    case = get_desk_case(task_of(graded).pk)

    assert [(label.annotator, label.text, label.state) for label in case.labels] == [
        ("Annotator A", "not relevant", "live"),
        ("Annotator B", "mostly relevant", "superseded"),
        ("Annotator B", "partly relevant", "live"),
    ]
    assert [
        (escalation.annotator, escalation.kind, escalation.reason)
        for escalation in case.escalations
    ] == [("Annotator C", "Unsure", "too dark")]


def test_pseudonyms_continue_after_z() -> None:
    found = [pseudonym(place) for place in (0, 25, 26, 27, 51, 52, 701, 702)]
    letters = ["A", "Z", "AA", "AB", "AZ", "BA", "ZZ", "AAA"]
    assert found == [f"Annotator {letter}" for letter in letters]


@pytest.mark.postgresql
def test_the_database_query_of_the_desk_uses_its_index(graded: Campaign) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL reads a table of three rows without its index")
    assert "task_desk" in tasks_at_desk(graded).explain()


# --- The page -------------------------------------------------------------------------------


def address(campaign: Campaign, query: str = "") -> str:
    return f"/campaigns/{campaign.pk}/desk/{query}"


def text(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_the_desk_shows_one_pair_after_another(
    three_kinds: list[JudgmentTask], desk: Client
) -> None:
    unplayable, conflicted, escalated = three_kinds
    campaign = unplayable.campaign
    here = address(campaign)
    assert '<span class="count">3</span>' in text(desk, f"/campaigns/{campaign.pk}/")

    page = text(desk, here)
    assert "1 of 3" in page
    assert "a black screen" in page
    assert 'value="reopen"' in page
    assert 'value="leave-out"' in page
    assert 'value="1"' not in page

    answer = desk.post(here, {"task": unplayable.pk, "ruling": "reopen"})
    assert answer["Location"] == f"{here}?task={conflicted.pk}"
    page = text(desk, answer["Location"])
    assert "The last pair is back in the queue." in page
    assert "1 of 2" in page
    assert [f'value="{value}"' in page for value in ("0", "3", "4")] == [True, True, False]
    assert 'value="reopen"' not in page

    ruling = {"task": conflicted.pk, "ruling": "2", "reason": "seen twice"}
    answer = desk.post(here, ruling)
    assert answer["Location"] == f"{here}?task={escalated.pk}"
    page = text(desk, answer["Location"])
    assert "Your ruling on the last pair: mostly relevant." in page
    assert "Is a &lt;b&gt;fox&lt;/b&gt; a dog?" in page
    assert 'value="reopen"' in page

    answer = desk.post(here, {"task": escalated.pk, "ruling": "0"})
    assert answer["Location"] == here
    assert "No tasks at the desk." in text(desk, here)
    assert list(Adjudication.objects.order_by("pk").values_list("task", "label", "reason")) == [
        (conflicted.pk, 2, "seen twice"),
        (escalated.pk, 0, ""),
    ]
    assert [state_of(task)[0] for task in three_kinds] == ["open", "adjudicated", "adjudicated"]


def test_the_desk_names_no_annotator(three_kinds: list[JudgmentTask], desk: Client) -> None:
    campaign = three_kinds[0].campaign
    for task in three_kinds:
        page = text(desk, address(campaign, f"?task={task.pk}"))
        # Only whole words are matched, because a random token may contain any letters.
        assert re.findall(r"\b(anna|rater|[vc]\d)\b", page) == []


def test_the_tab_of_a_kind_shows_only_its_pairs_and_stays_selected(
    three_kinds: list[JudgmentTask], desk: Client
) -> None:
    unplayable, conflicted, _ = three_kinds
    campaign = unplayable.campaign
    page = text(desk, address(campaign, "?kind=conflicted"))
    assert "1 of 1" in page
    assert f'name="task" value="{conflicted.pk}"' in page
    answer = desk.post(
        address(campaign), {"task": conflicted.pk, "kind": "conflicted", "ruling": "1"}
    )
    assert answer["Location"] == address(campaign, "?kind=conflicted")
    page = text(desk, answer["Location"])
    assert "No tasks of this kind." in page
    assert 'aria-current="page">In conflict <span class="count">0</span>' in page
    # If the pair is not in the queue, the first one is shown.
    for task in (conflicted.pk, "x", "9" * 40):
        page = text(desk, address(campaign, f"?task={task}"))
        assert f'name="task" value="{unplayable.pk}"' in page


def test_skipped_pairs_come_after_the_last_pair(
    three_kinds: list[JudgmentTask], desk: Client
) -> None:
    unplayable, _, escalated = three_kinds
    here = address(unplayable.campaign)
    answer = desk.post(here, {"task": escalated.pk, "ruling": "1"})
    assert answer["Location"] == f"{here}?task={unplayable.pk}"


def test_the_second_lead_sees_a_message_and_the_next_pair(
    three_kinds: list[JudgmentTask], desk: Client, lead: User
) -> None:
    unplayable, conflicted, _ = three_kinds
    here = address(unplayable.campaign)
    adjudicate_task(task=conflicted, label=1, by=make_user("lars", Role.LEAD))
    answer = desk.post(here, {"task": conflicted.pk, "ruling": "2"})
    assert answer["Location"] == f"{here}?task={unplayable.pk}"
    assert "This pair is no longer at the desk." in text(desk, answer["Location"])
    assert Adjudication.objects.get().label == 1


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"ruling": "4"}, 400),
        ({"ruling": "-1"}, 400),
        ({"ruling": "drop"}, 400),
        ({"ruling": ""}, 400),
        ({"ruling": "1", "kind": "open"}, 400),
        ({"ruling": "1", "reason": "x" * 2001}, 400),
        ({"ruling": "1", "task": "x"}, 400),
        ({"ruling": "1", "task": str(10**30)}, 400),
        ({"ruling": "1", "task": "999999"}, 404),
    ],
)
def test_an_invalid_ruling_changes_nothing(
    change: dict[str, str], status: int, three_kinds: list[JudgmentTask], desk: Client
) -> None:
    conflicted = three_kinds[1]
    before = factories.row_counts()
    answer = desk.post(address(conflicted.campaign), {"task": str(conflicted.pk), **change})
    assert answer.status_code == status
    assert factories.row_counts() == before
    assert state_of(conflicted)[0] == "conflicted"


def test_a_pair_of_another_campaign_is_refused(
    three_kinds: list[JudgmentTask], desk: Client, tmp_path: Path
) -> None:
    campaign = three_kinds[0].campaign
    other = Campaign.objects.create(benchmark=campaign.benchmark, pool=campaign.pool, name="other")
    answer = desk.post(address(other), {"task": three_kinds[1].pk, "ruling": "1"})
    assert answer.status_code == 404
    assert state_of(three_kinds[1])[0] == "conflicted"


def test_a_closed_campaign_has_no_button_to_reopen_pairs(
    three_kinds: list[JudgmentTask], desk: Client, lead: User
) -> None:
    campaign = three_kinds[0].campaign
    set_campaign_state(campaign=campaign, state=CampaignState.CLOSED, by=lead)
    for task in three_kinds:
        assert 'value="reopen"' not in text(desk, address(campaign, f"?task={task.pk}"))


def test_only_leads_see_the_link_to_the_desk(graded: Campaign, client: Client) -> None:
    client.force_login(make_user("rosa", Role.RESEARCHER))
    assert "/desk/" not in text(client, f"/campaigns/{graded.pk}/")


def test_database_queries_do_not_grow_with_labels(tmp_path: Path, desk: Client) -> None:
    campaign = make_campaign(tmp_path, videos=2, double_share=1, scale=Scale.GRADED)
    label(campaign, make_annotator("anna"), "v0", 1)
    one = escalate(campaign, make_annotator("ben"), "v0")
    three = conflict(campaign, "v1", 0, 1, 3)
    counts = []
    for task, labels in ((one, 1), (three, 3)):
        assert task.judgments.count() == labels
        with CaptureQueriesContext(connection) as queries:
            assert desk.get(address(campaign, f"?task={task.pk}")).status_code == 200
        counts.append(len(queries))
    # Three of these database queries read the session, the person and the groups; one reads the
    # keyboard keys of the person.
    assert counts == [9, 9]

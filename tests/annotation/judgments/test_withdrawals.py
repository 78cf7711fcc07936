"""Withdrawing an annotator's judgments: the effects on each kind of task and on the annotator."""

from __future__ import annotations

import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.enums import AssignmentState, CampaignState, EscalationKind, JudgmentState, Scale
from annotation.models import (
    Annotator,
    Assignment,
    Campaign,
    Judgment,
    JudgmentTask,
    Membership,
    Withdrawal,
)
from annotation.selectors.progress import campaign_progress
from annotation.services import (
    Policy,
    adjudicate_task,
    carry_out_withdrawal,
    delete_personal_texts,
    escalate_task,
    open_campaign,
    release_assignments,
    request_withdrawal,
    set_campaign_state,
    withdraw_judgments,
)
from annotation.services.slots import TaskSlots, update_task_state
from annotation.tasks import answers_withdrawn
from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.jobs.models import Job
from hearth.shared.errors import Conflict, InvalidInput, NotPermitted
from tests.factories import (
    add_judgments,
    all_pairs,
    at_once,
    build_pool,
    claim,
    judge,
    make_annotator,
    make_benchmark,
    make_campaign,
    make_run,
    make_user,
    row_counts,
    submit,
)


def label(campaign: Campaign, name: str, labels: dict[str, int]) -> Annotator:
    """Judge some tasks as an annotator, and release the others."""
    found = Annotator.objects.filter(user__username=name).select_related("user").first()
    person = found or make_annotator(name)
    judge(campaign, person, labels)
    release_assignments(campaign=campaign, annotator=person)
    return person


def tasks(campaign: Campaign) -> dict[str, tuple[str, int | None, int, int, int]]:
    """Return state, label, required and counted labels, and open slots, by video key."""
    rows = campaign.tasks.order_by("pk").values_list(
        "pair__video__key", "state", "label", "labels_required", "labels_live", "seats_open"
    )
    return {video: tuple(rest) for video, *rest in rows}  # type: ignore[misc]


def log(campaign: Campaign, person: Annotator) -> list[tuple[str, int, str, int | None]]:
    rows = Judgment.objects.filter(annotator=person, task__campaign=campaign)
    found = rows.values_list("task__pair__video__key", "label", "state", "slot")
    return sorted(found)


# --- Effects on tasks -------------------------------------------------------------------------


@pytest.mark.postgresql
def test_withdrawal_from_every_kind_of_task(lead: User, tmp_path: Path) -> None:
    """Withdraw Ben's labels. Each is the only, the second or the third label of its pair.

    Rulings and escalations stay.
    """
    campaign = make_campaign(tmp_path, videos=8, double_share=1, scale=Scale.GRADED)
    alone, agree, differ, third, decided, ruled, escalated, others = (f"v{n}" for n in range(8))
    label(campaign, "anna", {agree: 1, differ: 1, third: 1, decided: 0, ruled: 1, others: 0})
    bens = {alone: 1, agree: 1, differ: 0, decided: 1, ruled: 0, escalated: 1}
    ben = label(campaign, "ben", bens)
    label(campaign, "cara", {third: 0, decided: 1, others: 0})
    escalate(campaign, "eva", ruled)
    label(campaign, "ben", {third: 0})
    adjudicate_task(task=task_of(campaign, ruled), label=2, by=lead)
    escalate(campaign, "dora", escalated)
    assert tasks(campaign) == {
        alone: ("open", None, 2, 1, 1),
        agree: ("resolved", 1, 2, 2, 0),
        differ: ("open", None, 3, 2, 1),
        third: ("resolved", 0, 3, 3, 0),
        decided: ("resolved", 1, 3, 3, 0),
        ruled: ("adjudicated", 2, 3, 2, 0),
        escalated: ("escalated", None, 2, 1, 0),
        others: ("resolved", 0, 2, 2, 0),
    }

    done = withdraw_judgments(campaign=campaign, annotator=ben, by=lead, reason="random answers")

    assert tasks(campaign) == {
        alone: ("open", None, 2, 0, 2),
        agree: ("open", None, 2, 1, 1),
        differ: ("open", None, 2, 1, 1),
        third: ("open", None, 3, 2, 1),
        decided: ("open", None, 3, 2, 1),
        ruled: ("adjudicated", 2, 3, 1, 0),
        escalated: ("escalated", None, 2, 0, 0),
        others: ("resolved", 0, 2, 2, 0),
    }
    bens[third] = 0
    assert log(campaign, ben) == [
        (video, value, "withdrawn", None) for video, value in sorted(bens.items())
    ]
    assert (done.judgments, done.tasks, done.ruled) == (7, 5, 2)
    stored = (done.lead, done.annotator, done.reason, done.since)
    assert stored == (lead, ben, "random answers", None)
    assert campaign_progress(campaign).labels == 9


def task_of(campaign: Campaign, video: str) -> JudgmentTask:
    return campaign.tasks.get(pair__video__key=video)


def escalate(campaign: Campaign, name: str, video: str) -> None:
    person = make_annotator(name)
    for held in claim(campaign, person):
        if held.task.pair.video.key == video:
            escalate_task(assignment_id=held.pk, annotator=person, kind=EscalationKind.UNSURE)
    release_assignments(campaign=campaign, annotator=person)


def test_a_conflict_needs_another_label_after_a_withdrawal(lead: User, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, videos=1, double_share=1, labels_max=2, scale=Scale.GRADED)
    for name, value in (("anna", 0), ("ben", 3)):
        label(campaign, name, {"v0": value})
    assert tasks(campaign) == {"v0": ("conflicted", None, 2, 2, 0)}
    ben = Annotator.objects.get(user__username="ben")

    withdraw_judgments(campaign=campaign, annotator=ben, by=lead)

    assert tasks(campaign) == {"v0": ("open", None, 2, 1, 1)}
    label(campaign, "dora", {"v0": 0})
    assert tasks(campaign) == {"v0": ("resolved", 0, 2, 2, 0)}


def test_a_lease_of_another_annotator_keeps_its_slot(lead: User, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, videos=1, double_share=1)
    ben = label(campaign, "ben", {"v0": 1})
    cara = make_annotator("cara")
    (held,) = claim(campaign, cara)
    assert tasks(campaign) == {"v0": ("open", None, 2, 1, 0)}

    withdraw_judgments(campaign=campaign, annotator=ben, by=lead)

    assert tasks(campaign) == {"v0": ("open", None, 2, 0, 1)}
    assert submit(held, 1).judgment.state == JudgmentState.LIVE
    assert tasks(campaign) == {"v0": ("open", None, 2, 1, 1)}


def test_only_answers_since_a_date_are_withdrawn(lead: User, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, videos=3)
    ben = label(campaign, "ben", {"v0": 1, "v1": 1, "v2": 0})
    now = timezone.now()
    for hours, video in ((3, "v0"), (2, "v1"), (1, "v2")):
        Judgment.objects.filter(task__pair__video__key=video).update(
            created_at=now - timedelta(hours=hours)
        )

    done = withdraw_judgments(
        campaign=campaign, annotator=ben, by=lead, since=now - timedelta(hours=2)
    )

    assert (done.judgments, done.since) == (2, now - timedelta(hours=2))
    assert tasks(campaign) == {
        "v0": ("resolved", 1, 1, 1, 0),
        "v1": ("open", None, 1, 0, 1),
        "v2": ("open", None, 1, 0, 1),
    }
    assert Membership.objects.get(annotator=ben).judged == 1


def test_answers_in_other_campaigns_stay(lead: User, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, videos=2)
    ben = label(campaign, "ben", {"v0": 1})
    benchmark = make_benchmark(tmp_path, videos=2, key="other")
    make_run(tmp_path, benchmark, {"c0": ["v0"]})
    build_pool(benchmark=benchmark, depth=1)
    other = open_campaign(benchmark=benchmark, by=OPERATOR)
    label(other, "ben", {"v0": 1})
    withdraw_judgments(campaign=campaign, annotator=ben, by=lead)
    assert log(campaign, ben) == [("v0", 1, "withdrawn", None)]
    assert log(other, ben) == [("v0", 1, "live", 0)]


# --- Effects on the annotator -----------------------------------------------------------------


def test_the_pair_is_assigned_to_others_and_not_to_the_annotator(
    lead: User, tmp_path: Path
) -> None:
    campaign = make_campaign(tmp_path, videos=2)
    ben = label(campaign, "ben", {"v0": 1, "v1": 1})
    withdraw_judgments(campaign=campaign, annotator=ben, by=lead)
    assert claim(campaign, ben) == []
    assert list(
        Assignment.objects.filter(annotator=ben).values_list("state", "slot").distinct()
    ) == [(AssignmentState.RELEASED, None)]
    label(campaign, "anna", {"v0": 0, "v1": 0})
    assert tasks(campaign) == {
        "v0": ("resolved", 0, 1, 1, 0),
        "v1": ("resolved", 0, 1, 1, 0),
    }


def test_later_answers_of_the_annotator_are_surplus(lead: User, tmp_path: Path) -> None:
    """A page that was loaded before the withdrawal sends more answers."""
    campaign = make_campaign(tmp_path, videos=1)
    ben = label(campaign, "ben", {"v0": 1})
    withdraw_judgments(campaign=campaign, annotator=ben, by=lead)
    assignment = Assignment.objects.select_related("annotator__user").get(annotator=ben)
    for _ in range(2):
        assert submit(assignment, 0).judgment.state == JudgmentState.SURPLUS
    assert tasks(campaign) == {"v0": ("open", None, 1, 0, 1)}


def test_the_same_answer_again_returns_the_withdrawn_judgment(lead: User, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, videos=1)
    ben = make_annotator("ben")
    (held,) = claim(campaign, ben)
    key = uuid.uuid4()
    first = submit(held, 1, client_key=key)
    withdraw_judgments(campaign=campaign, annotator=ben, by=lead)
    again = submit(held, 1, client_key=key)
    assert (again.created, again.judgment.pk) == (False, first.judgment.pk)
    assert tasks(campaign) == {"v0": ("open", None, 1, 0, 1)}


def test_the_ceiling_ignores_withdrawn_answers(lead: User, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, videos=4, ceiling=0.5)
    ben = make_annotator("ben")
    for held in claim(campaign, ben):
        submit(held, 1)
    assert Membership.objects.get(annotator=ben).judged == 2
    withdraw_judgments(campaign=campaign, annotator=ben, by=lead)
    assert Membership.objects.get(annotator=ben).judged == 0
    assert len(claim(campaign, ben)) == 2


# --- Permissions and repetition ---------------------------------------------------------------


def test_withdrawing_nothing_is_refused(lead: User, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path)
    ben = label(campaign, "ben", {"v0": 1})
    withdraw_judgments(campaign=campaign, annotator=ben, by=lead)
    before = row_counts()
    with pytest.raises(Conflict) as refused:
        withdraw_judgments(campaign=campaign, annotator=ben, by=lead)
    assert str(refused.value) == "This annotator has no counted answers in this campaign."
    assert row_counts() == before


def test_a_request_is_executed_once(lead: User, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path)
    ben = label(campaign, "ben", {"v0": 1, "v1": 1})
    requested = request_withdrawal(campaign=campaign, annotator=ben, by=lead)
    assert (requested.judgments, requested.done_at) == (0, None)
    assert {state for _, _, state, _ in log(campaign, ben)} == {"live"}
    first = carry_out_withdrawal(withdrawal=Withdrawal.objects.get(), by=OPERATOR)
    again = carry_out_withdrawal(withdrawal=requested, by=OPERATOR)
    assert (first.judgments, again.judgments, again.done_at) == (2, 2, first.done_at)
    assert Membership.objects.get(annotator=ben).judged == 0


def test_withdrawals_that_are_not_allowed_are_refused(lead: User, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path)
    ben = label(campaign, "ben", {"v0": 1})
    before = tasks(campaign)
    rosa = make_user("rosa", Role.RESEARCHER, Role.ANNOTATOR)
    with pytest.raises(NotPermitted):
        withdraw_judgments(campaign=campaign, annotator=ben, by=rosa)
    with pytest.raises(InvalidInput):
        withdraw_judgments(campaign=campaign, annotator=ben, by=lead, reason="x" * 1001)
    imported = add_judgments(tmp_path, campaign.benchmark, [("c0", "v0", "kim", 1)]).campaign
    with pytest.raises(Conflict):
        withdraw_judgments(campaign=imported, annotator=Annotator.objects.get(key="kim"), by=lead)
    assert tasks(campaign) == before
    assert Withdrawal.objects.count() == 0


def test_answers_in_a_closed_campaign_can_be_withdrawn(lead: User, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, videos=1)
    ben = label(campaign, "ben", {"v0": 1})
    set_campaign_state(campaign=campaign, state=CampaignState.CLOSED, by=lead)
    withdraw_judgments(campaign=campaign, annotator=ben, by=lead)
    assert tasks(campaign) == {"v0": ("open", None, 1, 0, 1)}


@pytest.mark.parametrize("username", ["ben", "lena"])
def test_erasing_either_person_empties_the_reason(
    username: str, lead: User, tmp_path: Path
) -> None:
    campaign = make_campaign(tmp_path)
    ben = label(campaign, "ben", {"v0": 1})
    withdraw_judgments(campaign=campaign, annotator=ben, by=lead, reason="Ben guesses")
    delete_personal_texts(person=User.objects.get(username=username))
    assert Withdrawal.objects.get().reason == ""


# --- Comparison with updating tasks one by one ------------------------------------------------


PEOPLE = 4
VIDEOS = 3

answers = st.lists(
    st.tuples(st.integers(0, PEOPLE - 1), st.integers(0, VIDEOS - 1), st.integers(0, 2)),
    max_size=14,
)


@pytest.fixture
def crowd(db: None, tmp_path: Path) -> tuple[Any, list[Annotator], User]:
    benchmark = make_benchmark(tmp_path, captions=1, videos=VIDEOS)
    make_run(tmp_path, benchmark, all_pairs(1, VIDEOS))
    build_pool(benchmark=benchmark, depth=VIDEOS)
    people = [make_annotator(f"person{number}") for number in range(PEOPLE)]
    return benchmark, people, make_user("lena", Role.LEAD)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sequence=answers,
    policy=st.sampled_from([(1, 0.0, 3), (1, 0.67, 3), (2, 1.0, 5), (2, 0.0, 2), (1, 1.0, 4)]),
    held=st.integers(0, 3),
)
def test_withdrawal_equals_updating_tasks_one_by_one(
    crowd: tuple[Any, list[Annotator], User],
    sequence: list[tuple[int, int, int]],
    policy: tuple[int, float, int],
    held: int,
) -> None:
    benchmark, people, lead = crowd
    each, double, most = policy
    with transaction.atomic():
        campaign = open_campaign(
            benchmark=benchmark,
            by=OPERATOR,
            policy=Policy(
                scale=Scale.GRADED, labels_each=each, double_share=double, labels_max=most
            ),
        )
        for person, video, value in sequence:
            judge(campaign, people[person], {f"v{video}": value})
            release_assignments(campaign=campaign, annotator=people[person])
        claim(campaign, people[-1], held)
        annotator = people[0]
        if Judgment.objects.filter(annotator=annotator, state=JudgmentState.LIVE).exists():
            expected = one_by_one(campaign, annotator)
            withdraw_judgments(campaign=campaign, annotator=annotator, by=lead)
            assert tasks(campaign) == expected
        transaction.set_rollback(True)


def one_by_one(campaign: Campaign, annotator: Annotator) -> dict[str, Any]:
    """Return the tasks after the answers are withdrawn one by one. All changes are undone."""
    with transaction.atomic():
        live = Judgment.objects.filter(annotator=annotator, state=JudgmentState.LIVE)
        for judgment in list(live):
            Judgment.objects.filter(pk=judgment.pk).update(state="withdrawn", slot=None)
            Assignment.objects.filter(task=judgment.task, annotator=annotator).update(
                state="released", slot=None
            )
            task = JudgmentTask.objects.select_related("campaign").get(pk=judgment.task_id)
            update_task_state(task, TaskSlots(task))
        found = tasks(campaign)
        transaction.set_rollback(True)
    return found


def test_statements_do_not_grow_with_tasks(lead: User, tmp_path: Path) -> None:
    def statements(campaign: Campaign, name: str) -> int:
        person = make_annotator(name)
        while held := claim(campaign, person):
            for assignment in held:
                submit(assignment, 1)
        with CaptureQueriesContext(connection) as queries:
            withdraw_judgments(campaign=campaign, annotator=person, by=lead)
        return len(queries)

    benchmark = make_benchmark(tmp_path, captions=3, videos=4)
    make_run(tmp_path, benchmark, {"c0": ["v0", "v1"]})
    build_pool(benchmark=benchmark, depth=2)
    few = statements(open_campaign(benchmark=benchmark, by=OPERATOR), "ben")
    make_run(tmp_path, benchmark, all_pairs(3, 4), system="B")
    build_pool(benchmark=benchmark, depth=4)
    assert statements(open_campaign(benchmark=benchmark, by=OPERATOR), "cara") == few


# --- Concurrent requests -----------------------------------------------------------------------


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_withdrawing_while_others_answer(tmp_path: Path) -> None:
    """Withdraw ben's answers while anna fills the second slots and ben corrects his answers."""
    lead = make_user("lena", Role.LEAD)
    campaign = make_campaign(tmp_path, captions=2, videos=6, double_share=1)
    ben, anna = make_annotator("ben"), make_annotator("anna")
    bens = claim(campaign, ben)
    for held in bens:
        submit(held, 1)
    annas = claim(campaign, anna)
    assert (len(bens), len(annas)) == (12, 12)

    at_once(
        lambda: withdraw_judgments(campaign=campaign, annotator=ben, by=lead),
        lambda: [submit(held, 1) for held in annas],
        lambda: [submit(held, 0) for held in bens],
    )

    # An answer that ben sends after the withdrawal is surplus. A correction that he sends before
    # it supersedes his first answer, and is withdrawn.
    states = Judgment.objects.filter(annotator=ben).values_list("state", flat=True)
    assert set(states) <= {"withdrawn", "superseded", "surplus"}
    assert len(states) == 24
    for task in campaign.tasks.all():
        assert (task.state, task.label, task.labels_required) == ("open", None, 2)
        assert (task.labels_live, task.seats_open) == (1, 1)


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_withdrawing_twice_at_the_same_time_is_done_once(tmp_path: Path) -> None:
    lead = make_user("lena", Role.LEAD)
    campaign = make_campaign(tmp_path, videos=3)
    ben = label(campaign, "ben", {"v0": 1, "v1": 1, "v2": 0})

    requested = [request_withdrawal(campaign=campaign, annotator=ben, by=lead) for _ in range(2)]
    at_once(
        *(
            lambda withdrawal=withdrawal: carry_out_withdrawal(withdrawal=withdrawal, by=OPERATOR)
            for withdrawal in [*requested, *requested]
        )
    )

    assert sorted(Withdrawal.objects.values_list("judgments", flat=True)) == [0, 3]
    assert tasks(campaign) == {f"v{number}": ("open", None, 1, 0, 1) for number in range(3)}
    assert Membership.objects.get(annotator=ben).judged == 0


@pytest.mark.parametrize(
    ("judgments", "tasks", "text"),
    [
        (1, 1, "1 answer of <code>a-1</code> is withdrawn. The state of 1 pair is recomputed."),
        (
            1200,
            1036,
            "1,200 answers of <code>a-1</code> are withdrawn. "
            "The states of 1,036 pairs are recomputed.",
        ),
    ],
)
def test_the_job_counts_answers_and_pairs(judgments: int, tasks: int, text: str) -> None:
    made = {"campaign": 1, "pseudonym": "a-1", "judgments": judgments, "tasks": tasks}
    assert answers_withdrawn(Job(), made).text == text
    in_study = answers_withdrawn(Job(), {**made, "item": "video"})
    assert in_study.text == text.replace("pair", "video")

"""Assigning tasks and storing judgments: an example of each rule, and concurrent annotators."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.db.models import F
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from annotation.enums import AssignmentState, CampaignState, JudgmentState, Scale, TaskState
from annotation.models import Annotator, Assignment, Campaign, Judgment, JudgmentTask
from annotation.services import (
    CLAIM_MAX,
    Answer,
    Policy,
    adjudicate_task,
    expire_leases,
    join_campaign,
    open_campaign,
    release_assignments,
    set_campaign_state,
    submit_judgment,
    write_guideline,
)
from annotation.services.claims import _lease, _next_tasks
from annotation.services.slots import LEASE
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.shared.errors import Conflict, InvalidInput, NotFound, NotPermitted
from tests.factories import (
    at_once,
    claim,
    judge,
    make_annotator,
    make_campaign,
    make_user,
    submit,
)
from tests.waiting import SECONDS


def only_task() -> JudgmentTask:
    return JudgmentTask.objects.get()


def state_of(task: JudgmentTask) -> tuple[str, int | None, int, int]:
    """Return state, label, counted labels and open slots."""
    task = JudgmentTask.objects.get(pk=task.pk)
    return task.state, task.label, task.labels_live, task.seats_open


def make_leases_expire(*assignments: Assignment) -> None:
    """Make leases expire without releasing the assignments."""
    Assignment.objects.filter(pk__in=[assignment.pk for assignment in assignments]).update(
        lease_expires_at=F("lease_expires_at") - timedelta(hours=1)
    )


# --- Labels ---------------------------------------------------------------------------------


def test_one_label_decides_if_one_is_planned(db: None, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, videos=1)
    (held,) = claim(campaign, make_annotator("anna"))
    task = only_task()
    assert state_of(task) == (TaskState.OPEN, None, 0, 0)

    done = submit(held, 1)

    assert state_of(task) == (TaskState.RESOLVED, 1, 1, 0)
    assert (done.created, done.judgment.state, done.judgment.slot) == (True, JudgmentState.LIVE, 0)
    assert claim(campaign, make_annotator("ben")) == []


def test_two_labels_that_agree_decide(db: None, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, videos=1, double_share=1)
    anna, ben = make_annotator("anna"), make_annotator("ben")
    judge(campaign, anna, {"v0": 1})
    assert state_of(only_task()) == (TaskState.OPEN, None, 1, 1)
    assert claim(campaign, anna) == []  # the second label is for another annotator

    judge(campaign, ben, {"v0": 1})
    assert state_of(only_task()) == (TaskState.RESOLVED, 1, 2, 0)


def test_a_third_annotator_decides_between_two(db: None, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, videos=1, double_share=1)
    anna, ben, cleo, dora = (make_annotator(name) for name in ("anna", "ben", "cleo", "dora"))
    judge(campaign, anna, {"v0": 1})
    judge(campaign, ben, {"v0": 0})

    assert state_of(only_task()) == (TaskState.OPEN, None, 2, 1)
    assert (claim(campaign, anna), claim(campaign, ben)) == ([], [])
    (tie_break,) = claim(campaign, cleo)
    assert claim(campaign, dora) == []  # the task needs only one more label, which cleo gives

    submit(tie_break, 0)
    assert state_of(only_task()) == (TaskState.RESOLVED, 0, 3, 0)
    assert sorted(Judgment.objects.values_list("label", "state")) == [
        (0, "live"),
        (0, "live"),
        (1, "live"),
    ]


def test_labels_that_agree_on_relevance_are_not_in_conflict(db: None, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, videos=1, labels_each=3, double_share=0, scale=Scale.GRADED)
    for name, label in (("anna", 1), ("ben", 2), ("cleo", 3)):
        judge(campaign, make_annotator(name), {"v0": label})
    assert state_of(only_task()) == (TaskState.RESOLVED, 2, 3, 0)


def test_labels_without_a_majority_are_a_conflict_that_a_lead_decides(
    db: None, tmp_path: Path
) -> None:
    campaign = make_campaign(tmp_path, videos=1, double_share=1, labels_max=2, scale=Scale.GRADED)
    people = [make_annotator(name) for name in ("anna", "ben")]
    lead = make_user("lena", Role.LEAD)
    task = only_task()
    with pytest.raises(Conflict):
        adjudicate_task(task=task, label=2, by=lead)
    for person, label in zip(people, (0, 3), strict=True):
        judge(campaign, person, {"v0": label})

    assert state_of(task) == (TaskState.CONFLICTED, None, 2, 0)
    assert claim(campaign, make_annotator("dora")) == []
    with pytest.raises(NotPermitted):
        adjudicate_task(task=task, label=2, by=make_user("rosa", Role.RESEARCHER, Role.ANNOTATOR))
    with pytest.raises(InvalidInput):
        adjudicate_task(task=task, label=4, by=lead)
    ruling = adjudicate_task(task=task, label=2, by=lead, reason="seen twice")

    assert (ruling.label, ruling.lead, ruling.reason) == (2, lead, "seen twice")
    assert state_of(task) == (TaskState.ADJUDICATED, 2, 2, 0)
    assert sorted(Judgment.objects.values_list("label", "state")) == [
        (0, "live"),
        (3, "live"),
    ]
    with pytest.raises(Conflict):
        adjudicate_task(task=task, label=1, by=lead)
    # Later answers are stored and change nothing.
    late = submit(Assignment.objects.get(annotator=people[0]), 3)
    assert late.judgment.state == JudgmentState.SURPLUS
    assert state_of(task) == (TaskState.ADJUDICATED, 2, 2, 0)


def test_a_correction_supersedes_the_answer_and_can_reopen_the_pair(
    db: None, tmp_path: Path
) -> None:
    campaign = make_campaign(tmp_path, videos=1, double_share=1)
    anna, ben = make_annotator("anna"), make_annotator("ben")
    (first,) = judge(campaign, anna, {"v0": 1})
    judge(campaign, ben, {"v0": 1})
    task = only_task()
    mine = Assignment.objects.get(annotator=anna)

    second = submit(mine, 0).judgment
    assert state_of(task) == (TaskState.OPEN, None, 2, 1)
    third = submit(mine, 1).judgment

    assert state_of(task) == (TaskState.RESOLVED, 1, 2, 0)
    history = Judgment.objects.filter(annotator=anna).order_by("pk")
    assert list(history.values_list("pk", "label", "state", "slot")) == [
        (first.pk, 1, "superseded", None),
        (second.pk, 0, "superseded", None),
        (third.pk, 1, "live", 0),
    ]


def test_the_same_answer_again_is_the_same_judgment(db: None, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, videos=2)
    held, other = claim(campaign, make_annotator("anna"))
    key = uuid.uuid4()
    first = submit(held, 1, client_key=key)
    again = submit(held, 1, client_key=key)

    assert (first.created, again.created, again.judgment) == (True, False, first.judgment)
    for assignment, label in ((held, 0), (other, 1)):
        with pytest.raises(Conflict):
            submit(assignment, label, client_key=key)
    assert list(Judgment.objects.values_list("label", "state")) == [(1, "live")]
    # After a correction, the response to the same request is unchanged.
    submit(held, 0)
    assert submit(held, 1, client_key=key).judgment == first.judgment
    assert [row.label for row in Judgment.objects.filter(state="live")] == [0]


def test_an_answer_is_accepted_only_from_its_annotator_and_on_the_scale(
    db: None, tmp_path: Path
) -> None:
    campaign = make_campaign(tmp_path, videos=1)
    (held,) = claim(campaign, make_annotator("anna"))
    with pytest.raises(NotFound):
        submit_judgment(
            assignment_id=held.pk,
            annotator=make_annotator("ben"),
            answer=Answer(label=1, client_key=uuid.uuid4()),
        )
    for label in (-1, 2):
        with pytest.raises(InvalidInput):
            submit(held, label)
    assert Judgment.objects.count() == 0


def test_judgments_keep_the_guideline_they_were_made_under(db: None, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, videos=2)
    benchmark = campaign.benchmark
    anna = make_annotator("anna")
    judge(campaign, anna, {"v0": 1})
    write_guideline(benchmark=benchmark, by=OPERATOR, text="one")
    judge(campaign, anna, {"v1": 1})
    write_guideline(benchmark=benchmark, by=OPERATOR, text="two")
    submit(Assignment.objects.get(task__pair__video__key="v0"), 0)

    versions = Judgment.objects.order_by("pk").values_list("guideline__version", flat=True)
    assert list(versions) == [None, 1, 2]


def test_a_judgment_is_stored_under_the_guideline_on_the_screen(db: None, tmp_path: Path) -> None:
    """A version that was published after the pair was shown does not change this."""
    campaign = make_campaign(tmp_path, videos=4)
    anna = make_annotator("anna")
    held = claim(campaign, anna)
    for text in ("one", "two", "three"):
        write_guideline(benchmark=campaign.benchmark, by=OPERATOR, text=text)
    versions = [0, 1, 2, 3]
    for assignment, version in zip(held, versions, strict=True):
        submit(assignment, 1, guideline=version)
    # A correction has the version that was shown when it was made.
    submit(held[0], 0, guideline=3)
    stored = Judgment.objects.order_by("pk").values_list("guideline__version", flat=True)
    assert list(stored) == [None, 1, 2, 3, 3]


def test_a_guideline_that_the_campaign_has_not_had_is_refused(db: None, tmp_path: Path) -> None:
    """Version 2 was the newest when the campaign was opened, and 4 was written after its end."""
    first = make_campaign(tmp_path, videos=2)
    benchmark = first.benchmark
    for text in ("one", "two"):
        write_guideline(benchmark=benchmark, by=OPERATOR, text=text)
    lead = make_user("lea", Role.LEAD)
    set_campaign_state(campaign=first, state=CampaignState.CLOSED, by=lead)
    campaign = open_campaign(benchmark=benchmark, by=OPERATOR, policy=Policy(double_share=0))
    write_guideline(benchmark=benchmark, by=OPERATOR, text="three")
    held, _ = claim(campaign, make_annotator("anna"))
    for version in (0, 1, 4):
        with pytest.raises(InvalidInput) as refused:
            submit(held, 1, guideline=version)
        assert str(refused.value) == (
            f"This campaign has not had version {version} of the guidelines."
        )
    assert Judgment.objects.count() == 0
    submit(held, 1, guideline=2)
    assert Judgment.objects.get().guideline.version == 2  # type: ignore[union-attr]

    set_campaign_state(campaign=campaign, state=CampaignState.CLOSED, by=lead)
    write_guideline(benchmark=benchmark, by=OPERATOR, text="four")
    with pytest.raises(InvalidInput):
        submit(held, 0, guideline=4)


# --- Leases ---------------------------------------------------------------------------------


def test_a_claim_returns_held_pairs_and_then_the_next_of_the_queue(
    db: None, tmp_path: Path
) -> None:
    campaign = make_campaign(tmp_path, captions=5, videos=5)
    anna, ben = make_annotator("anna"), make_annotator("ben")
    first = claim(campaign, anna, 3)
    assert [item.task.position for item in first] == [0, 1, 2]
    assert [item.task.position for item in claim(campaign, ben, 2)] == [3, 4]
    submit(first[1], 1)

    assert [item.task.position for item in claim(campaign, anna, 3)] == [0, 2, 5]
    assert [item.task.position for item in claim(campaign, anna, 2)] == [0, 2]
    assert len(claim(campaign, anna, 1000)) == CLAIM_MAX == 20


def test_a_claim_renews_the_leases(db: None, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, videos=1)
    anna = make_annotator("anna")
    (held,) = claim(campaign, anna)
    Assignment.objects.update(lease_expires_at=timezone.now() + timedelta(seconds=30))
    (again,) = claim(campaign, anna)

    assert again.pk == held.pk
    left = again.lease_expires_at - timezone.now()
    assert LEASE - timedelta(minutes=1) < left <= LEASE + timedelta(seconds=5)


def test_an_expired_lease_frees_the_task(db: None, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, videos=1)
    anna, ben = make_annotator("anna"), make_annotator("ben")
    (hers,) = claim(campaign, anna)
    assert (expire_leases(), claim(campaign, ben)) == (0, [])
    make_leases_expire(hers)

    (his,) = claim(campaign, ben)  # the claim itself detects the expired lease
    assert (his.task_id, his.slot) == (hers.task_id, 0)
    hers.refresh_from_db()
    assert (hers.state, hers.slot) == (AssignmentState.EXPIRED, None)

    make_leases_expire(his)
    assert (expire_leases(), expire_leases()) == (1, 0)
    (again,) = claim(campaign, anna)
    assert (again.pk, again.state, again.slot) == (hers.pk, AssignmentState.HELD, 0)


def test_a_late_answer_counts_while_the_slot_is_open(db: None, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, videos=1)
    (held,) = claim(campaign, make_annotator("anna"))
    make_leases_expire(held)
    expire_leases()

    done = submit(held, 1)
    assert done.judgment.state == JudgmentState.LIVE
    assert state_of(only_task()) == (TaskState.RESOLVED, 1, 1, 0)


def test_a_late_answer_is_kept_as_surplus_once_the_slot_is_filled(db: None, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, videos=1)
    anna, ben = make_annotator("anna"), make_annotator("ben")
    (hers,) = claim(campaign, anna)
    make_leases_expire(hers)
    judge(campaign, ben, {"v0": 0})
    late = submit(hers, 1)

    assert late.created
    assert (late.judgment.state, late.judgment.slot) == (JudgmentState.SURPLUS, None)
    assert state_of(only_task()) == (TaskState.RESOLVED, 0, 1, 0)
    hers.refresh_from_db()
    assert (hers.state, hers.slot) == (AssignmentState.DONE, None)


def test_after_expiry_only_the_new_holder_can_release_or_renew(db: None, tmp_path: Path) -> None:
    """Requests of the old holder change nothing, and the pair returns to the queue once."""
    campaign = make_campaign(tmp_path, videos=1)
    anna, ben, cara, dora = map(make_annotator, ("anna", "ben", "cara", "dora"))
    (hers,) = claim(campaign, anna)
    make_leases_expire(hers)
    (his,) = claim(campaign, ben)
    before = Assignment.objects.values_list().get(pk=his.pk)

    assert release_assignments(campaign=campaign, annotator=anna, assignment_id=hers.pk) == 0
    assert release_assignments(campaign=campaign, annotator=anna) == 0
    assert claim(campaign, anna) == []
    assert Assignment.objects.values_list().get(pk=his.pk) == before
    assert Assignment.objects.get(pk=hers.pk).state == AssignmentState.EXPIRED

    assert release_assignments(campaign=campaign, annotator=ben, assignment_id=his.pk) == 1
    assert release_assignments(campaign=campaign, annotator=ben, assignment_id=his.pk) == 0
    assert len(claim(campaign, cara)) == 1
    assert claim(campaign, dora) == []
    assert Judgment.objects.count() == 0
    assert state_of(only_task()) == (TaskState.OPEN, None, 0, 0)


def test_a_late_answer_does_not_take_the_slot_of_its_new_holder(db: None, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, videos=1)
    anna, ben = make_annotator("anna"), make_annotator("ben")
    (hers,) = claim(campaign, anna)
    make_leases_expire(hers)
    (his,) = claim(campaign, ben)

    assert submit(hers, 1).judgment.state == JudgmentState.SURPLUS
    assert submit(his, 0).judgment.state == JudgmentState.LIVE
    assert state_of(only_task()) == (TaskState.RESOLVED, 0, 1, 0)


def test_a_released_pair_is_assigned_to_another_annotator(db: None, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, videos=2)
    anna, ben = make_annotator("anna"), make_annotator("ben")
    first, second = claim(campaign, anna)
    release = {"campaign": campaign, "annotator": anna}
    assert release_assignments(**release, assignment_id=first.pk) == 1
    assert release_assignments(**release, assignment_id=first.pk) == 0

    assert [item.pk for item in claim(campaign, anna)] == [second.pk]
    assert [item.task_id for item in claim(campaign, ben)] == [first.task_id]
    # Releasing all pairs ends a work session: the same annotator may get them again.
    assert release_assignments(**release) == 1
    assert [item.pk for item in claim(campaign, anna)] == [second.pk]


def test_pairs_of_another_annotator_cannot_be_released(db: None, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, videos=1)
    (hers,) = claim(campaign, make_annotator("anna"))
    ben = make_annotator("ben")
    assert release_assignments(campaign=campaign, annotator=ben, assignment_id=hers.pk) == 0
    assert release_assignments(campaign=campaign, annotator=ben) == 0
    hers.refresh_from_db()
    assert hers.state == AssignmentState.HELD


def test_answers_to_a_closed_campaign_are_stored_and_not_counted(db: None, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, videos=2)
    first, second = claim(campaign, make_annotator("anna"))
    lead = make_user("lena", Role.LEAD)
    with pytest.raises(NotPermitted):
        set_campaign_state(
            campaign=campaign,
            state=CampaignState.CLOSED,
            by=make_user("rosa", Role.RESEARCHER, Role.ANNOTATOR),
        )
    set_campaign_state(campaign=campaign, state=CampaignState.PAUSED, by=lead)
    assert submit(first, 1).judgment.state == JudgmentState.LIVE
    set_campaign_state(campaign=campaign, state=CampaignState.CLOSED, by=lead)
    assert submit(second, 1).judgment.state == JudgmentState.SURPLUS
    assert submit(first, 0).judgment.state == JudgmentState.SURPLUS

    assert [state_of(item.task) for item in (first, second)] == [
        (TaskState.RESOLVED, 1, 1, 0),
        (TaskState.OPEN, None, 0, 1),
    ]
    with pytest.raises(Conflict):
        set_campaign_state(campaign=campaign, state=CampaignState.OPEN, by=lead)


@pytest.mark.postgresql
def test_database_queries_of_a_claim_do_not_grow_with_pairs(
    db: None, tmp_path: Path, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    campaign = make_campaign(tmp_path, captions=4, videos=10, double_share=0.5)
    one, many = make_annotator("anna"), make_annotator("ben")
    for person in (one, many):
        join_campaign(campaign=campaign, annotator=person)
    # PostgreSQL gets the two last updates together.
    queries = 9 if connection.vendor == "postgresql" else 10
    with django_assert_num_queries(queries):
        claim(campaign, one, 1)
    with django_assert_num_queries(queries):
        items = claim(campaign, many, 20)
        texts = {item.task.pair.query.text + item.task.pair.video.key for item in items}
    assert len(texts) == 20


# --- At the same time -------------------------------------------------------------------------


def claims(campaign: Campaign, people: Sequence[Annotator]) -> list[Callable[[], int]]:
    return [lambda person=person: len(claim(campaign, person, 1)) for person in people]


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_one_open_task_is_assigned_to_only_one_of_two_annotators(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, captions=10, videos=20)
    people = [make_annotator("anna"), make_annotator("ben")]
    tasks = JudgmentTask.objects.filter(campaign=campaign)
    queue = list(tasks.order_by("position").values_list("pk", flat=True))
    tasks.update(seats_open=0)
    opened = iter(queue)
    ready = threading.Barrier(2, action=lambda: tasks.filter(pk=next(opened)).update(seats_open=1))
    done = threading.Barrier(2)

    def claim_in_rounds(person: Annotator) -> list[int]:
        got = []
        try:
            for number in range(len(queue)):
                ready.wait(SECONDS)
                # The two take turns at starting a little later, so that both get some tasks.
                if number % 2 == people.index(person):
                    time.sleep(0.0005)
                held = claim(campaign, person, 1)
                done.wait(SECONDS)
                got.append(held[0].task_id if held else 0)
                if held:
                    submit(held[0], 1)
        finally:
            # If one of the two fails, the other must not wait for it forever.
            ready.abort()
            connection.close()
        return got

    hers, his = at_once(*[lambda person=person: claim_in_rounds(person) for person in people])
    assert [max(pair) for pair in zip(hers, his, strict=True)] == queue
    assert [min(pair) for pair in zip(hers, his, strict=True)] == [0] * 200
    # Both got some tasks, so they did compete.
    assert min(len(set(hers)), len(set(his))) > 20
    leases = Assignment.objects.values_list("task", "slot", "state").order_by("task__position")
    assert list(leases) == [(task, 0, AssignmentState.DONE) for task in queue]
    assert set(tasks.values_list("state", "label", "labels_live", "seats_open")) == {
        (TaskState.RESOLVED, 1, 1, 0)
    }


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_tabs_of_one_person_never_hold_two_slots_of_a_task(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, captions=10, videos=5, double_share=1)
    anna = make_annotator("anna")
    for _ in range(20):
        at_once(*claims(campaign, [anna] * 3))
        tasks = JudgmentTask.objects.filter(assignments__state=AssignmentState.HELD)
        assert set(tasks.values_list("seats_open", flat=True)) == {1}
        release_assignments(campaign=campaign, annotator=anna)


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_with_two_free_slots_both_of_two_people_get_one(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, captions=1, videos=1, double_share=1)
    people = [make_annotator("anna"), make_annotator("ben")]
    for _ in range(30):
        assert at_once(*claims(campaign, people)) == [1, 1]
        held = Assignment.objects.filter(state=AssignmentState.HELD).order_by("slot")
        assert list(held.values_list("task", "slot")) == [(only_task().pk, n) for n in (0, 1)]
        for person in people:
            release_assignments(campaign=campaign, annotator=person)


def test_a_task_that_another_tab_has_just_claimed_is_skipped(db: None, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, videos=1, double_share=1)
    anna = make_annotator("anna")
    membership = join_campaign(campaign=campaign, annotator=anna)
    found = _next_tasks(campaign, membership, 1)
    (held,) = claim(campaign, anna)
    _lease(found, membership)

    assert [(row.pk, row.slot) for row in Assignment.objects.all()] == [(held.pk, 0)]
    assert state_of(only_task()) == (TaskState.OPEN, None, 0, 1)


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_the_same_answer_eight_times_at_the_same_time_is_one_judgment(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, captions=1, videos=5)
    for held in claim(campaign, make_annotator("anna")):
        key = uuid.uuid4()
        done = at_once(*[lambda held=held, key=key: submit(held, 1, client_key=key)] * 8)

        (stored,) = Judgment.objects.filter(task=held.task)
        assert {result.judgment.pk for result in done} == {stored.pk}
        assert [result.created for result in done].count(True) == 1
        assert state_of(held.task) == (TaskState.RESOLVED, 1, 1, 0)


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_two_answers_to_one_pair_at_the_same_time_are_both_counted(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, captions=5, videos=4, double_share=1)
    people = [make_annotator("anna"), make_annotator("ben")]
    pairs = zip(*(claim(campaign, person) for person in people), strict=True)
    for number, (hers, his) in enumerate(pairs):
        assert hers.task_id == his.task_id
        agree = number % 2
        at_once(lambda: submit(hers, 1), lambda: submit(his, agree))  # noqa: B023
        expected = (TaskState.RESOLVED, 1, 2, 0) if agree else (TaskState.OPEN, None, 2, 1)
        assert state_of(hers.task) == expected


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_answering_and_claiming_at_the_same_time_does_not_deadlock(tmp_path: Path) -> None:
    """The room does this: it sends an answer while it claims the next pairs."""
    campaign = make_campaign(tmp_path, captions=10, videos=8)
    anna = make_annotator("anna")
    for held in claim(campaign, anna):
        at_once(lambda held=held: submit(held, 1), lambda: claim(campaign, anna))
    assert Judgment.objects.filter(state=JudgmentState.LIVE).count() == 20
    assert anna.memberships.get().judged == 20

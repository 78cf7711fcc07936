"""Training: the queue, the correct answers, the entry and the accuracy requirement."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import transaction
from django.test import Client
from rest_framework.test import APIClient

from annotation.enums import CampaignState, EscalationKind, MembershipState, Order
from annotation.models import (
    Annotator,
    Assignment,
    Campaign,
    Judgment,
    JudgmentTask,
    Membership,
    ReviewComment,
)
from annotation.selectors.campaigns import campaigns_of
from annotation.selectors.members import accesses_for
from annotation.selectors.training import trainees, training_log
from annotation.services import (
    Policy,
    add_members,
    admit_annotator,
    admit_member,
    comment_on_judgment,
    escalate_task,
    mark_comments_read,
    open_campaign,
    open_training,
    pause_member,
    resume_member,
    set_campaign_state,
)
from annotation.services.claims import _lease_next
from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.shared.errors import Conflict, InvalidInput, NotPermitted
from hearth.shared.numbers import PERCENT_SIGN
from tests.factories import (
    PASSWORD,
    assignment_of,
    claim,
    make_annotator,
    make_campaign_with_gold,
    make_training,
    make_user,
    submit,
    train,
)


@pytest.fixture
def training(db: None, tmp_path: Path) -> Campaign:
    return make_training(tmp_path, items=8)


FIRST_TRAIN = "Train first: 2 of your last 3 answers in training must be correct."


def is_admitted(campaign: Campaign, annotator: Annotator) -> bool:
    try:
        return claim(campaign, annotator, 1) != []
    except NotPermitted as refused:
        if str(refused) != FIRST_TRAIN:
            raise
        return False


# --- The training queue ---------------------------------------------------------------------


def test_all_annotators_get_each_item_once_in_the_same_order(training: Campaign) -> None:
    orders = []
    for name in ("anna", "ben"):
        answered = train(training, make_annotator(name), "rwrwrwrw")
        orders.append([assignment.task_id for assignment in answered])
        assert claim(training, answered[0].annotator) == []
    assert orders[0] == orders[1]
    assert len(set(orders[0])) == 8


def test_training_is_not_listed_with_other_campaigns(training: Campaign, gated: Campaign) -> None:
    assert list(campaigns_of(training.benchmark)) == [gated]
    client = Client()
    client.force_login(make_user("lea", Role.LEAD))
    page = client.get("/benchmarks/tiny/campaigns/").content.decode()
    assert training.name not in page
    assert client.get(f"/campaigns/{training.pk}/")["Location"] == "/benchmarks/tiny/training/"
    assert "1 open campaign\n" in client.get("/").content.decode()


def test_the_correct_answer_is_shown_after_the_answer(training: Campaign) -> None:
    make_user("anna", Role.ANNOTATOR)
    browser = APIClient()
    assert browser.login(username="anna", password=PASSWORD)
    claimed = browser.post(f"/api/v1/campaigns/{training.pk}/claim/", {"count": 2}, format="json")
    first, second = claimed.json()["items"]
    assert set(first) == {"assignment", "caption", "video", "poster"}
    assert "because" not in claimed.content.decode()

    gold = assignment_of(first).task.gold
    assert gold is not None
    answer = {"assignment": first["assignment"], "label": 1, "client_key": str(uuid.uuid4())}
    stored = browser.post("/api/v1/judgments/", answer, format="json")
    assert (stored.status_code, stored.json()["feedback"]) == (
        201,
        {
            "is_right": gold.is_relevant,
            "relevant": gold.is_relevant,
            "explanation": gold.explanation,
        },
    )
    again = browser.post("/api/v1/judgments/", answer, format="json")
    assert (again.status_code, again.json()) == (200, stored.json())
    # An annotator who has seen the correct answer can neither correct their own answer nor escalate
    # the pair.
    changed = {**answer, "client_key": str(uuid.uuid4()), "label": 0, "corrects": True}
    refused = browser.post("/api/v1/judgments/", changed, format="json")
    assert (refused.status_code, refused.json()) == (
        409,
        {"detail": "You have answered this pair before. That answer counts."},
    )
    escalation = {"assignment": first["assignment"], "kind": "unsure", "reason": "hm"}
    refused = browser.post("/api/v1/escalations/", escalation, format="json")
    assert (refused.status_code, refused.json()) == (
        409,
        {"detail": "You have answered this pair, and its correct answer has been shown."},
    )
    assert list(Judgment.objects.values_list("state", "is_right")) == [("gold", gold.is_relevant)]
    assert second["assignment"] != first["assignment"]


def test_an_escalated_item_counts_as_neither_correct_nor_wrong(
    training: Campaign, gated: Campaign, anna: Annotator
) -> None:
    (held,) = claim(training, anna, 1)
    escalate_task(assignment_id=held.pk, annotator=anna, kind=EscalationKind.UNSURE, reason="dark")
    assert submit(held, 1).judgment.state == "surplus"
    assert trainees(training.benchmark)[0].answers == []


# --- The entry requirement ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outcome", "opens"),
    [
        ("", False),
        ("rr", False),
        ("rwr", True),
        ("rww", False),
        ("wwwrr", True),
        ("rrrww", False),
    ],
)
def test_an_annotator_is_admitted_at_exactly_the_required_share(
    training: Campaign, gated: Campaign, anna: Annotator, outcome: str, opens: bool
) -> None:
    train(training, anna, outcome)
    assert is_admitted(gated, anna) is opens
    (access,) = accesses_for(anna, [gated])
    assert access.is_open is opens
    admitted = Membership.objects.get(campaign=gated).admitted_at
    assert (admitted is not None) is opens


def test_an_admitted_annotator_stays_admitted(
    training: Campaign, gated: Campaign, anna: Annotator
) -> None:
    train(training, anna, "rrr")
    assert is_admitted(gated, anna)
    train(training, anna, "www")
    assert is_admitted(gated, anna)


def test_own_training_answers_of_all_queues_of_the_benchmark_count(
    training: Campaign, gated: Campaign, anna: Annotator, lead: User
) -> None:
    train(training, anna, "rr")
    train(training, make_annotator("ben"), "rrr")
    assert not is_admitted(gated, anna)
    set_campaign_state(campaign=training, state=CampaignState.CLOSED, by=lead)
    again = open_training(benchmark=training.benchmark, by=lead)
    train(again, anna, "r")
    assert is_admitted(gated, anna)


def test_a_lead_admits_an_annotator(
    training: Campaign, gated: Campaign, anna: Annotator, lead: User
) -> None:
    train(training, anna, "www")
    assert not is_admitted(gated, anna)
    with pytest.raises(NotPermitted):
        admit_annotator(campaign=gated, annotator=anna, by=make_user("rosa", Role.RESEARCHER))
    membership = admit_annotator(campaign=gated, annotator=anna, by=lead)
    assert (membership.admitted_by, membership.admitted_at is not None) == (lead, True)
    assert is_admitted(gated, anna)
    # A lead can also admit an annotator who has not opened the campaign yet.
    ben = make_annotator("ben")
    admit_annotator(campaign=gated, annotator=ben, by=lead)
    assert is_admitted(gated, ben)
    assert Membership.objects.filter(campaign=gated).count() == 2
    cleo = Membership.objects.create(campaign=gated, annotator=make_annotator("cleo"))
    admit_member(membership=cleo, by=lead)
    assert is_admitted(gated, cleo.annotator)


def test_only_added_annotators_can_judge(training: Campaign, anna: Annotator, lead: User) -> None:
    policy = Policy(joining="chosen", double_share=0)
    campaign = open_campaign(benchmark=training.benchmark, by=OPERATOR, policy=policy)
    with pytest.raises(NotPermitted) as refused:
        claim(campaign, anna)
    assert str(refused.value) == "Only annotators that a lead adds can judge here."
    assert accesses_for(anna, [campaign]) == accesses_for(None, [campaign]) == []
    assert add_members(campaign=campaign, annotators=[anna], by=lead) == 1
    assert add_members(campaign=campaign, annotators=[anna], by=lead) == 0
    assert len(claim(campaign, anna)) > 0
    assert [access.is_open for access in accesses_for(anna, [campaign])] == [True]


# --- The accuracy requirement ---------------------------------------------------------------


@pytest.fixture
def watched(db: None, tmp_path: Path) -> Campaign:
    """A campaign that requires three correct answers to the last four control pairs.

    About half of the assigned tasks are control pairs.
    """
    return make_campaign_with_gold(
        tmp_path,
        captions=8,
        videos=5,
        gold=30,
        gold_share=0.5,
        gold_bar=0.75,
        gold_last=4,
        order=Order.SHUFFLED,
    )


def answer_gold(campaign: Campaign, annotator: Annotator, outcome: str) -> list[Judgment]:
    """Answer a gold item for each letter, correctly for "r", and judge the pairs in between."""
    answered: list[Judgment] = []
    while len(answered) < len(outcome):
        (held, *_) = claim(campaign, annotator, 4)
        if held.task.gold is None:
            submit(held, 1)
            continue
        right = outcome[len(answered)] == "r"
        correct = held.task.gold.is_relevant
        answered.append(submit(held, int(correct if right else not correct)).judgment)
    return answered


REASON = (
    "You are paused because 2 of your last 4 control pairs were correct. This campaign requires 3. "
    "A lead can see this and will contact you."
)


@pytest.mark.parametrize(
    ("outcome", "paused"),
    [("www", False), ("rrrw", False), ("rwrw", True), ("rrrrww", True), ("wrrrrw", False)],
)
def test_an_annotator_below_the_accuracy_requirement_is_paused(
    watched: Campaign, anna: Annotator, outcome: str, paused: bool
) -> None:
    answer_gold(watched, anna, outcome)
    membership = Membership.objects.get()
    assert membership.state == ("paused" if paused else "active")
    if paused:
        assert membership.pause_message == REASON
        assert (membership.pause_cause, membership.reason) == ("accuracy", "")
        with pytest.raises(NotPermitted) as refused:
            claim(watched, anna)
        assert str(refused.value) == REASON
    else:
        assert claim(watched, anna) != []


def test_assignments_of_a_paused_annotator_are_released(watched: Campaign, anna: Annotator) -> None:
    answer_gold(watched, anna, "rrr")
    held = claim(watched, anna, 20)
    gold = [assignment for assignment in held if assignment.task.gold is not None]
    pairs = [assignment for assignment in held if assignment.task.gold is None]
    assert len(gold) > 2
    for assignment in gold[:2]:
        submit(assignment, 1 - int(assignment.task.gold.is_relevant))
    assert Membership.objects.get().state == MembershipState.PAUSED
    assert not Assignment.objects.filter(state="held").exists()
    open_pairs = JudgmentTask.objects.filter(pk__in=[pair.task_id for pair in pairs])
    assert set(open_pairs.values_list("seats_open", flat=True)) == {1}
    # An answer that was already sent is stored and does not count.
    assert submit(pairs[0], 1).judgment.state == "surplus"
    assert submit(gold[2], 1).judgment.state == "surplus"
    assert pairs[0].task_id in {
        assignment.task_id for assignment in claim(watched, make_annotator("ben"), 20)
    }


def test_an_annotator_paused_during_a_claim_gets_nothing(
    watched: Campaign, anna: Annotator, lead: User
) -> None:
    claim(watched, anna, 1)
    member = Membership.objects.get()
    pause_member(membership=Membership.objects.get(), reason="a break", by=lead)
    assert member.state == MembershipState.ACTIVE
    with transaction.atomic():
        assert _lease_next(watched, member, 5) == []


def test_a_paused_annotator_can_correct_a_counted_answer(
    watched: Campaign, anna: Annotator, lead: User
) -> None:
    pair = next(
        assignment for assignment in claim(watched, anna, 10) if assignment.task.gold is None
    )
    submit(pair, 1)
    pause_member(membership=Membership.objects.get(), reason="a break", by=lead)
    assert submit(pair, 0).judgment.state == "live"


def test_answers_before_resuming_do_not_count_again(
    watched: Campaign, anna: Annotator, lead: User
) -> None:
    answer_gold(watched, anna, "rwrw")
    membership = Membership.objects.get()
    with pytest.raises(NotPermitted):
        resume_member(membership=membership, by=make_user("rosa", Role.RESEARCHER))
    resume_member(membership=membership, by=lead)
    # There are three wrong answers, but fewer than four answers since the annotator resumed.
    answer_gold(watched, anna, "www")
    membership.refresh_from_db()
    assert (membership.state, membership.reason) == ("active", "")
    answer_gold(watched, anna, "r")
    membership.refresh_from_db()
    assert membership.state == "paused"


def test_an_automatic_pause_keeps_the_reason_of_a_lead(
    watched: Campaign, anna: Annotator, lead: User
) -> None:
    first, second = answer_gold(watched, anna, "rwrr")[:2]
    membership = Membership.objects.get()
    for reason in ("", "   ", "x" * 1001):
        with pytest.raises(InvalidInput):
            pause_member(membership=membership, reason=reason, by=lead)
    with pytest.raises(NotPermitted):
        pause_member(membership=membership, reason="no", by=make_user("rosa", Role.RESEARCHER))
    pause_member(membership=membership, reason="  Let us talk.  ", by=lead)
    # After this correction, two of the four answers are wrong.
    submit(Assignment.objects.get(task=first.task, annotator=anna), 1 - first.label)
    membership.refresh_from_db()
    assert (membership.state, membership.reason) == ("paused", "Let us talk.")
    assert second.is_right is False


def test_without_an_accuracy_requirement_no_one_is_paused(
    db: None, tmp_path: Path, anna: Annotator
) -> None:
    campaign = make_campaign_with_gold(
        tmp_path, captions=8, videos=5, gold=20, gold_share=0.5, order=Order.SHUFFLED
    )
    answer_gold(campaign, anna, "w" * 10)
    assert Membership.objects.get().state == "active"


# --- Comments -------------------------------------------------------------------------------


def test_leads_can_comment_only_on_training_answers(
    training: Campaign, gated: Campaign, anna: Annotator, lead: User
) -> None:
    answer, *_ = train(training, anna, "wrr")
    comment = comment_on_judgment(judgment=answer, text="  Look again at the dog.\n", by=lead)
    assert (comment.text, comment.lead, comment.read_at) == ("Look again at the dog.", lead, None)
    for text in ("", " \n", "x" * 2001):
        with pytest.raises(InvalidInput):
            comment_on_judgment(judgment=answer, text=text, by=lead)
    with pytest.raises(NotPermitted):
        comment_on_judgment(judgment=answer, text="x", by=make_user("rosa", Role.RESEARCHER))
    (held, *_) = claim(gated, anna)
    with pytest.raises(Conflict):
        comment_on_judgment(judgment=submit(held, 1).judgment, text="x", by=lead)
    assert mark_comments_read(annotator=make_annotator("ben")) == 0
    assert mark_comments_read(annotator=anna) == 1
    assert ReviewComment.objects.get().read_at is not None


# --- Selectors for leads --------------------------------------------------------------------


def test_the_list_of_annotators_in_training(
    training: Campaign,
    gated: Campaign,
    anna: Annotator,
    lead: User,
    django_assert_max_num_queries: Callable[[int], object],
) -> None:
    wrong, *_ = train(training, anna, "wwrr")
    comment_on_judgment(judgment=wrong, text="why", by=lead)
    ben, cleo = make_annotator("ben"), make_annotator("cleo")
    train(training, ben, "w")
    claim(training, cleo, 1)
    is_admitted(gated, anna)

    with django_assert_max_num_queries(5):
        found = trainees(training.benchmark)
    assert [
        (
            trainee.annotator,
            trainee.answers,
            trainee.percent,
            trainee.recent,
            trainee.uncommented,
            trainee.unread,
            trainee.opened,
            trainee.last_at is not None,
        )
        for trainee in found
    ] == [
        (ben, [False], f"0.0{PERCENT_SIGN}", "0 of 1", 1, 0, [], True),
        (anna, [True, True, False, False], f"50.0{PERCENT_SIGN}", "2 of 3", 1, 1, [gated], True),
        (cleo, [], "–", "–", 0, 0, [], False),
    ]
    assert [trainee.annotator for trainee in trainees(training.benchmark, only=ben.pk)] == [ben]


def test_the_answers_of_an_annotator(
    training: Campaign,
    anna: Annotator,
    lead: User,
    django_assert_num_queries: Callable[[int], object],
) -> None:
    answers = train(training, anna, "wrw")
    comment_on_judgment(judgment=answers[0], text="why", by=lead)
    with django_assert_num_queries(3):
        log = [
            (
                answer.pk,
                answer.is_right,
                answer.is_commented,
                [c.text for c in answer.comments.all()],
                answer.task.query.text,
            )
            for answer in training_log(training.benchmark, anna)
        ]
    assert [row[:4] for row in log] == [
        (answers[2].pk, False, False, []),
        (answers[1].pk, True, False, []),
        (answers[0].pk, False, True, ["why"]),
    ]

"""Pairs that an annotator escalates instead of judging them."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from annotation.enums import CampaignState, EscalationKind
from annotation.models import Annotator, Assignment, Campaign, Escalation, Judgment
from annotation.selectors.me import own_work
from annotation.services import (
    adjudicate_task,
    escalate_task,
    exclude_task,
    expire_leases,
    reopen_task,
    set_campaign_state,
    withdraw_escalation,
)
from evaluation.release.exports import open_export
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.shared.errors import Conflict, NotFound
from tests.factories import (
    claim,
    make_annotator,
    make_campaign,
    make_campaign_with_gold,
    make_user,
    submit,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return make_campaign(tmp_path, captions=1, videos=1, double_share=1)


def state_of(campaign: Campaign) -> tuple[str, int, int, int | None]:
    task = campaign.tasks.get()
    return task.state, task.seats_open, task.labels_live, task.label


@pytest.mark.parametrize(
    ("kind", "state"),
    [(EscalationKind.UNSURE, "escalated"), (EscalationKind.CANNOT_PLAY, "unplayable")],
)
def test_escalated_pair_leaves_the_queue_and_keeps_its_labels(
    campaign: Campaign, kind: EscalationKind, state: str
) -> None:
    anna, ben, cara = map(make_annotator, ("anna", "ben", "cara"))
    submit(claim(campaign, anna)[0], 1)
    (held,) = claim(campaign, ben)

    escalate_task(assignment_id=held.pk, annotator=ben, kind=kind, reason="too dark")

    assert state_of(campaign) == (state, 0, 1, None)
    assert claim(campaign, ben) == []
    assert claim(campaign, cara) == []


def test_escalating_twice_is_one_escalation(campaign: Campaign) -> None:
    anna = make_annotator("anna")
    (held,) = claim(campaign, anna)
    for _ in range(2):
        escalate_task(assignment_id=held.pk, annotator=anna, kind=EscalationKind.UNSURE)
    assert Escalation.objects.count() == 1


def test_answer_after_escalation_is_kept_but_not_counted(campaign: Campaign) -> None:
    anna, ben = make_annotator("anna"), make_annotator("ben")
    (annas,), (bens,) = claim(campaign, anna), claim(campaign, ben)
    escalate_task(assignment_id=annas.pk, annotator=anna, kind=EscalationKind.CANNOT_PLAY)
    assert submit(bens, 1).judgment.state == "surplus"
    assert state_of(campaign) == ("unplayable", 0, 0, None)


def test_a_late_report_of_a_broken_video_takes_effect_without_a_label(campaign: Campaign) -> None:
    """The pair leaves the queue once, and returns once when a lead reopens it."""
    anna, ben, cara = map(make_annotator, ("anna", "ben", "cara"))
    (annas,) = claim(campaign, anna)
    Assignment.objects.update(lease_expires_at=timezone.now() - timedelta(hours=1))
    expire_leases()
    for _ in range(2):
        escalate_task(assignment_id=annas.pk, annotator=anna, kind=EscalationKind.CANNOT_PLAY)
    assert state_of(campaign) == ("unplayable", 0, 0, None)
    assert (Escalation.objects.count(), Judgment.objects.count()) == (1, 0)
    assert claim(campaign, ben) == []

    lead = make_user("lea", Role.LEAD)
    reopen_task(task=campaign.tasks.get(), by=lead)
    with pytest.raises(Conflict):
        reopen_task(task=campaign.tasks.get(), by=lead)
    assert state_of(campaign) == ("open", 2, 0, None)
    assert [len(claim(campaign, person)) for person in (ben, cara, ben)] == [1, 1, 1]
    assert state_of(campaign) == ("open", 0, 0, None)


def test_lead_rules_on_an_escalated_pair(campaign: Campaign) -> None:
    anna = make_annotator("anna")
    (held,) = claim(campaign, anna)
    escalate_task(assignment_id=held.pk, annotator=anna, kind=EscalationKind.UNSURE)
    adjudicate_task(task=campaign.tasks.get(), label=1, by=make_user("lea", Role.LEAD))
    assert state_of(campaign) == ("adjudicated", 0, 0, 1)


def test_another_persons_pair_cannot_be_escalated(campaign: Campaign) -> None:
    anna, ben = make_annotator("anna"), make_annotator("ben")
    (held,) = claim(campaign, anna)
    with pytest.raises(NotFound):
        escalate_task(assignment_id=held.pk, annotator=ben, kind=EscalationKind.UNSURE)
    assert state_of(campaign) == ("open", 1, 0, None)


def test_escalating_an_answered_pair_supersedes_the_answer(campaign: Campaign) -> None:
    anna, ben = make_annotator("anna"), make_annotator("ben")
    (annas,), (bens,) = claim(campaign, anna), claim(campaign, ben)
    submit(annas, 1)
    submit(bens, 1)
    assert state_of(campaign) == ("resolved", 0, 2, 1)

    escalate_task(assignment_id=annas.pk, annotator=anna, kind=EscalationKind.UNSURE)

    assert state_of(campaign) == ("escalated", 0, 1, None)
    states = Judgment.objects.order_by("pk").values_list("annotator", "state")
    assert list(states) == [(anna.pk, "superseded"), (ben.pk, "live")]
    assert [work_of(annotator) for annotator in (anna, ben)] == [(0, 0), (1, 1)]


def work_of(annotator: Annotator) -> tuple[int, int]:
    """Return the numbers of pairs that an annotator has judged in total, and today."""
    work = own_work(annotator, timezone.now() - timedelta(hours=1))
    return work.pairs, work.pairs_today


def test_a_ruling_on_a_pair_without_labels_is_published_for_only_that_pair(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, captions=1, videos=3)
    benchmark = campaign.benchmark
    anna = make_annotator("anna")
    held = {a.task.pair.video.key: a for a in claim(campaign, anna)}
    submit(held["v2"], 0)
    escalate_task(assignment_id=held["v1"].pk, annotator=anna, kind=EscalationKind.UNSURE)
    adjudicate_task(task=held["v1"].task, label=1, by=make_user("lea", Role.LEAD))

    label_set = publish_label_set(benchmark=benchmark, by=OPERATOR)

    lines = b"".join(open_export(label_set, "csv")).decode().splitlines()
    assert lines[1:] == ["c0,v1,1,adjudicated,0,0", "c0,v2,0,majority,1,0"]
    fire = json.loads(b"".join(open_export(label_set, "fire")))
    labels = [(a["video_id"], a["label"], a["annotator_labels"]) for a in fire["annotations"]]
    assert labels == [("v1", "relevant", []), ("v2", "irrelevant", ["irrelevant"])]


# --- Withdrawing an escalation ---------------------------------------------------------------


@pytest.mark.parametrize("kind", EscalationKind)
def test_a_withdrawn_escalation_returns_the_pair_to_its_annotator(
    campaign: Campaign, kind: EscalationKind
) -> None:
    anna, ben = make_annotator("anna"), make_annotator("ben")
    (held,) = claim(campaign, anna)
    submit(claim(campaign, ben)[0], 1)
    submit(held, 0)
    escalate_task(assignment_id=held.pk, annotator=anna, kind=kind, reason="too dark")
    for _ in range(2):  # a repeated request changes nothing
        withdraw_escalation(assignment_id=held.pk, annotator=anna)
        assert state_of(campaign) == ("open", 0, 1, None)
    assert [one.pk for one in claim(campaign, anna)] == [held.pk]
    submit(held, 1)
    assert (state_of(campaign), work_of(anna)) == (("resolved", 0, 2, 1), (1, 1))
    # The log keeps the escalation, which can be repeated.
    escalate_task(assignment_id=held.pk, annotator=anna, kind=kind, reason="darker")
    rows = [(row.reason, row.withdrawn_at is None) for row in Escalation.objects.order_by("pk")]
    assert rows == [("too dark", False), ("darker", True)]


def test_an_answer_after_a_withdrawal_is_surplus_if_others_have_filled_the_slots(
    campaign: Campaign,
) -> None:
    anna, ben, cara = map(make_annotator, ("anna", "ben", "cara"))
    (held,) = claim(campaign, anna)
    escalate_task(assignment_id=held.pk, annotator=anna, kind=EscalationKind.UNSURE)
    reopen_task(task=campaign.tasks.get(), by=make_user("lea", Role.LEAD))
    with pytest.raises(Conflict, match="A lead has decided"):
        withdraw_escalation(assignment_id=held.pk, annotator=anna)
    for person in (ben, cara):
        submit(claim(campaign, person)[0], 1)
    assert submit(held, 0).judgment.state == "surplus"


def test_an_escalation_cannot_be_withdrawn_after_others_have_acted(campaign: Campaign) -> None:
    anna, ben, lead = make_annotator("anna"), make_annotator("ben"), make_user("lea", Role.LEAD)
    (annas,), (bens,) = claim(campaign, anna), claim(campaign, ben)
    with pytest.raises(NotFound):
        withdraw_escalation(assignment_id=annas.pk, annotator=ben)
    for held in (annas, bens):
        escalate_task(
            assignment_id=held.pk, annotator=held.annotator, kind=EscalationKind.CANNOT_PLAY
        )
    with pytest.raises(Conflict, match="Another annotator has escalated this pair"):
        withdraw_escalation(assignment_id=annas.pk, annotator=anna)
    Escalation.objects.filter(annotator=ben).update(withdrawn_at=timezone.now())
    exclude_task(task=campaign.tasks.get(), by=lead)
    with pytest.raises(Conflict, match="A lead has decided"):
        withdraw_escalation(assignment_id=annas.pk, annotator=anna)
    set_campaign_state(campaign=campaign, state=CampaignState.CLOSED, by=lead)
    with pytest.raises(Conflict, match="The campaign is closed"):
        withdraw_escalation(assignment_id=annas.pk, annotator=anna)


@pytest.mark.parametrize("kind", EscalationKind)
def test_a_control_pair_is_escalated_and_returned_as_a_pair_is(
    tmp_path: Path, kind: EscalationKind
) -> None:
    campaign = make_campaign_with_gold(tmp_path, captions=2, videos=3, gold=4, gold_share=0.9)
    anna = make_annotator("anna")
    held = next(one for one in claim(campaign, anna) if one.task.gold_id is not None)
    escalate_task(assignment_id=held.pk, annotator=anna, kind=kind)
    withdraw_escalation(assignment_id=held.pk, annotator=anna)
    assert held.pk in [one.pk for one in claim(campaign, anna)]
    assert submit(held, 1).judgment.state == "gold"

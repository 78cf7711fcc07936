"""Undoing rulings, the list of rulings, and the keys of the desk."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from annotation.core.keys import desk_keys
from annotation.enums import CampaignState, EscalationKind, Scale
from annotation.models import Adjudication, Campaign, JudgmentTask
from annotation.questions.rooms import own_keys
from annotation.selectors.judgments import adjudicated
from annotation.selectors.labels import labels_fingerprint
from annotation.services import (
    adjudicate_task,
    annotator_for,
    set_campaign_state,
    set_preferences,
    undo_ruling,
    withdraw_judgments,
)
from evaluation.release.services import publish_label_set
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.shared.errors import Conflict, NotPermitted
from tests.annotation.pages import client_of, read
from tests.annotation.test_desk import conflict, escalate, state_of
from tests.factories import make_annotator, make_campaign, make_user


@pytest.fixture
def campaign(db: None, tmp_path: Path) -> Campaign:
    return make_campaign(tmp_path, videos=3, double_share=1, labels_max=2, scale=Scale.GRADED)


@pytest.fixture
def conflicted(campaign: Campaign) -> JudgmentTask:
    return conflict(campaign, "v0", 0, 3)


def csv_lines(client: Client, campaign: Campaign, query: str = "") -> list[str]:
    answer = client.get(f"/campaigns/{campaign.pk}/desk/rulings/csv/{query}")
    assert answer.status_code == 200
    # Times differ between runs of the test.
    return re.sub(r"20\d\d-[^,\n]*", "TIME", answer.content.decode()).splitlines()


def test_a_pair_is_in_conflict_again_after_its_ruling_is_undone(
    conflicted: JudgmentTask, lead: User
) -> None:
    lars = make_user("lars", Role.LEAD)
    first = adjudicate_task(task=conflicted, label=2, by=lead, reason="seen twice")
    undone = undo_ruling(ruling=first, by=lars)
    assert state_of(conflicted) == ("conflicted", None, 2, 2, 0)
    assert (undone.undone_by, undone.is_in_force) == (lars, False)
    assert len(adjudicated(conflicted.campaign.benchmark).codes) == 0

    adjudicate_task(task=conflicted, label=0, by=lead)
    assert state_of(conflicted) == ("adjudicated", 0, 2, 2, 0)
    rulings = Adjudication.objects.order_by("pk").values_list("label", "reason", "undone_by")
    assert list(rulings) == [(2, "seen twice", lars.pk), (0, "", None)]
    assert adjudicated(conflicted.campaign.benchmark).labels.tolist() == [0]


def test_an_escalated_pair_is_escalated_again_after_its_ruling_is_undone(
    campaign: Campaign, lead: User
) -> None:
    task = escalate(campaign, make_annotator("anna"), "v1", EscalationKind.UNSURE, "a fox?")
    undo_ruling(ruling=adjudicate_task(task=task, label=3, by=lead), by=lead)
    assert state_of(task) == ("escalated", None, 2, 0, 0)


def test_the_remaining_labels_decide_after_a_withdrawal(
    campaign: Campaign, conflicted: JudgmentTask, lead: User
) -> None:
    ruling = adjudicate_task(task=conflicted, label=2, by=lead)
    person = conflicted.judgments.get(label=0).annotator
    withdraw_judgments(campaign=campaign, annotator=person, by=lead)
    undo_ruling(ruling=ruling, by=lead)
    # One label of two is left, so the pair needs another annotator.
    assert state_of(conflicted) == ("open", None, 2, 1, 1)


def test_undoing_works_in_a_closed_campaign(
    campaign: Campaign, conflicted: JudgmentTask, lead: User
) -> None:
    ruling = adjudicate_task(task=conflicted, label=2, by=lead)
    set_campaign_state(campaign=campaign, state=CampaignState.CLOSED, by=lead)
    ruling.refresh_from_db()
    undo_ruling(ruling=ruling, by=lead)
    assert state_of(conflicted) == ("conflicted", None, 2, 2, 0)


def test_a_ruling_is_undone_once_and_by_leads_only(conflicted: JudgmentTask, lead: User) -> None:
    ruling = adjudicate_task(task=conflicted, label=2, by=lead)
    with pytest.raises(NotPermitted, match="may decide pairs at the desk"):
        undo_ruling(ruling=ruling, by=make_user("rosa", Role.RESEARCHER, Role.ANNOTATOR))
    undo_ruling(ruling=ruling, by=lead)
    with pytest.raises(Conflict) as refused:
        undo_ruling(ruling=ruling, by=lead)
    assert str(refused.value) == "This ruling is already undone."
    assert state_of(conflicted)[0] == "conflicted"


@pytest.mark.postgresql
def test_at_most_one_ruling_is_in_force(conflicted: JudgmentTask, lead: User) -> None:
    adjudicate_task(task=conflicted, label=2, by=lead)
    with pytest.raises(IntegrityError), transaction.atomic():
        Adjudication.objects.create(task=conflicted, lead=lead, label=1)


def test_published_labels_stay_and_the_next_label_set_differs(
    conflicted: JudgmentTask, lead: User
) -> None:
    benchmark = conflicted.campaign.benchmark
    ruling = adjudicate_task(task=conflicted, label=2, by=lead)
    first = publish_label_set(benchmark=benchmark, allow_pending=True, by=lead)
    published, before = first.sha256, labels_fingerprint(benchmark)
    undo_ruling(ruling=ruling, by=lead)
    assert labels_fingerprint(benchmark) != before
    second = publish_label_set(benchmark=benchmark, allow_pending=True, by=lead)
    first.refresh_from_db()
    assert first.sha256 == published != second.sha256


def test_rulings_are_listed_by_lead_and_downloaded(
    campaign: Campaign, conflicted: JudgmentTask, lead: User
) -> None:
    lars = make_user("lars", Role.LEAD)
    escalated = escalate(campaign, make_annotator("anna"), "v1", EscalationKind.UNSURE, "a fox?")
    undo_ruling(ruling=adjudicate_task(task=conflicted, label=2, by=lead, reason="=1"), by=lars)
    adjudicate_task(task=escalated, label=1, by=lars)
    client, here = client_of(lead), f"/campaigns/{campaign.pk}/desk/rulings/"

    head = "caption_id,video_id,label,step,reason,lead,ruled_at,undone_by,undone_at"
    by_lena = "c0,v0,2,mostly relevant,'=1,lena,TIME,lars,TIME"
    by_lars = "c0,v1,1,partly relevant,,lars,TIME,,"
    assert csv_lines(client, campaign) == [head, by_lars, by_lena]
    assert csv_lines(client, campaign, f"?lead={lead.pk}") == [head, by_lena]
    page = read(client, here)
    assert "Caption Video Ruling Reason Lead Time State caption 0 v1 partly relevant" in page
    assert "caption 0 v0 mostly relevant =1 lena just now Undone by lars just now" in page
    page = read(client, f"{here}?lead={lars.pk}")
    assert "partly relevant none lars just now Undo" in page
    assert "mostly relevant" not in page
    assert client.get(f"{here}?lead=x").status_code == 400

    pair = read(client, f"/campaigns/{campaign.pk}/desk/pairs/{conflicted.pk}/")
    assert "Pair In conflict Rule on this pair" in pair
    assert "Annotator A not relevant Annotator B relevant" in pair
    assert client.get(f"{here}../pairs/999/").status_code == 404
    rosa = client_of(make_user("rosa", Role.RESEARCHER))
    assert rosa.get(here).status_code == 404


def test_the_desk_offers_to_undo_the_last_ruling(
    campaign: Campaign, conflicted: JudgmentTask, lead: User
) -> None:
    client, desk = client_of(lead), f"/campaigns/{campaign.pk}/desk/"
    assert "Undo your last ruling" not in read(client, desk).split("Keys")[0]
    client.post(desk, {"task": conflicted.pk, "ruling": "3"})
    page = read(client, desk)
    assert "Undo your last ruling Z" in page
    # Another lead, who did not make the ruling, cannot undo it here.
    other = read(client_of(make_user("lars", Role.LEAD)), desk)
    assert "Undo your last ruling Z All" not in other

    ruling = Adjudication.objects.get()
    answer = client.post(f"{desk}rulings/undo/", {"ruling": ruling.pk})
    assert answer["Location"] == f"{desk}?task={conflicted.pk}"
    page = read(client, answer["Location"])
    undone = "The ruling on “caption 0” and video v0 is undone. Published label sets do not change."
    assert undone in page
    assert "Undo your last ruling Z All" not in page
    answer = client.post(f"{desk}rulings/undo/", {"ruling": ruling.pk})
    assert answer["Location"] == f"{desk}pairs/{conflicted.pk}/"
    assert "This ruling is already undone." in read(client, answer["Location"])
    assert client.post(f"{desk}rulings/undo/", {"ruling": "x"}).status_code == 400


def test_undoing_in_the_list_stays_in_the_list(conflicted: JudgmentTask, lead: User) -> None:
    ruling = adjudicate_task(task=conflicted, label=2, by=lead)
    client, desk = client_of(lead), f"/campaigns/{conflicted.campaign_id}/desk/"
    listed = f"{desk}rulings/?lead={lead.pk}"
    body = client.get(listed).content.decode()
    assert f'action="{desk}rulings/undo/?lead={lead.pk}"' in body
    for text in (
        "The ruling on “caption 0” and video v0 is undone. Published label sets do not change.",
        "This ruling is already undone.",
    ):
        answer = client.post(
            f"{desk}rulings/undo/?lead={lead.pk}", {"ruling": ruling.pk, "is_list": "1"}
        )
        assert answer["Location"] == listed
        assert text in read(client, listed)


def test_the_desk_has_the_keys_of_the_judging_room(
    campaign: Campaign, conflicted: JudgmentTask, lead: User
) -> None:
    annotator = annotator_for(lead)
    annotator.preferences = {"keys": {"undo": ["o"], "step-1": ["t", "ArrowDown"]}}
    annotator.save()
    client, desk = client_of(lead), f"/campaigns/{campaign.pk}/desk/"

    def bound() -> dict[str, str]:
        body = client.get(desk).content.decode()
        found = re.search(r'data-bindings="([^"]*)"', body)
        assert found is not None
        return dict(json.loads(html.unescape(found[1])))

    keys = bound()
    assert {key: keys.get(key) for key in ("t", "o", "i", "z", "2", "s", " ", "Space")} == {
        "t": "answer-0",
        "o": "undo",
        "i": "previous",
        "z": None,
        "2": "answer-1",
        "s": "answer-1",
        " ": None,
        "Space": "play",
    }
    assert "reopen" not in keys.values()
    set_preferences(annotator=annotator, break_minutes=0, character_keys=False)
    assert bound() == {"ArrowDown": "answer-0", "Space": "play"}


def test_the_keys_of_the_desk_for_a_scale_of_two_steps() -> None:
    keys = desk_keys(own_keys(None), steps=2)
    assert keys == {
        "answer-0": ("j", "ArrowLeft"),
        "answer-1": ("k", "ArrowRight"),
        "undo": ("z", "Backspace"),
        "cannot-play": ("x",),
        "play": ("Space",),
        "frame-back": (",",),
        "frame-on": (".",),
        "second-back": ("b",),
        "second-on": ("n",),
        "sound": ("m",),
        "slower": ("[",),
        "faster": ("]",),
        "keys": ("?",),
        "previous": ("i",),
        "next": ("o",),
        "reopen": ("t",),
    }

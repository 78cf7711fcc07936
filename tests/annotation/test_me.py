"""The page My work: only the person's own figures and keys."""

from __future__ import annotations

import datetime
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client

from annotation.core.keys import KEYS_EACH
from annotation.enums import CampaignState, GoldUse
from annotation.models import Annotator, Campaign, Judgment
from annotation.questions.rooms import all_actions, own_keys
from annotation.selectors.me import midnight_now, own_work, pairs_per_day, training_in
from annotation.services import (
    Gold,
    Policy,
    add_gold,
    annotator_for,
    comment_on_judgment,
    open_campaign,
    open_training,
    pause_member,
    set_keys,
    set_preferences,
    withdraw_judgments,
)
from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.accounts.services import write_consent_text
from hearth.shared.errors import InvalidInput
from tests import factories
from tests.annotation.pages import queries_of, read


@pytest.fixture
def campaign(db: None, tmp_path: Path) -> Campaign:
    return factories.make_campaign(tmp_path, captions=2, videos=4)


@pytest.fixture
def user(db: None) -> User:
    return factories.make_user("anna", Role.ANNOTATOR)


@pytest.fixture
def anna(user: User) -> Annotator:
    return annotator_for(user)


@pytest.fixture
def page(client: Client, user: User) -> Client:
    client.force_login(user)
    return client


def judge(campaign: Campaign, annotator: Annotator, *seconds: float | None) -> list[Judgment]:
    held = factories.claim(campaign, annotator, len(seconds))
    judgments = [factories.submit(assignment, 1).judgment for assignment in held]
    for judgment, spent_on_it in zip(judgments, seconds, strict=True):
        Judgment.objects.filter(pk=judgment.pk).update(seconds=spent_on_it)
    return judgments


# --- Figures --------------------------------------------------------------------------------


def test_today_counts_a_pair_once_and_at_most_two_minutes_per_answer(
    campaign: Campaign, anna: Annotator
) -> None:
    judge(campaign, factories.make_annotator("ben"), 9, 9)
    first, *_ = judge(campaign, anna, 30, 7200, None)
    held = campaign.tasks.get(pk=first.task_id).assignments.get(annotator=anna)
    factories.submit(held, 0)  # a correction, whose time counts too
    Judgment.objects.filter(task=first.task_id, label=0).update(seconds=10)
    work = own_work(anna, midnight_now())
    assert (work.pairs_today, work.seconds_today) == (3, 30 + 120 + 10)


def test_figures_of_a_day_without_answers(anna: Annotator) -> None:
    work = own_work(anna, midnight_now())
    assert (work.pairs_today, work.seconds_today) == (0, 0)


def test_home_and_my_work_count_the_same_pairs(
    tmp_path: Path, page: Client, anna: Annotator
) -> None:
    """Training answers are counted separately, and withdrawn answers are not counted."""
    lead = factories.make_user("lea", Role.LEAD)
    training = factories.make_training(tmp_path)
    campaign = open_campaign(
        benchmark=training.benchmark, by=OPERATOR, policy=Policy(double_share=0)
    )
    judge(campaign, anna, 10, 10, 10)
    factories.train(training, anna, "rw")
    Judgment.objects.update(seconds=10)
    work = own_work(anna, midnight_now())
    assert (work.pairs, work.pairs_today, work.training_today) == (3, 3, 2)
    home, me = page.get("/").context["work"], page.get("/me/").context["work"]
    assert home == me == work
    assert pairs_per_day(anna, midnight_now())[-1] == (midnight_now().date(), 3)
    withdraw_judgments(campaign=campaign, annotator=anna, by=lead)
    work = own_work(anna, midnight_now())
    assert (work.pairs, work.pairs_today, work.training_today) == (0, 0, 2)
    assert work.seconds_today == 50


def test_days_start_at_midnight(campaign: Campaign, anna: Annotator) -> None:
    midnight = midnight_now()
    stamps = {0: midnight, 1: midnight - datetime.timedelta(microseconds=1)}
    stamps |= {2: midnight - datetime.timedelta(days=13), 3: midnight - datetime.timedelta(days=14)}
    judgments = judge(campaign, anna, 1, 1, 1, 1)
    for place, stamp in stamps.items():
        Judgment.objects.filter(pk=judgments[place].pk).update(created_at=stamp)
    days = pairs_per_day(anna, midnight)
    assert [count for _, count in days] == [1, *[0] * 11, 1, 1]
    assert days[-1][0] == midnight.date()


def test_the_page_shows_own_work_only(
    page: Client, campaign: Campaign, anna: Annotator, user: User
) -> None:
    lead = factories.make_user("lea", Role.LEAD)
    judge(campaign, factories.make_annotator("ben"), 9, 9)
    judge(campaign, anna, 30, 40, 50)
    context = page.get("/me/").context
    (mine,) = context["campaigns"]
    assert (mine.campaign, mine.answered, mine.left.items) == (campaign, 3, 3)
    assert (context["work"].pairs_today, context["time_today"]) == (3, "2 min 0 s")

    member = campaign.members.get(annotator=anna)
    pause_member(membership=member, reason="Call <b>me</b>", by=lead)
    body = page.get("/me/").content.decode()
    assert "Call &lt;b&gt;me&lt;/b&gt;" in body
    assert "Continue judging" not in body
    Campaign.objects.update(state=CampaignState.CLOSED)
    (mine,) = page.get("/me/").context["campaigns"]
    assert (mine.is_open, mine.answered, mine.left) == (False, 3, None)


def test_database_queries_do_not_grow_with_answers(
    page: Client, campaign: Campaign, anna: Annotator, tmp_path: Path
) -> None:
    judge(campaign, anna, 1)
    before = queries_of(page, "/me/")
    judge(campaign, anna, 1, 1, 1)
    (tmp_path / "b").mkdir()
    other = factories.make_benchmark(tmp_path / "b", key="other")
    factories.make_run(tmp_path / "b", other, factories.all_pairs(2, 3))
    factories.build_pool(benchmark=other, depth=3)
    judge(factories.open_campaign(benchmark=other, by=OPERATOR), anna, 1, 1)
    assert queries_of(page, "/me/") == before


# --- Training -------------------------------------------------------------------------------


@pytest.fixture
def training(db: None, tmp_path: Path) -> Campaign:
    """Four relevant training items. The campaign requires two correct of three answers."""
    campaign = factories.make_campaign(tmp_path, videos=8, gate_share=0.6, gate_last=3)
    gold = [Gold(query=0, video=video, is_relevant=True) for video in range(4)]
    add_gold(benchmark=campaign.benchmark, by=OPERATOR, use=GoldUse.TRAINING, gold=gold)
    lead = factories.make_user("lea", Role.LEAD)
    return open_training(benchmark=campaign.benchmark, by=lead, name="School")


def test_training_shows_the_progress(training: Campaign, anna: Annotator) -> None:
    held = factories.claim(training, anna)
    seen = []
    for place, label in enumerate((0, 1, 1)):
        factories.submit(held[place], label)
        now = training_in(training, anna)
        (access,) = now.campaigns
        needed = access.campaign.entry_requirement.needed
        seen.append((now.answered, now.total, now.right, needed, access.is_open))
    assert seen == [
        (1, 4, [False], 2, False),
        (2, 4, [True, False], 2, False),
        (3, 4, [True, True, False], 2, True),
    ]


def test_a_campaign_that_needs_training_leads_to_it(
    page: Client, training: Campaign, anna: Annotator
) -> None:
    for state in (CampaignState.OPEN, CampaignState.CLOSED):
        Campaign.objects.filter(pk=training.pk).update(state=state)
        ((mine,), body) = page.get("/me/").context["campaigns"], read(page, "/me/")
        assert mine.access.needs_training
        assert "Start judging" not in body
        is_open = state == CampaignState.OPEN
        assert ("Train first: 2 of your last 3 answers in training" in body) == is_open
        assert ("This campaign requires training" in body) != is_open
    Campaign.objects.filter(pk=training.pk).update(state=CampaignState.OPEN)
    factories.train(training, anna, "rrr")
    assert "Start judging" in read(page, "/me/")


def test_comments_are_new_until_they_are_read(
    page: Client, training: Campaign, anna: Annotator
) -> None:
    lead = User.objects.get(username="lea")
    held = factories.claim(training, anna)
    first, second = (factories.submit(assignment, 0).judgment for assignment in held[:2])
    theirs = factories.submit(factories.claim(training, factories.make_annotator("ben"))[0], 0)
    comment_on_judgment(judgment=theirs.judgment, text="not for anna", by=lead)
    comment_on_judgment(judgment=first, text="older", by=lead)
    page.post("/me/comments/")
    comment_on_judgment(judgment=second, text="newer", by=lead)

    context = page.get("/me/").context
    shown = [
        (comment.text, comment.read_at is None, label) for comment, label in context["comments"]
    ]
    assert shown == [("newer", True, "not relevant"), ("older", False, "not relevant")]
    assert page.get("/me/comments/").status_code == 405
    assert "new</span>" in page.get("/me/").content.decode()
    page.post("/me/comments/")
    assert "new</span>" not in page.get("/me/").content.decode()
    assert "not for anna" not in page.get("/me/").content.decode()


# --- Keys and preferences -------------------------------------------------------------------


def form_of(**changes: str) -> dict[str, str]:
    """Return the data of the form of keys with these changes."""
    data = {}
    for name, keys in own_keys(None).items():
        for place in range(KEYS_EACH):
            data[f"{name}_{place}"] = keys[place] if place < len(keys) else ""
    return data | changes


def test_keys_are_stored_and_reset(page: Client, anna: Annotator) -> None:
    changes = {"high_0": "Ö", "undo_1": "", "play_1": "page down"}
    assert page.post("/me/keys/", form_of(**changes)).status_code == 302
    anna.refresh_from_db()
    keys = own_keys(anna)
    assert (keys["high"], keys["undo"]) == (("ö", "ArrowRight"), ("z",))
    assert keys["play"] == ("Space", "PageDown")
    assert 'value="Ö"' in page.get("/me/keys/").content.decode()

    page.post("/me/keys/", {"reset": "1"})
    anna.refresh_from_db()
    assert own_keys(anna) == own_keys(None)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"high_0": "j"}, "J is chosen twice."),
        ({"high_0": "Enter"}, "Tab, Enter and Escape do the same on every page."),
        (
            {"high_1": "5"},
            "Digits have fixed functions, so you cannot choose them.",
        ),
        ({"high_0": "abc"}, "abc is not a key"),
        ({"high_0": "x" * 21}, "Ensure this value has at most 20 characters"),
    ],
)
def test_invalid_keys_are_refused(
    page: Client, anna: Annotator, changes: dict[str, str], error: str
) -> None:
    answer = page.post("/me/keys/", form_of(**changes))
    assert answer.status_code == 422
    assert error in answer.content.decode()
    anna.refresh_from_db()
    assert anna.preferences == {}


def test_the_forms_lead_to_their_own_sections(page: Client) -> None:
    """The form of preferences is far down the page, and its errors are shown there."""
    body = page.get("/me/").content.decode()
    assert re.findall(r'action="(/me/(?:keys|habits)/[^"]*)"', body) == [
        "/me/habits/#preferences",
    ]
    assert body.count('<h2 id="preferences">') == 1
    # The keys have their own page.
    assert 'href="/me/keys/"' in body
    keys = read(page, "/me/keys/")
    assert page.get("/me/keys/").content.decode().count("data-key-names") == 1
    assert keys.count("On scales of more than two steps, they choose a step.") == 1


@pytest.mark.parametrize(
    ("changes", "marked"),
    [
        ({"high_1": "5"}, ["high_1"]),
        ({"high_0": "", "high_1": "5"}, ["high_1"]),
        ({"high_0": "1", "high_1": "5"}, ["high_0", "high_1"]),
        ({"high_1": "j"}, ["low_0", "high_1"]),
        ({"high_0": "", "high_1": "j"}, ["low_0", "high_1"]),
        ({"high_1": "k"}, ["high_0", "high_1"]),
    ],
)
def test_an_error_is_at_the_field_of_its_key(
    page: Client, changes: dict[str, str], marked: list[str]
) -> None:
    answer = page.post("/me/keys/", form_of(**changes))
    assert [*answer.context["keys_form"].errors] == marked


def test_preferences_are_stored_without_changing_keys(page: Client, anna: Annotator) -> None:
    page.post("/me/keys/", form_of(high_0="ö"))
    page.post("/me/habits/", {"break_minutes": "0"})
    anna.refresh_from_db()
    assert anna.preferences["break_minutes"] == 0
    assert anna.preferences["character_keys"] is False
    assert anna.preferences["keys"]["high"] == ["ö", "ArrowRight"]
    for wrong in ({}, {"break_minutes": "-1"}, {"break_minutes": "601"}, {"break_minutes": "x"}):
        assert page.post("/me/habits/", wrong).status_code == 422
    anna.refresh_from_db()
    assert anna.preferences["break_minutes"] == 0


def test_the_services_refuse_invalid_values(anna: Annotator) -> None:
    usual = {action.name: action.keys for action in all_actions()}
    wrong: list[Any] = [{}, {"undo": ["z"]}, {**usual, "more": []}, {**usual, "undo": ["1"]}]
    for keys in wrong:
        with pytest.raises(InvalidInput):
            set_keys(annotator=anna, keys=keys)
    with pytest.raises(InvalidInput):
        set_preferences(annotator=anna, break_minutes=601, character_keys=True)
    anna.refresh_from_db()
    assert anna.preferences == {}


def test_the_room_shows_the_keys_of_the_person(
    page: Client, campaign: Campaign, anna: Annotator
) -> None:
    page.post("/me/keys/", form_of(high_0="ö", sheet_0=""))
    context = page.get(f"/campaigns/{campaign.pk}/judge/").context
    assert [answer["keys"] for answer in context["answers"]] == [["J", "←"], ["Ö", "→"]]
    assert '"\\u00f6": "answer-1"' in context["bindings"]
    assert context["break_minutes"] == 50
    page.post("/me/habits/", {"break_minutes": "20"})
    context = page.get(f"/campaigns/{campaign.pk}/judge/").context
    assert context["break_minutes"] == 20
    assert context["answers"][0]["keys"] == ["←"]


def test_the_room_asks_for_consent_first(page: Client, campaign: Campaign) -> None:
    room = f"/campaigns/{campaign.pk}/judge/"
    write_consent_text(text="We keep what you judge.", by=factories.make_user("ada", Role.ADMIN))
    answer = page.get(room)
    assert (answer.status_code, answer["Location"]) == (302, f"/consent/?next={quote(room, '')}")

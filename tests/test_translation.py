"""Annotators' pages in German: every marked text is translated, and other pages stay English."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from django.utils import translation

from annotation.core.keys import ACTIONS, NAMED
from annotation.enums import CampaignState, GoldUse
from annotation.models import Campaign, Membership
from annotation.services import Gold, add_gold, annotator_for, open_training, pause_member
from annotation.texts import ROOM_TEXTS, action_text, key_text, typed_key
from config.accounts.actors import OPERATOR
from config.accounts.models import User
from config.accounts.roles import Role
from config.shared.catalogs import LOCALE, compile_messages, read_messages
from tests.factories import make_campaign, make_user
from tests.texts import marked_texts, script_texts

GERMAN = LOCALE / "de/LC_MESSAGES/django.po"
PLACEHOLDER = re.compile(r"%\(\w+\)s|\{\w+\}|<[^>]+>")


def german(client: Client, address: str) -> str:
    answer = client.get(address, headers={"Accept-Language": "de-DE,de;q=0.9,en;q=0.5"})
    assert answer["Content-Language"] == "de"
    page = answer.content.decode()
    assert '<html lang="de"' in page
    return html.unescape(page)


def english_left_in(page: str) -> list[str]:
    """Return the English texts that the page still shows, outside the texts of its scripts."""
    page = re.sub(r'<script id="room-texts".*?</script>', "", page, flags=re.S)
    shown = re.sub(r"\s+", " ", page)
    messages = read_messages(GERMAN.read_text(encoding="utf-8"))
    sentences = [key for key, text in messages.items() if len(key) > 11 and key != text]
    plain = [key for key in sentences if not PLACEHOLDER.search(key) and "\0" not in key]
    assert len(plain) > 80
    return [key for key in plain if key in shown]


@pytest.fixture
def campaign(db: None, tmp_path: Path) -> Campaign:
    return make_campaign(tmp_path, checklist=True, contact_sheet=True)


@pytest.fixture
def anna(campaign: Campaign) -> User:
    return make_user("anna", Role.ANNOTATOR)


@pytest.fixture
def client_of_anna(anna: User) -> Client:
    client = Client()
    client.force_login(anna)
    return client


def test_every_marked_text_is_translated() -> None:
    messages = read_messages(GERMAN.read_text(encoding="utf-8"))
    assert set(messages) == marked_texts()
    assert [key for key, text in messages.items() if not text.strip("\0")] == []


def test_translations_keep_placeholders_and_elements() -> None:
    for key, text in read_messages(GERMAN.read_text(encoding="utf-8")).items():
        if key:
            english = key.split("\0")[0]
            for form in text.split("\0"):
                assert sorted(PLACEHOLDER.findall(form)) == sorted(PLACEHOLDER.findall(english))


def test_the_compiled_file_matches_its_source() -> None:
    messages = read_messages(GERMAN.read_text(encoding="utf-8"))
    assert GERMAN.with_suffix(".mo").read_bytes() == compile_messages(messages)


def test_the_room_page_has_all_texts_of_its_scripts() -> None:
    assert set(ROOM_TEXTS) == script_texts()


def test_texts_of_keys_and_actions_are_marked() -> None:
    marked = marked_texts()
    assert {action.text for action in ACTIONS} <= marked
    arrows = {name for name in NAMED if name.startswith("Arrow")}
    assert {f"key\x04{NAMED[name]}" for name in set(NAMED) - arrows} <= marked


def test_the_room_in_german(client_of_anna: Client, campaign: Campaign) -> None:
    page = german(client_of_anna, f"/campaigns/{campaign.pk}/judge/")
    assert english_left_in(page) == []
    assert "Nicht relevant" in page
    assert '"Answer again": "Neu beantworten"' in page


@pytest.mark.parametrize(
    ("state", "heading"),
    [
        (CampaignState.PAUSED, "Diese Kampagne ist pausiert."),
        (CampaignState.CLOSED, "Diese Kampagne ist geschlossen."),
    ],
)
def test_a_campaign_that_is_not_open_in_german(
    client_of_anna: Client, campaign: Campaign, state: CampaignState, heading: str
) -> None:
    Campaign.objects.update(state=state)
    page = german(client_of_anna, f"/campaigns/{campaign.pk}/judge/")
    assert f"<h1>{heading}</h1>" in page
    assert english_left_in(page) == []


def test_training_in_german(client_of_anna: Client, campaign: Campaign) -> None:
    Campaign.objects.update(gate_share=0.5, gate_last=2)
    gold = [Gold(query=0, video=0, is_relevant=True, explanation="so")]
    add_gold(benchmark=campaign.benchmark, by=OPERATOR, use=GoldUse.TRAINING, gold=gold)
    lead = make_user("lena", Role.LEAD)
    training = open_training(benchmark=campaign.benchmark, by=lead)
    for address in (f"/campaigns/{training.pk}/judge/", "/", "/me/"):
        page = german(client_of_anna, address)
        assert english_left_in(page) == []
        assert "müssen 1 Ihrer letzten 2 Antworten richtig sein" in page


def test_home_and_my_work_in_german(client_of_anna: Client, campaign: Campaign, anna: User) -> None:
    member = Membership.objects.create(campaign=campaign, annotator=annotator_for(anna))
    for address in ("/", "/me/"):
        assert english_left_in(german(client_of_anna, address)) == []
    pause_member(membership=member, reason="Ruf mich an.", by=make_user("lena", Role.LEAD))
    for address in ("/", "/me/"):
        page = german(client_of_anna, address)
        assert english_left_in(page) == []
        assert "Ruf mich an." in page


def test_the_api_refuses_in_german(client_of_anna: Client, campaign: Campaign) -> None:
    Campaign.objects.update(state=CampaignState.PAUSED)
    answer = client_of_anna.post(
        f"/api/v1/campaigns/{campaign.pk}/claim/",
        {"count": 1},
        content_type="application/json",
        headers={"Accept-Language": "de"},
    )
    assert answer.json() == {"detail": "Diese Kampagne ist pausiert."}


def test_pages_of_leads_stay_english(campaign: Campaign, client: Client) -> None:
    client.force_login(make_user("lena", Role.LEAD))
    for address in ("/", f"/campaigns/{campaign.pk}/", "/accounts/login/", "/nowhere/"):
        answer = client.get(address, headers={"Accept-Language": "de"})
        assert answer["Content-Language"] == "en"


def test_the_language_can_be_chosen(client_of_anna: Client) -> None:
    page = client_of_anna.get("/me/").content.decode()
    assert '<html lang="en"' in page
    assert client_of_anna.post("/me/language/", {"language": "xx"}).status_code == 400
    answer = client_of_anna.post("/me/language/", {"language": "de"})
    assert answer["Location"] == "/me/"
    assert answer.cookies[settings.LANGUAGE_COOKIE_NAME].value == "de"
    page = client_of_anna.get("/me/", headers={"Accept-Language": "en"}).content.decode()
    assert '<html lang="de"' in page
    assert "Meine Arbeit" in page


def test_keys_can_be_typed_as_they_are_shown(client_of_anna: Client, anna: User) -> None:
    with translation.override("de"):
        assert [key_text(key) for key in ("Space", "PageUp", "ArrowLeft", "j")] == [
            "Leertaste",
            "Bild auf",
            "←",
            "J",
        ]
        typed = ("leertaste", "Bild auf", "Page up", "←", "J", " ")
        assert [typed_key(text) for text in typed] == [
            "Space",
            "PageUp",
            "PageUp",
            "ArrowLeft",
            "j",
            "Space",
        ]
        assert action_text(ACTIONS[4]) == "Stufe 3"

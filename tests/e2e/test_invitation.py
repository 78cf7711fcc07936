"""An invitation in Chromium: from the link that a lead creates to the first pair."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from annotation.models import Campaign
from hearth.accounts.models import Consent, Invitation, User
from hearth.accounts.roles import Role
from hearth.accounts.services import write_consent_text
from tests import factories
from tests.accounts.world import make_member
from tests.e2e.barriers import is_sound
from tests.e2e.rooms import log_in
from tests.e2e.waiting import follow

if TYPE_CHECKING:
    from playwright.sync_api import Page

PASSWORD = "moving shapes at noon"


@pytest.fixture
def campaign(transactional_db: None, tmp_path: Path) -> Campaign:
    return factories.make_campaign(tmp_path)


def make_link(page: Page) -> str:
    page.goto("/people/invitations/")
    follow(page.get_by_role("link", name="Invite a person"))
    is_sound(page)
    page.get_by_label("Benchmark", exact=True).select_option("tiny")
    page.get_by_label("Note").fill("Anna, by mail")
    follow(page.get_by_role("button", name="Create the link"))
    is_sound(page)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").click()
    page.get_by_text("Copied to the clipboard.").wait_for(state="attached")
    link = page.get_by_label("Link").input_value()
    assert page.evaluate("navigator.clipboard.readText()") == link
    return link


def test_an_invited_person_creates_an_account(
    campaign: Campaign, new_page: Callable[[], Page], page_problems: list[str]
) -> None:
    ada = factories.make_user("ada", Role.ADMIN)
    write_consent_text(text="You may stop at any time.\n\nYour name is never published.", by=ada)
    make_member("lea", Role.LEAD, of="tiny")
    lead = log_in(new_page(), "lea")
    link = make_link(lead)
    assert re.fullmatch(r"http://localhost:\d+/invitations/[\w-]{43}/", link)

    page = new_page()
    page.goto(link)
    is_sound(page)
    page.get_by_text("Your name is never published.").wait_for()
    # The form is filled in with the keyboard only. The server refuses the password as too common.
    page.get_by_label("User name").press_sequentially("anna")
    page.keyboard.press("Tab")
    page.keyboard.type("Anna Ast")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.type("12345678")
    page.keyboard.press("Tab")
    page.keyboard.type("12345678")
    page.get_by_label("I have read this and agree to it.").press("Space")
    page.keyboard.press("Enter")
    page.get_by_role("alert").wait_for()
    page.wait_for_load_state()
    is_sound(page)
    assert page.get_by_label("User name").input_value() == "anna"
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password again").fill(PASSWORD)
    page.get_by_role("button", name="Create my account").click()

    page.wait_for_url("/")
    page.get_by_text("Your account is ready, and you are signed in.").wait_for()
    page.get_by_role("link", name=f"Start judging {campaign.name}").wait_for()
    anna = User.objects.get(username="anna")
    assert list(anna.grants.values_list("role", "scope")) == [("annotator", "tiny")]
    assert Consent.objects.get().user == anna
    assert Invitation.objects.get().accepted_by == anna

    lead.goto("/people/invitations/")
    lead.get_by_text("Accepted", exact=True).wait_for()
    again = new_page()
    again.goto(link)
    again.get_by_role("heading", name="This invitation cannot be used").wait_for()
    is_sound(again)
    # The responses to the form with an error, and to the link that has been used.
    expected = ("status of 422", "status of 404")
    page_problems[:] = [
        problem for problem in page_problems if not any(word in problem for word in expected)
    ]


def test_deactivation_ends_a_session(campaign: Campaign, new_page: Callable[[], Page]) -> None:
    factories.make_user("ada", Role.ADMIN)
    factories.make_user("anna", Role.ANNOTATOR)
    anna, admin = log_in(new_page(), "anna"), log_in(new_page(), "ada")
    admin.goto("/people/")
    follow(admin.get_by_role("link", name="anna"))
    admin.get_by_text("Deactivate", exact=True).click()
    is_sound(admin)
    admin.get_by_role("button", name="Deactivate now").click()
    admin.get_by_text("The account is deactivated and signed out everywhere.").wait_for()
    anna.goto("/")
    anna.get_by_role("heading", name="Which videos match this caption?").wait_for()

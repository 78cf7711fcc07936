"""A lead manages a campaign in Chromium: sorts, pauses, withdraws and changes the policy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from annotation.models import Campaign, CampaignChange, Membership
from annotation.services import Policy, open_campaign, release_assignments
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.jobs.models import Job
from hearth.jobs.services import run_job
from tests import factories
from tests.e2e import rooms
from tests.e2e.barriers import is_sound
from tests.e2e.waiting import follow

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture
def campaign(transactional_db: None, tmp_path: Path) -> Campaign:
    """A campaign in which Anna and Ben have judged two common pairs and agree on one of them."""
    benchmark = rooms.make_benchmark(tmp_path, ["a blue star"], videos=3)
    made = open_campaign(
        benchmark=benchmark,
        by=OPERATOR,
        name="First",
        policy=Policy(double_share=1, joining="everybody"),
    )
    for name, labels in (("anna", {"v0": 1, "v1": 1, "v2": 0}), ("ben", {"v0": 1, "v1": 0})):
        person = factories.make_annotator(name)
        factories.judge(made, person, labels)
        release_assignments(campaign=made, annotator=person)
    return made


def names(page: Page) -> list[str]:
    texts: list[str] = page.locator(".table-people tbody th a").all_inner_texts()
    return texts


def test_a_lead_manages_a_campaign(
    campaign: Campaign, new_page: Callable[[], Page], live_server: Any, page_problems: list[str]
) -> None:
    lea = factories.make_user("lea", Role.LEAD)
    page = rooms.sign_in(new_page().context, live_server.url, lea)
    page.goto(f"/campaigns/{campaign.pk}/")
    is_sound(page)
    assert page.get_by_role("img", name="Number of answers, by hour").count() == 1
    page.get_by_text("As a table").click()
    follow(page.get_by_role("link", name="Answers"))
    head = page.locator("#over-time[open] th[aria-sort=descending]")
    expect(head).to_have_text("Answers ▾")

    follow(page.get_by_role("link", name="People 2"))
    is_sound(page)
    assert names(page) == ["anna", "ben"]
    follow(page.get_by_role("link", name="Annotator"))
    follow(page.get_by_role("link", name="Annotator"))
    assert names(page) == ["ben", "anna"]

    follow(page.get_by_role("link", name="ben"))
    is_sound(page)
    # The video plays inside this page. As a separate page, a stored file would not play, because
    # its Content-Security-Policy is restrictive.
    page.get_by_role("link", name="Play the video").first.click()
    video = page.locator(".player[open] video")
    video.evaluate("video => video.videoWidth || new Promise(seen => video.onplaying = seen)")
    assert video.evaluate("video => video.videoWidth") > 0
    is_sound(page)
    page.keyboard.press("Escape")
    page.locator("summary", has_text="Pause").click()
    page.get_by_label("Reason (shown to the annotator)").fill("Please look at the guideline.")
    follow(page.locator("details[open]").get_by_role("button", name="Pause"))
    page.get_by_text("Please look at the guideline.").wait_for()
    assert Membership.objects.get(annotator__user__username="ben").state == "paused"
    page.locator("summary", has_text="Resume").click()
    page.get_by_text("Earlier answers to control pairs then no longer").wait_for()
    page.get_by_role("button", name="Resume now").click()
    page.get_by_text("The annotator may judge in First").wait_for()

    follow(page.get_by_role("link", name="Withdraw answers"))
    is_sound(page)
    page.get_by_text("2 answers are affected").wait_for()
    page.get_by_label("Reason").fill("guesses")
    page.get_by_role("button", name="Withdraw answers").click()
    page.locator("#job-in-place").wait_for()
    run_job(Job.objects.get().pk)
    page.get_by_text("2 answers of").wait_for()
    assert Membership.objects.get(annotator__user__username="ben").state == "paused"

    follow(page.get_by_role("link", name="Change"))
    is_sound(page)
    page.get_by_label("Only annotators that a lead adds").check()
    page.get_by_text("Entry requirement").click()
    page.get_by_label("Minimum correct answers to enter").fill("5")
    follow(page.get_by_role("button", name="Save changes"))
    # The browser accepts this. Only the server finds that 5 is more than the 0 answers that count.
    page.get_by_role("link", name="Minimum correct answers to enter").wait_for()
    assert "422" in page_problems.pop()
    is_sound(page)
    page.get_by_label("Last training answers that count").fill("6")
    page.get_by_role("button", name="Save changes").click()
    page.get_by_text("The changes are saved and apply from now on.").wait_for()
    assert CampaignChange.objects.latest("pk").changes == {
        "joining": ["everybody", "chosen"],
        "gate_share": [0.0, 0.8333],
        "gate_last": [0, 6],
    }
    assert page_problems == []

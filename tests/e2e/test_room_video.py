"""The judging room: sound and timeline, the hint for new annotators, and a paused campaign."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect

from annotation.models import Campaign
from hearth.accounts.roles import Role
from tests import factories
from tests.e2e import rooms
from tests.e2e.barriers import is_sound
from tests.e2e.waiting import follow, wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Page

MUTED = "document.querySelector('.judge-stage video').muted"
POSITION = "document.querySelector('.judge-stage video').currentTime"


def test_sound_and_timeline_of_a_video(
    transactional_db: None, new_page: Callable[[], Page], live_server: Any, tmp_path: Path
) -> None:
    campaign = rooms.make_campaign(tmp_path, ["a star"], videos=3)
    person = factories.make_user("anna", Role.ANNOTATOR)
    page = rooms.sign_in(new_page().context, live_server.url, person)
    rooms.enter(page, campaign)
    sound = page.get_by_role("button", name="Sound", exact=True)
    assert page.evaluate(MUTED) is True
    page.keyboard.press("m")
    expect(sound).to_have_attribute("aria-pressed", "true")
    assert page.evaluate(MUTED) is False

    # A click on the timeline moves the video. The arrow keys still answer.
    page.keyboard.press("Space")
    wait_until(page, "() => document.querySelector('.judge-stage video').paused")
    slider = page.get_by_role("slider", name="Position in the video")
    expect(slider).to_be_enabled()
    box = slider.bounding_box()
    assert box
    slider.click(position={"x": box["width"] / 2, "y": box["height"] / 2})
    duration = page.evaluate("document.querySelector('.judge-stage video').duration")
    assert abs(page.evaluate(POSITION) - duration / 2) < duration / 10
    before = page.evaluate(POSITION)
    page.keyboard.press("b")
    assert page.evaluate(POSITION) == max(0, before - 1)
    page.keyboard.press("n")
    is_sound(page)
    rooms.press(page, "ArrowRight")
    expect(rooms.judged(page)).to_have_text("1")
    # If the slider has the focus, the arrow keys move it, and letters still answer.
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(rooms.judged(page)).to_have_text("1")
    rooms.press(page, "j")
    expect(rooms.judged(page)).to_have_text("2")
    rooms.until_sent(page)

    page.reload()
    rooms.until_ready(page)
    expect(sound).to_have_attribute("aria-pressed", "true")


def test_new_annotators_are_sent_to_the_guidelines_until_they_open_them(
    transactional_db: None, new_page: Callable[[], Page], live_server: Any, tmp_path: Path
) -> None:
    campaign = rooms.make_campaign(tmp_path, ["a star"])
    person = factories.make_user("anna", Role.ANNOTATOR)
    page = rooms.sign_in(new_page().context, live_server.url, person)
    rooms.enter(page, campaign)
    page.get_by_role("button", name="Read what counts as relevant").click()
    page.locator("#guidelines").wait_for()
    page.locator("#guidelines").get_by_role("button", name="Close").click()
    page.locator("[data-part=first]").wait_for(state="hidden")
    page.reload()
    rooms.until_ready(page)
    assert not rooms.shown(page, "first")


def test_a_paused_campaign_shows_a_message_and_a_link_home(
    transactional_db: None,
    new_page: Callable[[], Page],
    live_server: Any,
    tmp_path: Path,
    page_problems: list[str],
) -> None:
    campaign = rooms.make_campaign(tmp_path, ["a star"], videos=12)
    person = factories.make_user("anna", Role.ANNOTATOR)
    page = rooms.sign_in(new_page().context, live_server.url, person)
    rooms.enter(page, campaign)
    Campaign.objects.update(state="paused")
    rooms.answer_all(page)
    assert page.inner_text("[data-part=refusal]") == "This campaign is paused."
    is_sound(page)
    rooms.until_sent(page)
    page.reload()
    expect(page.get_by_role("heading", name="This campaign is paused.")).to_be_visible()
    is_sound(page)
    follow(page.locator("main").get_by_role("link", name="Home"))
    page.get_by_role("heading", name="Judging").wait_for()
    page_problems[:] = [problem for problem in page_problems if "409" not in problem]

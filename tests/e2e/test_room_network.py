"""The judging room with problems: no network, an ended session, two tabs, a double click."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from annotation.models import Campaign, Escalation, Judgment
from annotation.services import release_assignments, write_guideline
from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from tests import factories
from tests.e2e import rooms
from tests.e2e.barriers import is_sound
from tests.e2e.waiting import follow, wait_until
from tests.waiting import wait_for

if TYPE_CHECKING:
    from playwright.sync_api import Page

# The video plays from the page's memory. The test must not depend on the browser's cache.
MOVES = """() => {
  const video = document.querySelector("video");
  return video.src.startsWith("blob:") && video.currentTime > 0;
}"""

# The next three videos have been fetched.
FETCHED = """() => {
  const shown = document.querySelector("video").src;
  const names = performance.getEntriesByType("resource")
    .filter((one) => one.initiatorType === "fetch" && one.responseStatus === 200)
    .map(({ name }) => name)
    .filter((name) => name.includes("/media/") && name !== shown);
  return new Set(names).size >= 3;
}"""


@pytest.fixture
def campaign(transactional_db: None, tmp_path: Path) -> Campaign:
    return rooms.make_campaign(tmp_path, ["one caption"], videos=6)


@pytest.fixture
def person(transactional_db: None) -> User:
    return factories.make_user("anna", Role.ANNOTATOR)


@pytest.fixture
def anna(person: User, new_page: Callable[[], Page], live_server: Any) -> Page:
    return rooms.sign_in(new_page().context, live_server.url, person)


def guidelines() -> list[int | None]:
    """Return the guideline versions of all judgments, in the order of their arrival."""
    return list(Judgment.objects.order_by("pk").values_list("guideline__version", flat=True))


def test_answers_are_kept_while_offline(
    anna: Page, campaign: Campaign, page_problems: list[str]
) -> None:
    page = rooms.enter(anna, campaign)
    wait_until(page, FETCHED)
    page.context.set_offline(True)
    for number in range(3):
        rooms.press(page, "k")
        wait_until(page, MOVES)
        assert not rooms.shown(page, "video-problem")
        page.get_by_text(f"{number + 1} unsent").wait_for()
    expect(page.locator("[data-part=offline]")).to_be_visible()

    # This video was not fetched. It is not reported as broken and cannot be answered unseen.
    rooms.press(page, "k")
    page.get_by_text("The video cannot be loaded because the server cannot be reached.").wait_for()
    assert not rooms.shown(page, "video-report")
    rooms.press(page, "k")
    assert rooms.shown(page, "unseen")
    assert page.inner_text("[data-part=unsent]") == "4 unsent"
    is_sound(page)
    page.keyboard.press("x")
    assert rooms.shown(page, "report-cut-off")
    page.keyboard.press("Enter")  # cancels
    page.locator("#report").wait_for(state="hidden")
    rooms.press(page, "z")  # unsent answers can be corrected, too
    rooms.press(page, "j")

    # The guidelines change. As soon as the room receives the new version, the annotator must read
    # it before the next answer.
    write_guideline(benchmark=campaign.benchmark, by=OPERATOR, text="An oval is a circle.")
    page.context.set_offline(False)
    rooms.until_sent(page)
    read = page.get_by_role("button", name="I have read them")
    read.wait_for()
    assert page.inner_text("#guidelines-title") == "Guidelines version 1"
    assert page.get_by_text("An oval is a circle.").is_visible()
    is_sound(page)
    for key in ("k", "Space", "Enter", "Escape", "Escape", "Escape", "k"):
        page.keyboard.press(key)
    read.click()
    page.locator("#guidelines").wait_for(state="hidden")
    page.keyboard.press("h")
    assert not rooms.shown(page, "guideline-changed")
    page.keyboard.press("Escape")
    assert guidelines() == [None] * 5
    expect(page.locator("[data-part=video-problem]")).to_be_hidden()
    expect(page.locator("[data-part=offline]")).to_be_hidden()
    rooms.until_playing(page)
    rooms.settle(page)
    assert rooms.labels() == [(1, "live")] * 3 + [(1, "superseded"), (0, "live")]
    assert Escalation.objects.count() == 0

    # The count includes unsent answers, even in a tab that did not create them.
    page.context.route("**/api/v1/judgments/", lambda route: route.fulfill(status=503))
    rooms.settle(page)
    rooms.press(page, "k")
    page.get_by_text("1 unsent").wait_for()
    second = rooms.enter(page.context.new_page(), campaign)
    second.get_by_role("button", name="I have read them").click()
    expect(rooms.judged(second)).to_have_text("5")
    assert Judgment.objects.filter(state="live").count() == 4
    page.context.unroute("**/api/v1/judgments/")
    for tab in (page, second):
        rooms.until_sent(tab)
        expect(rooms.judged(tab)).to_have_text("5")
    assert guidelines() == [None] * 5 + [1]
    # The time on a pair starts after the guidelines were read, even if its video plays already.
    rooms.until_playing(second)
    rooms.press(second, "k")
    rooms.until_sent(second)
    assert guidelines()[6:] == [1]
    assert Judgment.objects.latest("pk").viewing["watched"] > 0
    rooms.forget(page_problems, "ERR_INTERNET", "503")


def test_a_session_ends_and_another_person_signs_in(
    anna: Page, campaign: Campaign, page_problems: list[str]
) -> None:
    factories.make_user("ben", Role.ANNOTATOR)
    page = rooms.enter(anna, campaign)
    page.context.clear_cookies()
    rooms.press(page, "k")
    page.get_by_text("You are signed out").wait_for()
    assert page.inner_text("[data-part=unsent]") == "1 unsent"
    rooms.press(page, "k")

    # Anna's answers are not sent as Ben's, although he uses the same machine.
    other = rooms.log_in(page.context.new_page(), "ben")
    page.bring_to_front()
    with page.expect_response("**/api/v1/judgments/") as refused:
        page.evaluate("window.dispatchEvent(new Event('online'))")
    assert refused.value.status == 401
    assert page.inner_text("[data-part=unsent]") == "2 unsent"
    assert Judgment.objects.count() == 0

    other.goto("/accounts/logout/")
    follow(other.locator("main").get_by_role("button", name="Sign out"))
    rooms.log_in(other, "anna")
    page.bring_to_front()
    page.evaluate(
        "window.dispatchEvent(new Event('focus'))"
    )  # headless browsers do not send this event
    rooms.until_sent(page)
    expect(page.locator("[data-part=signed-out]")).to_be_hidden()
    rooms.press(page, "j")
    rooms.until_sent(page)
    assert rooms.labels() == [(1, "live"), (1, "live"), (0, "live")]
    assert set(Judgment.objects.values_list("annotator__user__username", flat=True)) == {"anna"}
    rooms.forget(page_problems, "401", "403")


def test_two_tabs_and_two_browsers(
    anna: Page,
    campaign: Campaign,
    person: User,
    new_page: Callable[[], Page],
    live_server: Any,
    page_problems: list[str],
) -> None:
    first = rooms.enter(anna, campaign)
    second = rooms.enter(first.context.new_page(), campaign)
    browser = new_page().context
    elsewhere = rooms.enter(rooms.sign_in(browser, live_server.url, person), campaign)
    rooms.press(first, "k")
    rooms.until_sent(first)
    # The other tab continues automatically; the other browser shows a message.
    second.get_by_text("You have answered this pair in another tab.").wait_for()
    rooms.until_ready(second)
    elsewhere.get_by_text("Your last answers").click()
    rooms.press(elsewhere, "j")
    elsewhere.get_by_text("You have answered this pair before. That answer counts.").wait_for()
    elsewhere.get_by_role("button", name="OK").click()
    assert not rooms.shown(elsewhere, "refused")
    expect(elsewhere.locator(".judge-past-list li")).to_have_count(0)
    expect(rooms.judged(elsewhere)).to_have_text("1")
    rooms.press(second, "j")
    rooms.until_sent(second)
    assert rooms.labels() == [(1, "live"), (0, "live")]

    # The room counts answers from another browser only with its next claim, which returns the
    # number. An answer from another tab that arrives during a claim is counted with the next claim.
    rooms.press(elsewhere, "k", "k", "k")
    rooms.until_sent(elsewhere)
    rooms.press(first, "k")
    rooms.until_sent(first)
    for page in (first, elsewhere):
        page.reload()
        expect(rooms.judged(page)).to_have_text("4")
    assert len(rooms.labels()) == 4
    rooms.forget(page_problems, "409")


def test_a_double_click_answers_once_and_the_back_button_restores_the_room(
    anna: Page, campaign: Campaign
) -> None:
    page = rooms.enter(anna, campaign)
    relevant = page.get_by_role("button", name="Relevant", exact=False).last
    relevant.dblclick(delay=10)
    page.mouse.click(5, 5)
    rooms.settle(page)
    # The two clicks begin 400 ms apart, which is longer than the time for which the room ignores
    # input after a new pair. The second click is ignored anyway, as part of a double click.
    relevant.click(click_count=2, delay=200)
    assert wait_for(lambda: len(rooms.labels()) == 2)
    rooms.until_sent(page)
    rooms.settle(page)
    page.keyboard.down("k")
    rooms.settle(page)
    for _ in range(12):
        page.keyboard.down("k")  # held down: repeats
    page.keyboard.up("k")
    rooms.until_sent(page)
    assert len(rooms.labels()) == 3

    page.goto("/")
    page.go_back()
    rooms.until_ready(page)
    # Answers since the page was first opened can still be undone.
    before = page.locator("[data-part=stage]").bounding_box()
    page.get_by_role("button", name="Your last answers").click()
    expect(page.locator(".judge-past-list li")).to_have_count(3)
    assert page.locator("[data-part=stage]").bounding_box() == before
    page.keyboard.press("Escape")
    # Wait for all claims of the page: when it was opened, after the first claim, and after the
    # answer. An unfinished claim would get the released pairs again.
    rooms.until_claimed(page, 2)
    rooms.press(page, "k")
    rooms.until_claimed(page, 3)
    rooms.until_sent(page)
    # Simulate a browser that kept the whole page: its pairs were released and assigned to Ben.
    with page.expect_response("**/release/"):
        page.evaluate("window.dispatchEvent(new PageTransitionEvent('pagehide'))")
    ben = factories.make_annotator("ben")
    assert len(factories.claim(campaign, ben)) == 2
    page.evaluate("window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    rooms.until(page, "empty")
    release_assignments(campaign=campaign, annotator=ben)
    page.get_by_role("button", name="Check again").click()
    rooms.until_ready(page)
    rooms.press(page, "k", "k")
    rooms.until(page, "empty")
    rooms.until_sent(page)
    assert rooms.labels() == [(1, "live")] * 6
    expect(rooms.judged(page)).to_have_text("6")


def test_a_browser_without_storage(
    anna: Page, campaign: Campaign, page_problems: list[str]
) -> None:
    page = anna
    page.add_init_script("Object.defineProperty(window, 'indexedDB', { value: undefined })")
    rooms.enter(page, campaign)
    warning = page.get_by_text("This browser does not let this page store data")
    page.locator("[data-part=no-store-read]").click()
    expect(warning).to_be_hidden()
    page.context.set_offline(True)
    rooms.press(page, "k")
    warning.wait_for()
    page.context.set_offline(False)
    page.get_by_text("1 unsent").wait_for(state="hidden")
    rooms.press(page, "j")
    page.get_by_role("button", name="Undo").click()
    rooms.until_ready(page)
    rooms.press(page, "k")
    expect(page.locator("[data-part=unsent]")).to_have_text("0 unsent")
    expect(page.locator("[data-part=no-store]")).to_be_hidden()
    assert rooms.labels() == [(1, "live"), (0, "superseded"), (1, "live")]
    rooms.forget(page_problems, "ERR_INTERNET")

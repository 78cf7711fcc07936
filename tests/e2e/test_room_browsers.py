"""The judging room in browsers that differ: plain HTTP, no storage, a script that fails, touch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from annotation.models import Campaign
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from tests import factories
from tests.conftest import PLAIN_HOST, open_context
from tests.e2e import rooms
from tests.e2e.waiting import follow
from tests.waiting import wait_for

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# A browser that denies storage with one error, and whose database never opens.
STORAGE_DENIED = """for (const name of ["localStorage", "sessionStorage"]) {
  Object.defineProperty(window, name, {
    get() { throw new DOMException("denied", "SecurityError"); },
  });
}
indexedDB.open = () => new EventTarget();"""

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
# How the answer buttons look.
LOOKS = """[...document.querySelectorAll(".judge-answer")].map((button) => {
  const { backgroundColor, borderColor, boxShadow, outlineStyle } = getComputedStyle(button);
  return [backgroundColor, borderColor, boxShadow, outlineStyle];
})"""
# The names of these parts of the page, if they are completely in view.
IN_VIEW = """["caption", "undo", "unsure", "cannot-play"].filter((name) => {
  const element = document.querySelector(`[data-part=${name}]`);
  const { top, bottom } = element.getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
})"""
TO_BOTTOM = "document.scrollingElement.scrollTo(0, 10_000)"


@pytest.fixture
def campaign(transactional_db: None, tmp_path: Path) -> Campaign:
    return rooms.make_campaign(tmp_path, ["one caption"], videos=6)


@pytest.fixture
def person(transactional_db: None) -> User:
    return factories.make_user("anna", Role.ANNOTATOR)


@pytest.fixture
def anna(person: User, new_page: Callable[[], Page], live_server: Any) -> Page:
    return rooms.sign_in(new_page().context, live_server.url, person)


def test_judging_over_plain_http(
    person: User,
    campaign: Campaign,
    browser: Browser,
    live_server: Any,
    page_problems: list[str],
    settings: Any,
) -> None:
    url = live_server.url.replace("localhost", PLAIN_HOST)
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, PLAIN_HOST]
    with open_context(browser, url, page_problems) as context:
        page = rooms.enter(rooms.sign_in(context, url, person), campaign)
        assert page.evaluate("[isSecureContext, typeof crypto.randomUUID]") == [False, "undefined"]
        rooms.press(page, "k", "j")
        rooms.until_sent(page)
        rooms.press(page, "z", "k")
        rooms.until_sent(page)
    assert rooms.labels() == [(1, "live"), (0, "superseded"), (1, "live")]
    rooms.forget(page_problems, "Cross-Origin-Opener-Policy")
    assert page_problems == []


def test_a_browser_whose_storage_is_denied_or_never_opens(anna: Page, campaign: Campaign) -> None:
    page = anna
    page.add_init_script(STORAGE_DENIED)
    rooms.enter(page, campaign)
    page.get_by_text("This browser does not let this page store data").wait_for()
    page.get_by_role("button", name="Faster").click()
    rooms.press(page, "k")
    expect(page.locator("[data-part=unsent]")).to_have_text("0 unsent")
    assert rooms.labels() == [(1, "live")]


@pytest.mark.parametrize("script", ["judging/outbox.js", "questions/label.js"])
def test_a_room_whose_script_fails_says_so_and_offers_a_reload(
    anna: Page, campaign: Campaign, page_problems: list[str], script: str
) -> None:
    page = anna
    failing = "throw new Error('this browser is too old');"
    headers = {"Content-Type": "text/javascript"}
    page.route(f"**/{script}", lambda route: route.fulfill(body=failing, headers=headers))
    page.goto(f"/campaigns/{campaign.pk}/judge/")
    failed = page.get_by_role("alert")
    expect(failed).to_contain_text("A script of this page has failed")
    page.unroute(f"**/{script}")
    follow(failed.get_by_role("link", name="Reload the page"))
    rooms.until_ready(page)
    expect(failed).to_be_hidden()
    rooms.forget(page_problems, "too old", "does not provide an export")


def hover(page: Page, selector: str) -> None:
    """Keep the element hovered, as touch screens do after a tap until the next one."""
    session = page.context.new_cdp_session(page)
    session.send("DOM.enable")
    session.send("CSS.enable")
    root = session.send("DOM.getDocument")["root"]["nodeId"]
    node = session.send("DOM.querySelector", {"nodeId": root, "selector": selector})["nodeId"]
    session.send("CSS.forcePseudoState", {"nodeId": node, "forcedPseudoClasses": ["hover"]})


def test_on_a_phone_each_pair_begins_with_its_caption_and_no_answer_looks_chosen(
    person: User,
    campaign: Campaign,
    browser: Browser,
    live_server: Any,
    tmp_path: Path,
    page_problems: list[str],
) -> None:
    caption = "a man in a red coat rides a bicycle along a river and waves at a dog " * 3
    long = rooms.make_campaign(tmp_path, [caption], videos=3, checklist=True, key="long")
    with open_context(browser, live_server.url, page_problems, **PHONE) as context:
        page = rooms.enter(rooms.sign_in(context, live_server.url, person), campaign)
        looks = page.evaluate(LOOKS)
        everything = ["caption", "undo", "unsure", "cannot-play"]
        rooms.settle(page)
        page.locator(".judge-answer").last.tap()
        rooms.settle(page)
        expect(rooms.judged(page)).to_have_text("1")
        rooms.settle(page)
        hover(page, ".judge-answer:last-child")
        assert page.evaluate("document.querySelectorAll('.judge-answer:hover').length") == 1
        assert (page.evaluate(IN_VIEW), page.evaluate(LOOKS)) == (everything, looks)
        rooms.until_sent(page)
        page.set_viewport_size({"width": 390, "height": 664})
        rooms.enter(page, long)
        rooms.settle(page)
        # Answer below the caption, and undo that.
        for button in (".judge-answer", "[data-part=undo]"):
            page.evaluate(TO_BOTTOM)
            assert "caption" not in page.evaluate(IN_VIEW)
            page.locator(button).last.tap()
            rooms.settle(page)
            assert wait_for(lambda: page.evaluate(IN_VIEW) == everything)
        page.locator(".judge-answer").first.tap()
        rooms.settle(page)
        rooms.until_sent(page)
    assert rooms.labels() == [(1, "live"), (1, "superseded"), (0, "live")]

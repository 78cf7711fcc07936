"""Accessibility of the judging room: touch, long captions, reduced motion, own keys and breaks.

The last test checks every state of the room, except those of training, with axe.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from annotation.models import Campaign, Escalation, Judgment
from annotation.services import annotator_for, set_preferences
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from tests import factories
from tests.conftest import open_context, wait_for_requests
from tests.e2e import rooms
from tests.e2e.barriers import find_barriers

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ARABIC = "رجل يقطع الطماطم ثم يبتسم 🍅"
LONG = "word " * 1998 + "👩‍👩‍👧‍👦"
SMALL_TARGETS = """() => [...document.querySelectorAll(".judge button")]
  .filter((target) => target.checkVisibility())
  .map((target) => [target.innerText, target.getBoundingClientRect()])
  .filter(([, box]) => box.width < 48 || box.height < 48)
  .map(([text]) => text)"""
VISIBLE = "(found) => found.filter((one) => one.checkVisibility()).length"
OVERFLOWS = "document.documentElement.scrollWidth > innerWidth"


@pytest.fixture
def anna(transactional_db: None) -> User:
    return factories.make_user("anna", Role.ANNOTATOR)


@pytest.fixture
def open_page(
    browser: Browser, live_server: Any, anna: User, page_problems: list[str]
) -> Callable[..., Any]:
    """Return a function that opens Anna's page in a browser with the given options."""

    @contextmanager
    def opened(**options: Any) -> Iterator[Page]:
        context = open_context(browser, live_server.url, page_problems, **options)
        # An open context would keep its connections, for which all later tests would wait.
        with closing(context):
            yield rooms.sign_in(context, live_server.url, anna)
        wait_for_requests()
        assert page_problems == []

    return opened


def swipe(page: Page, across: int) -> None:
    """Swipe over the video to the right by this number of pixels."""
    box = page.locator("[data-part=stage]").bounding_box()
    assert box
    start = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    session = page.context.new_cdp_session(page)
    for kind, points in (
        ("touchStart", [start]),
        ("touchMove", [{**start, "x": start["x"] + across}]),
        ("touchEnd", []),
    ):
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


def test_judging_on_a_phone(open_page: Callable[..., Any], tmp_path: Path) -> None:
    campaign = rooms.make_campaign(tmp_path, [ARABIC, LONG], checklist=True, videos=2)
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    with open_page(**phone) as page:
        rooms.enter(page, campaign)
        assert rooms.shown(page, "swipe")
        # No keys are shown, not even on the elements of the checklist.
        page.locator(".judge-element").first.tap()
        assert page.locator(".judge-element kbd").evaluate_all(VISIBLE) == 0
        seen = {}
        for place, across in enumerate((150, -150, 150, -150), start=1):
            seen[rooms.caption(page)] = page.evaluate(
                "getComputedStyle(document.querySelector('.judge-checklist')).direction"
            )
            assert page.evaluate(SMALL_TARGETS) == []
            assert not page.evaluate(OVERFLOWS)
            # The answer buttons are visible for captions of any length.
            assert page.get_by_text("Not relevant").first.is_visible()
            box = page.locator(".judge-answers").bounding_box()
            assert box
            assert box["y"] + box["height"] <= 844
            swipe(page, across)
            expect(rooms.judged(page)).to_have_text(str(place))
            rooms.settle(page)
        rooms.until(page, "empty")
        rooms.until_sent(page)
    assert seen == {ARABIC: "rtl", LONG: "ltr"}
    assert rooms.labels() == [(1, "live"), (0, "live"), (1, "live"), (0, "live")]


def test_reduced_motion_plays_videos_on_request(
    open_page: Callable[..., Any], tmp_path: Path
) -> None:
    campaign = rooms.make_campaign(tmp_path, ["a star"])
    with open_page(reduced_motion="reduce") as page:
        rooms.enter(page, campaign)
        rooms.press(page, "k")
        assert page.evaluate("document.querySelector('video').paused")
        page.get_by_role("button", name="Play", exact=True).click()
        rooms.until_playing(page)
        page.get_by_role("button", name="Pause", exact=True).click()
        page.get_by_role("button", name="One frame forward").click()
        rooms.press(page, "k", "k")
        rooms.until_sent(page)
    watched = [judgment.viewing["watched"] for judgment in Judgment.objects.order_by("pk")]
    assert watched[0] == watched[2] == 0
    assert watched[1] > 0
    assert all("first_frame" in judgment.viewing for judgment in Judgment.objects.all())


def test_own_keys_are_used_in_the_room(
    open_page: Callable[..., Any], anna: User, tmp_path: Path
) -> None:
    campaign = rooms.make_campaign(tmp_path, ["a star"], videos=4)
    with open_page() as page:
        page.goto("/me/keys/")
        page.get_by_label("Relevant, key", exact=True).press("p")
        page.get_by_label("Undo: back to the last pair, key").press("Backspace")
        page.get_by_label("Undo: back to the last pair, second key").press("Backspace")
        page.get_by_label("Undo: back to the last pair, second key").press("PageUp")
        page.locator("[data-key-names]").get_by_role("button", name="Save").click()
        page.get_by_text("Your keys are saved.").wait_for()
        assert annotator_for(anna).preferences["keys"]["undo"] == ["PageUp"]

        rooms.enter(page, campaign)
        assert page.locator(".judge-answer kbd").all_inner_texts() == ["J", "P"]
        rooms.press(page, "k", "z")
        expect(rooms.room(page, state="ready")).to_be_attached()
        assert rooms.labels() == []
        rooms.press(page, "p", "PageUp", "j")
        rooms.until_sent(page)
        assert rooms.labels() == [(1, "superseded"), (0, "live")]

        # Without letter keys, dictated or accidental letters answer nothing.
        set_preferences(annotator=annotator_for(anna), break_minutes=0, character_keys=False)
        rooms.enter(page, campaign)
        rooms.press(page, "j", "p", "1")
        assert page.locator(".judge-answer kbd").all_inner_texts() == ["←", "→"]
        rooms.press(page, "ArrowLeft")
        rooms.until_sent(page)
        assert len(rooms.labels()) == 3


def test_a_break_is_suggested_and_stops_nothing(
    open_page: Callable[..., Any], tmp_path: Path
) -> None:
    campaign = rooms.make_campaign(tmp_path, ["a star"], videos=4)
    with open_page() as page:
        rooms.enter(page, campaign)
        rooms.press(page, "k")
        assert not rooms.shown(page, "break")
        # Pretend that the work session began an hour ago.
        page.evaluate(
            """() => {
              const session = JSON.parse(sessionStorage.getItem("hearth-sitting"));
              session.since -= 3_600_000;
              sessionStorage.setItem("hearth-sitting", JSON.stringify(session));
            }"""
        )
        rooms.until_sent(page)
        page.reload()
        rooms.until_ready(page)
        rooms.press(page, "k")
        assert "for 60 minutes" in page.inner_text("[data-part=break]")
        page.get_by_role("button", name="OK").click()
        rooms.press(page, "k")
        assert not rooms.shown(page, "break")
        rooms.until_sent(page)
    assert [judgment.viewing["place"] for judgment in Judgment.objects.order_by("pk")] == [1, 2, 3]


def test_the_room_is_accessible_in_every_state_outside_of_training(
    open_page: Callable[..., Any], tmp_path: Path, page_problems: list[str]
) -> None:
    campaign = rooms.make_campaign(
        tmp_path, ["a star"], videos=6, checklist=True, contact_sheet=True
    )
    junk = campaign.tasks.order_by("position")[3].video
    found: dict[str, list[str]] = {}

    def look(name: str) -> None:
        if barriers := find_barriers(page):
            found[name] = barriers

    with open_page() as page:
        page.route(f"**/{junk.public_id}/", lambda route: route.fulfill(body=b"no video"))
        page.route("**/claim/", lambda route: None)
        page.goto(f"/campaigns/{campaign.pk}/judge/")
        expect(page.get_by_text("Loading the next pair …")).to_be_visible()
        look("loading")
        page.unroute("**/claim/")
        rooms.enter(page, campaign)
        rooms.press(page, "k", "c", "1")
        page.get_by_role("button", name="Your last answers").click()
        look("ready")
        for key, dialog in (("h", "guidelines"), ("?", "keys"), ("u", "unsure"), ("x", "report")):
            page.keyboard.press(key)
            page.locator(f"#{dialog}").wait_for()
            look(dialog)
            page.keyboard.press("Escape")
            page.locator(f"#{dialog}").wait_for(state="hidden")
        rooms.press(page, "k", "k")
        reason = page.locator("[data-part=video-reason]")
        expect(reason).to_have_text("This video cannot be played.")
        expect(rooms.room(page, seen="true")).to_be_attached()  # by its contact sheet
        look("broken video")
        page.keyboard.press("x")  # accepted immediately, without a confirmation
        rooms.until_ready(page)
        rooms.until_sent(page)
        assert Escalation.objects.get().reason == "This video cannot be played."
        page.emulate_media(color_scheme="dark")
        page.locator("html[data-bs-theme=dark]").wait_for()
        look("ready, dark")
        Campaign.objects.filter(pk=campaign.pk).update(state="paused")
        rooms.answer_all(page)
        look("empty")
        page.goto("/me/")
        look("me, dark")
        page.goto("/me/keys/")
        page.emulate_media(color_scheme="light")
        page.locator("html[data-bs-theme=light]").wait_for()
        page.get_by_label("Relevant, key", exact=True).fill("J")
        page.locator("[data-key-names]").get_by_role("button", name="Save").click()
        page.get_by_role("alert").wait_for()
        look("my keys")
        page.goto("/me/")
        look("me")
        page_problems[:] = [
            problem for problem in page_problems if "409" not in problem and "422" not in problem
        ]
    assert found == {}

"""A whole shift in the judging room, with only the keyboard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from annotation.enums import Scale
from annotation.models import Escalation, Judgment
from hearth.accounts.roles import Role
from tests import factories
from tests.e2e import rooms
from tests.e2e.waiting import wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Page

CAPTIONS = [f"a red circle passes {number} small stars" for number in range(10)]


# The room treats the contact sheet as seen when its image is decoded.
SHEET_SHOWN = "() => document.querySelector('.judge-sheet img').decode().then(() => true)"
# Pause the video after its first restart, before it can restart again. The room counts the restart
# in another callback for the same frame, and only if the video is not paused. The timeout therefore
# delays the pause until that callback has run.
STOP_AFTER_ITS_END = """() => new Promise((resolve) => {
  const video = document.querySelector("video");
  let last = 0;
  const look = (now, { mediaTime }) => {
    if (mediaTime >= last) {
      last = mediaTime;
      video.requestVideoFrameCallback(look);
      return;
    }
    setTimeout(() => {
      video.pause();
      resolve();
    });
  };
  video.requestVideoFrameCallback(look);
})"""


def answer(page: Page, key: str) -> None:
    """Answer when the video plays. The contact sheet would allow an earlier answer."""
    rooms.until_playing(page)
    rooms.press(page, key)


@pytest.fixture
def anna(transactional_db: None, new_page: Callable[[], Page], live_server: Any) -> Page:
    person = factories.make_user("anna", Role.ANNOTATOR)
    return rooms.sign_in(new_page().context, live_server.url, person)


def test_thirty_pairs_are_judged_by_keys(anna: Page, tmp_path: Path) -> None:
    campaign = rooms.make_campaign(tmp_path, CAPTIONS, checklist=True, contact_sheet=True)
    page = rooms.enter(anna, campaign)

    # These keys open dialogs, control the video and mark elements. They answer nothing.
    page.keyboard.press("h")
    page.keyboard.press("k")  # in a dialog, keys do not answer the pair
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert page.locator("#keys dt").first.locator("kbd").all_inner_texts() == ["J", "←"]
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    sheet = page.locator("[data-part=sheet-box] img")
    wait_until(page, SHEET_SHOWN)
    for _ in range(3):
        page.keyboard.press("]")
    assert page.inner_text("[data-part=speed]") == "2×"
    page.keyboard.press(",")
    assert page.evaluate("document.querySelector('video').paused")
    page.keyboard.press("Space")
    assert not page.evaluate("document.querySelector('video').paused")
    page.keyboard.press("1")
    page.keyboard.press("5")
    page.keyboard.press("5")  # the same key removes a mark
    page.keyboard.press("2")
    pressed = page.locator(".judge-element[aria-pressed=true]").all_inner_texts()
    assert [text.split()[-1] for text in pressed] == ["red", "circle"]
    expect(rooms.room(page, state="ready")).to_be_attached()
    assert Judgment.objects.count() == 0

    # A wrong answer and its correction. The marks are kept.
    first = rooms.caption(page)
    answer(page, "k")
    rooms.press(page, "z")
    assert rooms.caption(page) == first
    assert page.locator(".judge-element[aria-pressed=true]").count() == 2
    assert page.inner_text("[data-part=pair-note]") == "Your earlier answer: Relevant"
    assert page.locator(".judge-answer[aria-pressed=true]").get_attribute("data-label") == "1"
    answer(page, "j")
    assert not rooms.shown(page, "pair-note")
    assert page.locator(".judge-answer[aria-pressed]").count() == 0
    assert sheet.is_visible()

    note = page.locator("[data-part=pair-note]")
    # An escalated pair. Typing the reason answers nothing.
    page.keyboard.press("u")
    page.keyboard.type("jk: is this a star?")
    page.keyboard.press("Control+Enter")
    expect(note).to_have_text("Sent to a lead.")
    rooms.until_ready(page)
    # A video is reported. The dialog asks for confirmation, and Enter cancels.
    page.keyboard.press("x")
    page.keyboard.press("Enter")
    page.locator("#report").wait_for(state="hidden")
    expect(note).to_have_text("Sent to a lead.")
    page.keyboard.press("x")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(note).to_have_text("Video reported.")
    rooms.until_ready(page)
    # The report is undone and repeated.
    rooms.press(page, "z")
    expect(note).to_have_text("No longer escalated. You can answer it now.")
    page.keyboard.press("x")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(note).to_have_text("Video reported.")
    rooms.until_ready(page)
    # The list of the last answers contains both escalations before the last answer.
    page.get_by_role("button", name="Your last answers").click()
    page.locator("[data-part=history] button").nth(2).click()
    rooms.until_ready(page)
    assert page.inner_text("[data-part=pair-note]") == "Your earlier answer: Not relevant"
    answer(page, "j")

    for number in range(27):
        expect(rooms.room(page, state="ready")).to_be_attached()
        answer(page, "ArrowRight" if number % 3 else "ArrowLeft")
    rooms.until(page, "empty")
    rooms.until_sent(page)
    assert page.inner_text("#empty-title") == "No pairs for you at the moment"
    assert page.inner_text("[data-part=judged]") == "28"

    assert Judgment.objects.filter(state="live").count() == 28
    slip, corrected, repeated, *others = Judgment.objects.order_by("pk")
    assert [(judgment.label, judgment.state) for judgment in (slip, corrected, repeated)] == [
        (1, "superseded"),
        (0, "superseded"),
        (0, "live"),
    ]
    assert corrected.missing == ["red", "circle"]
    assert {tuple(judgment.missing) for judgment in others} == {()}
    in_force = Escalation.objects.filter(withdrawn_at=None)
    assert sorted(in_force.values_list("kind", "reason")) == [
        ("cannot-play", "The page found no problem."),
        ("unsure", "jk: is this a star?"),
    ]
    viewings = [judgment.viewing for judgment in Judgment.objects.order_by("pk")]
    assert [viewing["place"] for viewing in viewings] == list(range(1, 31))
    assert {(viewing["speed"], viewing["sheet"]) for viewing in viewings} == {(2, True)}
    for judgment in others:
        viewing = judgment.viewing
        assert judgment.seconds is not None
        assert 0 <= viewing["first_frame"] < judgment.seconds
        assert 0 < viewing["watched"] <= judgment.seconds
        assert viewing["hidden"] == 0


def test_longer_scales_are_answered_with_letters_and_digits(anna: Page, tmp_path: Path) -> None:
    """Digits select the steps unless they mark elements of the caption. Letters always work."""
    (tmp_path / "b").mkdir()
    plain = rooms.make_campaign(tmp_path, CAPTIONS[:1], scale=Scale.GRADED, key="plain")
    listed = rooms.make_campaign(
        tmp_path / "b", CAPTIONS[:1], scale=Scale.GRADED, checklist=True, key="listed"
    )
    page = rooms.enter(anna, plain)
    assert page.locator(".judge-answer kbd").all_inner_texts() == ["1", "2", "3", "4"]
    rooms.press(page, "3", "s")
    rooms.until_sent(page)
    assert rooms.labels() == [(2, "live"), (1, "live")]

    rooms.enter(page, listed)
    assert page.locator(".judge-answer kbd").all_inner_texts() == ["A", "S", "D", "F"]
    rooms.press(page, "3", "f")
    rooms.until_sent(page)
    assert rooms.labels()[2:] == [(3, "live")]
    assert Judgment.objects.get(label=3).missing == ["passes"]


def test_recorded_times_are_exact(anna: Page, tmp_path: Path) -> None:
    """Times and replays are recorded for each pair, and places continue after a reload."""
    campaign = rooms.make_campaign(tmp_path, CAPTIONS[:1], contact_sheet=True)
    page = rooms.enter(anna, campaign)
    page.keyboard.press("c")
    wait_until(page, SHEET_SHOWN)
    page.keyboard.press("c")  # opened and closed again
    for _ in range(3):
        page.keyboard.press("]")  # three seconds of video in one and a half
    page.evaluate(STOP_AFTER_ITS_END)
    stopped = clock(page)
    before, hidden = hide(page, hidden=True)
    shown, after = hide(page, hidden=False)
    still = clock(page) - stopped
    rooms.press(page, "k")
    rooms.until_sent(page)
    # With reduced motion, the second video does not play, so it cannot restart.
    page.emulate_media(reduced_motion="reduce")
    page.reload()
    rooms.until_ready(page)
    rooms.press(page, "k")
    rooms.until_sent(page)

    first, second = Judgment.objects.order_by("pk")
    assert (first.viewing["replays"], second.viewing["replays"]) == (1, 0)
    assert shown - hidden - 0.001 <= first.viewing["hidden"] <= after - before + 0.001
    assert first.seconds is not None
    assert 1 < first.viewing["watched"] <= first.seconds - still + 0.001
    assert (first.viewing["sheet"], second.viewing["sheet"]) == (True, False)
    assert (first.viewing["place"], second.viewing["place"]) == (1, 2)
    assert second.viewing["speed"] == 2  # the speed is kept for the next pair


def clock(page: Page) -> float:
    """Return the time of the page's own clock, in seconds."""
    now: float = page.evaluate("performance.now() / 1000")
    return now


def hide(page: Page, *, hidden: bool) -> tuple[float, float]:
    """Simulate that the tab is hidden or shown. A headless browser shows every page.

    Return the page's time before and after the change.
    """
    before, after = page.evaluate(
        """(value) => {
          const before = performance.now() / 1000;
          Object.defineProperty(document, "hidden", { value, configurable: true });
          document.dispatchEvent(new Event("visibilitychange"));
          return [before, performance.now() / 1000];
        }""",
        hidden,
    )
    return before, after

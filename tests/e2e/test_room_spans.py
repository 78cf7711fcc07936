"""The room that asks where, in Chromium: spans are marked by keys, buttons and dragging."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect

from annotation.enums import Only
from annotation.models import Judgment
from annotation.questions.spans.models import AnswerSpan
from annotation.services import Policy, open_campaign
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from tests import factories
from tests.e2e import rooms

if TYPE_CHECKING:
    from playwright.sync_api import Page

PAUSE = "document.querySelector('.judge-stage video').pause()"


def at(page: Page, seconds: float, *keys: str) -> None:
    """Pause the video at a time, and press keys."""
    page.evaluate(f"document.querySelector('.judge-stage video').currentTime = {seconds}")
    for key in keys:
        page.keyboard.press(key)


def texts(page: Page) -> list[str]:
    return page.locator("[data-part=span-list] li").all_inner_texts()


def test_spans_are_marked_changed_confirmed_and_corrected(
    transactional_db: None, tmp_path: Path, new_page: Callable[[], Page], live_server: Any
) -> None:
    benchmark = rooms.make_benchmark(tmp_path, ["a square stops"], videos=2)
    factories.make_run(tmp_path, benchmark, {"c0": ["v0", "v1"]})
    factories.build_pool(benchmark=benchmark, depth=2)
    campaign = open_campaign(
        benchmark=benchmark, by=OPERATOR, policy=Policy(), question="spans", only=Only.ALL
    )
    person = factories.make_user("anna", Role.ANNOTATOR)
    page = rooms.sign_in(new_page().context, live_server.url, person)
    rooms.enter(page, campaign)
    page.evaluate(PAUSE)
    live = page.locator("[data-part=live]")

    # No spans yet: nothing is sent.
    page.keyboard.press("k")
    expect(page.locator("[data-part=span-problem]")).to_be_visible()
    at(page, 0.5, "s")
    expect(live).to_have_text("Start 0.5 seconds")
    at(page, 1.5, "e")
    expect(live).to_have_text("End 1.5 seconds")
    page.keyboard.press("r")  # the end: half a second later
    page.keyboard.press("d")  # the start
    page.keyboard.press("f")  # one frame later
    assert texts(page) == ["0.5–2.0 s"]
    at(page, 1, "v")
    assert texts(page) == ["0.5–1.0 s", "1.0–2.0 s"]
    page.keyboard.press("o")
    assert texts(page) == ["0.5–2.0 s"]
    # A handle is dragged to the right end of the track.
    track = page.locator("[data-part=span-track]").bounding_box()
    handle = page.locator("[data-edge=end]").bounding_box()
    assert track
    assert handle
    page.mouse.move(handle["x"] + handle["width"] / 2, handle["y"] + 10)
    page.mouse.down()
    page.mouse.move(track["x"] + track["width"] * 0.5, handle["y"] + 10, steps=3)
    page.mouse.up()
    half = page.evaluate("document.querySelector('.judge-stage video').duration") / 2
    assert texts(page) == [f"0.5–{half:.1f} s"]
    # A focused handle moves by arrows, which answer elsewhere.
    page.locator("[data-edge=start]").focus()
    page.keyboard.press("ArrowRight")
    expect(live).to_have_text("Start 0.6 seconds")
    rooms.press(page, "k")
    expect(rooms.judged(page)).to_have_text("1")

    rooms.press(page, "z")
    assert texts(page) == [f"0.6–{half:.1f} s"]
    page.keyboard.press("Delete")
    page.click("[data-part=whole]")
    page.click("[data-submit=confirm]")
    rooms.until_sent(page)
    rooms.settle(page)
    rooms.press(page, "j")
    rooms.until_sent(page)
    stored = Judgment.objects.order_by("pk").values_list("label", "state")
    assert list(stored) == [(1, "superseded"), (1, "live"), (0, "live")]
    starts = AnswerSpan.objects.order_by("pk").values_list("start", flat=True)
    assert list(starts) == [580, 0]

"""The room that asks where, in Chromium: spans are marked by keys, buttons and dragging."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from annotation.enums import Only
from annotation.models import Campaign, Judgment
from annotation.questions.spans.gold import add_gold_spans
from annotation.questions.spans.models import AnswerSpan
from annotation.services import Policy, open_campaign, open_training
from annotation.services.members import annotator_for
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from tests import factories
from tests.annotation.spans.world import mark
from tests.conftest import open_context
from tests.e2e import rooms
from tests.e2e.waiting import wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PHONE = {"viewport": {"width": 390, "height": 664}, "has_touch": True, "is_mobile": True}
# The parts that an answer needs, next to Undo. The script returns those that a tap at each of their
# edges reaches.
NEEDED = ["caption", "stage", "mark-start", "mark-end", "unsure", "cannot-play"]
TOUCHABLE = f"""{NEEDED}.filter((name) => {{
  const element = document.querySelector(`[data-part=${{name}}]`);
  const {{ left, top, bottom }} = element.getBoundingClientRect();
  const at = (y) => document.elementFromPoint(left + 20, y);
  return [top + 1, bottom - 1].every((y) => element.contains(at(y)));
}})"""
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


def train(campaign: Campaign, person: Any) -> None:
    """Let the person mark known edges 0.3 seconds late."""
    gold = {"benchmark": campaign.benchmark, "caption": "c0", "by": OPERATOR}
    for video in ("v0", "v1"):
        add_gold_spans(**gold, video=video, spans=[(0.5, 1.5)])
    training = open_training(benchmark=campaign.benchmark, by=OPERATOR, question="spans")
    for held in factories.claim(training, annotator_for(person)):
        mark(held, [(0.5, 1.5)], marks=[[0.8, 1.8]])


def touch(page: Page, name: str, to: float) -> None:
    """Drag the handle of an edge to this share of the track with a finger."""
    handle = page.locator(f"[data-edge={name}]").bounding_box()
    track = page.locator("[data-part=span-track]").bounding_box()
    assert handle
    assert track
    start = {"x": handle["x"] + handle["width"] / 2, "y": handle["y"] + handle["height"] / 2}
    end = {**start, "x": track["x"] + track["width"] * to}
    session = page.context.new_cdp_session(page)
    for kind, points in (("touchStart", [start]), ("touchMove", [end]), ("touchEnd", [])):
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


def test_on_a_phone_marks_are_shifted_dragged_and_sent_later(
    transactional_db: None,
    tmp_path: Path,
    browser: Browser,
    live_server: Any,
    page_problems: list[str],
) -> None:
    benchmark = rooms.make_benchmark(tmp_path, ["a square stops"], videos=3)
    campaign = open_campaign(
        benchmark=benchmark, by=OPERATOR, policy=Policy(), question="spans", only=Only.ALL
    )
    person = factories.make_user("anna", Role.ANNOTATOR)
    train(campaign, person)
    with open_context(browser, live_server.url, page_problems, **PHONE) as context:
        page = rooms.sign_in(context, live_server.url, person)
        rooms.enter(page, campaign)
        expect(page.locator("[data-part=reaction]")).to_have_text("Your reaction time: 0.30 s")
        assert page.evaluate(TOUCHABLE) == NEEDED

        # The video plays at half speed, so a mark is late by 0.15 seconds of the video.
        for _ in range(2):
            page.tap("[data-part=slower]")
        rooms.until_playing(page)
        page.evaluate("document.querySelector('.judge-stage video').currentTime = 0.5")
        for part, after in (("mark-start", 0.7), ("mark-end", 1.2)):
            time = "document.querySelector('.judge-stage video').currentTime"
            wait_until(page, f"() => {time} > {after} && {time} < 2.5")
            page.locator(f"[data-part={part}]").dispatch_event("click")
        page.evaluate(PAUSE)
        edge = page.get_by_role("slider", name="End of span 1")
        expect(edge).to_have_attribute("aria-valuetext", f"{texts(page)[0][4:7]} seconds")
        box = edge.bounding_box()
        assert box
        assert box["width"] >= 44
        touch(page, "end", 0.9)
        duration = page.evaluate("document.querySelector('.judge-stage video').duration")
        expect(page.locator("[data-part=live]")).to_have_text(f"End {0.9 * duration:.1f} seconds")

        # On any page, Chromium can lose the first tap after such a simulated drag.
        page.tap("[data-part=position]")
        page.context.set_offline(True)
        page.tap("[data-submit=confirm]")
        expect(rooms.judged(page)).to_have_text("1")
        rooms.settle(page)
        page.tap("[data-submit=answer-0]")
        page.get_by_text("2 unsent").wait_for()
        page.context.set_offline(False)
        rooms.until_sent(page)
    first, second = Judgment.objects.filter(task__campaign=campaign).order_by("pk")
    ((start, end),) = first.payload["marks"]
    assert (end, first.payload["shift"], second.label) == (None, 0.3, 0)
    (span,) = first.spans.all()
    assert start > 0.7
    assert span.start / 1000 == pytest.approx(start - 0.15, abs=0.002)
    assert span.end / 1000 == pytest.approx(0.9 * duration, abs=0.05)
    rooms.forget(page_problems, "ERR_INTERNET_DISCONNECTED", "Failed to fetch")

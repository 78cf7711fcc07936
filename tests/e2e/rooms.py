"""Campaigns for the tests of the judging room, and functions that use and read its page."""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.test import Client
from playwright.sync_api import expect

from annotation.models import Campaign, Judgment
from annotation.services import Policy, open_campaign
from evaluation.demo.render import write_video
from evaluation.demo.shapes import draw_scene
from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import User
from pooling.models import Benchmark
from tests import factories
from tests.e2e.waiting import wait_until
from tests.factories import build_pool, import_benchmark

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Locator, Page

# A selector that matches when the room accepts keys and shows one of these: the video of the pair,
# the problem with the video, the feedback in training, or that no pairs are left.
SETTLED = ", ".join(
    f"#room[data-accepts=true]{state}"
    for state in (
        "[data-state=ready][data-seen=true]",
        "[data-state=ready]:has(.judge-problem:not([hidden]))",
        "[data-state=feedback]",
        "[data-state=empty]",
    )
)
# True when a frame of the playing video is on the screen.
PLAYS = """async () => {
  const video = document.querySelector(".judge-stage video");
  await new Promise((resolve) => { video.requestVideoFrameCallback(resolve); });
  return !video.paused && video.currentTime > 0;
}"""
# True if the browser's database of unsent answers is empty.
NOTHING_STORED = """async () => {
  const open = indexedDB.open("hearth-outbox");
  const done = (request) => new Promise((resolve, reject) => {
    request.onsuccess = resolve;
    request.onerror = reject;
  });
  // If the room has not created the database, do not create it here.
  open.onupgradeneeded = () => open.transaction.abort();
  await done(open);
  const count = open.result.transaction("answers").objectStore("answers").count();
  await done(count);
  open.result.close();
  return count.result === 0;
}"""
CAPTION = "a dog runs after a <b>ball</b>"


@cache
def clip(number: int) -> Path:
    """Return the path of a short video, which is made once for all tests."""
    path = Path(settings.HEARTH_HOME) / f"clip-{number}.mp4"
    write_video(draw_scene(random.Random(number)), path)
    return path


def make_benchmark(
    folder: Path, captions: Sequence[str], *, videos: int = 3, key: str = "room"
) -> Benchmark:
    """Make a benchmark in which every caption is pooled with every video."""
    names = [f"v{number}" for number in range(videos)]
    for number, name in enumerate(names):
        shutil.copy(clip(number), folder / f"{name}.mp4")
    rows = [(f"c{number}", text, names[0]) for number, text in enumerate(captions)]
    benchmark = import_benchmark(
        key=key,
        captions=factories.write_captions(folder, rows),
        videos=factories.write_videos(folder, [(name, f"{name}.mp4", "") for name in names]),
        media_dir=folder,
    ).benchmark
    factories.make_run(folder, benchmark, factories.all_pairs(len(captions), videos))
    build_pool(benchmark=benchmark, depth=videos)
    return benchmark


def make_campaign(
    folder: Path, captions: Sequence[str], *, videos: int = 3, key: str = "room", **policy: Any
) -> Campaign:
    benchmark = make_benchmark(folder, captions, videos=videos, key=key)
    return open_campaign(benchmark=benchmark, by=OPERATOR, policy=Policy(double_share=0, **policy))


def make_dogs(folder: Path) -> Campaign:
    """Make a campaign of one caption and one pooled video, which is not its original positive."""
    for name in ("v0", "v1"):
        write_video(draw_scene(random.Random(name)), folder / f"{name}.mp4")
    benchmark = import_benchmark(
        key="dogs",
        name="Dogs",
        captions=factories.write_captions(folder, [("c0", CAPTION, "v0")]),
        videos=factories.write_videos(folder, [("v0", "v0.mp4", ""), ("v1", "v1.mp4", "")]),
        media_dir=folder,
    ).benchmark
    factories.make_run(folder, benchmark, {"c0": ["v1", "v0"]}, system="A")
    build_pool(benchmark=benchmark, depth=1)
    return open_campaign(benchmark=benchmark, by=OPERATOR, policy=Policy(double_share=1))


def sign_in(context: BrowserContext, url: str, person: User) -> Page:
    """Open a page for a signed-in person, without the sign-in form, which has separate tests."""
    client = Client()
    client.force_login(person)
    context.add_cookies(
        [{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": url}]
    )
    return context.new_page()


def log_in(page: Page, username: str) -> Page:
    page.goto("/accounts/login/")
    page.fill("[name=login]", username)
    page.fill("[name=password]", factories.PASSWORD)
    page.press("[name=password]", "Enter")
    page.wait_for_url("/")
    return page


def enter(page: Page, campaign: Campaign) -> Page:
    """Open the campaign's room and wait for its first pair."""
    page.goto(f"/campaigns/{campaign.pk}/judge/")
    until_ready(page)
    return page


def room(page: Page, **states: str) -> Locator:
    """Return a locator of the room that matches if its data attributes have these values."""
    attributes = "".join(f"[data-{name}={value}]" for name, value in states.items())
    return page.locator(f"#room{attributes}")


def until(page: Page, wanted: str) -> None:
    expect(room(page, state=wanted)).to_be_attached()
    settle(page)


def settle(page: Page) -> None:
    expect(page.locator(SETTLED)).to_be_attached()


def until_ready(page: Page) -> None:
    until(page, "ready")


def until_playing(page: Page) -> None:
    wait_until(page, PLAYS)


def press(page: Page, *keys: str) -> None:
    """Press keys that answer or go back. After each key, wait until the room accepts keys."""
    for key in keys:
        page.keyboard.press(key)
        settle(page)


def press_at_once(page: Page, key: str, state: str) -> None:
    """Make the page press the key immediately when the room changes to the state."""
    page.evaluate(
        """({ key, state }) => {
          const room = document.getElementById("room");
          new MutationObserver((changes, observer) => {
            if (room.dataset.state !== state) return;
            observer.disconnect();
            room.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
            room.dataset.pressed = key;
          }).observe(room, { attributeFilter: ["data-state"] });
        }""",
        {"key": key, "state": state},
    )


def answer_all(page: Page, key: str = "k") -> None:
    """Answer all pairs until the room shows that none is left."""
    settle(page)
    while room(page, state="ready").count():
        press(page, key)
    until(page, "empty")


def until_claimed(page: Page, times: int) -> None:
    """Wait until the page has claimed pairs this number of times."""
    wait_until(
        page,
        f"""() => performance.getEntriesByType("resource")
          .filter(({{ name }}) => name.endsWith("/claim/")).length >= {times}""",
    )


def caption(page: Page) -> str:
    return page.inner_text("[data-part=caption]")


def shown(page: Page, part: str) -> bool:
    return page.locator(f"[data-part={part}]").is_visible()


def judged(page: Page) -> Locator:
    """Return a locator of the number of judged pairs that the room shows."""
    return page.locator("[data-part=judged]")


def until_sent(page: Page) -> None:
    """Wait until no unsent answers are left in the page and in the browser's store."""
    expect(page.locator("[data-part=unsent]")).to_have_text("0 unsent")
    wait_until(page, NOTHING_STORED)


def labels() -> list[tuple[int, str]]:
    """Return label and state of all judgments, in the order of their arrival."""
    return list(Judgment.objects.order_by("pk").values_list("label", "state"))


def forget(problems: list[str], *words: str) -> None:
    """Remove the browser's messages about requests that are expected to fail."""
    problems[:] = [problem for problem in problems if not any(word in problem for word in words)]

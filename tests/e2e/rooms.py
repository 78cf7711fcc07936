"""What the tests of the judging room share: worlds to judge, and eyes for the page."""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from django.test import Client

from annotation.models import Campaign, Judgment
from annotation.services import Policy, open_campaign
from config.accounts.models import User
from evaluation.demo.render import write_video
from evaluation.demo.shapes import draw_scene
from pooling.models import Benchmark
from tests import factories
from tests.e2e.test_disagreement import NOTHING_WAITS, wait_until
from tests.factories import build_pool, import_benchmark

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

ROOM = "document.getElementById('room')"
PLAYS = "() => document.querySelector('.judge-stage video')?.videoWidth > 0"
# A pair's video is on the screen, or the page says why it is not; or there is no pair.
LOOKED_AT = """() => {
  const room = document.getElementById("room");
  const isTold = [...room.querySelectorAll(".judge-problem")].some((text) => !text.hidden);
  return room.dataset.state !== "ready" || room.dataset.seen === "true" || isTold;
}"""
# Longer than a room ignores what is pressed, and shorter than a person looks.
SETTLED_MS = 270


@cache
def clip(number: int) -> Path:
    """A short video, made once for all tests."""
    path = Path(settings.HEARTH_HOME) / f"clip-{number}.mp4"
    write_video(draw_scene(random.Random(number)), path)
    return path


def make_benchmark(
    folder: Path, captions: Sequence[str], *, videos: int = 3, key: str = "room"
) -> Benchmark:
    """Every caption is pooled with every video."""
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
    return open_campaign(benchmark=benchmark, policy=Policy(double_share=0, **policy))


def sign_in(context: BrowserContext, url: str, person: User) -> Page:
    """A page of somebody who signed in before: the form has tests of its own."""
    client = Client()
    client.force_login(person)
    context.add_cookies(
        [{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": url}]
    )
    return context.new_page()


def enter(page: Page, campaign: Campaign) -> Page:
    """Open the campaign's room and wait for its first pair."""
    page.goto(f"/campaigns/{campaign.pk}/judge/")
    until_ready(page)
    wait_until(page, PLAYS)
    return page


def state(page: Page) -> str:
    found: str = page.evaluate(f"{ROOM}.dataset.state")
    return found


def until(page: Page, wanted: str) -> None:
    wait_until(page, f"() => {ROOM}.dataset.state === '{wanted}'")
    settle(page)


def settle(page: Page) -> None:
    wait_until(page, LOOKED_AT)
    page.wait_for_timeout(SETTLED_MS)


def until_ready(page: Page) -> None:
    until(page, "ready")


def press(page: Page, *keys: str) -> None:
    """Keys that answer or go back: each on a pair that has been there for long enough."""
    for key in keys:
        page.keyboard.press(key)
        settle(page)


def caption(page: Page) -> str:
    return page.inner_text("[data-part=caption]")


def shown(page: Page, part: str) -> bool:
    return page.locator(f"[data-part={part}]").is_visible()


def until_sent(page: Page) -> None:
    wait_until(page, NOTHING_WAITS)


def labels() -> list[tuple[int, str]]:
    """All judgments in the order of their arrival."""
    return list(Judgment.objects.order_by("pk").values_list("label", "state"))


def barriers(page: Page) -> list[str]:
    """What axe finds on the page as it is now."""
    return [
        f"{one['id']}: {node['html'][:120]}"
        for one in Axe().run(page).response["violations"]
        for node in one["nodes"]
    ]

"""A researcher compares ranked lists in Chromium: keys, players, common videos, the link."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.shared.caches import process_cache as cache
from pooling.models import Benchmark
from tests import factories
from tests.e2e import rooms
from tests.e2e.barriers import is_sound
from tests.e2e.waiting import wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Page

PAGE = "/benchmarks/tiny/compare/"
# The second caption has a long word without spaces. The last one has the maximum length.
CAPTIONS = ["a dog", "كلب يجري في الحديقة 🐕" + "ـ" * 500, "long " * 2_000]
# The ranked lists of run B. Run A ranks all videos in the order v0, v1, v2, v3 for each caption.
LISTS = {"c0": ["v2", "v0"], "c1": ["v1"], "c2": ["v3"]}
PLAYING = "[...document.querySelectorAll('video')].filter((one) => !one.paused).length"

# A key that opens another caption clicks a link immediately. A recorded click therefore shows that
# the key had this effect, even before the next page is loaded.
NOTICE_CLICKS = """() => {
  document.body.dataset.clicked = "no";
  document.addEventListener("click", () => { document.body.dataset.clicked = "yes"; });
}"""


@pytest.fixture
def benchmark(transactional_db: None, tmp_path: Path) -> Benchmark:
    cache.clear()
    benchmark = rooms.make_benchmark(tmp_path, CAPTIONS, videos=4, key="tiny")
    factories.make_run(tmp_path, benchmark, LISTS, system="B")
    factories.add_judgments(tmp_path, benchmark, [("c0", "v1", "a", 0), ("c0", "v2", "a", 1)])
    publish_label_set(benchmark=benchmark, by=OPERATOR)
    return benchmark


@pytest.fixture
def page(
    benchmark: Benchmark, new_page: Callable[[], Page], live_server: Any, page_problems: list[str]
) -> Page:
    rita = factories.make_user("rita", Role.RESEARCHER)
    return rooms.sign_in(new_page().context, live_server.url, rita)


def place(page: Page) -> str:
    return page.inner_text(".compare-steps nav span").strip()


def focused(page: Page) -> tuple[str, str]:
    """Return the list and the rank that have the focus."""
    texts: list[str] = page.evaluate(
        "[document.activeElement.closest('.compare-list').querySelector('bdi').textContent,"
        " document.activeElement.querySelector('strong').textContent]"
    )
    return texts[0], texts[1]


def shared(page: Page) -> list[str]:
    texts: list[str] = page.locator(".found.is-shared").all_inner_texts()
    return [" ".join(text.split()) for text in texts]


def test_keys_lead_through_captions_and_lists(page: Page) -> None:
    page.goto(PAGE)
    assert place(page) == "1 of 3"
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**at=2*")
    assert place(page) == "2 of 3"
    page.keyboard.press("ArrowLeft")
    page.wait_for_url("**at=1*")
    # In a field, arrows and letters have their usual effect.
    page.keyboard.press("g")
    page.evaluate(NOTICE_CLICKS)
    page.keyboard.type("c2gp?")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    assert page.get_attribute("body", "data-clicked") == "no"
    assert page.input_value("#id_caption") == "c2gp?"
    assert place(page) == "1 of 3"

    page.locator(".compare-lists").focus()
    page.keyboard.press("Tab")
    assert (focused(page), shared(page)) == (
        ("A", "1"),
        ["2 ★ original positive v0 also in A (rank 1)"],
    )
    page.keyboard.press("ArrowDown")
    assert (focused(page), shared(page)) == (("A", "2"), [])
    page.keyboard.press("End")
    page.keyboard.press("Shift+ArrowRight")
    assert focused(page) == ("B", "2")
    page.keyboard.press("Home")
    assert (focused(page), shared(page)) == (
        ("B", "1"),
        ["3 ✚ relevant by the labels v2 also in B (rank 1)"],
    )
    # From there, Shift and the left arrow lead to the previous list.
    page.keyboard.press("Shift+ArrowLeft")
    assert focused(page) == ("A", "1")


def test_single_letter_keys_can_be_turned_off(page: Page) -> None:
    page.goto(PAGE)
    page.keyboard.press("?")
    assert page.locator("[data-keys]").get_attribute("open") is not None
    is_sound(page)
    page.get_by_label("Single-letter keys").uncheck()
    page.goto(PAGE)
    page.keyboard.press("?")
    page.keyboard.press("g")
    assert page.locator("[data-keys]").get_attribute("open") is None
    assert page.evaluate("document.activeElement === document.body")
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**at=2*")


def test_one_video_or_all_visible_videos_play(page: Page) -> None:
    # In a high window, more than two videos are visible.
    page.set_viewport_size({"width": 1400, "height": 1600})
    page.goto(PAGE)
    page.locator(".found").first.focus()
    page.keyboard.press("Enter")
    wait_until(page, "() => document.querySelector('video').currentTime > 0")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    wait_until(page, "() => document.querySelectorAll('video')[1].currentTime > 0")
    assert page.evaluate(PLAYING) == 1
    page.keyboard.press("Tab")
    # The focus is in the player, which handles its keys itself.
    assert page.evaluate("document.activeElement.tagName") == "VIDEO"
    page.keyboard.press("p")
    assert page.evaluate(PLAYING) == 1
    page.get_by_role("button", name="Play all in view").click()
    wait_until(page, f"() => {PLAYING} > 2")
    page.keyboard.press("p")
    assert page.evaluate(PLAYING) == 0


def test_the_link_opens_the_same_comparison(page: Page) -> None:
    """The test reads the link from the page, because concurrent browsers share one clipboard."""
    page.goto(f"{PAGE}?order=long&at=3&depth=2")
    page.get_by_role("button", name="Copy link").wait_for()
    link = page.locator("[data-link]").evaluate("(link) => link.href")
    page.goto(link)
    assert place(page) == "3 of 3"
    assert page.inner_text(".compare-caption") == "a dog"
    assert page.locator(".found").count() == 4


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_fits_a_phone_with_any_caption(page: Page, theme: str) -> None:
    page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
    page.set_viewport_size({"width": 390, "height": 844})
    for at in range(1, 4):
        page.goto(f"{PAGE}?at={at}")
        is_sound(page)
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        # The lists are visible below the caption and scroll separately.
        assert page.locator(".compare-caption").bounding_box()["height"] < 300  # type: ignore[index]
        lists = page.locator(".compare-lists")
        assert lists.evaluate("(box) => box.scrollWidth <= box.clientWidth + 200")
    page.goto(f"{PAGE}?text=nothing")
    is_sound(page)

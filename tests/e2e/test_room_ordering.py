"""The room of an ordering study in Chromium: captions are put in order by keys and by dragging."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect

from annotation.models import Judgment
from hearth.accounts.roles import Role
from tests import factories
from tests.e2e import rooms

if TYPE_CHECKING:
    from playwright.sync_api import Page

CAPTIONS = [f"a red circle passes {number} small stars" for number in range(5)]


def captions(page: Page) -> list[str]:
    return page.locator("[data-part=captions] li").all_inner_texts()


def drag(page: Page, start: int, end: int) -> None:
    """Drag a row with the mouse to the place of another row."""
    rows = page.locator("[data-part=captions] li")
    first, last = rows.nth(start).bounding_box(), rows.nth(end).bounding_box()
    assert first
    assert last
    page.mouse.move(first["x"] + 60, first["y"] + first["height"] / 2)
    page.mouse.down()
    page.mouse.move(last["x"] + 60, last["y"] + last["height"] / 2, steps=4)
    page.mouse.up()


def test_captions_are_put_in_order_and_corrected(
    transactional_db: None, tmp_path: Path, new_page: Callable[[], Page], live_server: Any
) -> None:
    benchmark = rooms.make_benchmark(tmp_path, CAPTIONS, videos=2)
    study = factories.make_study(tmp_path, benchmark=benchmark)
    person = factories.make_user("anna", Role.ANNOTATOR)
    page = rooms.sign_in(new_page().context, live_server.url, person)
    rooms.enter(page, study)

    a, b, c, d, e = captions(page)
    for key in ("5", "Home", "ArrowDown", "End"):
        page.keyboard.press(key)
    assert captions(page) == [e, b, c, d, a]
    drag(page, 3, 1)
    assert captions(page) == [e, d, b, c, a]
    expect(page.locator("[data-part=live]")).to_have_text(f"Place 2 of 5: {d}")
    rooms.press(page, "Enter")
    expect(rooms.judged(page)).to_have_text("1")
    assert set(captions(page)) == {a, b, c, d, e}

    rooms.press(page, "z")
    assert captions(page) == [e, d, b, c, a]
    page.click("[data-part=lower]")
    page.click("[data-submit=confirm]")
    rooms.until_sent(page)
    stored = Judgment.objects.order_by("pk").values_list("payload", "state")
    assert list(stored) == [
        ({"places": [4, 3, 1, 2, 0]}, "superseded"),
        ({"places": [3, 4, 1, 2, 0]}, "live"),
    ]

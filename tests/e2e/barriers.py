"""Accessibility checks of pages with axe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from axe_playwright_python.sync_playwright import Axe

if TYPE_CHECKING:
    from playwright.sync_api import Page

# axe also reports all elements that passed. Only the problems are sent from the page to the
# test, because sending a long report takes a tenth of a second.
FIND = """(context) =>
  axe.run(context ?? document, { resultTypes: ["violations"] }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
  )"""


def find_barriers(page: Page, *, but: str = "") -> list[str]:
    """Return the accessibility problems of the page, except in elements that match `but`."""
    page.evaluate(Axe().axe_script)
    found: list[str] = page.evaluate(FIND, {"exclude": [[but]]} if but else None)
    return found


def is_sound(page: Page, *, but: str = "") -> None:
    """Check that the page has no accessibility problems, except in elements that match `but`."""
    assert find_barriers(page, but=but) == []

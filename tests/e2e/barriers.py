"""Accessibility checks of pages with axe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from axe_playwright_python.sync_playwright import Axe

if TYPE_CHECKING:
    from playwright.sync_api import Page


def find_barriers(page: Page, *, but: str = "") -> list[str]:
    """Return the accessibility problems of the page, except in elements that match `but`."""
    context = {"exclude": [[but]]} if but else None
    return [
        f"{violation['id']}: {node['html']}"
        for violation in Axe().run(page, context).response["violations"]
        for node in violation["nodes"]
    ]


def is_sound(page: Page, *, but: str = "") -> None:
    """Check that the page has no accessibility problems, except in elements that match `but`."""
    assert find_barriers(page, but=but) == []

"""What axe finds on a page: barriers for people who see, hear or move differently."""

from __future__ import annotations

from typing import TYPE_CHECKING

from axe_playwright_python.sync_playwright import Axe

if TYPE_CHECKING:
    from playwright.sync_api import Page


def find_barriers(page: Page, *, but: str = "") -> list[str]:
    """Return what axe finds on the page as it is now, without what the selector `but` names."""
    context = {"exclude": [[but]]} if but else None
    return [
        f"{one['id']}: {node['html']}"
        for one in Axe().run(page, context).response["violations"]
        for node in one["nodes"]
    ]


def is_sound(page: Page, *, but: str = "") -> None:
    """Check that there are no barriers on the page, or on all of it `but` what a selector names."""
    assert find_barriers(page, but=but) == []

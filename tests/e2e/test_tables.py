"""Tables in Chromium: on a phone, rows are lists whose cells show the titles of their columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hearth.accounts.roles import Role
from tests import factories
from tests.e2e.barriers import is_sound
from tests.e2e.rooms import log_in

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.django_db(transaction=True)

# The titles that the cells of the first row show, and whether the table is wider than its box.
ROW = """() => {
  const box = document.querySelector(".table-box");
  const titles = [...box.querySelectorAll("tbody tr:first-child td")]
    .map((cell) => getComputedStyle(cell, "::before").content);
  return [titles, box.scrollWidth > box.clientWidth];
}"""


def test_rows_are_lists_on_a_phone(page: Page) -> None:
    factories.make_user("ada", Role.ADMIN)
    log_in(page, "ada")
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto("/people/")
    titles = ["Name", "Pseudonym", "Roles", "State", "Last signed in", "Pairs judged"]
    assert page.evaluate(ROW) == [[f'"{title}"' for title in titles], False]
    is_sound(page)
    page.set_viewport_size({"width": 1400, "height": 800})
    assert page.evaluate(ROW) == [["none"] * len(titles), False]

"""An annotator is deactivated while judging, in Chromium. The current answer is still stored."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from annotation.models import Assignment, Campaign, Judgment
from hearth.accounts.roles import Role
from hearth.accounts.services import deactivate_person
from tests import factories
from tests.e2e import rooms

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture
def campaign(transactional_db: None, tmp_path: Path) -> Campaign:
    return rooms.make_dogs(tmp_path)


def test_the_answer_of_a_deactivated_annotator_is_stored(
    campaign: Campaign,
    new_page: Callable[[], Page],
    page_problems: list[str],
) -> None:
    anna, ada = factories.make_user("anna", Role.ANNOTATOR), factories.make_user("ada", Role.ADMIN)
    page = rooms.enter(rooms.log_in(new_page(), "anna"), campaign)

    deactivate_person(person=anna, by=ada)
    assert list(Assignment.objects.values_list("state", flat=True)) == ["expired"]
    with page.expect_response("**/api/v1/judgments/") as answer:
        page.keyboard.press("k")
    assert (answer.value.status, answer.value.json()["kept"]) == (403, True)
    rooms.until_sent(page)
    page.get_by_text("You can no longer judge.").wait_for()
    assert list(Judgment.objects.values_list("label", "state")) == [(1, "surplus")]
    task = campaign.tasks.get()
    assert (task.state, task.labels_live, task.seats_open) == ("open", 0, 2)
    # The answer and the claim are rejected because no one is signed in. After the page is closed,
    # it reports no further errors.
    page.close()
    page_problems[:] = [problem for problem in page_problems if "status of 40" not in problem]

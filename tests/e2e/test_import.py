"""A lead makes a benchmark in the browser, from files to its overview."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from hearth.accounts.roles import Role
from hearth.jobs.models import Job
from hearth.jobs.services import run_job
from pooling.models import Query
from tests.e2e import rooms
from tests.e2e.waiting import follow
from tests.factories import make_user, write_csv, write_videos

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]


def test_a_lead_makes_a_benchmark_without_a_shell(
    page: Page, live_server: Any, tmp_path: Path, page_problems: list[str]
) -> None:
    """The lead assigns columns with unknown names. A form with an error keeps the chosen files."""
    captions = write_csv(tmp_path / "a.csv", "nr,satz,film", [("c0", "eine Katze", "v0")])
    rooms.sign_in(page.context, live_server.url, make_user("lea", Role.LEAD))
    page.goto("/")
    follow(page.get_by_role("link", name="New benchmark").first)
    page.get_by_label("Name").fill("Katzen")
    page.get_by_label("Key").fill("not valid")
    page.get_by_label("Captions", exact=True).set_input_files(captions)
    page.get_by_label("Videos table").set_input_files(
        write_videos(tmp_path, [("v0", "", "https://example.org/v0.mp4")])
    )
    page.get_by_role("button", name="Show the plan").click()
    expect(page.locator("[data-form-errors]")).to_contain_text("Use only letters")
    page_problems[:] = [problem for problem in page_problems if "422" not in problem]
    page.get_by_label("Key").fill("katzen")
    page.get_by_role("button", name="Show the plan").click()
    _finish(page)
    expect(page.get_by_role("cell", name="the header has no column 'caption'")).to_be_visible()

    for label, name in (("Caption id", "nr"), ("Caption", "satz"), ("Video id", "film")):
        page.get_by_label(label, exact=True).select_option(name)
    page.get_by_role("button", name="Read with these columns").click()
    _finish(page)
    page.get_by_role("button", name="Import 1 caption").click()
    _finish(page)
    page.wait_for_url("**/benchmarks/katzen/")
    expect(page.get_by_role("heading", name="Next: import runs")).to_be_visible()
    assert list(Query.objects.values_list("key", "text")) == [("c0", "eine Katze")]


def _finish(page: Page) -> None:
    """Do the job that the page shows in place of its form, and wait for the page of its result."""
    page.locator("[data-job-title]").wait_for()
    with page.expect_navigation():
        run_job(Job.objects.latest("created_at").pk)

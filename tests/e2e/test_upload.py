"""A run cannot be stored on a full disk. Later, the same form is sent again and starts the job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from hearth.accounts.roles import Role
from hearth.jobs.models import Job
from tests.e2e import rooms
from tests.factories import make_benchmark, make_user, write_run

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]


def test_a_refused_upload_shows_the_reason_and_can_be_repeated(
    page: Page, live_server: Any, tmp_path: Path, settings: Any, page_problems: list[str]
) -> None:
    """The form, the selected file and the entered text stay."""
    make_benchmark(tmp_path)
    researcher = make_user("rosa", Role.RESEARCHER)
    rooms.sign_in(page.context, live_server.url, researcher)
    page.goto("/benchmarks/tiny/runs/new/")
    page.get_by_label("System").fill("CLIP")
    page.locator("input[name=file]").set_input_files(write_run(tmp_path / "a.run", {"c0": ["v1"]}))

    settings.DISK_RESERVE_BYTES = 1 << 60
    page.get_by_role("button", name="Upload").click()
    expect(page.locator("[data-upload-text]")).to_have_text(
        "The disk is full. Nothing was stored. Tell an admin, and try again later."
    )
    assert Job.objects.count() == 0
    page_problems[:] = [problem for problem in page_problems if "507" not in problem]

    settings.DISK_RESERVE_BYTES = 1
    page.get_by_role("button", name="Upload").click()
    page.locator("[data-job-title]").wait_for()
    assert Job.objects.get().params["source"] == "a.run"

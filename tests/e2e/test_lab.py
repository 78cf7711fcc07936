"""A researcher reads analyses in Chromium: charts are drawn, tables sorted, files saved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from config.accounts.roles import Role
from config.jobs.models import Job
from config.jobs.services import run_job
from evaluation.models import Analysis
from pooling.models import Benchmark
from tests import factories
from tests.e2e import rooms
from tests.e2e.barriers import is_sound
from tests.e2e.waiting import follow
from tests.evaluation.worked import make_worked_benchmark

if TYPE_CHECKING:
    from playwright.sync_api import Page

DRAWN = ".lab-plot svg .mark-group, .lab-plot svg .role-mark"


@pytest.fixture
def benchmark(transactional_db: None, tmp_path: Path) -> Benchmark:
    return make_worked_benchmark(tmp_path)


def test_a_researcher_reads_an_analysis(
    benchmark: Benchmark, new_page: Callable[[], Page], live_server: Any, page_problems: list[str]
) -> None:
    rita = factories.make_user("rita", Role.RESEARCHER)
    page = rooms.sign_in(new_page().context, live_server.url, rita)
    page.goto("/benchmarks/tiny/")
    follow(page.get_by_role("link", name="Analyses", exact=True))
    is_sound(page)
    follow(page.get_by_role("link", name="Ranks of the positives"))
    # It begins by itself; a worker does it, and the page shows it.
    page.wait_for_selector("#job-progress")
    run_job(Job.objects.get().pk)
    page.wait_for_selector(DRAWN)
    is_sound(page)

    # Numbers from the highest, what is equal in the order it had.
    ranks = page.get_by_role("region", name="Positives at each rank")
    new = ranks.get_by_role("button", name="From the labels")
    new.click()
    assert column(page, 3) == ["2", "2", "1", "1", "1", "0"]
    new.click()
    assert column(page, 3) == ["0", "1", "1", "1", "2", "2"]

    with page.expect_download() as saved:
        page.get_by_role("button", name="SVG").click()
    key = Analysis.objects.get().key
    assert saved.value.suggested_filename == f"tiny-ranks-labels1-{key[:12]}-ranks.svg"
    assert saved.value.path().read_text().startswith("<svg")
    # On white paper, whatever the page looks like.
    page.emulate_media(color_scheme="dark")
    page.wait_for_selector("[data-bs-theme=dark] .lab-plot svg text")
    with page.expect_download() as saved:
        page.get_by_role("button", name="SVG").click()
    written = saved.value.path().read_text()
    assert ("#25211c" in written, "#ede6dd" in written) == (True, False)
    expect(page.locator(".lab-paper")).to_have_count(0)


def test_a_lead_brings_tags(
    benchmark: Benchmark,
    new_page: Callable[[], Page],
    live_server: Any,
    page_problems: list[str],
    tmp_path: Path,
) -> None:
    lena = factories.make_user("lena", Role.LEAD)
    page = rooms.sign_in(new_page().context, live_server.url, lena)
    page.goto("/benchmarks/tiny/captions/")
    is_sound(page)
    follow(page.get_by_role("link", name="Import train captions"))
    is_sound(page)
    follow(page.get_by_role("link", name="Captions and videos"))
    follow(page.get_by_role("link", name="Import tags"))
    is_sound(page)
    tags = factories.write_csv(tmp_path / "new.csv", "video_id,tag", [("v2", "at home")])
    page.get_by_label("File", exact=True).set_input_files(tags)
    page.get_by_role("button", name="Upload").click()
    page.wait_for_url("**/jobs/*/")
    run_job(Job.objects.get().pk)
    follow(page.get_by_role("link", name="To the scores by tag"))
    page.wait_for_selector("#job-progress")
    run_job(Job.objects.get(kind="analyse").pk)
    page.get_by_role("cell", name="at home").first.wait_for()


def column(page: Page, number: int) -> list[str]:
    cells: list[str] = page.locator("#table-ranks ~ .table-box tbody tr").evaluate_all(
        "(rows, number) => rows.map((row) => row.cells[number].textContent.trim())", number
    )
    return cells

"""A researcher reads analyses in Chromium: charts are drawn, tables sorted, files downloaded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from evaluation.lab.analyses import get_analysis
from evaluation.lab.analyses.question import build_question
from evaluation.lab.services import analyse
from evaluation.models import AnalysisResult
from hearth.accounts.roles import Role
from hearth.jobs.models import Job
from hearth.jobs.services import run_job
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
    # The job begins automatically, and the page shows its result.
    page.wait_for_selector("#job-progress")
    run_job(Job.objects.get().pk)
    page.wait_for_selector(DRAWN)
    is_sound(page)

    # The first click sorts from the highest number. Equal rows keep their order.
    ranks = page.get_by_role("region", name="Positives at each rank")
    new = ranks.get_by_role("button", name="New positives")
    new.click()
    assert column(page, 3) == ["2", "2", "1", "1", "1", "0"]
    new.click()
    assert column(page, 3) == ["0", "1", "1", "1", "2", "2"]
    expect(page.locator("#table-ranks ~ .table-count")).to_have_text("6 rows")

    with page.expect_download() as saved:
        page.get_by_role("button", name="SVG").click()
    key = AnalysisResult.objects.get().key
    assert saved.value.suggested_filename == f"tiny-ranks-labels1.0.0-{key[:12]}-ranks.svg"
    assert saved.value.path().read_text().startswith("<svg")
    # Files have the light theme, even if the page has the dark one.
    page.emulate_media(color_scheme="dark")
    page.wait_for_selector("[data-bs-theme=dark] .lab-plot svg text")
    with page.expect_download() as saved:
        page.get_by_role("button", name="SVG").click()
    written = saved.value.path().read_text()
    assert ("#25211c" in written, "#ede6dd" in written) == (True, False)
    expect(page.locator(".lab-paper")).to_have_count(0)


def test_a_lead_imports_tags(
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
    page.locator("#job-in-place").wait_for()
    run_job(Job.objects.get().pk)
    page.wait_for_url("**/captions/#metadata")
    page.get_by_text("1 tag of 1 caption is stored.").wait_for()
    follow(page.get_by_role("link", name="Scores by tag"))
    page.wait_for_selector("#job-progress")
    run_job(Job.objects.get(kind="analyse").pk)
    page.get_by_role("cell", name="at home").first.wait_for()


def column(page: Page, number: int) -> list[str]:
    cells: list[str] = page.locator("#table-ranks ~ .table-box tbody tr").evaluate_all(
        "(rows, number) => rows.map((row) => row.cells[number].textContent.trim())", number
    )
    return cells


def test_a_long_table_states_how_many_rows_it_shows(
    benchmark: Benchmark, new_page: Callable[[], Page], live_server: Any, page_problems: list[str]
) -> None:
    """Sorting and filtering use all rows, not only those that are shown."""
    analyse(question=build_question(get_analysis("matching"), benchmark, {}))
    rita = factories.make_user("rita", Role.RESEARCHER)
    page = rooms.sign_in(new_page().context, live_server.url, rita)
    page.goto("/benchmarks/tiny/analyses/matching/")
    rows = page.locator("#table-curve ~ .table-box tbody tr:visible")
    line = page.locator("#table-curve ~ .table-count")
    count = line.get_by_role("status")
    expect(rows).to_have_count(20)
    expect(count).to_have_text("20 of 50 rows")
    curve = page.get_by_role("region", name="Labels from captions compared with human labels")
    curve.get_by_role("button", name="Minimum similarity").click()
    expect(rows.first.locator("td").first).to_have_text("1")
    line.get_by_role("button", name="Show all 50").click()
    expect(rows).to_have_count(50)
    page.locator("#table-curve ~ .table-filter input").fill("0.5000")
    expect(rows).to_have_count(1)
    expect(count).to_have_text("1 of 50 rows")

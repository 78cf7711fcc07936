"""A researcher reads analyses in Chromium: charts are drawn, tables sorted, files saved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from config.accounts.roles import Role
from config.jobs.models import Job
from config.jobs.services import run_job
from evaluation.analyses import KINDS
from evaluation.analyses.asked import ask
from evaluation.services import analyse
from pooling.models import Benchmark
from tests import factories
from tests.e2e import rooms
from tests.e2e.test_training import is_sound
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
    page.get_by_role("link", name="Analyses").click()
    is_sound(page)
    page.get_by_role("link", name="Ranks of the positives").click()
    # It begins by itself; a worker does it, and the page shows it.
    page.wait_for_selector("#job-progress")
    run_job(Job.objects.get().pk)
    page.wait_for_selector(DRAWN)
    is_sound(page)

    # Numbers from the highest, what is equal in the order it had.
    new = page.get_by_role("button", name="From the labels")
    new.click()
    assert column(page, 3) == ["2", "2", "1", "1", "1", "0"]
    new.click()
    assert column(page, 3) == ["0", "1", "1", "1", "2", "2"]

    with page.expect_download() as saved:
        page.get_by_role("button", name="SVG").click()
    assert saved.value.suggested_filename == "tiny-ranks-ranks.svg"
    assert saved.value.path().read_text().startswith("<svg")


def column(page: Page, number: int) -> list[str]:
    cells: list[str] = page.locator("#table-ranks ~ .table-box tbody tr").evaluate_all(
        "(rows, number) => rows.map((row) => row.cells[number].textContent.trim())", number
    )
    return cells


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_chart_is_drawn(
    benchmark: Benchmark,
    new_page: Callable[[], Page],
    live_server: Any,
    page_problems: list[str],
    theme: str,
) -> None:
    rita = factories.make_user("rita", Role.RESEARCHER)
    page = rooms.sign_in(new_page().context, live_server.url, rita)
    page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
    page.set_viewport_size({"width": 390, "height": 844})
    for kind in KINDS.values():
        found = analyse(asked=ask(kind, benchmark, {}))
        page.goto(f"/benchmarks/tiny/analyses/{kind.name}/")
        drawn = page.locator(".lab-plot:has(svg .role-mark)")
        drawn.nth(len(kind.charts(found.result)) - 1).wait_for()
        is_sound(page)
        assert page.evaluate("document.documentElement.scrollWidth") == 390

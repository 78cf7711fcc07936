"""A researcher from outside, from the registration to a published score on the leaderboard."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from evaluation.release.services import publish_label_set
from evaluation.scores.services import evaluate_runs
from hearth.accounts.actors import OPERATOR
from hearth.jobs.models import Job
from hearth.jobs.services import run_job
from pooling import services
from pooling.models import Uploader
from tests.e2e.waiting import follow
from tests.factories import PASSWORD, add_judgments, make_benchmark, make_run, write_run

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]


def test_a_stranger_registers_uploads_a_run_and_publishes_its_score(
    page: Page,
    browser: Browser,
    live_server: Any,
    tmp_path: Path,
    settings: Any,
    page_problems: list[str],
) -> None:
    settings.OPEN_REGISTRATION = True
    benchmark = make_benchmark(tmp_path, captions=2, videos=3)
    make_run(tmp_path, benchmark, {"c0": ["v2"], "c1": ["v1"]}, system="Alpha")
    add_judgments(tmp_path, benchmark, [("c0", "v1", "a", 1), ("c0", "v2", "b", 0)])
    publish_label_set(benchmark=benchmark, by=OPERATOR)
    evaluate_runs(benchmark=benchmark, by=OPERATOR)
    services.change_public_page(benchmark=benchmark, changes={"is_public": True}, by=OPERATOR)

    page.goto("/")
    for name in ("Public benchmarks", "tiny", "create an account"):
        follow(page.get_by_role("link", name=name, exact=True))
    page.get_by_label("User name").fill("olga")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password again").fill(PASSWORD)
    follow(page.get_by_role("button", name="Create my account"))
    follow(page.get_by_role("link", name="tiny"))
    follow(page.get_by_role("link", name="Upload a run").first)
    page.get_by_role("button", name="Ask the leads to confirm me").click()
    expect(page.get_by_text("The leads of the benchmark see your request.")).to_be_visible()
    services.confirm_uploader(uploader=Uploader.objects.get(), by=OPERATOR)
    page.reload()

    _upload(page, write_run(tmp_path / "wrong.run", {"c0": ["v9"]}))
    expect(page.get_by_text("unknown video 'v9'")).to_be_visible()
    follow(page.get_by_role("link", name="tiny"))
    _upload(page, write_run(tmp_path / "mine.run", {"c0": ["v1"], "c1": ["v1"]}))
    card = page.get_by_role("listitem").filter(has_text="Scored, private")
    expect(card.get_by_text("bounds 100.0 to 100.0")).to_be_visible()

    visitor = browser.new_context(base_url=live_server.url).new_page()
    visitor.goto("/public/tiny/")
    expect(visitor.get_by_role("row").nth(1)).to_contain_text("Alpha")
    expect(visitor.get_by_text("Mine")).to_have_count(0)

    follow(card.get_by_role("link", name="Publish"))
    page.get_by_label("Paper").fill("https://example.org/paper")
    follow(page.get_by_role("button", name="Publish the run"))
    expect(page.get_by_text("Scored and published")).to_be_visible()
    visitor.reload()
    expect(visitor.get_by_role("row").nth(1)).to_contain_text("Mine")
    expect(visitor.get_by_role("link", name="paper of Mine")).to_be_visible()
    # The server waits for the connections of open pages.
    visitor.context.close()


def _upload(page: Page, path: Path) -> None:
    """Upload a run, and do its job while the list waits for it."""
    page.get_by_label("File", exact=True).set_input_files(path)
    page.get_by_label("System").fill("Mine")
    page.get_by_role("button", name="Upload").click()
    page.wait_for_url("**/uploads/")
    expect(page.get_by_text("Waiting")).to_be_visible()
    run_job(Job.objects.get(kind="score_upload", state="queued").pk)
    expect(page.get_by_text("Waiting")).to_have_count(0)

"""The main workflow in Chromium: two annotators disagree, a third decides, the results change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from annotation.models import Campaign, Judgment
from hearth.accounts.roles import Role
from pooling.models import Benchmark
from tests import factories
from tests.e2e import rooms
from tests.e2e.waiting import follow
from tests.waiting import SECONDS

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route


@pytest.fixture
def campaign(transactional_db: None, tmp_path: Path) -> Campaign:
    return rooms.make_dogs(tmp_path)


def judge_by_key(page: Page, campaign: Campaign, key: str) -> None:
    rooms.enter(page, campaign)
    assert rooms.caption(page) == rooms.CAPTION
    with page.expect_response("**/api/v1/judgments/") as answer:
        page.keyboard.press(key)
    assert answer.value.status == 201
    rooms.until(page, "empty")
    expect(rooms.judged(page)).to_have_text("1")


def publish(page: Page, benchmark: Benchmark, *, confirm: bool = False) -> None:
    page.goto(f"/benchmarks/{benchmark.key}/labels/")
    follow(page.get_by_role("link", name="Publish labels"))
    if confirm:
        page.get_by_label("will have no label").check()
    page.get_by_role("button", name="Publish now").click()
    # A worker process does the job. Then the page shows the label set on the tab "Labels".
    done = page.get_by_text("is published with")
    done.wait_for(timeout=SECONDS * 1000)
    expect(page).to_have_title("Labels · Dogs · Hearth")


def first_cell(page: Page, benchmark: Benchmark) -> str:
    """Return C@1 of the only run, such as "100.0 (0.0 + 100.0)".

    The numbers are the score by the labels, the score by the original positives alone, and the
    difference.
    """
    page.goto(f"/benchmarks/{benchmark.key}/results/")
    cell = " ".join(page.locator("tbody td").first.inner_text().split())
    return cell.split(" Judged@")[0]


@pytest.mark.parametrize("broker", ["filesystem"], indirect=True)
def test_third_person_decides_and_results_change(
    campaign: Campaign, new_page: Callable[[], Page], celery_worker_process: Any
) -> None:
    benchmark = campaign.benchmark
    for name in ("anna", "ben", "cara"):
        factories.make_user(name, Role.ANNOTATOR)
    factories.make_user("lea", Role.LEAD)
    lead = rooms.log_in(new_page(), "lea")

    judge_by_key(rooms.log_in(new_page(), "anna"), campaign, "k")
    judge_by_key(rooms.log_in(new_page(), "ben"), campaign, "j")
    # The third label of the pair is missing.
    publish(lead, benchmark, confirm=True)
    assert first_cell(lead, benchmark) == "0.0 (0.0 + 0.0)"

    judge_by_key(rooms.log_in(new_page(), "cara"), campaign, "k")
    publish(lead, benchmark)
    assert first_cell(lead, benchmark) == "100.0 (0.0 + 100.0)"
    assert list(Judgment.objects.order_by("pk").values_list("label", "state")) == [
        (1, "live"),
        (0, "live"),
        (1, "live"),
    ]
    task = campaign.tasks.get()
    assert (task.state, task.label, task.labels_required) == ("resolved", 1, 3)


@pytest.mark.parametrize("broker", ["filesystem"], indirect=True)
def test_undo_corrects_the_answer_and_nothing_is_lost_offline(
    campaign: Campaign, new_page: Callable[[], Page], page_problems: list[str], broker: str
) -> None:
    factories.make_user("anna", Role.ANNOTATOR)
    page = rooms.log_in(new_page(), "anna")
    judge_by_key(page, campaign, "ArrowRight")
    page.keyboard.press("z")
    rooms.until_ready(page)
    assert rooms.caption(page) == rooms.CAPTION

    page.context.set_offline(True)
    page.keyboard.press("ArrowLeft")
    page.get_by_text("1 unsent").wait_for()
    page.context.set_offline(False)
    page.goto(f"/campaigns/{campaign.pk}/judge/")
    rooms.until(page, "empty")
    rooms.until_sent(page)
    page_problems[:] = [problem for problem in page_problems if "ERR_INTERNET" not in problem]
    assert list(Judgment.objects.order_by("pk").values_list("label", "state")) == [
        (1, "superseded"),
        (0, "live"),
    ]


@pytest.mark.parametrize("broker", ["filesystem"], indirect=True)
def test_keys_answer_nothing_while_the_next_pair_is_fetched(
    transactional_db: None, tmp_path: Path, new_page: Callable[[], Page], broker: str
) -> None:
    """Each pair is shown once and answered once, even if the server is slow."""
    campaign = rooms.make_campaign(tmp_path, ["a star", "a ring", "a square"], videos=8)
    factories.make_user("anna", Role.ANNOTATOR)
    page = rooms.log_in(new_page(), "anna")

    def slowly(route: Route) -> None:
        for _ in range(10):
            page.keyboard.press("k")
        route.continue_()

    page.route("**/claim/", slowly)
    page.goto(f"/campaigns/{campaign.pk}/judge/")
    rooms.answer_all(page)
    rooms.until_sent(page)
    page.unroute_all(behavior="ignoreErrors")
    assert list(Judgment.objects.values_list("state", flat=True)) == ["live"] * 24
    expect(rooms.judged(page)).to_have_text("24")

"""The main job in Chromium: two people disagree, a third decides, the results page changes."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from annotation.models import Campaign, Judgment
from annotation.services import Policy, open_campaign
from config.accounts.roles import Role
from evaluation.demo.render import write_video
from evaluation.demo.shapes import draw_scene
from pooling.models import Benchmark
from tests import factories
from tests.factories import build_pool, import_benchmark

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

CAPTION = "a dog runs after a <b>ball</b>"
MORE_THAN_DEAF_MS = 400
# The browser's own store of answers that have not reached the server.
NOTHING_WAITS = """async () => {
  const done = (request) => new Promise((resolve) => { request.onsuccess = resolve; });
  const open = indexedDB.open("hearth-outbox");
  await done(open);
  const count = open.result.transaction("answers").objectStore("answers").count();
  await done(count);
  return count.result === 0;
}"""


@pytest.fixture
def campaign(transactional_db: None, tmp_path: Path) -> Campaign:
    """One caption; the run puts first a video that is not its original positive."""
    for name in ("v0", "v1"):
        write_video(draw_scene(random.Random(name)), tmp_path / f"{name}.mp4")
    benchmark = import_benchmark(
        key="dogs",
        name="Dogs",
        captions=factories.write_captions(tmp_path, [("c0", CAPTION, "v0")]),
        videos=factories.write_videos(tmp_path, [("v0", "v0.mp4", ""), ("v1", "v1.mp4", "")]),
        media_dir=tmp_path,
    ).benchmark
    factories.make_run(tmp_path, benchmark, {"c0": ["v1", "v0"]}, system="A")
    build_pool(benchmark=benchmark, depth=1)
    return open_campaign(benchmark=benchmark, policy=Policy(double_share=1))


def log_in(page: Page, username: str) -> Page:
    page.goto("/accounts/login/")
    page.fill("[name=login]", username)
    page.fill("[name=password]", factories.PASSWORD)
    page.press("[name=password]", "Enter")
    page.wait_for_url("/")
    return page


def wait_until(page: Page, function: str) -> None:
    """Playwright's own waiting evaluates text inside the page, which the CSP forbids."""
    for _ in range(100):
        if page.evaluate(function):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"still not so after five seconds: {function}")


def judge_by_key(page: Page, campaign: Campaign, key: str) -> None:
    page.goto(f"/campaigns/{campaign.pk}/judge/")
    wait_until(page, "() => document.querySelector('video')?.videoWidth > 0")
    assert page.inner_text("[data-part=caption]") == CAPTION
    page.wait_for_timeout(MORE_THAN_DEAF_MS)
    with page.expect_response("**/api/v1/judgments/") as answer:
        page.keyboard.press(key)
    assert answer.value.status == 201
    page.wait_for_selector("[data-state=empty]")
    assert page.inner_text("[data-part=judged]") == "1"


def publish(page: Page, benchmark: Benchmark, *, confirm: bool = False) -> None:
    page.goto(f"/benchmarks/{benchmark.key}/")
    page.get_by_text("Publish labels", exact=True).click()
    page.get_by_role("button", name="Publish now").click()
    if confirm:
        page.get_by_role("button", name="Publish anyway").click()
    page.wait_for_url("**/jobs/*/")
    page.get_by_text("Done", exact=True).wait_for(timeout=60_000)


def first_cell(page: Page, benchmark: Benchmark) -> str:
    """C@1 of the one run, as A (B + C)."""
    page.goto(f"/benchmarks/{benchmark.key}/results/")
    cell = " ".join(page.locator("tbody td").first.inner_text().split())
    return cell.split(" judged@")[0]


@pytest.mark.parametrize("broker", ["filesystem"], indirect=True)
def test_third_person_decides_and_results_change(
    campaign: Campaign, new_page: Callable[[], Page], celery_worker_process: Any
) -> None:
    benchmark = campaign.benchmark
    for name in ("anna", "ben", "cara"):
        factories.make_user(name, Role.ANNOTATOR)
    factories.make_user("lea", Role.LEAD)
    lead = log_in(new_page(), "lea")

    judge_by_key(log_in(new_page(), "anna"), campaign, "k")
    judge_by_key(log_in(new_page(), "ben"), campaign, "j")
    # The pair waits for its third label.
    publish(lead, benchmark, confirm=True)
    assert first_cell(lead, benchmark) == "0.0 (0.0 + 0.0)"

    judge_by_key(log_in(new_page(), "cara"), campaign, "k")
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
    page = log_in(new_page(), "anna")
    judge_by_key(page, campaign, "ArrowRight")
    page.wait_for_timeout(MORE_THAN_DEAF_MS)
    page.keyboard.press("z")
    page.wait_for_selector("[data-state=ready]")
    assert page.inner_text("[data-part=caption]") == CAPTION
    page.wait_for_timeout(MORE_THAN_DEAF_MS)

    page.context.set_offline(True)
    page.keyboard.press("ArrowLeft")
    page.get_by_text("1 waiting").wait_for()
    page.context.set_offline(False)
    page.goto(f"/campaigns/{campaign.pk}/judge/")
    page.wait_for_selector("[data-state=empty]")
    wait_until(page, NOTHING_WAITS)
    page_problems[:] = [problem for problem in page_problems if "ERR_INTERNET" not in problem]
    assert list(Judgment.objects.order_by("pk").values_list("label", "state")) == [
        (1, "superseded"),
        (0, "live"),
    ]


@pytest.mark.parametrize("broker", ["filesystem"], indirect=True)
def test_keys_answer_nothing_while_the_next_pair_is_fetched(
    transactional_db: None, tmp_path: Path, new_page: Callable[[], Page], broker: str
) -> None:
    """However slow the server: each pair is shown once, and answered once."""
    # Imported here: it imports from this module.
    from tests.e2e import rooms

    campaign = rooms.make_campaign(tmp_path, ["a star", "a ring", "a square"], videos=8)
    factories.make_user("anna", Role.ANNOTATOR)
    page = log_in(new_page(), "anna")

    def slowly(route: Route) -> None:
        page.wait_for_timeout(1500)
        route.continue_()

    page.route("**/claim/", slowly)
    page.goto(f"/campaigns/{campaign.pk}/judge/")
    for _ in range(200):
        if page.locator("[data-state=empty]").count():
            break
        page.keyboard.press("k")
        page.wait_for_timeout(MORE_THAN_DEAF_MS / 2)
    wait_until(page, NOTHING_WAITS)
    page.unroute_all(behavior="ignoreErrors")
    assert list(Judgment.objects.values_list("state", flat=True)) == ["live"] * 24
    assert page.inner_text("[data-part=judged]") == "24"

"""Moments from the browser: import, run, campaign, two people, desk, label set, scores, export."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from annotation.models import Campaign
from evaluation.scores.services import evaluate_runs
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.jobs.models import Job
from hearth.jobs.services import run_job
from hearth.shared.progress import no_progress
from pooling.core.readers.videos import VideoRow
from pooling.models import Benchmark
from pooling.moments.selectors import original_spans
from pooling.services import import_run
from pooling.services.videos import attach_videos, prepared_videos
from tests.conftest import open_context
from tests.e2e import rooms
from tests.e2e.waiting import follow
from tests.factories import import_benchmark, make_user, write_csv

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]

SENTENCES = "v0 0.5 1.5##a square stops.\nv1 0.2 1##a square stops.\n"
RUN = [
    (1, "v1", 0.5, 1.5, 0.9),
    (1, "v0", 0.5, 1.5, 0.8),
    (2, "v0", 0.5, 1.5, 0.9),
    (2, "v1", 0.5, 1.5, 0.8),
]
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def test_moments_are_scored_before_and_after_people_marked_them(
    new_page: Callable[[], Page],
    browser: Browser,
    live_server: Any,
    tmp_path: Path,
    page_problems: list[str],
) -> None:
    lead = new_page()
    rooms.sign_in(lead.context, live_server.url, make_user("lea", Role.LEAD))
    benchmark = _import(lead, tmp_path)
    campaign = _open_campaign(lead)
    # Both agree about v1, whose moment is therefore right for both captions, and not about v0.
    keyboard = new_page()
    rooms.sign_in(keyboard.context, live_server.url, make_user("ann", Role.ANNOTATOR))
    rooms.enter(keyboard, campaign)
    _mark(keyboard, {"v0": (0.2, 0.6), "v1": (0.5, 1.5)}, keyboard.keyboard.press)
    context = open_context(browser, live_server.url, page_problems, **PHONE)
    rooms.sign_in(context, live_server.url, make_user("bob", Role.ANNOTATOR))
    phone = context.new_page()
    rooms.enter(phone, campaign)
    _mark(phone, {"v0": (1.5, 2.5), "v1": (0.5, 1.5)}, lambda key: phone.tap(BUTTONS[key]))
    context.close()

    lead.goto(f"/campaigns/{campaign.pk}/desk/")
    expect(lead.get_by_text("It is not settled at which times")).to_be_visible()
    lead.get_by_label("Spans of the ruling").fill("0.5 - 1.5")
    follow(lead.get_by_role("button", name="Relevant", exact=False).last)
    lead.goto("/benchmarks/charades/labels/publish/")
    lead.get_by_role("button", name="Publish now").click()
    _finish(lead)
    _run_jobs()

    lead.goto("/benchmarks/charades/results/")
    row = lead.get_by_role("row").filter(has_text="A").last
    expect(row).to_contain_text("100.0\n(0.0 + 100.0)", use_inner_text=True)  # VCMR@1
    expect(row).to_contain_text("100.0\n(50.0 + 50.0)", use_inner_text=True)  # SVMR@1
    truth = lead.request.get("/benchmarks/charades/labels/1.0.0/charades/").text()
    assert truth == "v0 0.5 1.5##a square stops.\nv1 0.5 1.5##a square stops.\n"
    (tmp_path / "corrected.txt").write_text(truth)
    again = import_benchmark(key="again", captions=tmp_path / "corrected.txt").benchmark
    assert original_spans(again).starts.tolist() == [0.5, 0.5]
    run = import_run(benchmark=again, path=tmp_path / "run.csv", system="A", by=OPERATOR).run
    evaluate_runs(benchmark=again, by=OPERATOR, labels="original")
    assert run.evaluations.get().scores["R@1(tIoU>=0.5)"] == 1
    assert benchmark.pk != again.pk


BUTTONS = {"s": "[data-part=mark-start]", "e": "[data-part=mark-end]", "k": "[data-submit=confirm]"}


def _import(page: Page, folder: Path) -> Benchmark:
    (folder / "charades.txt").write_text(SENTENCES)
    (folder / "durations.csv").write_text("video,duration\nv0,3\nv1,3\n")
    write_csv(folder / "run.csv", "caption_id,video_id,start,end,score", RUN)
    page.goto("/imports/new/")
    page.get_by_label("Name").fill("Charades")
    page.get_by_label("Key").fill("charades")
    page.get_by_label("Captions", exact=True).set_input_files(folder / "charades.txt")
    page.get_by_label("durations").set_input_files(folder / "durations.csv")
    page.get_by_role("button", name="Show the plan").click()
    _finish(page)
    page.get_by_role("button", name="Import 2 captions").click()
    _finish(page)
    benchmark = Benchmark.objects.get(key="charades")
    files = [VideoRow(f"v{n}", str(rooms.clip(n)), None, None) for n in range(2)]
    with prepared_videos(files, rooms.clip(0).parent, no_progress) as ready:
        attach_videos(benchmark, files, ready)
    page.goto("/benchmarks/charades/runs/new/")
    page.locator("[name=file]").set_input_files(folder / "run.csv")
    page.get_by_label("System").fill("A")
    page.locator("form.form button[type=submit]").click()
    _finish(page)
    _run_jobs()
    return benchmark


def _open_campaign(page: Page) -> Campaign:
    page.goto("/benchmarks/charades/pools/new/")
    page.get_by_role("button", name="Build without a preview").click()
    _finish(page)
    page.goto("/benchmarks/charades/campaigns/new/")
    page.check("[name=question][value=spans]")
    page.locator("summary", has_text="Where").click()
    page.check("[name=only][value=all]")
    for name, value in (("labels_each", "2"), ("double_percent", "0"), ("labels_max", "2")):
        page.fill(f"[name={name}]", value)
    page.get_by_role("button", name="Open the campaign").click()
    _finish(page)
    return Campaign.objects.get()


def _mark(
    page: Page, spans: dict[str, tuple[float, float]], press: Callable[[str], object]
) -> None:
    """Answer both pairs with a span. press: press a key, or tap its button."""
    tasks = Campaign.objects.get().tasks.order_by("position")
    for number, video in enumerate(tasks.values_list("pair__video__key", flat=True), start=1):
        player = page.locator(".judge-stage video")
        player.evaluate("video => video.pause()")
        for key, seconds in zip("se", spans[video], strict=True):
            player.evaluate("(video, time) => { video.currentTime = time; }", seconds)
            press(key)
        press("k")
        expect(rooms.judged(page)).to_have_text(str(number))
        rooms.settle(page)
    rooms.until_sent(page)


def _run_jobs() -> None:
    for pk in list(Job.objects.filter(state="queued").values_list("pk", flat=True)):
        run_job(pk)


def _finish(page: Page) -> None:
    """Do the job that the page shows in place of its form, and wait for the page of its result."""
    page.locator("[data-job-title]").wait_for()
    with page.expect_navigation():
        _run_jobs()

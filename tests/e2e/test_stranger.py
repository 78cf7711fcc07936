"""A stranger's path: from a folder of videos, a table and three runs to a published label set.

All steps are done in the browser, and each page leads to the next one. Only the last check uses a
command, because it must not trust the pages.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import call_command
from playwright.sync_api import expect

from evaluation.demo.render import write_video
from evaluation.demo.shapes import draw_scene
from evaluation.models import LabelSet
from hearth.accounts.roles import Role
from pooling.models import Run
from tests import factories
from tests.e2e import rooms
from tests.e2e.waiting import follow
from tests.factories import write_csv, write_run

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]

# A job of this test takes a second. The limit is generous, because the worker starts meanwhile.
JOB_MS = 90_000
CAPTIONS = [("s1", "a red square", "clip-0"), ("s2", "a blue circle", "clip-1")]
PASSWORD = "two shapes at noon"


def write_files(folder: Path) -> tuple[Path, Path, list[Path]]:
    """Write a table whose columns have unknown names, a folder of videos, and three runs."""
    table = write_csv(folder / "sentences.csv", "nr,sentence,clip", CAPTIONS)
    clips = folder / "clips"
    clips.mkdir()
    for number in range(2):
        write_video(draw_scene(random.Random(number)), clips / f"clip-{number}.mp4")
    (clips / "notes.txt").write_text("not a video")
    orders = {"clip.run": "01", "blip.run": "10", "text.run": "1"}
    runs = [
        write_run(folder / name, {key: [f"clip-{n}" for n in order] for key, *_ in CAPTIONS})
        for name, order in orders.items()
    ]
    return table, clips, runs


@pytest.mark.parametrize("broker", ["filesystem"], indirect=True)
def test_a_stranger_reaches_a_published_label_set_without_a_shell(
    new_page: Callable[[], Page],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    celery_worker_process: Any,
) -> None:
    table, clips, runs = write_files(tmp_path)
    factories.make_user("lea", Role.LEAD)
    lead = rooms.log_in(new_page(), "lea")
    make_benchmark(lead, table)
    add_runs(lead, runs)
    build_pool(lead)
    add_videos(lead, clips)
    write_guidelines(lead)
    open_campaign(lead)
    link = invite(lead)
    judge(new_page(), link)
    sha256 = publish(lead)
    capsys.readouterr()
    call_command("verify", "shapes", "--json")
    assert json.loads(capsys.readouterr().out)["same"] is True
    assert LabelSet.objects.get().sha256 == sha256


def next_step(page: Page, heading: str, link: str) -> None:
    """Follow the next step that the page of the benchmark names."""
    page.goto("/benchmarks/shapes/")
    expect(page.get_by_role("heading", name=f"Next: {heading}")).to_be_visible()
    follow(page.locator(".next").get_by_role("link", name=link))


def done(page: Page, text: str) -> None:
    """Wait for the result of a job, and until its page is loaded."""
    page.get_by_text(text).first.wait_for(timeout=JOB_MS)
    page.wait_for_load_state()


def make_benchmark(page: Page, table: Path) -> None:
    follow(page.get_by_role("link", name="New benchmark").first)
    page.get_by_label("Name").fill("Shapes")
    page.get_by_label("Key").fill("shapes")
    page.get_by_label("Captions", exact=True).set_input_files(table)
    page.get_by_role("button", name="Show the plan").click()
    done(page, "columns not used: 'nr'")
    page.get_by_text("How the files are read").last.click()
    page.get_by_label("Caption id", exact=True).select_option("nr")
    page.get_by_role("button", name="Read with these columns").click()
    done(page, "caption_id from 'nr'")
    page.get_by_role("button", name="Import 2 captions").click(timeout=JOB_MS)
    page.wait_for_url("**/benchmarks/shapes/", timeout=JOB_MS)


def add_videos(page: Page, clips: Path) -> None:
    next_step(page, "add videos", "Add videos")
    page.locator("input[webkitdirectory]").set_input_files(clips)
    page.get_by_role("button", name="Send 2 files").click()
    playable = page.get_by_role("row").filter(has_text="Playable")
    expect(playable).to_have_count(2, timeout=JOB_MS)


def add_runs(page: Page, runs: list[Path]) -> None:
    next_step(page, "import runs", "Upload a run")
    page.locator("input[name=file]").set_input_files(runs)
    for number, run in enumerate(runs):
        page.locator("[data-run-files] [name=system]").nth(number).fill(run.stem)
    page.get_by_role("button", name="Upload").click()
    links = page.get_by_role("link", name="To the scores of the run")
    expect(links).to_have_count(3, timeout=JOB_MS)
    assert Run.objects.count() == 3


def build_pool(page: Page) -> None:
    next_step(page, "build a pool", "Build a pool")
    page.get_by_role("button", name="Preview", exact=True).click()
    expect(page.get_by_role("heading", name="Preview", exact=True)).to_be_visible()
    page.get_by_role("button", name="Build this pool").click()
    done(page, "4 tasks to judge (4 pairs)")


def write_guidelines(page: Page) -> None:
    next_step(page, "prepare annotators", "Write the guidelines")
    follow(page.get_by_role("button", name="Save new version"))


def open_campaign(page: Page) -> None:
    next_step(page, "open a campaign", "Open a campaign")
    page.get_by_role("button", name="Open the campaign").click()
    done(page, "The campaign has 4 tasks to judge (4 pairs).")


def invite(page: Page) -> str:
    """Return the link of an invitation."""
    next_step(page, "judge pairs", "Invite annotators")
    expect(page.get_by_label("Benchmark", exact=True)).to_have_value("shapes")
    follow(page.get_by_role("button", name="Create the link"))
    return page.get_by_label("Link").input_value()


def judge(page: Page, link: str) -> None:
    """Make an account with the link, and judge one pair."""
    page.goto(link)
    page.get_by_label("User name").fill("anna")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password again").fill(PASSWORD)
    follow(page.get_by_role("button", name="Create my account"))
    follow(page.get_by_role("link", name="Start judging"))
    rooms.until_ready(page)
    with page.expect_response("**/api/v1/judgments/") as answer:
        page.keyboard.press("k")
    assert answer.value.status == 201


def publish(page: Page) -> str:
    """Publish the labels, and return the SHA-256 that the page of the label set shows."""
    page.goto("/benchmarks/shapes/labels/")
    follow(page.get_by_role("link", name="Publish labels"))
    page.get_by_role("button", name="Publish now").click()
    done(page, "is published with")
    follow(page.get_by_role("link", name="1.0.0").first)
    return page.locator("code.sha").first.get_attribute("title") or ""

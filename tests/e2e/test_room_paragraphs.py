"""A paragraph is judged in one sitting, on one video that is loaded once, and then settled."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from annotation.models import Assignment, Judgment
from annotation.services import Policy, open_campaign
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.jobs.models import Job
from hearth.jobs.services import run_job
from pooling.models import Benchmark
from pooling.paragraphs.actions import AddParagraphs
from pooling.paragraphs.services import add_paragraphs
from tests import factories
from tests.e2e import rooms

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]

SENTENCES = ["A square stops.", "It turns.", "It leaves."]


@pytest.fixture
def sentences(tmp_path: Path) -> Benchmark:
    shutil.copy(rooms.clip(0), tmp_path / "v0.mp4")
    stamps = [[0, 1], [1, 2], [2, 3]]
    video = {"duration": 3, "timestamps": stamps, "sentences": SENTENCES}
    captions = tmp_path / "val_1.json"
    captions.write_text(json.dumps({"v0": video}))
    videos = factories.write_videos(tmp_path, [("v0", "v0.mp4", "")])
    return factories.import_benchmark(
        key="room", captions=captions, videos=videos, media_dir=tmp_path
    ).benchmark


def test_a_paragraph_is_judged_in_one_sitting(
    page: Page, live_server: Any, tmp_path: Path, sentences: Benchmark
) -> None:
    wanted = AddParagraphs(paragraphs="room-p")
    add_paragraphs(benchmark=sentences, options=wanted, by=OPERATOR)
    factories.make_run(tmp_path, sentences, {f"v0#{place}": ["v0"] for place in range(3)})
    factories.build_pool(benchmark=sentences, depth=1)
    campaign = open_campaign(benchmark=sentences, by=OPERATOR, policy=Policy())
    rooms.sign_in(page.context, live_server.url, factories.make_user("anna", Role.ANNOTATOR))
    loads: list[str] = []
    is_video = f"/media/videos/{sentences.videos.get().public_id}/"
    page.on("request", lambda sent: loads.append(sent.url) if sent.url.endswith(is_video) else None)
    rooms.enter(page, campaign)
    page.locator(".judge-stage video").evaluate("video => { video.title = 'first'; }")
    at_first = len(loads)
    for place, sentence in enumerate(SENTENCES):
        expect(page.locator("main")).to_contain_text(sentence)
        expect(page.locator("#room")).to_have_attribute("data-seen", "true")
        # All sentences of the paragraph are held from the start, and answered one by one.
        held = Assignment.objects.filter(state="held").count()
        assert (held, Judgment.objects.count()) == (3 - place, place)
        expect(page.locator(".judge-stage video")).to_have_attribute("title", "first")
        page.keyboard.press("k")
        expect(page.locator(rooms.SETTLED)).to_be_attached()
    assert len(loads) == at_first
    expect(page.locator("#room")).to_have_attribute("data-state", "empty")
    assert Judgment.objects.count() == 3

    rooms.sign_in(page.context, live_server.url, factories.make_user("lea", Role.LEAD))
    page.goto("/benchmarks/room-p/paragraphs/")
    page.get_by_role("button", name="Store the new labels").click()
    page.locator("[data-job-title]").wait_for()
    with page.expect_navigation():
        run_job(Job.objects.get(kind="settle_paragraphs").pk)
    expect(page.locator("main")).to_contain_text("1 label of paragraphs stored. Relevant: 1,")

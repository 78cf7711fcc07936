"""The desk in Chromium: a lead rules by keys, or by buttons without scripts."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from annotation.enums import EscalationKind, Scale
from annotation.models import Adjudication, Campaign
from annotation.services import Policy, escalate_task, open_campaign, release_assignments
from evaluation.demo.render import write_video
from evaluation.demo.shapes import draw_scene
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from tests import factories
from tests.e2e.rooms import log_in
from tests.e2e.waiting import follow
from tests.factories import build_pool, import_benchmark

if TYPE_CHECKING:
    from playwright.sync_api import Page

ACCEPTS_KEYS = "#desk[data-accepts=true]"


@pytest.fixture
def campaign(transactional_db: None, tmp_path: Path) -> Campaign:
    """A campaign of two videos: v0 has two contradicting labels, and v1 was escalated."""
    for name in ("v0", "v1"):
        write_video(draw_scene(random.Random(name)), tmp_path / f"{name}.mp4")
    benchmark = import_benchmark(
        key="dogs",
        captions=factories.write_captions(tmp_path, [("c0", "a dog", "v0")]),
        videos=factories.write_videos(tmp_path, [("v0", "v0.mp4", ""), ("v1", "v1.mp4", "")]),
        media_dir=tmp_path,
    ).benchmark
    factories.make_run(tmp_path, benchmark, {"c0": ["v0", "v1"]})
    build_pool(benchmark=benchmark, depth=2)
    campaign = open_campaign(
        benchmark=benchmark,
        by=OPERATOR,
        policy=Policy(double_share=1, labels_max=2, scale=Scale.GRADED),
    )
    for name, label in (("anna", 0), ("ben", 3)):
        person = factories.make_annotator(name)
        factories.judge(campaign, person, {"v0": label})
        release_assignments(campaign=campaign, annotator=person)
    dora = factories.make_annotator("dora")
    (held,) = factories.claim(campaign, dora)
    escalate_task(
        assignment_id=held.pk, annotator=dora, kind=EscalationKind.UNSURE, reason="too dark"
    )
    return campaign


def test_a_lead_rules_by_key(
    campaign: Campaign, new_page: Callable[[], Page], page_problems: list[str]
) -> None:
    factories.make_user("lea", Role.LEAD)
    page = log_in(new_page(), "lea")
    page.goto(f"/campaigns/{campaign.pk}/")
    follow(page.get_by_role("link", name="Desk 2"))
    page.locator(ACCEPTS_KEYS).wait_for()
    assert page.locator(".desk-labels li").all_inner_texts() == [
        "Annotator A\nnot relevant",
        "Annotator B\nrelevant",
    ]

    # A key submits no ruling if it is typed into a field, combined with another key, or repeated.
    page.get_by_label("Reason").press_sequentially("take 2")
    page.locator("h1").click()
    page.keyboard.press("Control+2")
    page.evaluate(
        "document.body.dispatchEvent("
        "new KeyboardEvent('keydown', { key: '2', bubbles: true, repeat: true }))"
    )
    assert page.locator("#desk").count() == 1
    assert Adjudication.objects.count() == 0

    page.keyboard.press("3")
    page.get_by_text("Your ruling on the last pair: mostly relevant.").wait_for()
    assert page.locator(".desk-reason").inner_text() == "too dark"
    page.locator(ACCEPTS_KEYS).wait_for()
    page.keyboard.press("z")
    page.get_by_text("is undone. Published label sets do not change.").wait_for()
    page.locator(ACCEPTS_KEYS).wait_for()
    assert page.locator(".desk-labels li").count() == 2
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keys").wait_for()
    page.keyboard.press("d")  # the key of a label, which does nothing while the dialog is open
    page.keyboard.press("Escape")
    page.get_by_label("Reason").fill("take 3")
    page.locator("h1").click()
    page.keyboard.press("d")
    page.get_by_text("Your ruling on the last pair: mostly relevant.").wait_for()
    page.locator(ACCEPTS_KEYS).wait_for()
    page.keyboard.press("t")
    page.get_by_text("No tasks at the desk.").wait_for()

    undone, ruling = Adjudication.objects.order_by("pk")
    assert (undone.label, undone.reason, undone.is_in_force) == (2, "take 2", False)
    assert (ruling.label, ruling.reason, ruling.is_in_force) == (2, "take 3", True)
    assert sorted(campaign.tasks.values_list("pair__video__key", "state", "label")) == [
        ("v0", "adjudicated", 2),
        ("v1", "open", None),
    ]
    assert page_problems == []


def test_the_buttons_work_without_scripts(campaign: Campaign, browser, live_server) -> None:  # type: ignore[no-untyped-def]
    factories.make_user("lea", Role.LEAD)
    context = browser.new_context(base_url=live_server.url, java_script_enabled=False)
    page = log_in(context.new_page(), "lea")
    page.goto(f"/campaigns/{campaign.pk}/desk/")
    assert page.locator("video[controls]").count() == 1
    page.get_by_role("button", name="Partly relevant").click()
    page.get_by_text("Your ruling on the last pair: partly relevant.").wait_for()
    page.get_by_role("button", name="Return to the queue").click()
    page.get_by_text("No tasks at the desk.").wait_for()
    context.close()
    assert Adjudication.objects.get().label == 1

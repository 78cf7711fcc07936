"""Training in Chromium: a newcomer trains and is admitted, and a lead reviews the answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from annotation.enums import GoldUse
from annotation.models import Campaign, Guideline, Judgment, Membership, ReviewComment
from annotation.services import Gold, Policy, add_gold, annotator_for, open_campaign, open_training
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from tests import factories
from tests.e2e import rooms
from tests.e2e.barriers import is_sound
from tests.e2e.waiting import follow, wait_until
from tests.pictures import picture

if TYPE_CHECKING:
    from playwright.sync_api import Page

TRAINING = "/benchmarks/room/training/"


@pytest.fixture
def campaign(transactional_db: None, tmp_path: Path) -> Campaign:
    """A campaign that requires two correct answers of the last two, with three training items."""
    benchmark = rooms.make_benchmark(tmp_path, ["a blue star", "a red ball"], videos=3)
    gold = [
        Gold(query=0, video=video, is_relevant=True, explanation=f"The star is in v{video}.")
        for video in range(3)
    ]
    add_gold(benchmark=benchmark, by=OPERATOR, use=GoldUse.TRAINING, gold=gold)
    policy = Policy(double_share=0, gate_share=1, gate_last=2)
    return open_campaign(benchmark=benchmark, by=OPERATOR, policy=policy, name="Round 1")


def answer(page: Page, key: str) -> str:
    """Answer an item in the training room, return the feedback and go to the next item."""
    rooms.until_ready(page)
    page.keyboard.press(key)
    rooms.until(page, "feedback")
    feedback = page.inner_text("[data-part=verdict]")
    rooms.press(page, "Enter")
    return feedback


def test_a_newcomer_trains_and_judges(
    campaign: Campaign, new_page: Callable[[], Page], live_server: Any, page_problems: list[str]
) -> None:
    lea, nora = (
        factories.make_user(*person) for person in (("lea", Role.LEAD), ("nora", Role.ANNOTATOR))
    )
    lead = rooms.sign_in(new_page().context, live_server.url, lea)
    page = rooms.sign_in(new_page().context, live_server.url, nora)

    page.goto("/")
    page.get_by_text("This campaign requires training, which a lead has not opened").wait_for()
    lead.goto(TRAINING)
    is_sound(lead)
    lead.get_by_role("button", name="Open training").click()
    lead.get_by_text("No annotator has started training.").wait_for()

    page.goto("/")
    is_sound(page)
    assert page.get_by_role("link", name="judging").count() == 0
    follow(page.get_by_role("link", name="Start training room training"))
    feedback = [answer(page, key) for key in "jkk"]
    assert feedback == ["Wrong: the pair is relevant", "Correct: relevant", "Correct: relevant"]

    page.goto("/")
    page.get_by_text("You have answered all items.").wait_for()
    is_sound(page)
    follow(page.get_by_role("link", name="Start judging Round 1"))
    rooms.until_ready(page)
    rooms.press(page, "k")
    rooms.until_sent(page)
    assert list(Judgment.objects.order_by("pk").values_list("state", "is_right")) == [
        ("gold", False),
        ("gold", True),
        ("gold", True),
        ("live", None),
    ]
    assert Membership.objects.get(campaign=campaign).admitted_at is not None
    assert page_problems == []


def test_a_lead_reviews_answers_with_keys(
    campaign: Campaign, new_page: Callable[[], Page], live_server: Any, page_problems: list[str]
) -> None:
    lea = factories.make_user("lea", Role.LEAD)
    training = open_training(benchmark=campaign.benchmark, by=lea)
    nora = annotator_for(factories.make_user("nora", Role.ANNOTATOR))
    first, second, third = factories.train(training, nora, "wrw")
    page = rooms.sign_in(new_page().context, live_server.url, lea)
    focused = "() => document.activeElement.id"

    page.goto(TRAINING)
    follow(page.get_by_role("link", name="nora", exact=True))
    is_sound(page)
    # No video is loaded before it plays.
    assert (
        page.evaluate("[...document.querySelectorAll('video')].map(v => v.readyState)") == [0] * 3
    )
    page.keyboard.press("n")
    assert page.evaluate(focused) == ""
    page.get_by_role("link", name="First answer").click()
    expect(page.locator(f"#answer-{third.pk}")).to_be_focused()
    wait_until(page, "() => !document.querySelector('video').paused")
    page.keyboard.press("Space")
    wait_until(page, "() => document.querySelector('video').paused")
    page.keyboard.press("n")
    page.keyboard.press("n")
    page.keyboard.press("n")
    assert page.evaluate(focused) == f"answer-{first.pk}"
    page.keyboard.press("p")
    assert page.evaluate(focused) == f"answer-{second.pk}"
    page.keyboard.press("c")
    page.keyboard.type("none, please compare")
    page.keyboard.press("Escape")
    page.keyboard.press("p")
    assert page.evaluate(focused) == f"answer-{third.pk}"
    assert ReviewComment.objects.count() == 0

    # In the list of wrong answers without a comment, saving one moves the focus to the next answer.
    follow(page.get_by_role("link", name="Wrong answers without a comment 2"))
    page.get_by_role("link", name="First answer").click()
    expect(page.locator(f"#answer-{third.pk}")).to_be_focused()
    page.keyboard.press("c")
    page.keyboard.type("Look at the left edge.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_text("The comment is saved").wait_for()
    expect(page.locator(f"#answer-{first.pk}")).to_be_focused()
    comment = ReviewComment.objects.get()
    assert (comment.judgment, comment.text) == (third, "Look at the left edge.")

    page.get_by_role("button", name="Admit to Round 1").click()
    page.get_by_text("The annotator is admitted to Round 1.").wait_for()
    page.get_by_text("Pause in Round 1").click()
    page.get_by_label("Reason (shown to the annotator)").fill("Please call me.")
    page.get_by_role("button", name="Pause now").click()
    page.get_by_text("The annotator is paused in Round 1 and sees your reason there.").wait_for()
    page.wait_for_load_state()
    is_sound(page)
    assert Membership.objects.get(campaign=campaign).reason == "Please call me."
    assert page_problems == []


def test_a_guideline_is_written_with_pictures(
    campaign: Campaign,
    new_page: Callable[[], Page],
    live_server: Any,
    tmp_path: Path,
    page_problems: list[str],
) -> None:
    lea = factories.make_user("lea", Role.LEAD)
    page = rooms.sign_in(new_page().context, live_server.url, lea)
    (tmp_path / "star.png").write_bytes(picture())
    page.goto("/benchmarks/room/guidelines/")
    is_sound(page)
    follow(page.get_by_role("link", name="Write a new version"))
    is_sound(page)
    rows = page.get_by_role("group", name="Picture", exact=False)
    # There is only the group of all pictures. Rows are added with the button.
    assert rows.count() == 1
    for text in ("a star", "another star"):
        page.get_by_role("button", name="Add a picture").click()
        row = rows.last
        row.get_by_label("Picture", exact=True).set_input_files(tmp_path / "star.png")
        row.get_by_label("Description").fill(text)
    is_sound(page)
    row.get_by_label("Place").fill("1")
    row.get_by_label("Example of").select_option("not relevant")
    page.get_by_role("button", name="Save new version").click()
    page.get_by_text("Version 1 of the guidelines is now in use.").wait_for()
    page.wait_for_load_state()
    is_sound(page)
    written = Guideline.objects.get()
    assert list(written.pictures.values_list("text", "is_match")) == [
        ("another star", False),
        ("a star", None),
    ]

    # In the judging room, the guideline is a dialog.
    Campaign.objects.update(gate_last=0)
    page.goto(f"/campaigns/{campaign.pk}/judge/")
    rooms.until_ready(page)
    page.keyboard.press("h")
    shown = page.get_by_role("dialog").get_by_role("img", name="another star")
    shown.wait_for()
    wait_until(page, "() => document.querySelector('.guideline-pictures img').naturalWidth === 64")
    assert page_problems == []

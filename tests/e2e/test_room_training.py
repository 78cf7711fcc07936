"""Training in Chromium: feedback on each answer, and admission to the campaign."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from annotation.enums import GoldUse
from annotation.models import Campaign, Judgment, ReviewComment
from annotation.services import (
    Gold,
    Policy,
    add_gold,
    annotator_for,
    comment_on_judgment,
    open_campaign,
    open_training,
    pause_member,
)
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from tests import factories
from tests.e2e import rooms
from tests.e2e.barriers import is_sound
from tests.e2e.waiting import follow

if TYPE_CHECKING:
    from playwright.sync_api import Page

WHY = "The star is blue."


@pytest.fixture
def gated(transactional_db: None, tmp_path: Path) -> Campaign:
    """A campaign that requires 2 correct answers of the last 3. All training items are relevant."""
    benchmark = rooms.make_benchmark(tmp_path, ["a blue star"], videos=4)
    gold = [Gold(query=0, video=video, is_relevant=True, explanation=WHY) for video in range(4)]
    add_gold(benchmark=benchmark, by=OPERATOR, use=GoldUse.TRAINING, gold=gold)
    policy = Policy(double_share=0, gate_share=0.6, gate_last=3)
    return open_campaign(benchmark=benchmark, by=OPERATOR, policy=policy, name="Round 1")


def test_training_admits_the_annotator(
    gated: Campaign, new_page: Callable[[], Page], live_server: Any, page_problems: list[str]
) -> None:
    lead = factories.make_user("lea", Role.LEAD)
    training = open_training(benchmark=gated.benchmark, by=lead, name="School")
    person = factories.make_user("anna", Role.ANNOTATOR)
    page = rooms.sign_in(new_page().context, live_server.url, person)

    # The room shows the server's message with the link to training.
    page.goto(f"/campaigns/{gated.pk}/judge/")
    rooms.until(page, "empty")
    assert page.inner_text("[data-part=refusal]") == (
        "Train first: 2 of your last 3 answers in training must be correct."
    )
    is_sound(page)
    follow(page.get_by_role("link", name="Go to the training"))
    rooms.until_ready(page)
    assert page.inner_text(".judge-progress") == "0 of 4 answered"
    for part in ("undo", "history"):
        assert page.locator(f"[data-part={part}]").count() == 0

    # A wrong answer shows feedback. The key of the answer does not skip it; Enter does.
    rooms.press_at_once(page, "j", "feedback")
    rooms.press(page, "j")
    expect(rooms.room(page, state="feedback", pressed="j")).to_be_attached()
    assert page.inner_text("[data-part=verdict]") == "Wrong: the pair is relevant"
    assert page.inner_text("[data-part=own-answer]") == "Your answer: Not relevant"
    assert page.inner_text("[data-part=explanation]") == WHY
    assert page.evaluate("document.activeElement.dataset.part") == "next"
    assert page.inner_text(".judge-requirements").endswith("Correct so far: 0 of 1")
    is_sound(page)
    rooms.press(page, "z")  # an answer in training cannot be undone
    expect(rooms.room(page, state="feedback")).to_be_attached()
    page.keyboard.press("Enter")
    rooms.until_ready(page)

    # Offline, the answer is kept, even after a reload. The feedback is shown later.
    page.route("**/api/v1/judgments/", lambda route: route.abort())
    page.keyboard.press("k")
    page.get_by_text("1 unsent").wait_for()
    page.reload()
    page.get_by_text("1 unsent").wait_for()
    expect(rooms.room(page, state="sending")).to_be_attached()
    page.unroute("**/api/v1/judgments/")
    rooms.until(page, "feedback")
    assert page.inner_text("[data-part=verdict]") == "Correct: relevant"
    assert rooms.caption(page) == "a blue star"
    page.keyboard.press("Space")
    rooms.until_ready(page)

    rooms.press(page, "k")
    rooms.until(page, "feedback")
    assert page.inner_text(".judge-progress") == "3 of 4 answered"
    assert page.inner_text(".judge-requirements").startswith("Round 1 is open to you.")
    assert page.inner_text("[data-part=opened]") == "Round 1 is now open to you."
    page.keyboard.press("k")  # a key that answers also continues
    rooms.until_ready(page)
    follow(page.get_by_role("link", name="Start judging", exact=True))
    rooms.until_ready(page)
    assert [judgment.is_right for judgment in Judgment.objects.order_by("pk")] == [
        False,
        True,
        True,
    ]

    # The annotator reads the lead's comment on their own page.
    wrong = Judgment.objects.get(is_right=False)
    comment_on_judgment(judgment=wrong, text="Look at the left edge.", by=lead)
    page.goto(f"/campaigns/{training.pk}/judge/")
    follow(page.get_by_role("link", name="Read the comments"))
    assert "Look at the left edge." in page.inner_text(".comments")
    assert page.locator(".comments .state").count() == 1
    follow(page.get_by_role("button", name="I have read them"))
    assert page.locator(".comments .state").count() == 0
    assert ReviewComment.objects.filter(read_at=None).count() == 0
    page_problems[:] = [
        problem for problem in page_problems if "ERR_FAILED" not in problem and "403" not in problem
    ]


def test_a_pause_shows_the_reason_of_the_lead(
    gated: Campaign, new_page: Callable[[], Page], live_server: Any, page_problems: list[str]
) -> None:
    lead = factories.make_user("lea", Role.LEAD)
    person = factories.make_user("anna", Role.ANNOTATOR)
    campaign = gated
    type(campaign).objects.update(gate_last=0)
    page = rooms.sign_in(new_page().context, live_server.url, person)
    rooms.enter(page, campaign)
    member = campaign.members.get(annotator=annotator_for(person))
    pause_member(membership=member, reason="Please call me: <b>Lea</b>", by=lead)
    rooms.answer_all(page)
    assert page.inner_text("[data-part=refusal]") == "Please call me: <b>Lea</b>"
    assert page.evaluate("document.activeElement.dataset.part") == "empty"
    rooms.until_sent(page)
    page_problems[:] = [problem for problem in page_problems if "403" not in problem]

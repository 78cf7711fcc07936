"""The lead's pages about training, and training on an annotator's home page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from annotation.enums import CampaignState, EscalationKind
from annotation.models import Annotator, Campaign, GoldItem, Membership, ReviewComment
from annotation.questions.kind import kinds
from annotation.services import Policy, add_members, escalate_task, open_campaign
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from tests.annotation.pages import client_of, queries_of, read
from tests.factories import (
    add_gold_items,
    claim,
    make_annotator,
    make_campaign_with_gold,
    make_training,
    make_user,
    submit,
    train,
)


@pytest.fixture
def training(db: None, tmp_path: Path) -> Campaign:
    return make_training(tmp_path, items=6)


@pytest.fixture
def lead(db: None) -> Client:
    return client_of(make_user("lena", Role.LEAD))


# --- The training queue ---------------------------------------------------------------------


def test_training_is_opened_and_closed(tmp_path: Path, db: None, lead: Client) -> None:
    training = make_training(tmp_path, items=2)
    benchmark = "/benchmarks/tiny/training/"
    assert "No annotator has started training." in read(lead, benchmark)
    lead.post(f"{benchmark}close/")
    training.refresh_from_db()
    assert training.state == CampaignState.CLOSED
    page = read(lead, benchmark)
    assert "2 training items are available. Open training to use them." in page
    assert "Close training" not in page

    lead.post(f"{benchmark}open/")
    again = Campaign.objects.latest("pk")
    assert (again.kind, again.state, again.pk == training.pk) == ("training", "open", False)
    lead.post(f"{benchmark}open/")
    assert "The benchmark has a training queue that is not closed." in read(lead, benchmark)
    assert Campaign.objects.count() == 2


def test_each_question_has_its_own_queue(tmp_path: Path, db: None, lead: Client) -> None:
    labels = make_training(tmp_path, items=2)
    pair = {"query": labels.benchmark.queries.first(), "video": labels.benchmark.videos.last()}
    values = {"use": "training", "is_relevant": False, "question": "spans", "answer": {}}
    GoldItem.objects.create(benchmark=labels.benchmark, **pair, **values)
    address = "/benchmarks/tiny/training/"
    page = read(lead, address)
    assert "Is the caption relevant to the video? Open Close training" in page
    assert "and where in the video? Open training 1 training item is available." in page
    lead.post(f"{address}open/", {"question": "spans"})
    spans = Campaign.objects.latest("pk")
    assert (spans.question, spans.state) == ("spans", "open")
    lead.post(f"{address}close/", {"question": "label"})
    states = Campaign.objects.order_by("pk").values_list("question", "state")
    assert list(states) == [("label", "closed"), ("spans", "open")]
    assert lead.post(f"{address}open/", {"question": "x"}).status_code == 302
    assert f"The question must be one of {', '.join(kinds())}." in read(lead, "/")


def test_training_without_gold_cannot_be_opened(tmp_path: Path, db: None, lead: Client) -> None:
    make_campaign_with_gold(tmp_path, captions=1, videos=2, gold=1)
    page = read(lead, "/benchmarks/tiny/training/")
    assert "There are no training items yet. Import training items" in page
    assert "Open training" not in page
    lead.post("/benchmarks/tiny/training/open/")
    assert "tiny has no training items. Import some first." in read(lead, "/")
    lead.post("/benchmarks/tiny/training/close/")
    assert "No training is open." in read(lead, "/")


# --- Annotators in training -----------------------------------------------------------------


def test_the_table_of_annotators_in_training(
    training: Campaign, gated: Campaign, anna: Annotator, lead: Client
) -> None:
    train(training, anna, "rrw")
    train(training, make_annotator("ben"), "w")
    page = read(lead, "/benchmarks/tiny/training/")
    assert "The queue has 6 items." in page
    assert "To enter “ Round 1 ”, 2 of the last 3 answers must be correct." in page
    assert re.search(
        "ben 1 0.0 % 0 of 1 none yet just now 1 of ben 0 "
        "anna 3 66.7 % 2 of 3 Round 1 just now 1 of anna 0",
        page,
    )


def test_database_queries_do_not_grow_with_people_and_answers(
    training: Campaign, gated: Campaign, lead: Client
) -> None:
    train(training, make_annotator("anna"), "rw")
    before = queries_of(lead, "/benchmarks/tiny/training/")
    for name in ("ben", "cleo"):
        train(training, make_annotator(name), "rwrwr")
    assert queries_of(lead, "/benchmarks/tiny/training/") == before


def person_page(annotator: Annotator) -> str:
    return f"/benchmarks/tiny/training/{annotator.pk}/"


def test_the_training_answers_of_an_annotator(
    training: Campaign, gated: Campaign, anna: Annotator, lead: Client
) -> None:
    answers = train(training, anna, "rwww")
    page = lead.get(person_page(anna))
    assert [row.judgment.pk for row in page.context["answers"]] == [
        answer.pk for answer in answers[::-1]
    ]
    assert [(option.value, option.count) for option in page.context["filters"]] == [
        ("", 4),
        ("wrong", 3),
        ("uncommented", 3),
    ]
    words = read(lead, person_page(anna))
    assert "Answers in training 4 Correct 25.0 % Last 3 answers correct 0 of 3" in words
    correct = "relevant" if answers[0].task.gold.is_relevant else "not relevant"  # type: ignore[union-attr]
    assert f"Answer {correct} correct Correct answer {correct} Time – Date just now" in words
    wrong = lead.get(person_page(anna) + "?show=wrong")
    assert [row.judgment.pk for row in wrong.context["answers"]] == [
        answer.pk for answer in answers[:0:-1]
    ]


def test_comments_lead_to_the_next_answer(
    training: Campaign, anna: Annotator, lead: Client
) -> None:
    first, second, third = train(training, anna, "www")

    def comment(judgment: Any, show: str) -> str:
        form = {"judgment": judgment.pk, "text": "<b>See</b> the dog", "show": show, "page": "1"}
        return lead.post(f"{person_page(anna)}comment/", form)["Location"]

    # The newest answer is first in the list, followed by earlier ones.
    assert comment(third, "uncommented").endswith(f"?show=uncommented&page=1#answer-{second.pk}")
    assert comment(first, "uncommented").endswith(f"#answer-{second.pk}")
    assert comment(second, "uncommented").endswith("?show=uncommented&page=1")
    assert comment(second, "wrong").endswith(f"?show=wrong&page=1#answer-{second.pk}")
    assert comment(second, "").endswith(f"?show=&page=1#answer-{second.pk}")
    assert ReviewComment.objects.filter(judgment=second).count() == 3
    words = read(lead, person_page(anna))
    assert words.count("<b>See</b> the dog lena · just now · unread") == 5
    assert "Comments not read by the annotator 5" in words


def test_escalations_in_training_are_shown_to_leads(
    training: Campaign, anna: Annotator, lead: Client
) -> None:
    held, other = claim(training, anna, 2)
    escalate_task(
        assignment_id=held.pk, annotator=anna, kind=EscalationKind.UNSURE, reason="What is <small>?"
    )
    submit(other, 0)
    for page in ("", f"{anna.pk}/"):
        shown = lead.get(f"/benchmarks/{training.benchmark.key}/training/{page}").content.decode()
        assert "What is &lt;small&gt;?" in shown
        assert f"/gold/{held.task.gold_id}/" in shown


def test_a_comment_is_announced_on_the_home_page(
    training: Campaign, anna: Annotator, lead: Client
) -> None:
    (wrong,) = train(training, anna, "w")
    page = client_of(anna.user)
    assert "A lead has commented" not in page.get("/").content.decode()
    address = f"/benchmarks/{training.benchmark.key}/training/{anna.pk}/comment/"
    lead.post(address, {"judgment": wrong.pk, "text": "Look again."})
    assert "A lead has commented on 1 of your answers." in page.get("/").content.decode()


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"text": ""}, 400),
        ({"text": " "}, 400),
        ({"text": "x" * 2001}, 400),
        ({"judgment": "x"}, 400),
        ({"judgment": "999999"}, 404),
        ({"show": "right"}, 400),
    ],
)
def test_an_invalid_comment_is_refused(
    training: Campaign, anna: Annotator, lead: Client, change: dict[str, str], status: int
) -> None:
    (answer,) = train(training, anna, "w")
    form = {"judgment": str(answer.pk), "text": "x", "show": "", "page": ""} | change
    assert lead.post(f"{person_page(anna)}comment/", form).status_code == status
    assert ReviewComment.objects.count() == 0


def test_only_answers_of_this_person_are_commented_on(
    training: Campaign, anna: Annotator, lead: Client
) -> None:
    train(training, anna, "w")
    (other,) = train(training, make_annotator("ben"), "w")
    form = {"judgment": other.pk, "text": "x"}
    assert lead.post(f"{person_page(anna)}comment/", form).status_code == 404


def test_an_annotator_is_admitted_paused_and_resumed(
    training: Campaign, gated: Campaign, anna: Annotator, lead: Client
) -> None:
    train(training, anna, "www")
    address = f"/campaigns/{gated.pk}/members/{anna.pk}/"
    words = read(lead, person_page(anna))
    assert "Round 1 Not admitted 0 of the last 3 correct; 2 of 3 required · 0 judged" in words
    assert "Pause" not in words
    # There is no membership to pause yet.
    assert lead.post(address, {"action": "pause", "reason": "x"}).status_code == 404

    assert lead.post(address, {"action": "let-in"})["Location"] == person_page(anna)
    assert "Round 1 Can judge admitted by lena just now · 0 judged" in read(lead, person_page(anna))
    lead.post(address, {"action": "pause", "reason": " "})
    assert "Nothing was changed. The reason must have 1 to 1,000 characters." in read(
        lead, person_page(anna)
    )
    lead.post(address, {"action": "pause", "reason": "Please <b>call</b> me."})
    words = read(lead, person_page(anna))
    assert "Round 1 Paused admitted by lena just now · 0 judged Please <b>call</b> me." in words
    lead.post(address, {"action": "resume"})
    assert Membership.objects.get(campaign=gated).state == "active"
    assert lead.post(address, {"action": "erase"}).status_code == 400


def test_admitting_a_person_without_training_answers_redirects_to_their_page(
    tmp_path: Path, db: None, anna: Annotator, lead: Client
) -> None:
    campaign = make_campaign_with_gold(tmp_path, captions=1, videos=2, gold=1)
    assert anna.user is not None
    answer = lead.post(f"/campaigns/{campaign.pk}/members/{anna.pk}/", {"action": "let-in"})
    assert answer["Location"] == f"/people/{anna.user.pk}/"
    # This lead cannot admit a person who may not judge in the benchmark.
    rosa = Annotator.objects.create(user=make_user("rosa", Role.RESEARCHER))
    lars = make_user("lars")
    lars.grants.create(role=Role.LEAD, scope="tiny")
    address = f"/campaigns/{campaign.pk}/members/{rosa.pk}/"
    assert client_of(lars).post(address, {"action": "let-in"}).status_code == 404


def test_gold_of_a_campaign_on_a_persons_page(
    training: Campaign, tmp_path: Path, anna: Annotator, lead: Client
) -> None:
    train(training, anna, "r")
    rows = [(f"c{n}", "v2", 1, "") for n in range(3)]
    add_gold_items(tmp_path, training.benchmark, rows)
    campaign = open_campaign(
        benchmark=training.benchmark,
        by=OPERATOR,
        policy=Policy(double_share=0, gold_share=1, gold_bar=0.5, gold_last=3, order="shuffled"),
    )
    Membership.objects.filter(campaign=campaign).delete()
    words = read(lead, person_page(anna))
    assert "control pairs correct" not in words
    for held in claim(campaign, anna, 4):
        submit(held, 1)
    words = read(lead, person_page(anna))
    assert re.search(
        r"· \d judged · (\d) of the last \1 control pairs correct \(2 of 3 required\)", words
    )


# --- On the home page ----------------------------------------------------------------------


def test_home_of_a_new_annotator(training: Campaign, gated: Campaign, anna: Annotator) -> None:
    client = client_of(anna.user)
    page = read(client, "/")
    training_at, campaign_at = page.index("tiny training"), page.index("Not open to you yet")
    assert training_at < campaign_at
    assert (
        "0 of 6 items answered To enter “ Round 1 ”, 2 of your last 3 answers must be correct. "
        "Start training tiny training" in page
    )
    assert "Train first: 2 of your last 3 answers in training must be correct." in page
    assert "Start judging" not in page

    train(training, anna, "rw")
    page = read(client, "/")
    assert "2 of your last 3 answers must be correct. Correct so far: 1 of 2" in page
    assert "Continue training tiny training" in page

    train(training, anna, "r")
    page = read(client, "/")
    assert page.index("Start judging Round 1") < page.index("tiny training tiny · training")
    assert "3 of 6 items answered Round 1 is open to you. Continue training" in page
    # Training answers do not count as judged pairs.
    assert "You have judged" not in page


def test_an_annotator_without_training_items_left_needs_a_lead(
    training: Campaign, gated: Campaign, anna: Annotator
) -> None:
    train(training, anna, "rrwwww")
    page = read(client_of(anna.user), "/")
    assert "You have answered all items. A lead can review your answers" in page
    assert "Continue training" not in page


def test_a_pause_and_an_entry_requirement_without_open_training_are_shown(
    training: Campaign, gated: Campaign, anna: Annotator, lead: Client
) -> None:
    lead.post("/benchmarks/tiny/training/close/")
    page = read(client_of(anna.user), "/")
    assert "This campaign requires training, which a lead has not opened yet." in page
    address = f"/campaigns/{gated.pk}/members/{anna.pk}/"
    lead.post(address, {"action": "let-in"})
    lead.post(address, {"action": "pause", "reason": "Let us <i>talk</i>."})
    page = read(client_of(anna.user), "/")
    assert "Paused Let us <i>talk</i>." in page
    assert "Start judging" not in page


def test_campaigns_with_added_annotators_are_shown_only_to_them(
    training: Campaign, anna: Annotator, lead: Client
) -> None:
    policy = Policy(joining="chosen", double_share=0)
    campaign = open_campaign(
        benchmark=training.benchmark, by=OPERATOR, policy=policy, name="Only some"
    )
    client = client_of(anna.user)
    assert "Only some" not in read(client, "/")
    add_members(campaign=campaign, annotators=[anna], by=make_user("lea", Role.LEAD))
    assert "Start judging Only some" in read(client, "/")


def test_database_queries_of_the_home_page_do_not_grow(
    training: Campaign,
    gated: Campaign,
    anna: Annotator,
) -> None:
    client = client_of(anna.user)
    train(training, anna, "r")
    before = queries_of(client, "/")
    train(training, anna, "rrrr")
    assert queries_of(client, "/") == before

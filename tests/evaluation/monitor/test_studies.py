"""The page of an ordering study, and its orders as a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client

from annotation.enums import CampaignState, EscalationKind
from annotation.questions.order.study import open_ordering_study
from annotation.services import (
    claim_assignments,
    escalate_task,
    set_campaign_state,
    withdraw_judgments,
)
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from tests.factories import make_annotator, make_study, make_user, order_all, submit_order
from tests.test_pages import queries_of

pytestmark = pytest.mark.django_db


def test_a_study_has_a_separate_page(tmp_path: Path, client: Client) -> None:
    study = make_study(tmp_path, videos=2, name="Study 1")
    client.force_login(make_user("lena", Role.LEAD))
    address = f"/campaigns/{study.pk}/"
    empty = client.get(address).content.decode()
    assert "Annotators find the study on their home page." in empty
    assert "No one has put captions in order yet." in empty
    for page in ("desk", "policy", "state"):
        assert f'{address}{page}/"' in empty
    assert "Relevant" not in empty
    assert "Annotators see this text." in empty
    for number, levels in enumerate([(0, 1, 2, 3, 4), (1, 0, 2, 3, 4), (0, 1, 2, 3, 4)]):
        annotator = make_annotator(f"person{number}")
        (first,) = claim_assignments(campaign=study, annotator=annotator, count=1)
        submit_order(first, levels)
    page = client.get(address)
    progress = page.context["progress"]
    assert (progress.answers, progress.needed, progress.complete) == (3, 6, 1)
    assert [(row.own.answers, *row.own.figures.values()) for row in page.context["people"]] == [
        (1, pytest.approx(0.9)),
        (1, pytest.approx(0.8)),
        (1, pytest.approx(0.9)),
    ]
    assert "<bdi>person1</bdi>" in page.content.decode()
    assert page.context["next_step"].text.startswith("The analysis leaves out 1 video")
    assert client.get(f"{address}people/")["Location"] == f"{address}#people"
    lines = client.get(f"{address}orders/csv/").content.decode().splitlines()
    assert lines[0] == "video_id,annotator,caption_id,level,value,place,rank"
    assert len(lines) == 1 + 3 * 5
    ranks = [line.split(",")[-1] for line in lines[6:11]]
    assert ranks == ["1", "0", "2", "3", "4"]
    client.force_login(make_user("rita", Role.RESEARCHER))
    assert client.get(address).context["people"] == []


def test_a_lead_pauses_an_annotator_and_withdraws_their_orders(
    tmp_path: Path, client: Client
) -> None:
    study, lead = make_study(tmp_path, videos=2), make_user("lena", Role.LEAD)
    anna = make_annotator("anna")
    (first,) = claim_assignments(campaign=study, annotator=anna, count=1)
    submit_order(first)
    client.force_login(lead)
    address = f"/campaigns/{study.pk}/people/{anna.pseudonym}/"
    page = client.get(address)
    texts = {name: own.text for name, own, _ in page.context["figures"] if not own.is_undefined}
    assert texts == {"Orders": "1", "Escalated": "0"}
    withdrawal = f"/campaigns/{study.pk}/people/{anna.pseudonym}/reopen/"
    assert f'href="{withdrawal}">Withdraw orders …</a>' in page.content.decode()
    people = f'<a href="/campaigns/{study.pk}/people/"><bdi>People</bdi></a>'
    assert people in page.content.decode()
    data = {"action": "pause", "reason": "Let us talk.", "back": "campaign"}
    assert client.post(f"/campaigns/{study.pk}/members/{anna.pk}/", data)["Location"] == address
    assert "Let us talk." in client.get(address).content.decode()
    assert client.get(withdrawal).status_code == 200
    withdraw_judgments(campaign=study, annotator=anna, by=lead)
    assert "1 withdrawn" in client.get(address).content.decode()


@pytest.mark.parametrize(
    ("complete", "state", "at_desk", "text", "link"),
    [
        (0, "open", False, "Annotators find the study on their home page.", ""),
        (
            0,
            "paused",
            False,
            "The study is paused. Open it again to get the missing orders of 2 videos.",
            "",
        ),
        (1, "open", False, "The analysis leaves out 1 video with", "Compare proxies with people"),
        (
            1,
            "closed",
            False,
            "The study is closed. The analysis leaves out 1 video",
            "Compare proxies with people",
        ),
        (2, "open", False, "No video is waiting for an annotator.", "Compare proxies with people"),
        (1, "open", True, "1 video cannot be ordered until a lead decides.", "Go to the desk"),
    ],
)
def test_the_page_shows_the_next_step(
    tmp_path: Path, client: Client, complete: int, state: str, at_desk: bool, text: str, link: str
) -> None:
    study, lead = make_study(tmp_path, videos=2), make_user("lena", Role.LEAD)
    if complete:
        order_all(study, [range(5)] * 3, videos=complete)
    if at_desk:
        (held,) = claim_assignments(campaign=study, annotator=make_annotator("zoe"), count=1)
        escalate_task(assignment_id=held.pk, annotator=held.annotator, kind=EscalationKind.UNSURE)
    if state != "open":
        set_campaign_state(campaign=study, state=CampaignState(state), by=lead)
    client.force_login(lead)
    step = client.get(f"/campaigns/{study.pk}/").context["next_step"]
    assert step.text.startswith(text)
    assert step.link == link
    assert not step.address or client.get(step.address).status_code == 200


def test_database_queries_do_not_grow_with_studies_and_people(
    tmp_path: Path, client: Client
) -> None:
    client.force_login(make_user("lena", Role.LEAD))
    first = make_study(tmp_path, videos=2)
    benchmark = first.benchmark

    def count() -> list[int]:
        addresses = (f"/benchmarks/{benchmark.key}/campaigns/", f"/campaigns/{first.pk}/")
        return [queries_of(client, address) for address in addresses]

    order_all(first, [range(5)])
    with_one = count()
    for number in (2, 3):
        open_ordering_study(benchmark=benchmark, by=OPERATOR, proxy="overlap", name=str(number))
    order_all(first, [range(5)] * 3)
    assert len(client.get(f"/campaigns/{first.pk}/").context["people"]) == 3
    assert (count(), with_one) == ([13, 16], [13, 16])

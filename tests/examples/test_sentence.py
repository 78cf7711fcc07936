"""A kind of question that is no part of Hearth: a package and a module are all that it needs."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client
from playwright.sync_api import expect
from rest_framework.test import APIClient

from annotation import api
from annotation.enums import TaskState
from annotation.models import Campaign, Judgment
from annotation.questions.kind import kinds
from annotation.selectors.desk import get_desk_case
from annotation.selectors.progress import campaign_progress
from annotation.services import adjudicate_task, open_study, withdraw_judgments
from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.shared.errors import Conflict
from pooling.models import Benchmark
from tests.e2e import rooms
from tests.examples.sentence.kind import KIND
from tests.factories import make_benchmark, make_user

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture(autouse=True)
def sentences() -> Iterator[None]:
    """Add the kind, as a package in `annotation/questions/` would."""
    kinds()[KIND.name] = KIND
    api._shape.cache_clear()
    yield
    del kinds()[KIND.name]
    api._shape.cache_clear()


def open_sentences(benchmark: Benchmark) -> Campaign:
    videos = benchmark.videos.order_by("number").values_list("pk", flat=True)
    return open_study(
        benchmark=benchmark,
        by=OPERATOR,
        question="sentence",
        items=[(video, "") for video in videos],
        labels_each=2,
        name="Sentences",
    )


@pytest.fixture
def study(db: None, tmp_path: Path) -> Campaign:
    return open_sentences(make_benchmark(tmp_path, captions=2, videos=2))


@pytest.fixture
def anna(db: None) -> User:
    return make_user("anna", Role.ANNOTATOR)


@pytest.fixture
def api_of_anna(anna: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(anna)
    return client


def claim(client: APIClient, study: Campaign) -> list[dict[str, Any]]:
    claimed = client.post(f"/api/v1/campaigns/{study.pk}/claim/", {"count": 2})
    assert claimed.status_code == 200
    items: list[dict[str, Any]] = claimed.json()["items"]
    return items


def send(client: APIClient, item: dict[str, Any], **answer: Any) -> Any:
    body = {"assignment": item["assignment"], "client_key": str(uuid.uuid4()), **answer}
    return client.post("/api/v1/judgments/", body, format="json")


def test_a_sentence_is_claimed_sent_repeated_and_corrected(
    api_of_anna: APIClient, study: Campaign
) -> None:
    first, _ = claim(api_of_anna, study)
    assert set(first) == {"assignment", "video", "poster"}
    for wrong in ({}, {"label": 1}, {"places": [0, 1, 2, 3, 4]}, {"sentence": ""}):
        assert send(api_of_anna, first, **wrong).status_code == 400
    key = str(uuid.uuid4())
    answer = {"sentence": "A ball rolls.", "client_key": key}
    # The second request is the same answer, sent again because its response was lost.
    assert [send(api_of_anna, first, **answer).status_code for _ in range(2)] == [201, 200]
    other = send(api_of_anna, first, sentence="A cube falls.", client_key=key)
    assert other.status_code == 409
    corrected = send(
        api_of_anna, first, sentence="A red ball rolls.", corrects=True, corrected_key=key
    )
    assert corrected.json()["sentence"] == "A red ball rolls."
    history = api_of_anna.get(f"/api/v1/campaigns/{study.pk}/history/").json()
    assert [item["sentence"] for item in history] == ["A red ball rolls."]
    stored = Judgment.objects.order_by("pk").values_list("label", "payload", "state")
    assert list(stored) == [
        (None, {"sentence": "A ball rolls."}, "superseded"),
        (None, {"sentence": "A red ball rolls."}, "live"),
    ]


def test_sentences_need_not_agree_and_are_shown_exported_and_withdrawn(
    api_of_anna: APIClient, anna: User, study: Campaign, client: Client
) -> None:
    ben = APIClient()
    ben.force_authenticate(make_user("ben", Role.ANNOTATOR))
    for person, sentence in ((api_of_anna, "A ball rolls."), (ben, "=A1")):
        assert send(person, claim(person, study)[0], sentence=sentence).status_code == 201
    done, left = study.tasks.order_by("position")
    assert (done.state, done.label, left.state) == (TaskState.RESOLVED, None, TaskState.OPEN)
    assert campaign_progress(study).percent == 50

    lead = make_user("lena", Role.LEAD)
    client.force_login(lead)
    assert [label.text for label in get_desk_case(done.pk).labels] == ["A ball rolls.", "=A1"]
    with pytest.raises(Conflict, match="A lead cannot answer here"):
        adjudicate_task(task=done, label=0, by=lead)
    page = client.get(f"/campaigns/{study.pk}/").content.decode()
    assert "Description study of 2 videos" in page
    assert "Videos with all sentences" in page
    csv = client.get(f"/campaigns/{study.pk}/sentences/csv/").content.decode()
    assert csv == "video_id,sentence\nv0,A ball rolls.\nv0,'=A1\n"
    for address in ("people/", f"people/{anna.annotator.pseudonym}/", "policy/", "desk/"):
        assert client.get(f"/campaigns/{study.pk}/{address}", follow=True).status_code == 200
    campaigns = f"/benchmarks/{study.benchmark.key}/campaigns/"
    assert "Description studies" in client.get(campaigns).content.decode()

    withdraw_judgments(campaign=study, annotator=anna.annotator, by=lead)
    done.refresh_from_db()
    assert (done.state, done.labels_live, done.seats_open) == (TaskState.OPEN, 1, 1)
    csv = client.get(f"/campaigns/{study.pk}/sentences/csv/").content.decode()
    assert csv == "video_id,sentence\nv0,'=A1\n"


@pytest.mark.e2e
def test_a_sentence_is_typed_without_a_connection_and_undone(
    transactional_db: None,
    tmp_path: Path,
    new_page: Callable[[], Page],
    live_server: Any,
    page_problems: list[str],
) -> None:
    study = open_sentences(rooms.make_benchmark(tmp_path, ["a ball"], videos=2))
    person = make_user("anna", Role.ANNOTATOR)
    page = rooms.sign_in(new_page().context, live_server.url, person)
    rooms.enter(page, study)
    assert page.title() == "Describing videos · Sentences · Hearth"

    page.context.set_offline(True)
    page.fill("#sentence", "A ball rolls.")
    page.click("[data-part=send]")
    page.get_by_text("1 unsent").wait_for()
    page.context.set_offline(False)
    rooms.until_sent(page)
    rooms.settle(page)
    page.click("[data-part=undo]")
    expect(page.locator("#sentence")).to_have_value("A ball rolls.")
    rooms.settle(page)
    page.fill("#sentence", "A red ball rolls.")
    page.click("[data-part=send]")
    rooms.until_sent(page)
    stored = Judgment.objects.order_by("pk").values_list("payload__sentence", "state")
    assert list(stored) == [("A ball rolls.", "superseded"), ("A red ball rolls.", "live")]
    rooms.forget(page_problems, "ERR_INTERNET_DISCONNECTED", "Failed to fetch")

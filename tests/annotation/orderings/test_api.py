"""Requests of the judging room in an ordering study."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from annotation.enums import TaskState
from annotation.models import Campaign, Judgment
from annotation.questions.order.answers import orders_of
from annotation.serializers import JUDGMENT
from hearth.accounts.roles import Role
from hearth.shared.public_ids import PublicIds
from tests.factories import (
    assignment_of,
    make_campaign,
    make_study,
    make_user,
    row_counts,
    shown_id,
)

JUDGMENTS = "/api/v1/judgments/"
ORDER = [2, 0, 1, 4, 3]


@pytest.fixture
def study(db: None, tmp_path: Path) -> Campaign:
    return make_study(tmp_path, captions=9, videos=2)


@pytest.fixture
def anna(db: None) -> APIClient:
    client = APIClient()
    client.force_authenticate(make_user("anna", Role.ANNOTATOR))
    return client


def claimed(client: APIClient, campaign: Campaign, count: int = 1) -> list[dict[str, Any]]:
    address = f"/api/v1/campaigns/{campaign.pk}/claim/"
    items: list[dict[str, Any]] = client.post(address, {"count": count}).json()["items"]
    return items


def post(client: APIClient, item: dict[str, Any], **answer: Any) -> Any:
    key = answer.pop("client_key", str(uuid.uuid4()))
    body = {"assignment": item["assignment"], "client_key": key, **answer}
    return client.post(JUDGMENTS, body, format="json")


def history(client: APIClient, campaign: Campaign) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = client.get(f"/api/v1/campaigns/{campaign.pk}/history/").json()
    return items


def test_an_item_has_captions_by_place_and_nothing_of_the_proxy(
    anna: APIClient, study: Campaign
) -> None:
    (item,) = claimed(anna, study)
    held = assignment_of(item)
    texts = dict(held.task.ordering_captions.values_list("place", "query__text"))
    assert item == {
        "assignment": shown_id(held),
        "captions": [{"place": place, "text": texts[place]} for place in range(5)],
        "video": None,
        "poster": None,
    }
    assert claimed(anna, study) == [item]


def test_an_order_is_stored_shown_and_corrected(anna: APIClient, study: Campaign) -> None:
    (item,) = claimed(anna, study)
    key = str(uuid.uuid4())
    first, again = (post(anna, item, places=ORDER, client_key=key) for _ in range(2))
    assert (first.status_code, again.status_code, first.content) == (201, 200, again.content)
    stored = Judgment.objects.get()
    assert first.json() == {
        "id": PublicIds(JUDGMENT).of(stored.pk),
        "places": ORDER,
        "client_key": key,
    }
    assert history(anna, study) == [item | {"places": ORDER, "client_key": key}]
    places = {held.place: held.level for held in stored.task.ordering_captions.all()}
    (ranks,) = orders_of(study).ranks.tolist()
    assert [places[place] for place in ORDER] == sorted(range(5), key=ranks.__getitem__)

    other = [0, 1, 2, 3, 4]
    assert post(anna, item, places=other, client_key=key).status_code == 409
    assert post(anna, item, places=other).status_code == 409
    changed = post(anna, item, places=other, corrects=True, corrected_key=key)
    assert (changed.status_code, changed.json()["places"]) == (201, other)
    assert [shown["places"] for shown in history(anna, study)] == [other]
    late = post(anna, item, places=ORDER, corrects=True, corrected_key=key)
    assert late.status_code == 412


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"label": 1},
        {"label": 119},
        {"label": 1, "places": ORDER},
        {"places": None},
        {"places": 17},
        {"places": "20143"},
        {"places": []},
        {"places": [0, 1, 2, 3]},
        {"places": [0, 1, 2, 3, 4, 4]},
        {"places": [0, 1, 2, 3, 3]},
        {"places": [1, 2, 3, 4, 5]},
        {"places": [-1, 0, 1, 2, 3]},
        {"places": [0.5, 1, 2, 3, 4]},
    ],
)
def test_an_answer_with_invalid_places_gets_status_400(
    anna: APIClient, study: Campaign, wrong: dict[str, Any]
) -> None:
    (item,) = claimed(anna, study)
    before = row_counts()
    assert post(anna, item, **wrong).status_code == 400
    assert row_counts() == before


def test_a_pair_has_no_places(anna: APIClient, db: None, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, captions=2, videos=3)
    (item,) = claimed(anna, campaign)
    assert sorted(item) == ["assignment", "caption", "poster", "video"]
    for wrong in ({}, {"places": ORDER}, {"label": 1, "places": ORDER}):
        assert post(anna, item, **wrong).status_code == 400
    assert sorted(post(anna, item, label=1).json()) == ["client_key", "id", "label"]
    (shown,) = history(anna, campaign)
    assert sorted(shown) == ["assignment", "caption", "client_key", "label", "poster", "video"]


def test_the_responses_do_not_depend_on_the_answers_of_others(
    anna: APIClient, study: Campaign
) -> None:
    before = claimed(anna, study, 2)
    ben = APIClient()
    ben.force_authenticate(make_user("ben", Role.ANNOTATOR))
    for item in claimed(ben, study, 2):
        assert post(ben, item, places=ORDER).status_code == 201
    assert claimed(anna, study, 2) == before
    assert history(anna, study) == []


def test_a_video_is_escalated_or_reported(anna: APIClient, study: Campaign) -> None:
    kinds = ("unsure", "cannot-play")
    for item, kind in zip(claimed(anna, study, 2), kinds, strict=True):
        body = {"assignment": item["assignment"], "kind": kind}
        assert anna.post("/api/v1/escalations/", body, format="json").status_code == 201
    states = study.tasks.order_by("position").values_list("state", flat=True)
    assert list(states) == [TaskState.ESCALATED, TaskState.UNPLAYABLE]
    assert claimed(anna, study) == []

"""Answers that say where: requests, the stored form, outcomes, and opening a campaign."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from rest_framework.test import APIClient

from annotation.enums import CampaignState, TaskState
from annotation.models import Annotator, Campaign, Judgment, JudgmentTask
from annotation.questions.spans.answers import people_spans, people_spans_of_log
from annotation.questions.spans.models import AnswerSpan
from annotation.selectors.progress import campaign_progress
from annotation.selectors.tasks import count_new_tasks
from annotation.services import (
    Policy,
    adjudicate_task,
    open_campaign,
    set_campaign_state,
    undo_ruling,
)
from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.shared.errors import InvalidInput
from tests.annotation.spans.world import make_pooled, mark, mark_video, open_spans
from tests.factories import claim, judge, make_annotator, make_campaign, make_user, row_counts

JUDGMENTS = "/api/v1/judgments/"


@pytest.fixture
def browser(db: None) -> APIClient:
    client = APIClient()
    client.force_authenticate(make_user("bea", Role.ANNOTATOR))
    return client


def claimed(client: APIClient, campaign: Campaign) -> dict[str, Any]:
    address = f"/api/v1/campaigns/{campaign.pk}/claim/"
    item: dict[str, Any] = client.post(address, {"count": 1}).json()["items"][0]
    return item


def post(client: APIClient, item: dict[str, Any], **answer: Any) -> Any:
    body = {"assignment": item["assignment"], "client_key": str(uuid.uuid4()), **answer}
    return client.post(JUDGMENTS, body, format="json")


def spans() -> list[tuple[int, int, int]]:
    return list(AnswerSpan.objects.order_by("pk").values_list("place", "start", "end"))


def test_an_answer_is_rounded_sorted_repeated_and_corrected(
    browser: APIClient, campaign: Campaign
) -> None:
    item = claimed(browser, campaign)
    assert sorted(item) == ["assignment", "caption", "cuts", "poster", "video"]
    key = str(uuid.uuid4())
    sent = {
        "label": 1,
        "spans": [[7, 9.12345], [1.2345, 2.5]],
        "marks": [[7.3, None], [1.5, 2.8]],
        "shift": 0.3,
        "client_key": key,
    }
    first = post(browser, item, **sent)
    # The same times, written otherwise.
    again = post(browser, item, **{**sent, "spans": [[1.2341, 2.5], [7.0001, 9.123]]})
    assert (first.status_code, again.status_code) == (201, 200)
    stored = {
        "label": 1,
        "spans": [[1.234, 2.5], [7.0, 9.123]],
        "marks": [[1.5, 2.8], [7.3, None]],
        "shift": 0.3,
    }
    assert {name: first.json()[name] for name in stored} == stored
    assert spans() == [(0, 1234, 2500), (1, 7000, 9123)]
    assert post(browser, item, **{**sent, "spans": [[1, 2], [3, 4]]}).status_code == 409
    corrected = post(browser, item, label=0, corrects=True, corrected_key=key)
    assert (corrected.status_code, corrected.json()["spans"]) == (201, [])
    (shown,) = browser.get(f"/api/v1/campaigns/{campaign.pk}/history/").json()
    assert (shown["label"], shown["spans"]) == (0, [])


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"label": 1},
        {"label": 1, "spans": []},
        {"label": 0, "spans": [[1, 2]]},
        {"label": 2, "spans": [[1, 2]]},
        {"spans": [[1, 2]]},
        {"label": 1, "spans": [[1]]},
        {"label": 1, "spans": [[1, 2, 3]]},
        {"label": 1, "spans": [["a", 2]]},
        {"label": 1, "spans": [["NaN", 2]]},
        {"label": 1, "spans": [[-1, 2]]},
        {"label": 1, "spans": [[2, 1]]},
        {"label": 1, "spans": [[0, 10.501]]},
        {"label": 1, "spans": [[0, 2], [1, 3]]},
        {"label": 1, "spans": [[n / 4, n / 4 + 0.1] for n in range(21)]},
        {"label": 1, "spans": [[1, 2]], "marks": []},
        {"label": 1, "spans": [[1, 2]], "shift": -1},
        {"label": 1, "spans": [[1, 2]], "places": [0, 1, 2, 3, 4]},
    ],
)
def test_an_answer_with_invalid_spans_gets_status_400(
    browser: APIClient, campaign: Campaign, wrong: dict[str, Any]
) -> None:
    item = claimed(browser, campaign)
    before = row_counts()
    assert post(browser, item, **wrong).status_code == 400
    assert row_counts() == before


def test_a_label_alone_is_refused_here_and_spans_elsewhere(
    browser: APIClient, tmp_path: Path
) -> None:
    item = claimed(browser, make_campaign(tmp_path))
    assert post(browser, item, label=1, spans=[[1, 2]]).status_code == 400


def state_of(tasks: QuerySet[JudgmentTask], video: str = "v0") -> tuple[Any, ...]:
    task = tasks.get(pair__video__key=video)
    return task.state, task.label, task.labels_required, task.seats_open


def people(campaign: Campaign) -> list[tuple[int, float, float, int]]:
    found = people_spans(campaign.benchmark)
    columns = (found.codes, found.starts, found.ends, found.support)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_disagreement_about_where_asks_again_and_then_goes_to_the_desk(
    tmp_path: Path, anna: Annotator, lead: User
) -> None:
    campaign = open_spans(tmp_path, labels_each=2)
    ben, carla = make_annotator("ben"), make_annotator("carla")
    mark_video(campaign, anna, [(0, 4)])
    mark_video(campaign, ben, [(5, 9)])
    assert state_of(campaign.tasks) == (TaskState.OPEN, None, 3, 1)
    assert (people(campaign), people_spans(campaign.benchmark).unsettled.tolist()) == ([], [0])
    last = mark_video(campaign, carla, [(4.2, 4.8)])
    assert state_of(campaign.tasks) == (TaskState.CONFLICTED, 1, 3, 0)
    assert campaign_progress(campaign).relevant == 1
    # A correction settles the pair, and another one unsettles it again.
    mark(last.task.assignments.get(annotator=carla), [(0.5, 4)])
    assert state_of(campaign.tasks) == (TaskState.RESOLVED, 1, 3, 0)
    assert people(campaign) == [(0, 0.25, 4.0, 2), (0, 5.0, 9.0, 1)]
    mark(last.task.assignments.get(annotator=carla), [(4.2, 4.8)])
    task = campaign.tasks.get(pair__video__key="v0")
    with pytest.raises(InvalidInput, match="needs at least one span"):
        adjudicate_task(task=task, label=1, by=lead)
    with pytest.raises(InvalidInput, match="x is not a span"):
        adjudicate_task(task=task, label=1, by=lead, answer="x")
    ruling = adjudicate_task(task=task, label=1, by=lead, answer="0.1 - 3.9\n8–9")
    assert state_of(campaign.tasks) == (TaskState.ADJUDICATED, 1, 3, 0)
    assert people(campaign) == [(0, 0.1, 3.9, 1), (0, 8.0, 9.0, 1)]
    undo_ruling(ruling=ruling, by=lead)
    assert state_of(campaign.tasks) == (TaskState.CONFLICTED, 1, 3, 0)
    adjudicate_task(task=task, label=0, by=lead, answer="ignored")
    assert people(campaign) == []


def test_a_closed_campaign_keeps_a_pair_relevant_without_times(
    tmp_path: Path, anna: Annotator, lead: User
) -> None:
    campaign = open_spans(tmp_path, labels_each=2)
    mark_video(campaign, anna, [(0, 4)])
    mark_video(campaign, make_annotator("ben"), [(5, 9)])
    set_campaign_state(campaign=campaign, state=CampaignState.CLOSED, by=lead)
    assert state_of(campaign.tasks) == (TaskState.CONFLICTED, 1, 2, 0)


def test_equal_captions_share_the_spans_and_the_log_returns_them(
    tmp_path: Path, anna: Annotator
) -> None:
    benchmark = make_pooled(tmp_path, captions=2, videos=2, text="person closes the door.")
    campaign = open_spans(tmp_path, benchmark=benchmark)
    assert campaign.n_tasks == 2
    judgment = mark_video(campaign, anna, [(1, 2), (3, 4)], video="v1")
    expected = [(1, 1.0, 2.0, 1), (1, 3.0, 4.0, 1), (3, 1.0, 2.0, 1), (3, 3.0, 4.0, 1)]
    assert people(campaign) == expected
    mark(judgment.task.assignments.get(annotator=anna), [], label=0)
    assert people(campaign) == []
    log = people_spans_of_log(benchmark, np.array([judgment.pk]), np.array([], np.int64))
    assert log.codes.tolist() == [code for code, *_ in expected]


def test_only_pairs_with_a_relevant_label_are_asked_about(tmp_path: Path, anna: Annotator) -> None:
    labels = make_campaign(tmp_path, videos=3)
    benchmark = labels.benchmark
    judge(labels, anna, {"v0": 1, "v1": 0})
    where = open_campaign(benchmark=benchmark, by=OPERATOR, policy=Policy(), question="spans")
    assert list(where.tasks.values_list("pair__video__key", flat=True)) == ["v0"]
    with pytest.raises(InvalidInput, match="No pair of tiny is left to ask about"):
        open_campaign(benchmark=benchmark, by=OPERATOR, question="spans")
    everything = open_spans(tmp_path, benchmark=benchmark)
    assert list(everything.tasks.order_by("pair").values_list("pair__video__key", flat=True)) == [
        "v1",
        "v2",
    ]
    # The same annotator can be asked where after saying that the caption is relevant.
    mark(claim(where, anna)[0], [(0, 1)])
    assert state_of(where.tasks) == (TaskState.RESOLVED, 1, 1, 0)
    assert count_new_tasks(benchmark).tasks == 0


@pytest.mark.parametrize(
    "row",
    [
        {"start": 5, "end": 5},
        {"start": -1, "end": 5},
        {"start": 1, "end": 5, "place": 20},
        {"start": 1, "end": 5, "judgment_id": None},
    ],
)
def test_the_database_refuses_spans_without_length_or_answer(
    campaign: Campaign, anna: Annotator, row: dict[str, Any]
) -> None:
    judgment = mark_video(campaign, anna, [(1, 2)])
    with pytest.raises(IntegrityError), transaction.atomic():
        AnswerSpan.objects.create(**{"judgment_id": judgment.pk, "place": 1, **row})


def test_a_label_in_conflict_is_only_of_a_pair(campaign: Campaign) -> None:
    tasks = JudgmentTask.objects.filter(campaign=campaign)
    tasks.update(state=TaskState.CONFLICTED, label=1, seats_open=0)
    with pytest.raises(IntegrityError), transaction.atomic():
        tasks.update(state=TaskState.OPEN)
    assert Judgment.objects.count() == 0
